import ajar.T;

/** When static initialisers run: lazily, superclass first, not for constants, once; what a failed one does. */
class InitOrder {
    static class Constant {
        static final int K = 42;
        static final String S = "constant";

        static {
            T.say("never");
        }
    }

    interface Quiet {
        int I = T.t(5);
    }

    interface Loud {
        int I = T.t(6);

        default void m() {
        }
    }

    static class Base implements Loud {
        static int f = T.t(1);

        static {
            T.say("base");
        }
    }

    static class Derived extends Base implements Quiet {
        static int g = T.t(2);
        int h = T.t(3);

        Derived() {
            T.t(4);
        }
    }

    static class Bad {
        static int v = T.t(9);

        static {
            if (v == 9) {
                throw new IllegalStateException();
            }
        }
    }

    static class Ping {
        static int it = Pong.it + 1;
    }

    static class Pong {
        static int it = Ping.it + 10;
    }

    static int constants() {
        return Constant.K + Constant.S.length();
    }

    static int inheritedField() {
        return Derived.f;
    }

    static int creation() {
        T.say("start");
        return new Derived().h + Derived.g;
    }

    static int arrays() {
        Derived[] none = new Derived[2];
        return none.length;
    }

    static int failing() {
        int sum = 0;
        for (int i = 0; i < 2; i++) {
            try {
                sum += Bad.v;
            } catch (ExceptionInInitializerError e) {
                sum += 100;
            } catch (NoClassDefFoundError e) {
                sum += 1000;
            }
        }
        return sum;
    }

    static int failed() {
        return Bad.v;
    }

    static int circle() {
        return 1000 * Ping.it + Pong.it;
    }

    static class Order {
        static int f = 1;
    }

    static int before(int it) {
        Order.f = 50;
        return it;
    }

    static int readBeforeInit() {
        return Order.f + before(T.t(2)) + Order.f;
    }
}
