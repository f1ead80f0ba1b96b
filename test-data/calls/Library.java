/** What a library leaves to whoever uses it. */
public class Library {
    public interface Plugin { void go(); }
    static final class Inner implements Plugin { public void go() { } }
    private static final class Own { void go() { } }
    private final Own own = new Own(); // -> Library$Own.<init>()V
    public void overridable() { }
    public final void closed() { }
    void internal() { overridable(); } // -> Library.overridable()V | open
    void fixed() { closed(); } // -> Library.closed()V | closed
    void plug(Plugin it) { it.go(); } // -> Library$Inner.go()V | open
    void own() { own.go(); } // -> Library$Own.go()V | closed
    protected static void helper() { }
    static void uses() { helper(); } // -> Library.helper()V | closed
}
