/** What the bootstrap methods of the platform link: records, switches over patterns; calls on enums. */
class Dynamics {
    enum Color { RED, GREEN { @Override String shade() { return "g"; } }; String shade() { return "r"; } }
    record Point(Color color, Name name) { } // -> Dynamics$Name.toString()Ljava/lang/String; Dynamics$Name.hashCode()I Dynamics$Name.equals(Ljava/lang/Object;)Z | open | not Dynamics$Color.shade()Ljava/lang/String;
    static class Name { @Override public String toString() { return "n"; } @Override public int hashCode() { return 1; } @Override public boolean equals(Object o) { return true; } }
    sealed interface Node permits Leaf, Pair { }
    record Leaf(int value) implements Node { }
    record Pair(Node left, Node right) implements Node { }
    static int sum(Node it) {
        return switch (it) {
            case Leaf(int value) -> value; // -> Dynamics$Leaf.value()I | closed
            case Pair(Node left, Node right) -> sum(left) + sum(right); // -> Dynamics.sum(LDynamics$Node;)I Dynamics$Pair.left()LDynamics$Node; Dynamics$Pair.right()LDynamics$Node;
        };
    }
    static String shade(Color it) { return it.shade(); } // -> Dynamics$Color.shade()Ljava/lang/String; Dynamics$Color$1.shade()Ljava/lang/String; | closed
}
