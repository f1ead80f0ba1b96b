/** A class whose superclass is not there may be below any class that is not closed: its code may run, whatever is assumed of others. */
class Stray extends Gone {
    static class Base {
        void run() { }
    }

    public void run() {
        Stray.<RuntimeException>sneak(new java.io.IOException());
    }

    /** Throws what its clause does not name. */
    @SuppressWarnings("unchecked")
    static <E extends Throwable> void sneak(Throwable it) throws E {
        throw (E) it;
    }

    static void ask(Base it) {
        it.run(); // -> Stray$Base.run()V | open
    }
}
