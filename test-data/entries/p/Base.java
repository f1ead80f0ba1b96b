package p;

/** Its `main` is for its own package. */
public class Base {
    static void main(String[] args) { System.out.println("p/Base.main([Ljava/lang/String;)V"); }
    void main() { System.out.println("p/Base.main()V"); }
}
