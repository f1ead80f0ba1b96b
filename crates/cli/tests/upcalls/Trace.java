package ajartrace;

import java.io.PrintWriter;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Runs programs whose bodies begin with a call of `enter`, and writes the different stacks of these calls. */
public final class Trace {
    private static final Set<String> SEEN = ConcurrentHashMap.newKeySet();
    /** JDK 25 gives the descriptors of methods only to walkers that retain classes. */
    private static final StackWalker WALKER = StackWalker.getInstance(
            Set.of(StackWalker.Option.SHOW_HIDDEN_FRAMES, StackWalker.Option.RETAIN_CLASS_REFERENCE));

    /** Notes the stack of the method that begins. */
    public static void enter() {
        SEEN.add(WALKER.walk(Trace::text));
    }

    /** The frames, each as class, method with descriptor, and pc; without this class and what called a program. */
    private static String text(Stream<StackWalker.StackFrame> frames) {
        List<String> acc = new ArrayList<>();
        for (StackWalker.StackFrame it : (Iterable<StackWalker.StackFrame>) frames.skip(1)::iterator) {
            if (it.getClassName().startsWith("ajartrace.")) {
                // Below are the frames of the reflective call of `main`.
                int last = acc.size() - 1;
                while (last > 0 && (acc.get(last).startsWith("java.") || acc.get(last).startsWith("jdk."))) {
                    acc.remove(last--);
                }
                break;
            }
            // Classes of function objects and generated accessors have names with a slash or a number.
            acc.add(it.getClassName().replace(' ', '_') + " " + it.getMethodName() + it.getDescriptor() + " "
                    + it.getByteCodeIndex());
        }
        return String.join("\t", acc);
    }

    /** The arguments are a file for the stacks, and the programs: a class and its arguments, separated by spaces. */
    public static void main(String[] args) throws Exception {
        enter();
        SEEN.clear();
        for (String program : Arrays.asList(args).subList(1, args.length)) {
            String[] words = program.trim().split(" ");
            Class<?> main = Class.forName(words[0], false, Trace.class.getClassLoader());
            Object words1 = Arrays.copyOfRange(words, 1, words.length);
            try {
                main.getMethod("main", String[].class).invoke(null, words1);
                Throwable last = (Throwable) main.getField("last").get(null);
                if (last != null) {
                    System.out.println(words[0] + ": " + last);
                }
            } catch (InvocationTargetException e) {
                System.out.println(words[0] + ": " + e.getCause());
            }
        }
        try (PrintWriter out = new PrintWriter(Files.newBufferedWriter(Path.of(args[0])))) {
            new TreeSet<>(SEEN).forEach(it -> out.print(it + "\n"));
        }
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }
}
