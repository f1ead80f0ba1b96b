//! Behaviour that no instruction shows: methods that the VM calls, native methods, proxies, callbacks of the
//! platform, and the kinds of objects that the platform creates at run time.

use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::callbacks::callbacks;
use program::input::WorldKind;

/// Returns the reference to the platform method with this class, name and descriptor.
fn platform_method(class: &str, name: &str, descriptor: &str) -> MethodRef {
    let (class, name) = (ClassName::new(class.as_bytes()), Name::new(name.as_bytes()));
    MethodRef::new(class, name, Descriptor::new(descriptor.as_bytes()))
}

/// Returns the reference to `java/lang/Thread.run()V`, the method that a started thread runs.
pub(super) fn thread_run() -> MethodRef {
    platform_method("java/lang/Thread", "run", "()V")
}

/// Returns the method of the platform that a call runs which the VM performs itself: the constructor of Object, `clone`
/// of an array, or an access mode of `VarHandle`. `method` is the method that the call names.
pub(super) fn performed(method: MethodRef) -> MethodRef {
    let name = method.get().name.bytes();
    if method.class().bytes() == b"java/lang/invoke/VarHandle" {
        let begins = |it: &[u8]| name.starts_with(it);
        let result: &[u8] = if begins(b"set") {
            b"V"
        } else if begins(b"compareAndSet") || begins(b"weakCompareAndSet") {
            b"Z"
        } else {
            b"Ljava/lang/Object;"
        };
        // The declared parameters stand for any list of arguments (JVMS §2.9.3).
        let descriptor = [b"([Ljava/lang/Object;)", result].concat();
        return MethodRef::new(method.class(), method.get().name, Descriptor::new(&descriptor));
    }
    match name {
        b"clone" => platform_method("java/lang/Object", "clone", "()Ljava/lang/Object;"),
        _ => platform_method("java/lang/Object", "<init>", "()V"),
    }
}

/// Returns the reference to `java/lang/ClassLoader.loadClass(String)`, which the VM calls to load a class.
pub(super) fn load_class() -> MethodRef {
    platform_method("java/lang/ClassLoader", "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;")
}

/// Returns the reference to `java/lang/reflect/InvocationHandler.invoke`, which each method of a proxy class calls.
pub(super) fn handler_invoke() -> MethodRef {
    platform_method(
        "java/lang/reflect/InvocationHandler",
        "invoke",
        "(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;",
    )
}

/// Returns the methods that the VM or the platform calls although no instruction of the program calls them. The
/// targets of these calls are computed for every program, independently of its code.
pub(super) fn implicit_calls(world: WorldKind) -> impl Iterator<Item = MethodRef> {
    // In the open world unknown classes are among the receivers anyway, so proxies need no search.
    let handlers = (world != WorldKind::Open).then(handler_invoke);
    std::iter::once(thread_run()).chain(callbacks().iter().filter_map(|it| it.calls)).chain(handlers)
}

/// Returns methods that the VM may call on any object that has them. Only the search for reached code (`--rta`) uses
/// these calls.
pub(super) fn upcalls() -> [MethodRef; 4] {
    [
        load_class(),
        platform_method(
            "java/lang/Thread$UncaughtExceptionHandler",
            "uncaughtException",
            "(Ljava/lang/Thread;Ljava/lang/Throwable;)V",
        ),
        handler_invoke(),
        platform_method(
            "java/lang/instrument/ClassFileTransformer",
            "transform",
            "(Ljava/lang/ClassLoader;Ljava/lang/String;Ljava/lang/Class;Ljava/security/ProtectionDomain;[B)[B",
        ),
    ]
}

/// The kinds of objects that a program creates and whose classes have no class file, because the classes are made at
/// run time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct RuntimeObjects {
    /// Whether the program creates proxies of interfaces (`java.lang.reflect.Proxy`).
    pub(super) proxies: bool,
    /// Whether the program creates objects that implement an interface by a method handle
    /// (`java.lang.invoke.MethodHandleProxies`).
    pub(super) around_handles: bool,
    /// Whether code of the program itself calls `java.lang.invoke.LambdaMetafactory`, and so creates objects that implement
    /// any interface by a method handle.
    pub(super) functions: bool,
}

impl RuntimeObjects {
    /// Returns the kinds of `self` and of `other`.
    pub(super) fn with(self, other: Self) -> Self {
        RuntimeObjects {
            proxies: self.proxies || other.proxies,
            around_handles: self.around_handles || other.around_handles,
            functions: self.functions || other.functions,
        }
    }
}

/// The methods that create proxies of interfaces: pairs of a class and a method name, or `*` for all methods of the
/// class.
const MAKERS: [(&str, &str); 7] = [
    ("java/beans/EventHandler", "create"),
    ("java/lang/management/ManagementFactory", "newPlatformMXBeanProxy"),
    ("java/lang/reflect/Proxy", "*"),
    ("java/rmi/Naming", "*"),
    ("java/rmi/registry/Registry", "*"),
    ("javax/management/JMX", "*"),
    ("javax/management/MBeanServerInvocationHandler", "*"),
];
/// The class whose methods create objects that implement an interface by a method handle.
const AROUND_HANDLES: &str = "java/lang/invoke/MethodHandleProxies";
/// The class whose methods link function objects. The dynamic call sites of lambdas name it without an instruction that
/// calls it.
const LINKS_FUNCTIONS: &str = "java/lang/invoke/LambdaMetafactory";

/// Returns the classes whose methods create objects of classes that are made at run time.
pub(super) fn makers() -> impl Iterator<Item = ClassName> {
    let names = MAKERS.iter().map(|it| it.0).chain([AROUND_HANDLES, LINKS_FUNCTIONS]);
    names.map(|it| ClassName::new(it.as_bytes()))
}

/// Returns the kinds of objects that a call of this method creates and whose classes exist only at run time.
pub(super) fn made_by_call(method: MethodRef) -> RuntimeObjects {
    let it = method.get();
    let class = it.class.bytes();
    let makes = |&(maker, name): &(&str, &str)| {
        class == maker.as_bytes() && (name == "*" || it.name.bytes() == name.as_bytes())
    };
    RuntimeObjects {
        proxies: MAKERS.iter().any(makes),
        around_handles: class == AROUND_HANDLES.as_bytes(),
        functions: class == LINKS_FUNCTIONS.as_bytes(),
    }
}
