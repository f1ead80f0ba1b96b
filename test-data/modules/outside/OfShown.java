public class OfShown extends out.Shown { }
