import java.lang.instrument.Instrumentation;

/** What may happen to somebody whose manifest names these classes as agents. Each method says which it is. */
public class Agents {
    private static final String TWO = "(Ljava/lang/String;Ljava/lang/instrument/Instrumentation;)V";
    private static final String ONE = "(Ljava/lang/String;)V";

    static void two(String what) {
        System.out.println(what + TWO);
    }

    static void one(String what) {
        System.out.println(what + ONE);
    }

    public static void main(String[] args) { }
}

class Both {
    public static void premain(String args, Instrumentation it) { Agents.two("Both.premain"); }
    public static void premain(String args) { Agents.one("Both.premain"); }
    public static void agentmain(String args, Instrumentation it) { Agents.two("Both.agentmain"); }
    public static void agentmain(String args) { Agents.one("Both.agentmain"); }
}

class One {
    public static void premain(String args) { Agents.one("One.premain"); }
    public static void agentmain(String args) { Agents.one("One.agentmain"); }
}

class Inherits extends Both { }

class InheritsOne extends One { }

/** What it declares stands before what it inherits, even if that has more parameters. */
class InheritsAndHas extends Both {
    public static void premain(String args) { Agents.one("InheritsAndHas.premain"); }
    public static void agentmain(String args) { Agents.one("InheritsAndHas.agentmain"); }
}

class Hidden {
    static void premain(String args) { Agents.one("Hidden.premain"); }
    static void agentmain(String args) { Agents.one("Hidden.agentmain"); }
}

class InheritsHidden extends Hidden { }

/** The first that is found counts, whether it can be called or not. */
class SecretBeside {
    private static void premain(String args, Instrumentation it) { Agents.two("SecretBeside.premain"); }
    public static void premain(String args) { Agents.one("SecretBeside.premain"); }
    private static void agentmain(String args, Instrumentation it) { Agents.two("SecretBeside.agentmain"); }
    public static void agentmain(String args) { Agents.one("SecretBeside.agentmain"); }
}

class OfObjectBeside {
    public void premain(String args, Instrumentation it) { Agents.two("OfObjectBeside.premain"); }
    public static void premain(String args) { Agents.one("OfObjectBeside.premain"); }
    public void agentmain(String args, Instrumentation it) { Agents.two("OfObjectBeside.agentmain"); }
    public static void agentmain(String args) { Agents.one("OfObjectBeside.agentmain"); }
}

class Number {
    public static int premain(String args) { System.out.println("Number.premain(Ljava/lang/String;)I"); return 0; }
    public static int agentmain(String args) { System.out.println("Number.agentmain(Ljava/lang/String;)I"); return 0; }
}

interface Interface {
    static void premain(String args) { Agents.one("Interface.premain"); }
    static void agentmain(String args) { Agents.one("Interface.agentmain"); }
}

class Implements implements Interface { }

class None { }
