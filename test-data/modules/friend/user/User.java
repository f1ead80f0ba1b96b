package user;

public class User extends fr.Friendly { }
