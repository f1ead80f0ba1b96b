package ghost;

@interface GhostComponent {
    String[] handlers() default {};

    String[] req_meths() default {};
}

interface Ghosts {
    @interface GhostComponent {
        Class<?>[] handlers();
    }

    @interface NoGhostComponent {}
}

class Parity {
    @GhostComponent(handlers = {"any"}, req_meths = {"odd(int)"})
    boolean even(int n) {
        return false;
    }

    @Ghosts.GhostComponent(handlers = ArithmeticException.class)
    boolean nested(int n) throws java.io.IOException {
        return false;
    }

    @GhostComponent
    boolean bare(int n) {
        return false;
    }

    @Ghosts.NoGhostComponent
    private boolean odd(int n) {
        return n != 0 && even(n - 1);
    }
}

@GhostComponent(req_meths = {})
sealed class Shape {
    static final class Circle extends Shape {}
}
