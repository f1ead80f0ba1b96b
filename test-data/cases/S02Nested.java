/** Three tries in one another; the outer two catch again what the inner one has caught. */
class S02Nested {
    static class First extends RuntimeException {}

    static class Second extends RuntimeException {}

    static int run(int x, First first, Second second) {
        try {
            try {
                try {
                    if (x == 0) {
                        throw new First();
                    }
                    throw new Second();
                } catch (First e) {
                    return again(1);
                } catch (Second e) {
                    return again(2);
                }
            } catch (First e) {
                return 3;
            }
        } catch (Second e) {
            return 4;
        }
    }

    static int again(int x) {
        if (x == 1) {
            throw new First();
        }
        throw new Second();
    }
}
