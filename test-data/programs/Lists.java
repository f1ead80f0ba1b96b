import ajar.T;

/** A linked list and a small interpreter: many objects, recursion, loops with several exits. */
class Lists {
    static final class Node {
        final int head;
        final Node tail;

        Node(int head, Node tail) {
            this.head = head;
            this.tail = tail;
        }
    }

    static Node range(int from, int to) {
        return from >= to ? null : new Node(from, range(from + 1, to));
    }

    static int sum(Node it) {
        int sum = 0;
        for (; it != null; it = it.tail) {
            sum += it.head;
        }
        return sum;
    }

    static Node reverse(Node it) {
        Node out = null;
        while (it != null) {
            out = new Node(it.head, out);
            it = it.tail;
        }
        return out;
    }

    static int lists() {
        Node it = reverse(range(0, 20));
        return 1000 * it.head + sum(it);
    }

    static int find(Node it, int what) {
        int at = 0;
        do {
            if (it.head == what) {
                return at;
            }
            at++;
            it = it.tail;
        } while (true);
    }

    static int found() {
        return find(range(5, 9), 7);
    }

    static int notFound() {
        return find(range(5, 9), 70);
    }

    static int run(String program) {
        int[] stack = new int[4];
        int top = 0;
        for (int i = 0; i < program.length(); i++) {
            char c = program.charAt(i);
            if (c >= '0' && c <= '9') {
                stack[top++] = c - '0';
                continue;
            }
            int right = stack[--top];
            int left = stack[--top];
            stack[top++] = T.t(c == '+' ? left + right : c == '-' ? left - right : c == '*' ? left * right : left / right);
        }
        return stack[0];
    }

    static int interpreter() {
        int sum = 0;
        for (String it : new String[] {"12+3*", "11-", "10/", "11111", "+", null}) {
            try {
                sum += run(it);
            } catch (ArithmeticException e) {
                sum += 100;
            } catch (IndexOutOfBoundsException e) {
                sum += 1000;
            } catch (NullPointerException e) {
                sum += 10000;
            }
        }
        return sum;
    }

    static int ackermann(int m, int n) {
        return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
    }

    static int deep() {
        return ackermann(2, 5);
    }
}
