import java.util.function.Supplier;

/** Assertions in all kinds of places. With assertions disabled, no method whose name begins with `asserted` runs. */
public class S16Assertions {
    static boolean note(String name) {
        System.out.println(name);
        return true;
    }

    static boolean asserted1() { return note("asserted1"); }
    static boolean asserted2() { return note("asserted2"); }
    static boolean asserted3() { return note("asserted3"); }
    static boolean asserted4() { return note("asserted4"); }
    static int assertedNumber() { return note("assertedNumber") ? 2 : 0; }
    static String assertedDetail() { return "detail " + note("assertedDetail"); }
    static boolean always1() { return note("always1"); }
    static boolean always2() { return note("always2"); }
    static boolean always3() { return note("always3"); }

    static void plain() {
        assert asserted1();
        always1();
        assert !asserted2() : assertedDetail();
    }

    static void choices(boolean b) {
        always1();
        assert b ? asserted1() : asserted2() && (asserted3() || asserted4()) : assertedDetail();
        assert switch (assertedNumber()) {
            case 2 -> asserted3();
            default -> throw new IllegalStateException(assertedDetail());
        };
        always2();
    }

    static void loops(int n) {
        for (int i = 0; i < n; i++) {
            assert asserted1();
            if (i == 1) {
                assert asserted2();
                continue;
            }
            always1();
        }
        do {
            assert asserted3();
        } while (!always2());
    }

    static void handlers() {
        try {
            always1();
            assert asserted1() && !asserted2() : "thrown";
        } catch (AssertionError e) {
            always2();
            assert asserted3();
        } finally {
            assert asserted4();
            always3();
        }
    }

    static boolean detected() {
        boolean on = false;
        assert on = asserted1();
        if (on) {
            return always1();
        }
        return always2();
    }

    static Supplier<Boolean> function() {
        return () -> {
            assert asserted1();
            return always1();
        };
    }

    static synchronized void locked(Object lock) {
        synchronized (lock) {
            assert asserted1();
            always1();
        }
        assert asserted2();
    }

    /** An interface has no field for the status: the compiler makes a class for it. */
    interface Default {
        default boolean check() {
            assert asserted1();
            return always1();
        }
    }

    static class Nested implements Default {
        final boolean it;

        Nested(boolean it) {
            assert asserted1();
            this.it = it;
        }
    }

    static class Started {
        static {
            assert asserted1();
            always1();
        }

        static void start() {}
    }

    /** Calls code of the JDK that has assertions. */
    static char first(String of) {
        return of.charAt(0);
    }

    static void caught(Runnable it) {
        try {
            it.run();
        } catch (AssertionError e) {
            note("failed");
        }
    }

    public static void main(String[] arguments) {
        caught(S16Assertions::plain);
        caught(() -> choices(true));
        caught(() -> choices(false));
        caught(() -> loops(3));
        caught(S16Assertions::handlers);
        caught(S16Assertions::detected);
        caught(() -> function().get());
        caught(() -> locked(""));
        caught(() -> new Nested(true).check());
        caught(Started::start);
    }
}
