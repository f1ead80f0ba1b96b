import ajar.T;

/** Java 25: statements before the constructor call, record patterns, unnamed variables, switch over types. */
class Early25 {
    final int size;

    Early25(int size) {
        this.size = T.t(size);
        T.say("base");
        show();
    }

    void show() {
        T.t(size);
    }

    static class Checked extends Early25 {
        final int extra;

        Checked(int size) {
            if (size < 0) {
                throw new IllegalArgumentException();
            }
            int sum = 0;
            for (int i = 0; i < size; i++) {
                sum += i;
            }
            this.extra = sum;
            super(size > 3 ? sum : -sum);
        }

        @Override
        void show() {
            // The field has its value although the constructor of the superclass is still running.
            T.t(extra);
        }
    }

    static int early() {
        int out = new Checked(3).extra + new Checked(5).size;
        try {
            out += new Checked(-1).size;
        } catch (IllegalArgumentException _) {
            out += 1000;
        }
        return out;
    }

    record Pair(Object left, Object right) {
    }

    static int depth(Object it) {
        if (it instanceof Pair(Pair(var a, _), var b)) {
            return T.t(1) + depth(a) + depth(b);
        }
        return it instanceof Pair(String s, _) ? s.length() : 0;
    }

    static int records() {
        Object inner = new Pair("abc", null);
        return depth(new Pair(new Pair(new Pair(inner, inner), null), inner));
    }

    static int types(Object it) {
        return switch (it) {
            case null -> 1;
            case String s when s.length() > 2 -> 2;
            case String s -> s.length() + 10;
            case int[] a -> a[0];
            case Pair(String s, Object _) -> 100 + s.length();
            default -> T.t(3);
        };
    }

    static int switches() {
        int sum = 0;
        for (Object it : new Object[] {null, "abc", "x", new int[] {5}, new Pair("q", null), new Pair(null, null)}) {
            sum = 7 * sum + types(it);
        }
        return sum;
    }
}
