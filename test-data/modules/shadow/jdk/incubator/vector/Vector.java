package jdk.incubator.vector;

public class Vector {
    public static int OURS;
}
