/** One customer's order: how many of which article. */
final class Order {
    final int article;
    final int quantity;
    final boolean express;

    Order(int article, int quantity, boolean express) {
        if (quantity <= 0) {
            throw new IllegalArgumentException("quantity must be positive");
        }
        this.article = article;
        this.quantity = quantity;
        this.express = express;
    }
}
