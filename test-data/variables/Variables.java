import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.TreeSet;

/**
 * Accesses through variable handles of each kind, with arguments that fit and that do not. Prints each method with the
 * exceptions that it let out, once for each list of arguments.
 */
class Variables {
    int number;
    final int constant = 1;
    Object object;
    static int count;
    static Object shared;

    private static final VarHandle NUMBER;
    private static final VarHandle CONSTANT;
    private static final VarHandle OBJECT;
    private static final VarHandle COUNT;
    private static final VarHandle SHARED;
    private static final VarHandle INTS = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle OBJECTS = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle STRINGS = MethodHandles.arrayElementVarHandle(String[].class);
    private static final VarHandle BYTES =
        MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.BIG_ENDIAN);

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            NUMBER = lookup.findVarHandle(Variables.class, "number", int.class);
            CONSTANT = lookup.findVarHandle(Variables.class, "constant", int.class);
            OBJECT = lookup.findVarHandle(Variables.class, "object", Object.class);
            COUNT = lookup.findStaticVarHandle(Variables.class, "count", int.class);
            SHARED = lookup.findStaticVarHandle(Variables.class, "shared", Object.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Its initialiser fails. */
    static class Late {
        static int value = Integer.parseInt("no number");
    }

    /** Until JDK 21, looking up the handle runs the initialiser of `Late`. */
    static class Lookup {
        private static final VarHandle LATE;

        static {
            try {
                LATE = MethodHandles.lookup().findStaticVarHandle(Late.class, "value", int.class);
            } catch (ReflectiveOperationException e) {
                throw new ExceptionInInitializerError(e);
            }
        }

        static void late(Object on, Object by) {
            LATE.set(by);
        }
    }

    static void number(Object on, Object by) {
        NUMBER.get(on);
        NUMBER.set(on, by);
        NUMBER.getAndAdd(on, by);
        NUMBER.compareAndSet(on, by, by);
        NUMBER.getAndBitwiseOrAcquire(on, by);
        NUMBER.getAndSetRelease(on, by);
    }

    static void constant(Object on, Object by) {
        int it = (int) CONSTANT.getVolatile(on);
        CONSTANT.setVolatile(on, by);
    }

    static void object(Object on, Object by) {
        OBJECT.setOpaque(on, by);
        OBJECT.weakCompareAndSetPlain(on, by, by);
        String it = (String) OBJECT.getOpaque(on);
    }

    static void adds(Object on, Object by) {
        OBJECT.getAndAdd(on, by);
    }

    static void count(Object on, Object by) {
        COUNT.set(by);
        COUNT.compareAndExchange(by, by);
        COUNT.get(on);
    }

    static void shared(Object on, Object by) {
        SHARED.setRelease(by);
        Integer it = (Integer) SHARED.getAcquire();
    }

    static void late(Object on, Object by) {
        Lookup.late(on, by);
    }

    static void ints(Object on, Object by) {
        INTS.setVolatile(on, by, by);
        INTS.getAndBitwiseXor(on, by, by);
    }

    static void objects(Object on, Object by) {
        OBJECTS.set(on, 0, by);
        OBJECTS.compareAndSet(on, 0, (Object) null, by);
        OBJECTS.get(on, by);
    }

    static void strings(Object on, Object by) {
        STRINGS.getAndSet(on, 0, by);
    }

    static void bytes(Object on, Object by) {
        BYTES.get(on, by);
        BYTES.set(on, by, by);
        BYTES.getVolatile(on, by);
    }

    static void misfits(Object on, Object by) {
        NUMBER.set(on, by, by);
    }

    interface Access {
        void run(Object on, Object by);
    }

    static void run(String name, Access it) {
        Object[] objects = {
            null, new Variables(), "text", new int[2], new Object[2], new String[2], new byte[8], new byte[0],
        };
        Object[] values = {null, 0, 1, 2, 9, -1, "text", 1L, (byte) 1, 'c', new Object()};
        TreeSet<String> thrown = new TreeSet<>();
        for (Object on : objects) {
            for (Object by : values) {
                try {
                    it.run(on, by);
                } catch (Throwable e) {
                    thrown.add(e.getClass().getName());
                }
            }
        }
        System.out.println(name + " " + String.join(" ", thrown));
    }

    public static void main(String[] args) {
        run("number", Variables::number);
        run("constant", Variables::constant);
        run("object", Variables::object);
        run("adds", Variables::adds);
        run("count", Variables::count);
        run("shared", Variables::shared);
        run("late", Variables::late);
        run("ints", Variables::ints);
        run("objects", Variables::objects);
        run("strings", Variables::strings);
        run("bytes", Variables::bytes);
        run("misfits", Variables::misfits);
    }
}
