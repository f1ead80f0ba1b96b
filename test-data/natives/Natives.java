import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.ObjectStreamClass;
import java.io.RandomAccessFile;
import java.io.Serializable;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SocketChannel;
import java.util.zip.Deflater;
import java.util.zip.Inflater;

/**
 * Provokes exceptions of native methods. Prints a line for each whose top frame is native: what was tried, the
 * native method, and the class of the exception with its superclasses, separated by tabs and spaces.
 */
public class Natives {
    interface Try {
        void run() throws Throwable;
    }

    static void attempt(String label, Try what) {
        try {
            what.run();
            System.out.println(label + "\tnothing");
        } catch (Throwable e) {
            for (Throwable it = e; it != null; it = it.getCause()) {
                report(label, it);
            }
        }
    }

    static void report(String label, Throwable e) {
        StackTraceElement[] trace = e.getStackTrace();
        if (trace.length == 0 || !trace[0].isNativeMethod()) {
            return;
        }
        String name = trace[0].getClassName().replace('.', '/') + "." + trace[0].getMethodName();
        StringBuilder chain = new StringBuilder();
        for (Class<?> c = e.getClass(); c != Object.class; c = c.getSuperclass()) {
            chain.append(chain.length() == 0 ? "" : " ").append(c.getName().replace('.', '/'));
        }
        System.out.println(label + "\t" + name + "\t" + chain);
    }

    static class NotCloneable {
        Object copy() throws CloneNotSupportedException {
            return clone();
        }
    }

    abstract static class Abstract {}

    static class Gone {}

    static class UsesGone {
        Gone gone;

        Gone gone(Gone it) {
            return it;
        }

        static class Inner {}
    }

    static class Failing implements Serializable {
        static final int VALUE = Integer.parseInt("no number");
    }

    /** Defines what it is given and finds nothing but the boot loader's classes. */
    static class Blind extends ClassLoader {
        Blind() {
            super(null);
        }

        Class<?> define(String name, byte[] bytes) {
            return defineClass(name, bytes, 0, bytes.length);
        }
    }

    static byte[] classFile(Class<?> class_) throws IOException {
        try (InputStream in = Natives.class.getResourceAsStream(class_.getName() + ".class")) {
            byte[] bytes = new byte[1 << 16];
            int n = 0;
            for (int read; (read = in.read(bytes, n, bytes.length - n)) > 0; n += read) {}
            return java.util.Arrays.copyOf(bytes, n);
        }
    }

    static void objects() {
        Object lock = new Object();
        attempt("notify", lock::notify);
        attempt("notifyAll", lock::notifyAll);
        attempt("wait", () -> lock.wait(1));
        attempt("wait interrupted", () -> {
            Thread.currentThread().interrupt();
            synchronized (lock) {
                lock.wait(1000);
            }
        });
        attempt("sleep interrupted", () -> {
            Thread.currentThread().interrupt();
            Thread.sleep(1000);
        });
        attempt("clone", () -> new NotCloneable().copy());
        attempt("holdsLock", () -> Thread.holdsLock(null));
        attempt("copy null", () -> System.arraycopy(null, 0, new int[1], 0, 1));
        attempt("copy range", () -> System.arraycopy(new int[1], 0, new int[1], 0, 2));
        attempt("copy kind", () -> System.arraycopy(new int[1], 0, new long[1], 0, 1));
        attempt("copy no array", () -> System.arraycopy("", 0, new long[1], 0, 1));
        attempt("copy element", () -> System.arraycopy(new Object[] {1}, 0, new String[1], 0, 1));
        attempt("library null", () -> System.mapLibraryName(null));
        attempt("library long", () -> System.mapLibraryName(new String(new char[5000]).replace('\0', 'x')));
    }

    static void arrays() {
        attempt("length null", () -> Array.getLength(null));
        attempt("length no array", () -> Array.getLength(""));
        attempt("get null", () -> Array.get(null, 0));
        attempt("get index", () -> Array.get(new int[1], 1));
        attempt("get kind", () -> Array.getInt(new Object[1], 0));
        attempt("get narrow", () -> Array.getByte(new int[1], 0));
        attempt("set index", () -> Array.set(new int[1], -1, 1));
        attempt("set kind", () -> Array.set(new int[1], 0, "x"));
        attempt("set element", () -> Array.set(new String[1], 0, 1));
        attempt("set null", () -> Array.set(new int[1], 0, null));
        attempt("setLong", () -> Array.setLong(new int[1], 0, 1));
        attempt("new negative", () -> Array.newInstance(int.class, -1));
        attempt("new void", () -> Array.newInstance(void.class, 1));
        attempt("new null", () -> Array.newInstance(null, 1));
        attempt("new many negative", () -> Array.newInstance(int.class, 1, -1));
        attempt("new no dimension", () -> Array.newInstance(int.class, new int[0]));
        attempt("new many null", () -> Array.newInstance(int.class, (int[]) null));
    }

