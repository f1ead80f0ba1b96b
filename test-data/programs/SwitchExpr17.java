import ajar.T;

/** Java 17: switch expressions with loops and try inside, below a full stack; patterns in instanceof; lambdas. */
class SwitchExpr17 {
    interface IntOp {
        int apply(int it);
    }

    sealed interface Expr permits Num, Add {
    }

    static final class Num implements Expr {
        final int value;

        Num(int value) {
            this.value = value;
        }
    }

    static final class Add implements Expr {
        final Expr left;
        final Expr right;

        Add(Expr left, Expr right) {
            this.left = left;
            this.right = right;
        }
    }

    int f = 3;

    static int eval(Expr it) {
        if (it instanceof Num num && num.value >= 0) {
            return num.value;
        } else if (it instanceof Add add) {
            return T.t(eval(add.left) + eval(add.right));
        }
        return -1;
    }

    static int loops() {
        SwitchExpr17 it = new SwitchExpr17();
        int sum = 0;
        for (int k = 0; k < 4; k++) {
            sum += it.f + switch (k) {
                case 0 -> T.t(1);
                case 1 -> {
                    int s = 0;
                    for (int i = 0; i < 5; i++) {
                        it.f += s += i;
                    }
                    yield s;
                }
                default -> {
                    try {
                        yield 10 / (k - 2);
                    } catch (ArithmeticException e) {
                        yield it.f;
                    }
                }
            } * it.f;
        }
        return sum;
    }

    static int patterns() {
        return eval(new Add(new Num(2), new Add(new Num(-5), new Num(40))));
    }

    static int lambdas() {
        int base = T.t(7);
        IntOp[] all = {it -> it + base, T::t, SwitchExpr17::twice, it -> it / 0};
        int sum = 0;
        try {
            for (IntOp it : all) {
                sum = 10 * sum + it.apply(sum + 1);
            }
        } catch (ArithmeticException e) {
            sum = -sum;
        }
        return sum;
    }

    static int twice(int it) {
        return 2 * it;
    }

    static String texts() {
        String text = """
            two
            "lines"\
            """;
        return T.t(5) + text + T.t(2L) + 'c' + null + true;
    }
}
