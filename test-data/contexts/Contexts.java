import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.TreeSet;

/**
 * Calls that pass known objects. A comment behind a method lists exactly what it lets out in a closed world; running `main`
 * prints the same lists, found by calling each method with several numbers.
 */
class Contexts {
    static class A extends RuntimeException { }
    static class B extends RuntimeException { }
    static class C extends RuntimeException { }
    static class D extends B { }

    interface Act {
        void act(int n);

        default void twice(int n) {
            act(n);
            act(n);
        }
    }

    static class ThrowsA implements Act {
        public void act(int n) {
            throw new A();
        }
    }

    static class ThrowsB implements Act {
        public void act(int n) {
            throw new B();
        }
    }

    static class Quiet implements Act {
        public void act(int n) { }
    }

    /** A decorator. */
    static class Around implements Act {
        private final Act of;

        Around(Act of) {
            this.of = of;
        }

        public void act(int n) {
            of.act(n);
        }
    }

    static final class Last implements Act {
        public void act(int n) {
            if (n == 1) {
                throw new C();
            }
        }
    }

    /** Passes its argument on to a method of its own. */
    static class Relay {
        void relay(Act it, int n) {
            then(it, n);
        }

        void then(Act it, int n) {
            it.act(n);
        }
    }

    abstract static class Template {
        Template(int n) {
            step(n);
        }

        abstract void step(int n);

        void all(int n) {
            step(n);
        }
    }

    static class Steps extends Template {
        Steps(int n) {
            super(n);
        }

        void step(int n) {
            if (n == 2) {
                throw new A();
            }
        }
    }

    static class OtherSteps extends Template {
        OtherSteps(int n) {
            super(n);
        }

        void step(int n) {
            throw new B();
        }
    }

    static void run(Act it, int n) {
        it.act(n);
    }

    static void runLater(Act it, int n) {
        run(it, n);
    }

    static void runBoth(Act first, Act second, int n) {
        if (n == 0) {
            first.act(n);
        } else {
            second.act(n);
        }
    }

    static void swap(Act first, Act second, int n) {
        if (n == 0) {
            second.act(n);
        } else {
            swap(second, first, n - 1);
        }
    }

    static void third(int n, Act first, Act second, Act third) {
        first.act(n);
        second.act(n);
        third.act(n);
    }

    static void reassigned(Act it, int n) {
        if (n == 3) {
            it = new ThrowsB();
        }
        it.act(n);
    }

    static void guarded(Act it, int n) {
        try {
            it.act(n);
        } catch (B e) {
            if (n == 1) {
                throw e;
            }
        } finally {
            new Quiet().act(n);
        }
    }

    static void raise(RuntimeException it) {
        throw it;
    }

    static void a(int n) { run(new ThrowsA(), n); } // -> A
    static void none(int n) { run(new Quiet(), n); } // ->
    static void later(int n) { runLater(new ThrowsB(), n); } // -> B
    static void both(int n) { runBoth(new ThrowsA(), new Quiet(), n); } // -> A
    static void swapped(int n) { swap(new Quiet(), new ThrowsA(), n); } // -> A
    static void lambda(int n) { run(it -> { throw new C(); }, n); } // -> C
    static void captures(int n) { int m = n + 1; run(it -> { if (m > 2) throw new D(); }, n); } // -> D
    static void reference(int n) { run(new ThrowsA()::act, n); } // -> A
    static void inherited(int n) { new ThrowsA().twice(n); } // -> A
    static void ofFinal(Last it, int n) { run(it, n); } // not run
    static void passesFinal(int n) { ofFinal(new Last(), n); } // -> C
    static void passed(int n) { Act it = new Quiet(); if (n == 0) { run(it, n); } } // ->
    static void constructs(int n) { new Steps(n); } // -> A
    static void template(int n) { if (n != 2) { new Steps(n).all(n + 1); } } // -> A
    static void guardedA(int n) { guarded(new ThrowsA(), n); } // -> A
    static void guardedB(int n) { guarded(new ThrowsB(), n); } // -> B
    static void relayed(int n) { new Relay().relay(new ThrowsA(), n); } // -> A
    static void raised(int n) { raise(new D()); } // -> D
    static void changes(int n) { reassigned(new Quiet(), n); } // at least B

    /** What the object around another calls is not known by its class. */
    static void around(int n) { new Around(new Quiet()).act(n); } // at least
    /** Of three known values, the first two count. */
    static void three(int n) { third(n, new Quiet(), new Quiet(), new ThrowsA()); } // at least A
    /** The variable has two definitions. */
    static void either(int n) { Act it = new Quiet(); if (n > 0) { it = new ThrowsA(); } run(it, n); } // at least A

    public static void main(String[] args) throws Exception {
        for (Method it : Contexts.class.getDeclaredMethods()) {
            Class<?>[] types = it.getParameterTypes();
            if (types.length != 1 || types[0] != int.class) {
                continue;
            }
            TreeSet<String> thrown = new TreeSet<>();
            for (int n = 0; n < 5; n++) {
                try {
                    it.invoke(null, n);
                } catch (InvocationTargetException e) {
                    thrown.add(e.getCause().getClass().getSimpleName());
                }
            }
            System.out.println(it.getName() + " " + String.join(" ", thrown));
        }
    }
}
