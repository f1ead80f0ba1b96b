import ajar.T;

/** Switches: over strings (with equal hashes), dense and sparse ints, fall-through, nested in loops. */
class StringSwitch {
    static int of(String it) {
        switch (it) {
            case "Aa":
                return 1;
            case "BB":
                return 2;
            case "":
                T.say("empty");
            case "c":
                return 3;
            default:
                return 4;
        }
    }

    static int strings() {
        int sum = 0;
        for (String it : new String[] {"Aa", "BB", "", "c", "AaBB"}) {
            sum = 10 * sum + T.t(of(it));
        }
        return sum;
    }

    static int nothing() {
        return of(null);
    }

    static int sparse(int it) {
        switch (it) {
            case Integer.MIN_VALUE:
                return 1;
            case -1:
                it++;
            case 1000:
                return it + 5;
            case Integer.MAX_VALUE:
                return 9;
            default:
                return 0;
        }
    }

    static int ints() {
        int sum = 0;
        for (int it : new int[] {Integer.MIN_VALUE, -1, 0, 1000, Integer.MAX_VALUE}) {
            sum = 7 * sum + sparse(it);
        }
        return sum;
    }

    static int machine() {
        int state = 0;
        int steps = 0;
        outer:
        while (true) {
            steps++;
            switch (state) {
                case 0:
                    state = 3;
                    break;
                case 1:
                    break outer;
                case 2:
                    state = T.t(1);
                    continue outer;
                case 3:
                    state = steps > 6 ? 2 : 4;
                    break;
                default:
                    state -= 1;
            }
        }
        return 100 * steps + state;
    }

    static int chars() {
        String text = "a-b_c";
        int n = 0;
        for (int i = 0; i < text.length(); i++) {
            switch (text.charAt(i)) {
                case '-':
                case '_':
                    n += 10;
                    break;
                case 'b':
                    n += 100;
            }
        }
        return n;
    }
}
