package ajarrun;

import java.io.PrintStream;
import java.util.Set;
import java.util.TreeSet;

/** Calls each entry method of the programs with many numbers, and prints the classes of what comes out. */
public class Harness {
    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        PrintStream out = new PrintStream(System.out, false);
        for (String line : java.nio.file.Files.readAllLines(java.nio.file.Path.of(args[1]))) {
            String[] words = line.split(" ");
            Class<?> main = Class.forName(words[0] + ".Main");
            Entry entry = (Entry) main.getField("ENTRY").get(null);
            for (int i = 1; i < words.length; i++) {
                Set<String> seen = new TreeSet<>();
                long state = 42;
                for (int round = 0; round < rounds; round++) {
                    state = state * 6364136223846793005L + 1442695040888963407L;
                    try {
                        entry.call(Integer.parseInt(words[i]), (int) (state >>> 32));
                    } catch (Throwable t) {
                        seen.add(chain(t.getClass()));
                    }
                }
                out.println(words[0] + " " + words[i] + " " + String.join(" ", seen));
            }
        }
        out.flush();
    }

    /** The name of a class and of the classes above it up to Throwable. */
    private static String chain(Class<?> it) {
        StringBuilder names = new StringBuilder();
        for (; it != Object.class; it = it.getSuperclass()) {
            names.append(names.length() == 0 ? "" : "<").append(it.getName().replace('.', '/'));
        }
        return names.toString();
    }
}
