package java.mine;

public class X {
    public static int OURS;
}
