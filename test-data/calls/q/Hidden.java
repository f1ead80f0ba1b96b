package q;

/** Package-private methods are overridden in their package only. */
public class Hidden {
    void m() { }
    public static void call(Hidden it) { it.m(); } // -> q.Hidden.m()V q.Near.m()V | not q.r.Far.m()V | open
}

class Near extends Hidden {
    @Override void m() { }
}
