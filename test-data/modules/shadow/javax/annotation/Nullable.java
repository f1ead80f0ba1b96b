package javax.annotation;

public class Nullable {
    public static int OURS;
}
