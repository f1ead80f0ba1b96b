package shop;

import java.util.ArrayList;
import java.util.List;

public class Order {
    private final List<String> items = new ArrayList<>();
    private int cents;

    public void add(String item, int price) {
        if (price < 0) {
            throw new IllegalArgumentException(item);
        }
        items.add(item);
        cents += price;
    }

    public int total() {
        return cents;
    }

    public int average() {
        try {
            return cents / items.size();
        } catch (ArithmeticException e) {
            return 0;
        }
    }

    public void print() {
        items.forEach(it -> System.out.println(it));
    }
}
