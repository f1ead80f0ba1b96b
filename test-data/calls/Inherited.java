/** An unknown class may inherit a public method of a known class, and implement with it an interface that this class does not have. */
class Inherited {
    interface Hook {
        void hook();
    }

    static class Base {
        public void hook() { }
    }

    /** Has the method of its superclass, which is named in its place. */
    static class Below extends Base { }

    static abstract class Partial {
        public final void hook() { }

        public abstract void other();
    }

    static final class Closed {
        public void hook() { }
    }

    static class Hidden {
        void hook() { }
    }

    /** Its method is inherited as well: of the two interfaces, only this one has code. */
    interface Default {
        default void hook() { }
    }

    static void ask(Hook it) {
        it.hook(); // may Inherited$Base.hook()V Inherited$Partial.hook()V Inherited$Default.hook()V | never Inherited$Closed.hook()V Inherited$Hidden.hook()V | open
    }

    static void askClass(Base it) {
        it.hook(); // -> Inherited$Base.hook()V | never Inherited$Partial.hook()V Inherited$Default.hook()V | open
    }

    /** No unknown class implements a sealed interface whose classes are final. */
    sealed interface Sealed permits Own {
        void hook();
    }

    static final class Own implements Sealed {
        public void hook() { }
    }

    static void askSealed(Sealed it) {
        it.hook(); // -> Inherited$Own.hook()V | never Inherited$Base.hook()V Inherited$Default.hook()V | closed
    }
}
