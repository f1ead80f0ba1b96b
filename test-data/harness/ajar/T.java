package ajar;

/**
 * The trace that generated and hand-written test programs write, so that the order of evaluation can be seen.
 * One buffer a thread; {@code Harness} empties it before each case. An evaluator that replaces these methods
 * must write the same lines, the cap included.
 */
public final class T {
    /** Lines after this many are dropped; the case goes on. */
    public static final int MAX_LINES = 5000;

    private static final ThreadLocal<Buffer> BUFFER = new ThreadLocal<Buffer>() {
        @Override
        protected Buffer initialValue() {
            return new Buffer();
        }
    };

    private static final class Buffer {
        StringBuilder text = new StringBuilder();
        int lines;
    }

    private T() {
    }

    /** Empties this thread's trace and returns what stood in it. */
    public static String take() {
        Buffer it = BUFFER.get();
        String out = it.text.toString();
        it.text = new StringBuilder();
        it.lines = 0;
        return out;
    }

    private static void line(String text) {
        Buffer it = BUFFER.get();
        if (it.lines < MAX_LINES) {
            it.lines++;
            it.text.append(text).append('\n');
        }
    }

    public static int t(int it) {
        line("I " + it);
        return it;
    }

    public static long t(long it) {
        line("J " + it);
        return it;
    }

    public static float t(float it) {
        line(show(it));
        return it;
    }

    public static double t(double it) {
        line(show(it));
        return it;
    }

    public static Object t(Object it) {
        line(show(it));
        return it;
    }

    public static void say(String it) {
        line("say " + quote(it));
    }

    /** Throws by number, checked exceptions included; other numbers return. */
    public static void boom(int number) {
        line("boom " + number);
        switch (number) {
            case 0: T.<RuntimeException>raise(new RuntimeException()); break;
            case 1: T.<RuntimeException>raise(new ArithmeticException()); break;
            case 2: T.<RuntimeException>raise(new Exception()); break;
            case 3: T.<RuntimeException>raise(new java.io.IOException()); break;
            case 4: T.<RuntimeException>raise(new Error()); break;
            case 5: T.<RuntimeException>raise(new AssertionError()); break;
            case 6: T.<RuntimeException>raise(new IllegalStateException()); break;
            case 7: T.<RuntimeException>raise(new IndexOutOfBoundsException()); break;
            case 8: T.<RuntimeException>raise(new Throwable()); break;
            default: break;
        }
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void raise(Throwable it) throws E {
        throw (E) it;
    }

    /** Floats by the bits of the value, all NaNs as one. */
    public static String show(float it) {
        return "F " + hex(Float.floatToIntBits(it) & 0xffffffffL, 8);
    }

    /** Doubles by the bits of the value, all NaNs as one. */
    public static String show(double it) {
        return "D " + hex(Double.doubleToLongBits(it), 16);
    }

    private static String hex(long bits, int digits) {
        StringBuilder out = new StringBuilder(Long.toHexString(bits));
        while (out.length() < digits) {
            out.insert(0, '0');
        }
        return out.toString();
    }

    /** Any reference: null, a quoted string, an array with its elements, else {@code L} and the class's name. */
    public static String show(Object it) {
        StringBuilder out = new StringBuilder();
        show(out, it, 0);
        return out.toString();
    }

    private static void show(StringBuilder out, Object it, int depth) {
        if (it == null) {
            out.append("null");
        } else if (it instanceof String) {
            out.append(quote((String) it));
        } else if (it instanceof Class) {
            out.append("class ").append(((Class<?>) it).getName().replace('.', '/'));
        } else if (it.getClass().isArray()) {
            out.append(it.getClass().getName().replace('.', '/'));
            if (depth == 3) {
                out.append("{...}");
            } else {
                elements(out, it, depth);
            }
        } else {
            out.append("L ").append(it.getClass().getName().replace('.', '/'));
        }
    }

    private static void elements(StringBuilder out, Object it, int depth) {
        int n = java.lang.reflect.Array.getLength(it);
        out.append('{');
        for (int i = 0; i < n; i++) {
            if (i > 0) {
                out.append(", ");
            }
            if (it instanceof Object[]) {
                show(out, ((Object[]) it)[i], depth + 1);
            } else if (it instanceof float[]) {
                out.append(show(((float[]) it)[i]).substring(2));
            } else if (it instanceof double[]) {
                out.append(show(((double[]) it)[i]).substring(2));
            } else if (it instanceof char[]) {
                out.append((int) ((char[]) it)[i]);
            } else if (it instanceof boolean[]) {
                out.append(((boolean[]) it)[i] ? 1 : 0);
            } else {
                out.append(java.lang.reflect.Array.get(it, i));
            }
        }
        out.append('}');
    }

    /** Printable ASCII as it is, {@code \n \\ \"} by letter, all else by four hexadecimal digits. */
    public static String quote(String it) {
        if (it == null) {
            return "null";
        }
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < it.length(); i++) {
            char c = it.charAt(i);
            if (c == '\n') {
                out.append("\\n");
            } else if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c >= ' ' && c <= '~') {
                out.append(c);
            } else {
                out.append("\\u").append(hex(c, 4));
            }
        }
        return out.append('"').toString();
    }
}
