package s;

class A {
    void m() { }

    static void calls(A a) {
        a.m();
    }
}
