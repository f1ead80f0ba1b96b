package own;

public class Free {
    public static int OURS;
}
