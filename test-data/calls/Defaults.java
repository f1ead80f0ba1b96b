/** Default, static and private methods of interfaces; a superclass that implements an interface it does not know. */
class Defaults {
    interface A { default String who() { return "A"; } static int st() { return 1; } }
    interface B extends A { default String who() { return "B"; } }
    interface C extends A { private int secret() { return 2; } default int tell() { return secret(); } } // -> Defaults$C.secret()I | closed
    static class D implements B, C { }
    static class E implements A { public String who() { return A.super.who(); } } // -> Defaults$A.who()Ljava/lang/String; | closed | not Defaults$B.who()Ljava/lang/String;
    static class Sup { public String who() { return "Sup"; } }
    static class Sub extends Sup implements A { }
    static String ask(A it) { return it.who(); } // -> Defaults$B.who()Ljava/lang/String; Defaults$E.who()Ljava/lang/String; Defaults$Sup.who()Ljava/lang/String; | not Defaults$A.who()Ljava/lang/String; | open
    static String askSub(Sub it) { return it.who(); } // -> Defaults$Sup.who()Ljava/lang/String; | not Defaults$A.who()Ljava/lang/String; | open
    static int stat() { return A.st(); } // -> Defaults$A.st()I | closed
}
