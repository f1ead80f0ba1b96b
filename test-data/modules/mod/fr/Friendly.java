package fr;

public class Friendly {
    public void m() { }
}
