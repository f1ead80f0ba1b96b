package java.sql;

public class Driver {
    public static int OURS;
}
