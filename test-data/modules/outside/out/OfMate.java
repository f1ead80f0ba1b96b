package out;

public class OfMate extends Mate { }
