package org.w3c.dom;

public class Node {
    public static int OURS;
}
