package asks;

public interface Able {
    int can();
}
