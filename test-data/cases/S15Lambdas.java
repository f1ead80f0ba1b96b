/** Function objects that are made and run at once, with no JDK to say what makes them. */
class S15Lambdas {
    interface Inner {
        int bar(int x);
    }

    void m1() {
        Runnable it = this::m2;
        it.run();
    }

    void m2() {}

    static int main() {
        Inner it = x -> x + 1;
        return it.bar(2);
    }
}
