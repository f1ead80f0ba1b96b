/** A receiver whose superclass is not there: what it inherits is not known, although its interface is closed. */
class Sealed {
    sealed interface Shape permits Known { int area(); }
    static final class Known extends Gone implements Shape { }
    static int ask(Shape it) { return it.area(); } // open
    static int askKnown(Known it) { return it.area(); } // open
}

class Gone {
    public int area() { return 1; }
}
