/** Extends a class of a package that java.base does not export, and calls its methods. */
public class Main extends sun.security.util.Cache.EqualByteArray {
    Main() {
        super(new byte[0]);
    }

    static int calls(sun.security.util.Cache.EqualByteArray it) {
        return it.hashCode();
    }

    public static void main(String[] args) {
        System.out.println(calls(new Main()) != -1);
    }
}
