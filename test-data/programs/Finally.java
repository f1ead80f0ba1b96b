import ajar.T;

/** Exceptions and finally: order, replaced results, replaced exceptions, nested handlers, rethrowing. */
class Finally {
    static class Own extends Exception {
        final int code;

        Own(int code) {
            this.code = code;
        }
    }

    static int divide(int by) {
        try {
            return T.t(10) / by;
        } catch (ArithmeticException e) {
            T.t(e);
            by = 3;
        } finally {
            T.t(by);
        }
        return by;
    }

    static int plain() {
        return 10 * divide(2) + divide(0);
    }

    @SuppressWarnings("finally")
    static int replaced() {
        for (int i = 0; ; i++) {
            try {
                T.boom(i);
                return T.t(i);
            } finally {
                if (i < 3) {
                    continue;
                }
                T.say("out");
                return 77;
            }
        }
    }

    static int kept() {
        int it = 1;
        try {
            return it;
        } finally {
            it = T.t(2);
        }
    }

    static void raise(int code) throws Own {
        try {
            throw new Own(code);
        } catch (Own e) {
            if (e.code > 5) {
                throw e;
            }
            T.t(e.code);
        }
    }

    static int nested() throws Own {
        int sum = 0;
        for (int code = 4; code < 8; code++) {
            try {
                try {
                    raise(code);
                    sum += 1;
                } finally {
                    sum = T.t(sum * 2);
                }
            } catch (Own e) {
                sum += 100 * e.code;
            }
        }
        raise(sum);
        return sum;
    }

    static int ladder() {
        int sum = 0;
        for (int number = -1; number < 10; number++) {
            try {
                T.boom(number);
                sum += 1;
            } catch (ArithmeticException e) {
                sum += 10;
            } catch (IllegalStateException | IndexOutOfBoundsException e) {
                sum += 100;
            } catch (RuntimeException e) {
                sum += 1000;
            } catch (Error e) {
                sum += 10000;
            } catch (Throwable e) {
                sum += 100000;
            }
        }
        return sum;
    }

    static class Closer implements AutoCloseable {
        final int number;

        Closer(int number) {
            this.number = T.t(number);
        }

        public void close() {
            T.t(-number);
            T.boom(number);
        }
    }

    static int resources() {
        try (Closer one = new Closer(20); Closer two = new Closer(6)) {
            return one.number + two.number;
        } catch (IllegalStateException e) {
            return T.t(5);
        }
    }
}
