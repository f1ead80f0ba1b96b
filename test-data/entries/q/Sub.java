package q;

/** Another package: it inherits neither. */
public class Sub extends p.Base { }
