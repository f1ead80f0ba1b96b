package asks;

/** What others need to be loaded. */
public class Needed implements Able {
    public static int shared = 1;
    public int own;

    public static int make() {
        return 2;
    }

    public int get() {
        return 3;
    }

    @Override
    public int can() {
        return 4;
    }
}
