/** An article is not there in the quantity ordered. */
final class OutOfStock extends Exception {
    final int missing;

    OutOfStock(int missing) {
        this.missing = missing;
    }
}
