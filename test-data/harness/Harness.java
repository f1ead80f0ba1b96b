import ajar.T;
import java.io.BufferedOutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/**
 * Runs static methods of the classes in a folder, each case in a class loader of its own.
 * usage: java -cp HARNESS Harness CLASSES REQUESTS MILLIS-PER-CASE
 * A request is a line of words parted by tabs: class, method, descriptor, arguments. Class names are internal.
 * Arguments: decimal ints and longs, bits in hexadecimal for floats and doubles, strings quoted as in
 * {@link T#quote}, {@code null}. One block a case comes out: "case N", one "result", "throw" or "timeout" line,
 * "trace" lines, "end".
 */
public final class Harness {
    private static final class Case {
        final String[] words;
        final SynchronousQueue<String> answer = new SynchronousQueue<String>();

        Case(String[] words) {
            this.words = words;
        }
    }

    private static final class Loader extends ClassLoader {
        final Path root;

        Loader(Path root) {
            super(Harness.class.getClassLoader());
            this.root = root;
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            synchronized (getClassLoadingLock(name)) {
                Class<?> known = findLoadedClass(name);
                if (known != null) {
                    return known;
                }
                byte[] bytes = name.startsWith("java.") || name.startsWith("ajar.") ? null : bytes(root, name);
                return bytes == null ? super.loadClass(name, resolve) : defineClass(name, bytes, 0, bytes.length);
            }
        }
    }

    private static final Map<String, byte[]> FILES = new HashMap<String, byte[]>();

    static synchronized byte[] bytes(Path root, String name) {
        if (!FILES.containsKey(name)) {
            byte[] found = null;
            try {
                found = Files.readAllBytes(root.resolve(name.replace('.', '/') + ".class"));
            } catch (java.io.IOException | java.nio.file.InvalidPathException e) {
                // Not one of ours: the parent loader's.
            }
            FILES.put(name, found);
        }
        return FILES.get(name);
    }

