/** What lies in the store, and the price of taking it out. */
final class Inventory {
    private final int[] stock;
    private final Object lock = new Object();
    private int refused;

    Inventory(int... stock) {
        this.stock = stock;
    }

    /** Takes the goods of one order out of the store; the cents it costs. */
    int fulfil(Order order) throws OutOfStock {
        synchronized (lock) {
            int left = stock[order.article] - order.quantity;
            if (left < 0) {
                throw new OutOfStock(-left);
            }
            stock[order.article] = left;
        }
        return order.quantity * price(order.article) + (order.express ? 500 : 0);
    }

    static int price(int article) {
        return switch (article) {
            case 0 -> 1999;
            case 1 -> 250;
            case 2 -> 75;
            default -> throw new IllegalArgumentException("no such article");
        };
    }

    /** All orders that can be fulfilled; the cents they cost together. */
    int fulfilAll(Order[] orders) {
        int cents = 0;
        for (Order order : orders) {
            int before = cents;
            try {
                cents += fulfil(order);
            } catch (OutOfStock e) {
                refused += e.missing;
            } finally {
                System.out.println(order.article + ": " + (cents - before));
            }
        }
        return cents;
    }

    public static void main(String[] args) {
        Inventory inventory = new Inventory(3, 10, 0);
        Order[] orders = {new Order(0, 2, true), new Order(2, 1, false), new Order(1, 4, false)};
        System.out.println("total " + inventory.fulfilAll(orders) + ", refused " + inventory.refused);
    }
}
