package pr; public class X { }
