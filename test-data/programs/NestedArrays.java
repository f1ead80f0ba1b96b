import ajar.T;

/** Arrays: several dimensions, sharing, covariance, element types narrower than int, bad sizes and indices. */
class NestedArrays {
    static int matrix() {
        int[][] a = new int[3][4];
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j < 4; j++) {
                a[i][j] = i * j;
            }
        }
        a[1] = a[2];
        a[2][3]++;
        T.t(a);
        return a[1][3] + a.length * a[0].length;
    }

    static Object ragged() {
        long[][][] a = new long[2][3][];
        a[0][1] = new long[] {1, 2};
        a[1] = new long[][] {{3}, null};
        return a;
    }

    static int covariant() {
        Object[] a = new String[2];
        int sum = 0;
        try {
            a[0] = "x";
            a[1] = T.t(a);
        } catch (ArrayStoreException e) {
            sum += 1;
        }
        try {
            a[T.t(2)] = new Object();
        } catch (ArrayIndexOutOfBoundsException e) {
            sum += 10;
        }
        a[1] = null;
        Object[][] b = {a, {a}};
        T.t(b);
        return sum + b.length;
    }

    static int narrow() {
        byte[] b = new byte[2];
        char[] c = {(char) -1};
        short[] s = {(short) 40000};
        boolean[] z = {true, false};
        b[0] = (byte) 200;
        b[1] += 300;
        z[1] |= z[0];
        T.t(z);
        T.t(c);
        return b[0] + 1000 * b[1] + c[0] + s[0];
    }

    static int sizes() {
        int sum = 0;
        try {
            int[][] a = new int[T.t(2)][T.t(-1)];
            sum += a.length;
        } catch (NegativeArraySizeException e) {
            sum += 100;
        }
        int[][] empty = new int[0][5];
        return sum + empty.length;
    }

    static int outOf() {
        int[] a = {1};
        return a[T.t(-1)];
    }

    static int copies() {
        int[] a = {1, 2};
        int[] b = a.clone();
        b[0] = 5;
        return 10 * a[0] + b[0];
    }
}
