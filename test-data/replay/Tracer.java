import com.sun.jdi.AbsentInformationException;
import com.sun.jdi.Bootstrap;
import com.sun.jdi.ClassType;
import com.sun.jdi.IncompatibleThreadStateException;
import com.sun.jdi.Location;
import com.sun.jdi.Method;
import com.sun.jdi.ReferenceType;
import com.sun.jdi.StackFrame;
import com.sun.jdi.ThreadReference;
import com.sun.jdi.VirtualMachine;
import com.sun.jdi.connect.LaunchingConnector;
import com.sun.jdi.event.BreakpointEvent;
import com.sun.jdi.event.ClassPrepareEvent;
import com.sun.jdi.event.Event;
import com.sun.jdi.event.EventSet;
import com.sun.jdi.event.ExceptionEvent;
import com.sun.jdi.event.StepEvent;
import com.sun.jdi.event.VMDisconnectEvent;
import com.sun.jdi.request.BreakpointRequest;
import com.sun.jdi.request.ClassPrepareRequest;
import com.sun.jdi.request.EventRequest;
import com.sun.jdi.request.EventRequestManager;
import com.sun.jdi.request.ExceptionRequest;
import com.sun.jdi.request.StepRequest;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Runs a program under the debugger interface and prints what its methods did, step by step. The README beside this file
 * says what the lines mean.
 *
 * <p>Usage: {@code Tracer FULL STEPS ENTRIES CLASSPATH MAIN [ARG...]}: of each method the first FULL activations are
 * stepped through, for STEPS instructions at most, and the first ENTRIES are reported.
 */
public final class Tracer {
    /** What belongs to the JDK: run at full speed, and seen only between two methods of the program. */
    private static final String[] PLATFORM = {"java.", "javax.", "jdk.", "sun.", "com.sun."};

    private final int full;
    private final int steps;
    private final int entries;
    private final VirtualMachine vm;
    private final EventRequestManager requests;
    private final PrintStream out;
    private final Map<Method, Integer> entered = new HashMap<>();
    private final Map<Long, Stack> stacks = new HashMap<>();
    private final Map<Method, byte[]> codes = new HashMap<>();
    /** Where methods that are stepped through are stopped again after what they called. */
    private final Map<Method, Map<Long, BreakpointRequest>> stops = new HashMap<>();
    private int activations;

    /** An activation of a method of the program. */
    private static final class Activation {
        final int id;
        final Method method;
        /** Frames of the thread, this one included, when it was entered. */
        final int depth;
        boolean stepped;
        int done;
        long pc = -1;

        Activation(int id, Method method, int depth, boolean stepped) {
            this.id = id;
            this.method = method;
            this.depth = depth;
            this.stepped = stepped;
        }
    }

    /** The activations of a thread, and how it is stepped now. */
    private static final class Stack {
        final ArrayList<Activation> all = new ArrayList<>();
        StepRequest request;
        StringBuilder line = new StringBuilder();

        Activation top() {
            return all.isEmpty() ? null : all.get(all.size() - 1);
        }

        void pop() {
            all.remove(all.size() - 1);
        }
    }

    private Tracer(String[] args) throws Exception {
        full = Integer.parseInt(args[0]);
        steps = Integer.parseInt(args[1]);
        entries = Integer.parseInt(args[2]);
        out = new PrintStream(new BufferedOutputStream(System.out, 1 << 16), false, StandardCharsets.UTF_8);
        LaunchingConnector connector = Bootstrap.virtualMachineManager().defaultConnector();
        var settings = connector.defaultArguments();
        settings.get("options").setValue("-cp \"" + args[3] + "\" -Duser.language=en");
        StringBuilder main = new StringBuilder(args[4]);
        for (int i = 5; i < args.length; i++) {
            main.append(" \"").append(args[i]).append('"');
        }
        settings.get("main").setValue(main.toString());
        vm = connector.launch(settings);
        requests = vm.eventRequestManager();
    }

    public static void main(String[] args) throws Exception {
        Tracer tracer = new Tracer(args);
        drain(tracer.vm.process().getInputStream());
        drain(tracer.vm.process().getErrorStream());
        tracer.run();
        tracer.out.println("exit " + tracer.vm.process().waitFor());
        tracer.out.flush();
    }

    private static void drain(InputStream in) {
        Thread thread = new Thread(() -> {
            try {
                in.transferTo(PrintStream.nullOutputStream());
            } catch (IOException e) {
                // The program has ended.
            }
        });
        thread.setDaemon(true);
        thread.start();
    }

