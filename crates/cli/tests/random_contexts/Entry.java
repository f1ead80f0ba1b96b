package ajarrun;

/** Calls the entry method with a number. */
public interface Entry {
    void call(int entry, int x) throws Throwable;
}
