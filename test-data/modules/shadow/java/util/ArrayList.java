package java.util;

public class ArrayList {
    public static int OURS;
}
