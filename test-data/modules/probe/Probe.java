/** Says of each class what the JVM's loaders make of it: the error, or whether it has a field OURS. */
public class Probe {
    public static void main(String[] names) {
        for (String name : names) {
            try {
                Class<?> found = Class.forName(name, false, Probe.class.getClassLoader());
                boolean ours = false;
                for (java.lang.reflect.Field field : found.getDeclaredFields()) {
                    ours |= field.getName().equals("OURS");
                }
                System.out.println(name + " " + (ours ? "ours" : "theirs"));
            } catch (Throwable error) {
                System.out.println(name + " " + error.getClass().getName());
            }
        }
    }
}
