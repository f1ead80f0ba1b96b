public class OfFriendly extends fr.Friendly { }
