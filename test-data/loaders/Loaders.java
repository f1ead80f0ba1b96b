import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;

/**
 * Loads the classes in `asks` by loaders of its own, calls their static methods, and says who asked the loaders
 * ("asked METHOD-OF-LOADER CALLER LINE") and what came out ("lets METHOD EXCEPTION").
 */
public class Loaders {
    static class Refuses extends RuntimeException {}

    static class Sneaks extends Exception {}

    static class Fails extends Error {}

    enum Answer { RIGHT, NOTHING, OTHER, LACKS, REFUSES, SNEAKS, FAILS }

    /** Overrides what the VM calls. */
    static class Own extends ClassLoader {
        private final Path folder;
        String odd = "";
        Answer answer = Answer.RIGHT;

        Own(Path folder) {
            super(ClassLoader.getPlatformClassLoader());
            this.folder = folder;
        }

        @Override
        public Class<?> loadClass(String name) throws ClassNotFoundException {
            said();
            if (name.equals(odd)) {
                switch (answer) {
                    case NOTHING: return null;
                    case OTHER: return Object.class;
                    case LACKS: throw new ClassNotFoundException(name);
                    case REFUSES: throw new Refuses();
                    case SNEAKS: Loaders.<RuntimeException>sneak();
                    case FAILS: throw new Fails();
                    default: break;
                }
            }
            Class<?> known = findLoadedClass(name);
            if (known != null || !name.startsWith("asks.")) {
                return known != null ? known : super.loadClass(name);
            }
            byte[] bytes = read(folder, name);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** Leaves what the VM calls as it is. */
    static class Finds extends ClassLoader {
        private final Path folder;

        Finds(Path folder) {
            super(ClassLoader.getPlatformClassLoader());
            this.folder = folder;
        }

        @Override
        protected Class<?> findClass(String name) throws ClassNotFoundException {
            said();
            byte[] bytes = read(folder, name);
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    /** A loader that nobody makes. */
    static class Never extends Finds {
        Never(Path folder) {
            super(folder);
        }

        @Override
        public Class<?> loadClass(String name) {
            throw new IllegalStateException(name);
        }
    }

    /** Is no loader. */
    static class Other {
        public Class<?> loadClass(String name) {
            throw new IllegalStateException(name);
        }
    }

    @SuppressWarnings("unchecked")
    static <T extends Exception> void sneak() throws T {
        throw (T) new Sneaks();
    }

    static byte[] read(Path folder, String name) throws ClassNotFoundException {
        try {
            return Files.readAllBytes(folder.resolve(name.replace('.', '/') + ".class"));
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    /** The frame that is no loader's, and the one that it called. */
    static void said() {
        StackTraceElement[] frames = new Throwable().getStackTrace();
        int at = 1;
        while (frames[at + 1].getMethodName().equals("loadClass")) {
            at++;
        }
        StackTraceElement caller = frames[at + 1];
        System.out.println("asked " + name(frames[at]) + " " + name(caller) + " " + caller.getLineNumber());
    }

    static String name(StackTraceElement it) {
        return it.getClassName() + "." + it.getMethodName();
    }

    static void run(ClassLoader loader, String name, String method) throws Exception {
        Method it = loader.loadClass(name).getMethod(method);
        if (loader instanceof Own own) {
            own.odd = method.equals("nest") ? "asks.Host" : "asks.Needed";
        }
        try {
            it.invoke(null);
        } catch (InvocationTargetException e) {
            System.out.println("lets " + name + "." + method + " " + e.getCause().getClass().getName());
        }
    }

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        for (String name : new String[] {"asks.Uses", "asks.Constants"}) {
            Method[] methods = new Finds(folder).loadClass(name).getMethods();
            Arrays.sort(methods, Comparator.comparing(Method::getName));
            for (Method method : methods) {
                if (method.getDeclaringClass() != Object.class) {
                    run(new Finds(folder), name, method.getName());
                    for (Answer answer : Answer.values()) {
                        Own own = new Own(folder);
                        own.answer = answer;
                        run(own, name, method.getName());
                    }
                }
            }
        }
    }
}
