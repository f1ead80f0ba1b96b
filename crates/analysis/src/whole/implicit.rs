//! What no instruction shows: methods that the VM, native methods, proxies and call-backs of the platform call, and kinds of
//! objects that the platform makes at run time.

use classfile::names::{ClassName, Descriptor, MethodRef, Name};
use flow::callbacks::callbacks;
use program::input::WorldKind;

/// A method of the platform by its names.
fn platform_method(class: &str, name: &str, descriptor: &str) -> MethodRef {
    let (class, name) = (ClassName::new(class.as_bytes()), Name::new(name.as_bytes()));
    MethodRef::new(class, name, Descriptor::new(descriptor.as_bytes()))
}

/// `java/lang/Thread.run()V`, which a thread that starts runs.
pub(super) fn thread_run() -> MethodRef {
    platform_method("java/lang/Thread", "run", "()V")
}

/// `java/lang/ClassLoader.loadClass(String)`, which the VM calls to load a class.
pub(super) fn load_class() -> MethodRef {
    platform_method("java/lang/ClassLoader", "loadClass", "(Ljava/lang/String;)Ljava/lang/Class;")
}

/// `java/lang/reflect/InvocationHandler.invoke`, which the methods of proxy classes call.
pub(super) fn handler_invoke() -> MethodRef {
    platform_method(
        "java/lang/reflect/InvocationHandler",
        "invoke",
        "(Ljava/lang/Object;Ljava/lang/reflect/Method;[Ljava/lang/Object;)Ljava/lang/Object;",
    )
}

/// The calls of this list that every program is asked for.
pub(super) fn implicit_calls(world: WorldKind) -> impl Iterator<Item = MethodRef> {
    // In the open world unknown classes are among the receivers anyway, so nobody looks for proxies.
    let handlers = (world != WorldKind::Open).then(handler_invoke);
    std::iter::once(thread_run()).chain(callbacks().iter().filter_map(|it| it.calls)).chain(handlers)
}

/// The calls that the VM makes on objects of any class, which count where what is reached is searched.
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

/// Which kinds of objects a program makes at run time whose classes no class file tells of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct RuntimeObjects {
    /// Proxies of interfaces.
    pub(super) proxies: bool,
    /// Objects of interfaces around method handles.
    pub(super) around_handles: bool,
}
