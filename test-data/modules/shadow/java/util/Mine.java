package java.util;

public class Mine {
    public static int OURS;
}
