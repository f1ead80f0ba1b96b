package au;

public class OfInner extends Inner { }
