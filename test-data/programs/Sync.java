import ajar.T;

/** Synchronized blocks and methods: nested, left by return, break and exceptions; null locks. */
class Sync {
    int n;
    final Object lock = new Object();

    synchronized int next() {
        return ++n;
    }

    static synchronized int twice(Sync it) {
        synchronized (it) {
            synchronized (it.lock) {
                if (it.n > 2) {
                    return it.next() + it.next();
                }
            }
            return T.t(it.n);
        }
    }

    static int nested() {
        Sync it = new Sync();
        int sum = twice(it);
        it.n = 5;
        return 100 * twice(it) + sum;
    }

    static int left() {
        Sync it = new Sync();
        int sum = 0;
        for (int i = 0; i < 4; i++) {
            try {
                synchronized (it.lock) {
                    sum = T.t(sum + i);
                    if (i == 1) {
                        continue;
                    }
                    T.boom(i == 2 ? 0 : 20);
                    sum += 10;
                }
            } catch (RuntimeException e) {
                sum += 100;
            } finally {
                sum += 1000;
            }
        }
        return sum;
    }

    static int nothing() {
        Object none = null;
        synchronized (none) {
            return T.t(1);
        }
    }
}
