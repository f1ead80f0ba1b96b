//! The methods that the VM itself calls and the classes that it instantiates, regardless of the program: at start-up
//! and shutdown, for threads, loading and linking, and finalisation (HotSpot's `JavaCalls`).
//!
//! The called methods differ from release to release, so all methods of the classes that contain them are added.

use classfile::names::ClassName;
use program::members::MethodId;

use super::search::Search;
use crate::whole::implicit::upcalls;
use crate::whole::reachable::From;

/// Classes of the platform whose methods the VM may call although no code calls them.
const CALLED: [&str; 22] = [
    "java/lang/AssertionStatusDirectives",
    "java/lang/ClassLoader",
    "java/lang/Module",
    "java/lang/Shutdown",
    "java/lang/StackStreamFactory$AbstractStackWalker",
    "java/lang/System",
    "java/lang/Thread",
    "java/lang/ThreadGroup",
    "java/lang/VirtualThread",
    "java/lang/invoke/MethodHandleNatives",
    "java/lang/ref/Finalizer",
    "java/lang/ref/Finalizer$FinalizerThread",
    "java/lang/ref/Reference",
    "java/lang/ref/Reference$ReferenceHandler",
    "jdk/internal/loader/ClassLoaders",
    "jdk/internal/misc/Signal",
    "jdk/internal/module/ModuleBootstrap",
    "jdk/internal/vm/Continuation",
    "jdk/internal/vm/VMSupport",
    "sun/instrument/InstrumentationImpl",
    "sun/launcher/LauncherHelper",
    "sun/misc/Launcher",
];

/// Classes of the platform of which the VM may create objects although no code does.
const MADE: [&str; 24] = [
    "java/lang/Class",
    "java/lang/Module",
    "java/lang/Object",
    "java/lang/StackTraceElement",
    "java/lang/String",
    "java/lang/Thread",
    "java/lang/ThreadGroup",
    "java/lang/Boolean",
    "java/lang/Byte",
    "java/lang/Character",
    "java/lang/Double",
    "java/lang/Float",
    "java/lang/Integer",
    "java/lang/Long",
    "java/lang/Short",
    "java/lang/invoke/MemberName",
    "java/lang/invoke/MethodType",
    "java/lang/reflect/Constructor",
    "java/lang/reflect/Field",
    "java/lang/reflect/Method",
    "java/lang/reflect/Parameter",
    "java/lang/reflect/RecordComponent",
    "java/lang/StackFrameInfo",
    "java/security/ProtectionDomain",
];

/// Adds to a search for reached code the methods that the VM may call although no code calls them, and the classes of
/// which the VM may create objects although no code does.
pub(super) fn start(search: &mut Search<'_>) {
    let class = |name: &str| ClassName::new(name.as_bytes());
    for id in CALLED.iter().filter_map(|it| search.hierarchy().class(class(it))).collect::<Vec<_>>() {
        search.initialize(id, From::Vm);
        let n_methods = search.hierarchy().outline(id).methods.len();
        (0..n_methods).for_each(|it| search.method(MethodId::new(id, it), From::Vm));
    }
    for id in MADE.iter().filter_map(|it| search.hierarchy().class(class(it))).collect::<Vec<_>>() {
        search.initialize(id, From::Vm);
        search.made(id, From::Vm);
    }
    for method in upcalls() {
        search.site(search.calls.virtual_site(method), From::Vm);
    }
}
