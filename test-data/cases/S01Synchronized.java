/** The whole body is in `synchronized`: javac guards the code that unlocks with a row to itself. */
class S01Synchronized {
    int[] counts;

    int add(int at) {
        synchronized (this) {
            return ++counts[at];
        }
    }
}
