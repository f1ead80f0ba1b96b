/** Virtual and other calls: overriding, `super`, private methods, constructors, arrays, package-private methods. */
class Virtual {
    interface Shape { int area(); }
    static class Square implements Shape { public int area() { return 1; } }
    static class Circle implements Shape { public int area() { return 2; } }
    static abstract class Base implements Shape {
        int twice() { return 2 * area(); } // -> Virtual$Big.area()I Virtual$Plain.area()I Virtual$Leaf.area()I | open | not Virtual$Square.area()I Virtual$Circle.area()I
        String name() { return "base"; }
    }
    static class Plain extends Base { public int area() { return 3; } }
    static class Big extends Base {
        public int area() { return 4; }
        String name() { return super.name(); } // -> Virtual$Base.name()Ljava/lang/String; | not Virtual$Big.name()Ljava/lang/String;
    }
    static final class Leaf extends Base {
        public int area() { return 5; }
        private int own() { return 6; }
        int asks() { return own(); } // -> Virtual$Leaf.own()I | closed
        int selects() { return area(); } // -> Virtual$Leaf.area()I | not Virtual$Plain.area()I | closed
    }
    static int all(Shape it) { return it.area(); } // -> Virtual$Square.area()I Virtual$Circle.area()I Virtual$Plain.area()I Virtual$Big.area()I Virtual$Leaf.area()I | open
    static int some(Plain it) { return it.area(); } // -> Virtual$Plain.area()I | not Virtual$Big.area()I | open
    static int leaf(Leaf it) { return it.area(); } // -> Virtual$Leaf.area()I | not Virtual$Plain.area()I | closed
    static String inherited(Plain it) { return it.name(); } // -> Virtual$Base.name()Ljava/lang/String; | not Virtual$Big.name()Ljava/lang/String; | open
    static Object array(int[] it) { return it.clone(); } // closed
    static int direct() { return all(null); } // -> Virtual.all(LVirtual$Shape;)I | closed
    static Object make() { return new Square(); } // -> Virtual$Square.<init>()V | closed
}
