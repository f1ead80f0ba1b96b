package out;

public class Shown {
    public void m() { }

    static void calls(in.Hidden hidden, fr.Friendly friendly, Shown shown, Mate mate) {
        hidden.m();
        friendly.m();
        shown.m();
        mate.m();
    }
}

class Mate {
    void m() { }
}
