/** Calls of the corners with the values that tell right from wrong. */
class Drive {
    static int nan() {
        return A.nan(Double.NaN, 1);
    }

    static int alias() {
        Sub it = new Sub();
        it.f = 1;
        return A.alias(it, it);
    }

    static int order() {
        return A.order(new int[] {1}, 0);
    }

    static int incr() {
        return A.incr(5);
    }

    static int cond() {
        return 100 * A.cond(true, 4, 9) + A.cond(false, 4, 9);
    }

    static Object ctor() {
        return A.ctor(true);
    }

    static int sw() {
        return 100 * A.sw(2) + A.sw(50) + A.sw(3);
    }

    static int sync() {
        return A.sync("", new int[] {6});
    }

    static int syncNull() {
        return A.sync(null, null);
    }

    static int st() {
        Base.g = 9;
        return A.st();
    }

    static int fin() {
        return 100 * A.fin(0) + A.fin(2);
    }

    static int exc() {
        return A.exc(new int[] {8}, 0, 2);
    }

    static int excOrder() {
        return A.exc(new int[] {8}, 1, 0);
    }

    static int swLoop() {
        SwLoop it = new SwLoop();
        it.m(5);
        return it.f;
    }

    static int back() {
        return Back.back(4);
    }

    static int exp16() {
        return Exp16.e(3);
    }

    static int jsr() {
        return 100 * Jsr.fin(0) + 10 * Jsr.fin(1) + Jsr.nested(5);
    }
}
