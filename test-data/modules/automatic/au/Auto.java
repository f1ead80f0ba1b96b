package au;

public class Auto {
    public void m() { }

    static void calls(Auto auto, Inner inner) {
        auto.m();
        inner.m();
    }
}

class Inner {
    void m() { }
}
