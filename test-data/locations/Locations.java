import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints for each class which of its definitions the JVM takes, or the error if there is none. A definition has a number, and
 * methods {@code b0} to {@code b3}, which raise ArithmeticException if the bit of the number is set.
 *
 * <p>The arguments are names of classes on the class path of this program. Without arguments, each line of the input has a
 * class path and names of classes, separated by spaces; the classes are then found by a loader of the same kind, in one process.
 */
public class Locations {
    public static void main(String[] names) throws IOException {
        for (String name : names) {
            System.out.println(name + " " + definition(name, Locations.class.getClassLoader()));
        }
        if (names.length == 0) {
            BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ");
                try (URLClassLoader loader = loader(words[0])) {
                    for (int i = 1; i < words.length; i++) {
                        System.out.println(words[i] + " " + definition(words[i], loader));
                    }
                }
            }
        }
    }

    /** A loader for a class path; as in the JVM, the paths are those without symbolic links. */
    static URLClassLoader loader(String classPath) throws IOException {
        List<URL> urls = new ArrayList<>();
        for (String entry : classPath.split(java.io.File.pathSeparator)) {
            Path path = Paths.get(entry);
            if (Files.exists(path)) {
                urls.add(path.toRealPath().toUri().toURL());
            }
        }
        return new URLClassLoader(urls.toArray(new URL[0]), ClassLoader.getSystemClassLoader().getParent());
    }

    static String definition(String name, ClassLoader loader) {
        int number = 0;
        try {
            Class<?> found = Class.forName(name, false, loader);
            for (int bit = 0; bit < 4; bit++) {
                try {
                    found.getMethod("b" + bit).invoke(null);
                } catch (java.lang.reflect.InvocationTargetException error) {
                    number |= 1 << bit;
                }
            }
        } catch (Exception | LinkageError error) {
            return error.getClass().getSimpleName();
        }
        return String.valueOf(number);
    }
}