    static void classes() throws Exception {
        attempt("assignable", () -> Object.class.isAssignableFrom(null));
        attempt("forName null", () -> Class.forName(null));
        attempt("forName absent", () -> Class.forName("no.Such", false, null));
        attempt("forName slash", () -> Class.forName("java/lang/Object", false, null));
        attempt("forName initialises", () -> Class.forName("Natives$Failing"));
        attempt("class format", () -> new Blind().define("p.C", new byte[10]));
        attempt("class name", () -> new Blind().define("p.C", classFile(Gone.class)));
        attempt("class twice", () -> {
            Blind loader = new Blind();
            loader.define("Natives$Gone", classFile(Gone.class));
            loader.define("Natives$Gone", classFile(Gone.class));
        });
        Class<?> uses = new Blind().define("Natives$UsesGone", classFile(UsesGone.class));
        attempt("methods", uses::getDeclaredMethods);
        attempt("fields", uses::getDeclaredFields);
        attempt("inner", uses::getDeclaredClasses);
        attempt("outer", uses::getDeclaringClass);
        attempt("initializer", () -> ObjectStreamClass.lookup(Failing.class).getSerialVersionUID());
        // By reflection: the symbols of Java 8 that javac sees do not have it.
        Field field = Class.forName("sun.misc.Unsafe").getDeclaredField("theUnsafe");
        field.setAccessible(true);
        Object unsafe = field.get(null);
        Method allocate = unsafe.getClass().getMethod("allocateInstance", Class.class);
        attempt("allocate abstract", () -> allocate.invoke(unsafe, Abstract.class));
        attempt("allocate primitive", () -> allocate.invoke(unsafe, int.class));
        attempt("allocate array", () -> allocate.invoke(unsafe, int[].class));
        attempt("allocate class", () -> allocate.invoke(unsafe, Class.class));
        attempt("allocate initialises", () -> allocate.invoke(unsafe, Failing.class));
    }

    static void files() throws IOException {
        File file = File.createTempFile("natives", null);
        File folder = file.getParentFile();
        attempt("open absent", () -> new FileInputStream("/no/such/file"));
        attempt("open to write", () -> new FileOutputStream(folder));
        attempt("open both", () -> new RandomAccessFile("/no/such/file", "r"));
        attempt("create", () -> new File("/no/such/file").createNewFile());
        attempt("sync", () -> new FileDescriptor().sync());
        FileInputStream open = new FileInputStream(file);
        attempt("read null", () -> open.read(null, 0, 1));
        attempt("read range", () -> open.read(new byte[1], 0, 2));
        attempt("skip back", () -> open.skip(-1));
        FileInputStream in = new FileInputStream(file);
        in.close();
        attempt("read closed", in::read);
        attempt("read many closed", () -> in.read(new byte[1]));
        attempt("available closed", in::available);
        attempt("skip closed", () -> in.skip(1));
        FileOutputStream out = new FileOutputStream(file);
        attempt("write null", () -> out.write(null, 0, 1));
        attempt("write range", () -> out.write(new byte[1], -1, 1));
        out.close();
        attempt("write closed", () -> out.write(1));
        attempt("write many closed", () -> out.write(new byte[1]));
        RandomAccessFile both = new RandomAccessFile(file, "r");
        attempt("write to read-only", () -> both.write(1));
        attempt("write many to read-only", () -> both.write(new byte[1]));
        attempt("set length", () -> both.setLength(7));
        both.close();
        attempt("seek closed", () -> both.seek(1));
        attempt("length closed", both::length);
        attempt("pointer closed", both::getFilePointer);
        attempt("read both closed", both::read);
        attempt("read many both closed", () -> both.read(new byte[1]));
        attempt("read folder", () -> {
            try (FileChannel channel = FileChannel.open(folder.toPath())) {
                channel.read(ByteBuffer.allocate(1));
            }
        });
        attempt("map folder", () -> {
            try (FileChannel channel = FileChannel.open(folder.toPath())) {
                channel.map(FileChannel.MapMode.READ_ONLY, 0, 0x7fffffff);
            }
        });
        file.delete();
    }

    static void others() throws Exception {
        attempt("process", () -> new ProcessBuilder("/no/such/program").start());
        attempt("inflate", () -> {
            Inflater it = new Inflater();
            it.setInput(new byte[] {1, 2, 3, 4});
            it.inflate(new byte[10]);
        });
        attempt("inflater dictionary", () -> new Inflater().setDictionary(new byte[1]));
        attempt("deflater dictionary", () -> {
            Deflater it = new Deflater();
            it.setInput(new byte[10]);
            it.deflate(new byte[5]);
            it.setDictionary(new byte[1]);
        });
        ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        InetSocketAddress address = (InetSocketAddress) server.getLocalSocketAddress();
        attempt("bind", () -> new ServerSocket(address.getPort(), 1, address.getAddress()));
        server.close();
        attempt("connect", () -> new Socket(address.getAddress(), address.getPort()));
        attempt("connect channel", () -> SocketChannel.open(address));
    }

    public static void main(String[] args) throws Exception {
        objects();
        arrays();
        classes();
        files();
        others();
    }
}
