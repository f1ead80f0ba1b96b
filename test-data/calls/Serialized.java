import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectInputStream;
import java.io.ObjectOutput;
import java.io.ObjectOutputStream;
import java.io.Serializable;

/** Serialization: what writing and reading objects runs of their classes. */
class Serialized {
    static class Above { Above() { } }
    static class Own extends Above implements Serializable {
        Own(int x) { }
        private void writeObject(ObjectOutputStream out) throws IOException { out.defaultWriteObject(); } // open
        private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException { in.defaultReadObject(); } // open
        private void readObjectNoData() { }
    }
    static class Replaced implements Serializable {
        Object writeReplace() { return this; }
        Object readResolve() { return this; }
    }
    static class Outer implements Externalizable {
        public Outer() { }
        public void writeExternal(ObjectOutput out) { }
        public void readExternal(ObjectInput in) { }
    }
    /** Has the methods, and is not serializable. */
    static class Plain {
        private void writeObject(ObjectOutputStream out) { }
        private void readObject(ObjectInputStream in) { }
        Object readResolve() { return this; }
    }
    /** A method of the name that is not private is no hook. */
    static class Public implements Serializable {
        public void readObject(ObjectInputStream in) { }
    }
    static void write(ObjectOutputStream out, Object it) throws IOException {
        out.writeObject(it); // serialization | open | -> Serialized$Own.writeObject(Ljava/io/ObjectOutputStream;)V Serialized$Replaced.writeReplace()Ljava/lang/Object; Serialized$Outer.writeExternal(Ljava/io/ObjectOutput;)V | not Serialized$Own.readObject(Ljava/io/ObjectInputStream;)V Serialized$Plain.writeObject(Ljava/io/ObjectOutputStream;)V
    }
    static Object read(ObjectInputStream in) throws Exception {
        return in.readObject(); // serialization | open | -> Serialized$Own.readObject(Ljava/io/ObjectInputStream;)V Serialized$Own.readObjectNoData()V Serialized$Above.<init>()V Serialized$Replaced.readResolve()Ljava/lang/Object; Serialized$Outer.<init>()V Serialized$Outer.readExternal(Ljava/io/ObjectInput;)V | not Serialized$Own.<init>(I)V Serialized$Plain.readObject(Ljava/io/ObjectInputStream;)V Serialized$Plain.readResolve()Ljava/lang/Object; Serialized$Public.readObject(Ljava/io/ObjectInputStream;)V
    }
}
