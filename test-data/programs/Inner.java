import ajar.T;

/** Inner classes: outer fields through accessors, captured variables, shadowing, local and anonymous classes. */
class Inner {
    private int count = 1;
    private static int total;

    class Counter {
        private int count = 10;

        int next() {
            total += count;
            return Inner.this.count++ + this.count--;
        }

        class Deep {
            int sum() {
                return count + Inner.this.count;
            }
        }
    }

    abstract static class Task {
        Task() {
            T.say("task");
            prepare();
        }

        void prepare() {
        }

        abstract int run(int it);
    }

    static int counters() {
        Inner outer = new Inner();
        Counter counter = outer.new Counter();
        Counter.Deep deep = counter.new Deep();
        int sum = T.t(counter.next()) + T.t(counter.next());
        return 1000 * sum + 10 * deep.sum() + total;
    }

    static int captured() {
        final int base = T.t(5);
        class Local extends Task {
            int seen = 1;

            @Override
            void prepare() {
                // Runs before this class's field initialisers, but after the captured value is there.
                seen = T.t(base);
            }

            int run(int it) {
                return it + base + seen;
            }
        }
        Task other = new Task() {
            int run(int it) {
                return it * base;
            }
        };
        return new Local().run(1) + 100 * other.run(2);
    }

    static int nullOuter() {
        Inner outer = null;
        return outer.new Counter().next();
    }
}
