package asks;

import java.util.function.Function;
import java.util.function.Supplier;

/** One instruction a method that resolves a class which nothing before it needed. */
public class Uses {
    static Object text = "text";
    static Needed none;

    public static Object anew() {
        return new Needed();
    }

    public static Object aStatic() {
        return Needed.shared;
    }

    public static Object aStaticPut() {
        Needed.shared = 5;
        return null;
    }

    public static Object aStaticCall() {
        return Needed.make();
    }

    public static Object aField() {
        return none.own;
    }

    public static Object aFieldPut() {
        none.own = 5;
        return null;
    }

    public static Object aCall() {
        return none.get();
    }

    public static Object aCast() {
        return (Needed) text;
    }

    public static Object aTest() {
        return text instanceof Needed;
    }

    public static Object anArray() {
        return new Needed[2];
    }

    public static Object arrays() {
        return new Needed[2][2];
    }

    public static Object aConstant() {
        return Needed.class;
    }

    public static Object aLambda() {
        Function<Needed, Object> function = it -> it;
        return function;
    }

    public static Object aReference() {
        Supplier<Object> supplier = Needed::new;
        return supplier.get();
    }

    public static Object aText() {
        return "a text of " + text;
    }

    public static Object aVerified() {
        return Verified.run();
    }

    public static Object aSubclass() {
        return Sub.run();
    }

    public static Object aHandler() {
        return Handles.run();
    }

    public static Object caught() {
        try {
            return Needed.class;
        } catch (NoClassDefFoundError it) {
            return "caught";
        }
    }

    public static Object caughtCall() {
        try {
            return Needed.make();
        } catch (NoClassDefFoundError it) {
            return "caught";
        }
    }

    public static Object thrownAgain() {
        try {
            return Needed.class;
        } catch (RuntimeException it) {
            text = null;
            throw it;
        }
    }

    public static Object nest() {
        return new Host.Inner().twice();
    }

    /** Needs nothing but itself. */
    public static Object alone() {
        return text == null ? null : same(text);
    }

    static Object same(Object it) {
        return it;
    }
}

/** The verifier must know whether a part is what is needed. */
class Verified {
    static Object run() {
        return "verified";
    }

    static Needed part(boolean it) {
        return it ? new Part() : new Needed();
    }
}

class Part extends Needed {}

class Sub extends Needed {
    static Object run() {
        return "sub";
    }
}

class Handles {
    static Object run() {
        return "handles";
    }

    static void late() {
        try {
            run();
        } catch (Late it) {
            run();
        }
    }
}

class Late extends RuntimeException {
    static Needed needed;
}
