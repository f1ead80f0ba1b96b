import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.analysis.Analyzer;
import org.objectweb.asm.tree.analysis.AnalyzerException;
import org.objectweb.asm.tree.analysis.SourceInterpreter;

/**
 * The peer of our benches: {@code AsmBench MODE BLOB}, where the blob is classes one after another, each behind its
 * length in four bytes. Prints the CPU time of this thread in nanoseconds, median of five rounds after four to warm
 * up, then counts that show both sides did the same work. Times of the collector and the compiler are in other threads.
 */
final class AsmBench {
    private static final int WARM_UP = 4;
    private static final int ROUNDS = 5;
    private static final int API = Opcodes.ASM9;

    /** Keeps the compiler from dropping what nobody reads. */
    private static volatile long sink;

    public static void main(String[] args) throws IOException {
        List<byte[]> classes = load(Path.of(args[1]));
        Runnable round;
        switch (args[0]) {
            case "read" -> round = () -> classes.forEach(AsmBench::read);
            case "analyze" -> round = () -> classes.forEach(AsmBench::analyze);
            default -> throw new IllegalArgumentException("unknown mode " + args[0]);
        }
        Counts counts = new Counts();
        classes.forEach(it -> new ClassReader(it).accept(counts, 0));
        System.out.println(median(round) + "\t" + counts);
    }

    private static List<byte[]> load(Path blob) throws IOException {
        List<byte[]> classes = new ArrayList<>();
        try (DataInputStream in = new DataInputStream(new java.io.ByteArrayInputStream(Files.readAllBytes(blob)))) {
            while (true) {
                int length;
                try {
                    length = in.readInt();
                } catch (EOFException end) {
                    return classes;
                }
                byte[] bytes = new byte[length];
                in.readFully(bytes);
                classes.add(bytes);
            }
        }
    }

    private static long median(Runnable round) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        long[] times = new long[ROUNDS];
        for (int i = -WARM_UP; i < ROUNDS; i++) {
            long start = threads.getCurrentThreadCpuTime();
            round.run();
            long time = threads.getCurrentThreadCpuTime() - start;
            if (i >= 0) {
                times[i] = time;
            }
        }
        Arrays.sort(times);
        return times[ROUNDS / 2];
    }

    /** Visits everything and does nothing. A null method visitor would let ASM skip the bodies. */
    private static void read(byte[] bytes) {
        MethodVisitor empty = new MethodVisitor(API) {};
        new ClassReader(bytes).accept(new ClassVisitor(API) {
            @Override
            public MethodVisitor visitMethod(int access, String name, String desc, String sig, String[] exceptions) {
                return empty;
            }
        }, 0);
    }

    private static void analyze(byte[] bytes) {
        ClassNode node = new ClassNode();
        new ClassReader(bytes).accept(node, 0);
        for (MethodNode method : node.methods) {
            try {
                sink += new Analyzer<>(new SourceInterpreter()).analyze(node.name, method).length;
            } catch (AnalyzerException e) {
                throw new IllegalStateException(node.name + "." + method.name, e);
            }
        }
    }

    /** Classes, bodies, instructions, rows of exception tables, lines. */
    private static final class Counts extends ClassVisitor {
        private long classes, bodies, instructions, handlers, lines;

        Counts() {
            super(API);
        }

        @Override
        public String toString() {
            return classes + "\t" + bodies + "\t" + instructions + "\t" + handlers + "\t" + lines;
        }

        @Override
        public void visit(int version, int access, String name, String sig, String superName, String[] interfaces) {
            classes++;
        }

        @Override
        public MethodVisitor visitMethod(int access, String name, String desc, String sig, String[] exceptions) {
            return new MethodVisitor(API) {
                @Override public void visitCode() { bodies++; }
                @Override public void visitTryCatchBlock(Label s, Label e, Label h, String type) { handlers++; }
                @Override public void visitLineNumber(int line, Label start) { lines++; }
                @Override public void visitInsn(int op) { instructions++; }
                @Override public void visitIntInsn(int op, int operand) { instructions++; }
                @Override public void visitVarInsn(int op, int slot) { instructions++; }
                @Override public void visitTypeInsn(int op, String type) { instructions++; }
                @Override public void visitFieldInsn(int op, String o, String n, String d) { instructions++; }
                @Override public void visitMethodInsn(int op, String o, String n, String d, boolean i) { instructions++; }
                @Override public void visitInvokeDynamicInsn(String n, String d, Handle h, Object... a) { instructions++; }
                @Override public void visitJumpInsn(int op, Label label) { instructions++; }
                @Override public void visitLdcInsn(Object value) { instructions++; }
                @Override public void visitIincInsn(int slot, int increment) { instructions++; }
                @Override public void visitTableSwitchInsn(int a, int b, Label d, Label... l) { instructions++; }
                @Override public void visitLookupSwitchInsn(Label d, int[] k, Label[] l) { instructions++; }
                @Override public void visitMultiANewArrayInsn(String d, int n) { instructions++; }
            };
        }
    }
}