    private void run() throws Exception {
        ClassPrepareRequest prepared = requests.createClassPrepareRequest();
        ExceptionRequest thrown = requests.createExceptionRequest(null, true, true);
        for (String name : PLATFORM) {
            prepared.addClassExclusionFilter(name + "*");
        }
        for (EventRequest it : new EventRequest[] {prepared, thrown}) {
            it.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
            it.enable();
        }
        while (true) {
            EventSet events = vm.eventQueue().remove();
            // A stop that a step leads to comes together with that step.
            boolean stepped = false;
            for (Event it : events) {
                if (it instanceof StepEvent event) {
                    stepped = true;
                    at(event.thread(), event.location(), true);
                }
            }
            boolean here = stepped;
            for (Event it : events) {
                if (it instanceof BreakpointEvent event && !stepped) {
                    if (event.location().codeIndex() == 0) {
                        enter(event);
                    }
                    if (!here) {
                        at(event.thread(), event.location(), false);
                    }
                    here = true;
                } else if (it instanceof ExceptionEvent event) {
                    exception(event);
                } else if (it instanceof ClassPrepareEvent event) {
                    prepare(event.referenceType());
                } else if (it instanceof VMDisconnectEvent) {
                    return;
                }
            }
            events.resume();
        }
    }

    private static boolean platform(String name) {
        for (String prefix : PLATFORM) {
            if (name.startsWith(prefix)) {
                return true;
            }
        }
        return false;
    }

    /** Classes that the JVM makes for function objects: they have no name that others could use. */
    private static boolean hidden(Location it) {
        return it.declaringType().name().indexOf('/') >= 0;
    }

    private static boolean ours(Location it) {
        return !platform(it.declaringType().name()) && !hidden(it);
    }

    private static String name(Method it) {
        return it.declaringType().name().replace('.', '/') + "." + it.name() + it.signature();
    }

    private void prepare(ReferenceType type) throws AbsentInformationException {
        if (type.name().indexOf('/') >= 0) {
            return;
        }
        for (Method method : type.methods()) {
            if (!method.isAbstract() && !method.isNative()) {
                BreakpointRequest request = requests.createBreakpointRequest(method.locationOfCodeIndex(0));
                request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
                request.enable();
            }
        }
    }

    private Stack stack(ThreadReference thread) {
        return stacks.computeIfAbsent(thread.uniqueID(), it -> new Stack());
    }

    private void enter(BreakpointEvent event) throws IncompatibleThreadStateException {
        ThreadReference thread = event.thread();
        Method method = event.location().method();
        Stack stack = stack(thread);
        int depth = thread.frameCount();
        settle(stack, depth - 1);
        int number = entered.merge(method, 1, Integer::sum);
        if (number >= entries) {
            event.request().disable();
        }
        Activation it = new Activation(activations++, method, depth, number <= full);
        flush(stack);
        StringBuilder line = new StringBuilder("enter ");
        line.append(it.id).append(it.stepped ? " full " : " brief ").append(name(method));
        for (int i = 1; i < depth; i++) {
            Location at = thread.frame(i).location();
            if (!hidden(at)) {
                line.append(' ').append(frame(stack, at, depth - i));
                if (ours(at)) {
                    break;
                }
            }
        }
        out.println(line);
        stack.all.add(it);
    }

    /** A frame: the activation if it is known, else the method, and where it is. */
    private static String frame(Stack stack, Location at, int depth) {
        for (Activation it : stack.all) {
            if (it.depth == depth && it.method.equals(at.method())) {
                return "#" + it.id + "@" + at.codeIndex();
            }
        }
        return name(at.method()) + "@" + at.codeIndex();
    }

    /** Takes off the activations that are deeper than the thread is now. */
    private void settle(Stack stack, int depth) {
        while (stack.top() != null && stack.top().depth > depth) {
            Activation top = stack.top();
            if (top.stepped && top.pc >= 0 && leaves(opcode(top))) {
                flush(stack);
                out.println("return " + top.id);
            }
            stack.pop();
        }
    }

    private int opcode(Activation it) {
        return codes.computeIfAbsent(it.method, Method::bytecodes)[(int) it.pc] & 0xff;
    }

    private static boolean leaves(int opcode) {
        return 0xac <= opcode && opcode <= 0xb1;
    }

