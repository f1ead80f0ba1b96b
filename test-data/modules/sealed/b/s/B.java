package s;

public class B extends A { }
