package jdk.jshell;

public class Mine {
    public static int OURS;
}
