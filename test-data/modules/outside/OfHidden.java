public class OfHidden extends in.Hidden { }