    public static void main(String[] args) throws Exception {
        final Path root = Paths.get(args[0]);
        long millis = Long.parseLong(args[2]);
        PrintStream out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, "UTF-8");
        SynchronousQueue<Case> queue = worker(root);
        int number = 0;
        for (String line : new String(Files.readAllBytes(Paths.get(args[1])), StandardCharsets.UTF_8).split("\n")) {
            if (line.isEmpty()) {
                continue;
            }
            Case it = new Case(line.split("\t", -1));
            queue.put(it);
            String answer = it.answer.poll(millis, TimeUnit.MILLISECONDS);
            out.print("case " + number++ + "\n");
            if (answer == null) {
                out.print("timeout\n");
                queue = worker(root);
            } else {
                out.print(answer);
            }
            out.print("end\n");
        }
        out.flush();
        // Hung cases are daemon threads, but some may hold locks that shutdown would wait for.
        Runtime.getRuntime().halt(0);
    }

    private static SynchronousQueue<Case> worker(final Path root) {
        final SynchronousQueue<Case> queue = new SynchronousQueue<Case>();
        Thread thread = new Thread(null, null, "worker", 1 << 24) {
            @Override
            public void run() {
                try {
                    while (true) {
                        Case it = queue.take();
                        String answer = answer(root, it.words);
                        if (!it.answer.offer(answer, 60, TimeUnit.SECONDS)) {
                            return;
                        }
                    }
                } catch (InterruptedException e) {
                    // Nobody interrupts a worker but the end of the program.
                }
            }
        };
        thread.setDaemon(true);
        thread.start();
        return queue;
    }

    static String answer(Path root, String[] words) {
        T.take();
        String head;
        try {
            head = "result " + call(new Loader(root), words);
        } catch (Throwable e) {
            head = "throw " + describe(e);
        }
        StringBuilder out = new StringBuilder(head).append('\n');
        String trace = T.take();
        for (String line : trace.split("\n")) {
            if (!line.isEmpty()) {
                out.append("trace ").append(line).append('\n');
            }
        }
        return out.toString();
    }

    /** The class of a throwable; of a failed initialiser also its cause. Messages differ between JDKs. */
    private static String describe(Throwable e) {
        String name = e.getClass().getName().replace('.', '/');
        Throwable cause = e instanceof ExceptionInInitializerError ? e.getCause() : null;
        if (e instanceof VerifyError || e instanceof ClassFormatError || e instanceof IllegalArgumentException) {
            return name + " // " + T.quote(e.getMessage());
        }
        return cause == null ? name : name + " <- " + cause.getClass().getName().replace('.', '/');
    }

    private static String call(Loader loader, String[] words) throws Throwable {
        Class<?> owner = Class.forName(words[0].replace('/', '.'), false, loader);
        List<Class<?>> types = new ArrayList<Class<?>>();
        String descriptor = words[2];
        int at = 1;
        while (descriptor.charAt(at) != ')') {
            int end = at;
            while (descriptor.charAt(end) == '[') {
                end++;
            }
            end = descriptor.charAt(end) == 'L' ? descriptor.indexOf(';', end) + 1 : end + 1;
            types.add(type(descriptor.substring(at, end), loader));
            at = end;
        }
        Object[] args = new Object[types.size()];
        for (int i = 0; i < args.length; i++) {
            args[i] = argument(types.get(i), words[3 + i]);
        }
        Method method = owner.getDeclaredMethod(words[1], types.toArray(new Class<?>[0]));
        method.setAccessible(true);
        try {
            return result(method.getReturnType(), method.invoke(null, args));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private static Class<?> type(String descriptor, Loader loader) throws ClassNotFoundException {
        switch (descriptor.charAt(0)) {
            case 'I': return int.class;
            case 'J': return long.class;
            case 'F': return float.class;
            case 'D': return double.class;
            case 'Z': return boolean.class;
            case 'B': return byte.class;
            case 'C': return char.class;
            case 'S': return short.class;
            case 'L': return Class.forName(descriptor.substring(1, descriptor.length() - 1).replace('/', '.'), false, loader);
            default: return Class.forName(descriptor.replace('/', '.'), false, loader);
        }
    }

    private static Object argument(Class<?> type, String word) {
        if (type == int.class) {
            return Integer.valueOf(word);
        } else if (type == long.class) {
            return Long.valueOf(word);
        } else if (type == float.class) {
            return Float.intBitsToFloat((int) Long.parseLong(word, 16));
        } else if (type == double.class) {
            return Double.longBitsToDouble(Long.parseUnsignedLong(word, 16));
        } else if (type == boolean.class) {
            return !word.equals("0");
        } else if (type == byte.class) {
            return Byte.valueOf(word);
        } else if (type == short.class) {
            return Short.valueOf(word);
        } else if (type == char.class) {
            return (char) Integer.parseInt(word);
        }
        return word.equals("null") ? null : unquote(word);
    }

    private static String unquote(String word) {
        StringBuilder out = new StringBuilder();
        for (int i = 1; i < word.length() - 1; i++) {
            char c = word.charAt(i);
            if (c != '\\') {
                out.append(c);
            } else if (word.charAt(++i) == 'u') {
                out.append((char) Integer.parseInt(word.substring(i + 1, i + 5), 16));
                i += 4;
            } else {
                out.append(word.charAt(i) == 'n' ? '\n' : word.charAt(i));
            }
        }
        return out.toString();
    }

    private static String result(Class<?> type, Object it) {
        if (type == void.class) {
            return "V";
        } else if (type == float.class) {
            return T.show(((Float) it).floatValue());
        } else if (type == double.class) {
            return T.show(((Double) it).doubleValue());
        } else if (type == long.class) {
            return "J " + it;
        } else if (type == boolean.class) {
            return "I " + (((Boolean) it).booleanValue() ? 1 : 0);
        } else if (type == char.class) {
            return "I " + (int) ((Character) it).charValue();
        } else if (type.isPrimitive()) {
            return "I " + it;
        }
        return T.show(it);
    }
}