    /** The length of an instruction that runs other code: calls, initialisation, loading of classes. 0 for others. */
    private static int lengthOfCall(int opcode) {
        return switch (opcode) {
            case 0x12 -> 2;
            case 0x13, 0x14, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7, 0xb8, 0xbb, 0xbd, 0xc0, 0xc1 -> 3;
            case 0xc5 -> 4;
            case 0xb9, 0xba -> 5;
            default -> 0;
        };
    }

    /** The instruction at which a thread stands that may be in an activation that is stepped through. */
    private void at(ThreadReference thread, Location at, boolean byStep) throws IncompatibleThreadStateException {
        Stack stack = stack(thread);
        // A step stays in its activation, as all that runs other code is left to run.
        int depth = byStep ? 0 : thread.frameCount();
        if (!byStep) {
            settle(stack, depth);
        }
        Activation top = stack.top();
        boolean other = top == null || !top.method.equals(at.method()) || !byStep && top.depth != depth;
        if (other || !top.stepped) {
            halt(stack);
            quiet(at.method());
            return;
        }
        if (top.done++ >= steps) {
            flush(stack);
            out.println("lost " + top.id);
            top.stepped = false;
            halt(stack);
            quiet(top.method);
            return;
        }
        top.pc = at.codeIndex();
        if (stack.line.isEmpty()) {
            stack.line.append("step ").append(top.id);
        }
        stack.line.append(' ').append(top.pc);
        int opcode = opcode(top);
        int length = lengthOfCall(opcode);
        if (length > 0) {
            // The JDK is not to be stepped through, which takes long even where it goes unreported.
            halt(stack);
            stopAt(top.method, top.pc + length);
        } else if (leaves(opcode) || opcode == 0xbf) {
            halt(stack);
        } else if (stack.request == null) {
            stack.request = requests.createStepRequest(thread, StepRequest.STEP_MIN, StepRequest.STEP_INTO);
            stack.request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
            stack.request.enable();
        }
    }

    private void halt(Stack stack) {
        if (stack.request != null) {
            requests.deleteEventRequest(stack.request);
            stack.request = null;
        }
    }

    private void stopAt(Method method, long pc) {
        Map<Long, BreakpointRequest> all = stops.computeIfAbsent(method, it -> new HashMap<>());
        if (all.containsKey(pc)) {
            return;
        }
        BreakpointRequest request = requests.createBreakpointRequest(method.locationOfCodeIndex(pc));
        request.setSuspendPolicy(EventRequest.SUSPEND_EVENT_THREAD);
        request.enable();
        all.put(pc, request);
    }

    /** Takes the stops out of a method no activation of which is stepped through now. */
    private void quiet(Method method) {
        for (Stack stack : stacks.values()) {
            for (Activation it : stack.all) {
                if (it.stepped && it.method.equals(method)) {
                    return;
                }
            }
        }
        Map<Long, BreakpointRequest> all = stops.remove(method);
        if (all != null) {
            all.values().forEach(requests::deleteEventRequest);
        }
    }

    private void flush(Stack stack) {
        if (!stack.line.isEmpty()) {
            out.println(stack.line);
            stack.line = new StringBuilder();
        }
    }

    private void exception(ExceptionEvent event) throws IncompatibleThreadStateException {
        ThreadReference thread = event.thread();
        Stack stack = stack(thread);
        Location to = event.catchLocation();
        List<StackFrame> frames = thread.frames();
        StringBuilder line = new StringBuilder("throw ");
        ClassType type = (ClassType) event.exception().referenceType();
        for (ClassType it = type; it != null; it = it.superclass()) {
            line.append(it == type ? "" : ":").append(it.name().replace('.', '/'));
        }
        boolean seen = false;
        int left = 0;
        for (int i = 0; i < frames.size(); i++) {
            Location at = frames.get(i).location();
            boolean last = to != null && at.method().equals(to.method());
            seen |= ours(at);
            if (!hidden(at)) {
                line.append(' ').append(frame(stack, at, frames.size() - i));
            }
            left = i;
            if (last) {
                line.append('>').append(to.codeIndex());
                break;
            }
        }
        if (!seen) {
            return;
        }
        flush(stack);
        out.println(line);
        int depth = to == null ? 0 : frames.size() - left;
        while (stack.top() != null && stack.top().depth > depth) {
            stack.pop();
        }
        halt(stack);
        if (to != null && stack.top() != null && stack.top().stepped && stack.top().method.equals(to.method())) {
            stopAt(to.method(), to.codeIndex());
        }
    }
}
