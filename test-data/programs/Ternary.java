import ajar.T;

/** Order of evaluation: values that wait on the stack while effects change what they were read from. */
class Ternary {
    int f = 1;
    static int s = 2;
    Ternary next;

    static int set(Ternary it, int value) {
        it.f = value;
        return value;
    }

    static boolean yes(int it) {
        return T.t(it) > 0;
    }

    static int fields() {
        Ternary it = new Ternary();
        Ternary same = it;
        int first = it.f + (same.f = 5) + it.f;
        int second = it.f + set(same, 7) + it.f;
        int third = s + (s += 3) + s++ + s;
        return 10000 * first + 100 * second + third;
    }

    static int arrays() {
        int[] a = {1, 2, 3, 4};
        int i = 0;
        a[i++] = a[i] + (a[i] = 40) + a[i++];
        a[a[3] - 2] += a[i -= 2] = 9;
        return a[0] + 100 * a[1] + 10000 * a[2] + i;
    }

    static int locals() {
        int i = 3;
        int j = i + i++ + ++i * i-- - i;
        i += i++ + (i = 7);
        return 100 * j + i;
    }

    static int conditions() {
        int x = 1 + (yes(1) ? yes(0) ? 10 : 20 : 30);
        int y = x + (yes(-1) && yes(2) || !yes(3) ? set(new Ternary(), 4) : (x = 8)) + x;
        return 1000 * x + y;
    }

    static int chain() {
        Ternary it = new Ternary();
        it.next = it;
        it.next.f = it.f++ + it.next.f;
        Ternary old = it;
        (it = it.next = null).f = T.t(3);
        return old.f;
    }

    static int order() {
        int[] none = null;
        int[] one = {0};
        int sum = 0;
        try {
            none[T.t(0)] = T.t(1);
        } catch (NullPointerException e) {
            sum += 1;
        }
        try {
            one[T.t(1)] = T.t(1) / T.t(0);
        } catch (ArithmeticException e) {
            sum += 10;
        } catch (ArrayIndexOutOfBoundsException e) {
            sum += 100;
        }
        try {
            one[T.t(1)] += T.t(2);
        } catch (ArrayIndexOutOfBoundsException e) {
            sum += 1000;
        }
        return sum;
    }
}
