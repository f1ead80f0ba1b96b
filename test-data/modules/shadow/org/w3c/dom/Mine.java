package org.w3c.dom;

public class Mine {
    public static int OURS;
}
