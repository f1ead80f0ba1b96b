package sun.jvm.hotspot;

public class HotSpotAgent {
    public static int OURS;
}
