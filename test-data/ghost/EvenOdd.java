package ghost;

/** The example of the paper: `even` is not written yet, and promises to let nothing out. */
public class EvenOdd {
    public static void main(String[] argv) {
        EvenOdd obj = new EvenOdd();
        obj.even(Integer.parseInt(argv[0]));
    }

    public boolean odd(int n) {
        if (n < 0)
            throw new ArithmeticException();
        else if (n == 0)
            return false;
        else
            return even(n - 1);
    }

    @GhostComponent(handlers = {"any"}, req_meths = {"odd(int)"})
    public boolean even(int n) {
        return false;
    }
}
