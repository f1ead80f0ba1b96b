import ajar.T;

/** Which method a call runs: overriding, interfaces, super calls, private and static methods, overloading. */
class Dispatch {
    interface Shape {
        int area();

        default int twice() {
            return 2 * area();
        }
    }

    static class Square implements Shape {
        final int side;

        Square(int side) {
            this.side = T.t(side);
        }

        public int area() {
            return side * side;
        }

        int name() {
            return hidden() + 1;
        }

        private int hidden() {
            return 10;
        }

        static int kind() {
            return 1;
        }
    }

    static class Cube extends Square {
        Cube(int side) {
            super(side + 1);
        }

        @Override
        public int area() {
            return 6 * super.area();
        }

        @Override
        public int twice() {
            return -super.twice();
        }

        int hidden() {
            return 20;
        }

        static int kind() {
            return 2;
        }
    }

    static int of(Object it) {
        return 1;
    }

    static int of(String it) {
        return 2;
    }

    static int of(Shape it) {
        return 3;
    }

    static int shapes() {
        Shape[] shapes = {new Square(2), new Cube(1), new Shape() {
            public int area() {
                return 7;
            }
        }};
        int sum = 0;
        for (Shape it : shapes) {
            sum = 31 * sum + T.t(it.area()) + T.t(it.twice());
        }
        return sum;
    }

    static int privates() {
        Square it = new Cube(0);
        return 100 * it.name() + 10 * ((Cube) it).hidden() + Square.kind() + Cube.kind();
    }

    static int overloads() {
        Object it = "text";
        return 100 * of(it) + 10 * of("text") + of(new Square(0));
    }

    static int nullReceiver() {
        Shape it = null;
        return it.area() + T.t(1);
    }
}
