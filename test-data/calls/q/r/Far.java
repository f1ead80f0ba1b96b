package q.r;

import q.Hidden;

/** Not an override: another package. */
public class Far extends Hidden {
    public void m() { }
    static void call(Far it) { it.m(); } // -> q.r.Far.m()V | not q.Near.m()V | open
}
