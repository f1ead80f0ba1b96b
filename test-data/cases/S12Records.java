/** Record patterns over a sealed interface: accessors run in a try of javac's, and a default arm that it adds. */
class S12Records {
    sealed interface Shape permits Box, Ball {}

    record Box(int side) implements Shape {}

    record Ball(int radius) implements Shape {
        @Override
        public int radius() {
            if (radius < 0) {
                throw new Negative();
            }
            return radius;
        }
    }

    static final class Negative extends RuntimeException {}

    static int size(Shape shape) {
        return switch (shape) {
            case Box(int side) -> side;
            case Ball(int radius) -> radius;
        };
    }
}
