public class OfAuto extends au.Auto { }
