/** What may happen to somebody who gives these classes to the launcher. Each `main` says which it is. */
class Launched {
    static void ran(String what) {
        System.out.println(what);
    }
}

class Plain {
    public static void main(String[] args) { Launched.ran("Plain.main([Ljava/lang/String;)V"); }
}

class Hidden {
    static void main(String[] args) { Launched.ran("Hidden.main([Ljava/lang/String;)V"); }
}

class Guarded {
    protected static void main(String[] args) { Launched.ran("Guarded.main([Ljava/lang/String;)V"); }
}

class Secret {
    private static void main(String[] args) { Launched.ran("Secret.main([Ljava/lang/String;)V"); }
}

class SecretBeside {
    private static void main(String[] args) { Launched.ran("SecretBeside.main([Ljava/lang/String;)V"); }
    void main() { Launched.ran("SecretBeside.main()V"); }
}

class Number {
    public static int main(String[] args) { Launched.ran("Number.main([Ljava/lang/String;)I"); return 0; }
}

class NumberBeside {
    public static int main(String[] args) { Launched.ran("NumberBeside.main([Ljava/lang/String;)I"); return 0; }
    public static void main() { Launched.ran("NumberBeside.main()V"); }
}

class OfObject {
    void main() { Launched.ran("OfObject.main()V"); }
}

class OfObjectWithArguments {
    void main(String[] args) { Launched.ran("OfObjectWithArguments.main([Ljava/lang/String;)V"); }
}

class Both {
    void main(String[] args) { Launched.ran("Both.main([Ljava/lang/String;)V"); }
    static void main() { Launched.ran("Both.main()V"); }
}

class StaticWithout {
    static void main() { Launched.ran("StaticWithout.main()V"); }
}

class Inherits extends Plain { }

class InheritsAndHas extends Plain {
    void main() { Launched.ran("InheritsAndHas.main()V"); }
}

class InheritsHidden extends Hidden { }

class InheritsOfObject extends OfObject { }

abstract class Abstract {
    void main() { Launched.ran("Abstract.main()V"); }
}

class Concrete extends Abstract { }

class NeedsMore {
    NeedsMore(int it) { }
    void main() { Launched.ran("NeedsMore.main()V"); }
}

class PrivateConstructor {
    private PrivateConstructor() { }
    void main() { Launched.ran("PrivateConstructor.main()V"); }
}

interface Interface {
    static void main(String[] args) { Launched.ran("Interface.main([Ljava/lang/String;)V"); }
}

class Implements implements Interface { }

interface Default {
    default void main() { Launched.ran("Default.main()V"); }
}

class ImplementsDefault implements Default { }

interface DefaultWithArguments {
    default void main(String[] args) { Launched.ran("DefaultWithArguments.main([Ljava/lang/String;)V"); }
}

class ImplementsDefaultWithArguments implements DefaultWithArguments {
    public void main() { Launched.ran("ImplementsDefaultWithArguments.main()V"); }
}

abstract class Demands {
    abstract void main();
}

class Supplies extends Demands {
    void main() { Launched.ran("Supplies.main()V"); }
}

class Outer {
    class Inner {
        void main() { Launched.ran("Outer$Inner.main()V"); }
    }

    private static class Nested {
        public static void main(String[] args) { Launched.ran("Outer$Nested.main([Ljava/lang/String;)V"); }
    }
}

enum Constants {
    ONE;
    public static void main(String[] args) { Launched.ran("Constants.main([Ljava/lang/String;)V"); }
}

enum ConstantsOfObject {
    ONE;
    void main() { Launched.ran("ConstantsOfObject.main()V"); }
}

record Empty() {
    void main() { Launched.ran("Empty.main()V"); }
}

class Elsewhere extends q.Sub { }

/** Java 21 looks at this class first, later ones at all that take arguments. */
class HasLess extends OfObjectWithArguments {
    void main() { Launched.ran("HasLess.main()V"); }
}

/** Java 21 finds out that it is abstract when it has been initialised. */
abstract class Initialized {
    static { Launched.ran("Initialized.<clinit>()V"); }
    void main() { Launched.ran("Initialized.main()V"); }
}
