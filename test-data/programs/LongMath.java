import ajar.T;

/** Numbers: overflow, shifts, divisions at the edges, conversions, comparisons with NaN. */
class LongMath {
    static long longs() {
        long a = Long.MIN_VALUE;
        long sum = T.t(a / -1) + T.t(a % -1) + T.t(-a) + T.t(a - 1);
        sum ^= T.t(a >>> 63) ^ T.t(a >> 63) ^ T.t(1L << 65) ^ T.t((a >> 3) * 31);
        return sum + T.t((int) 0x1_8000_0000L) + T.t((byte) 0x1ffL);
    }

    static int ints() {
        int a = Integer.MIN_VALUE;
        return T.t(a / -1) ^ T.t(a % -1) ^ T.t(-7 / 2) ^ T.t(-7 % 2) ^ T.t(a >>> 33) ^ T.t(a * 3) ^ T.t((char) -1)
            ^ T.t((short) 0x18000);
    }

    static double doubles() {
        double zero = 0;
        double nan = zero / zero;
        T.t(1 / zero);
        T.t(-1 / zero);
        T.t(nan);
        T.t(5.5 % -2);
        T.t(-0.0 + zero);
        T.t((float) 1e300);
        T.t((int) nan);
        T.t((long) 1e300);
        T.t((int) -1e10f);
        T.t((byte) 300.7);
        return T.t(0.1 + 0.2) * 1e16 - zero;
    }

    static int compare(double a, double b) {
        return (a < b ? 1 : 0) + (a <= b ? 2 : 0) + (a > b ? 4 : 0) + (a >= b ? 8 : 0) + (a == b ? 16 : 0)
            + (a != b ? 32 : 0) + (!(a < b) ? 64 : 0) + (!(a >= b) ? 128 : 0);
    }

    static int compare(float a, float b) {
        return (a < b ? 1 : 0) + (a <= b ? 2 : 0) + (a > b ? 4 : 0) + (a >= b ? 8 : 0) + (a == b ? 16 : 0);
    }

    static int comparisons() {
        double[] values = {0.0, -0.0, 1, Double.NaN, Double.POSITIVE_INFINITY};
        int sum = 0;
        for (double a : values) {
            for (double b : values) {
                sum = 31 * sum + T.t(compare(a, b)) + compare((float) a, (float) b);
            }
        }
        return sum;
    }

    static long collatz() {
        long steps = 0;
        for (long n = 27; n != 1; n = (n & 1) == 0 ? n >> 1 : 3 * n + 1) {
            steps++;
        }
        return steps;
    }

    static float floats() {
        float f = 16777216f;
        f++;
        T.t(f);
        T.t((float) 16777217);
        T.t((double) 0.1f);
        return f % 0;
    }

    static int byZero() {
        return T.t(1) % T.t(0);
    }

    static long byZeroLong() {
        return T.t(1L) / T.t(0L);
    }
}
