/** Loading by a loader of the program's own. */
class Loading {
    static class Own extends ClassLoader {
        @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
            byte[] bytes = new byte[0];
            return defineClass(name, bytes, 0, 0); // open
        }
    }
    static class Eager extends ClassLoader {
        @Override public Class<?> loadClass(String name) { return null; }
        @Override protected Class<?> loadClass(String name, boolean resolve) { return null; }
    }
    static class Named { static { Loading.seen++; } }
    static int seen;
    static Object any(ClassLoader it) throws Exception { return it.loadClass("p.C"); } // load | -> Loading$Own.findClass(Ljava/lang/String;)Ljava/lang/Class; Loading$Eager.loadClass(Ljava/lang/String;)Ljava/lang/Class; Loading$Eager.loadClass(Ljava/lang/String;Z)Ljava/lang/Class; | open | not Loading$Named.<clinit>()V
    static Object own(Own it) throws Exception { return it.loadClass("p.C"); } // load | -> Loading$Own.findClass(Ljava/lang/String;)Ljava/lang/Class; | open
    static Object eager(Eager it) throws Exception { return it.loadClass("p.C"); } // -> Loading$Eager.loadClass(Ljava/lang/String;)Ljava/lang/Class; | open | not Loading$Own.findClass(Ljava/lang/String;)Ljava/lang/Class;
    static Object by(Own it) throws Exception { return Class.forName("p.C", true, it); } // load | -> Loading$Eager.loadClass(Ljava/lang/String;)Ljava/lang/Class; | open
    static Object literal() { return Named.class; } // nothing
}
