/** Static and default methods of interfaces: the same opcodes, another kind of constant. */
class S08Interfaces {
    interface Shape {
        static int sides() {
            return 4;
        }

        default int corners() {
            return 3;
        }
    }

    static class Square implements Shape {
        @Override
        public int corners() {
            return Shape.super.corners() + 1;
        }
    }

    static int sides() {
        return Shape.sides();
    }
}
