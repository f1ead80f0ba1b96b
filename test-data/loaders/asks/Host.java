package asks;

/** Whose members may use what is private of each other, once the host is there. */
public class Host {
    static class Base {
        private int once = 1;

        private Base() {}
    }

    static class Inner extends Base {
        Inner() {
            super();
        }

        int twice() {
            return 2 * ((Base) this).once;
        }
    }
}
