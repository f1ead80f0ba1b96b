package java;

public class X {
    public static int OURS;
}
