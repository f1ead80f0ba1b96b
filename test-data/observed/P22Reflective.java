import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.EnumMap;
import java.util.EnumSet;

/** Objects that the JDK makes by reflection for code that names only their classes, and code that it runs so. */
public class P22Reflective {
  interface Act { String act(); }

  enum Level implements Act {
    LOW { public String act() { return "low"; } },
    HIGH { public String act() { return "high"; } }
  }

  enum Key { ONE, TWO; Key() { note("Key"); } }

  public static class Made implements Act {
    public Made() { note("Made"); }
    public String act() { return "made"; }
  }

  public static class Named implements Act {
    static { note("Named"); }
    public String act() { return "named"; }
  }

  record Point(int x) implements Act, Serializable {
    Point { note("Point"); }
    public String act() { return "point " + x; }
  }

  static class Stored implements Act, Serializable {
    Object readResolve() { note("readResolve"); return new Resolved(); }
    public String act() { return "stored"; }
  }

  static class Resolved implements Act {
    public String act() { return "resolved"; }
  }

  interface Greets {
    int N = count();
    String greet();
    default String twice() { return greet() + greet(); }
  }

  static int count() { note("Greets"); return 2; }
  static void note(String text) { System.out.println(text); }
  static void handled(String text) { note("handled " + text); }

  static byte[] written(Object it) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) { out.writeObject(it); }
    return bytes.toByteArray();
  }

  static Act read(byte[] bytes) throws Exception {
    return (Act) new ObjectInputStream(new ByteArrayInputStream(bytes)).readObject();
  }

  static String run(Act it) { return it.act(); }

  public static void main(String[] args) throws Throwable {
    for (Level it : EnumSet.allOf(Level.class)) note(run(it));
    new EnumMap<Key, String>(Key.class);
    note(run(Made.class.getConstructor().newInstance()));
    note(run((Act) Class.forName("P22Reflective$Named").getConstructor().newInstance()));
    note(run(read(written(new Point(7)))));
    note(run(read(written(new Stored()))));
    Greets greets = () -> "hi";
    note(greets.twice());
    MethodHandle handle = MethodHandles.lookup()
        .findStatic(P22Reflective.class, "handled", MethodType.methodType(void.class, String.class));
    handle.invokeWithArguments("x");
  }
}
