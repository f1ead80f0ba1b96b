package in;

public class Hidden {
    public void m() { }
}
