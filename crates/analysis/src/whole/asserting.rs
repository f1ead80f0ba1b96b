//! The classes of the platform whose assertions are off unless the user asks for them.
//!
//! The flag `-ea` of `java` enables the assertions of all classes but those of the boot loader; these are enabled by
//! `-esa`, or by `-ea` with the name of a class or package of the platform (`JavaAssertions::enabled` in HotSpot).

use classfile::module::Module;
use classfile::names::Name;
use rustc_hash::FxHashSet;

/// The modules that the boot loader defines, sorted. Listed by `ModuleLayer.boot()` of JDK 17 and 25 with all modules
/// of the system. Other modules of the JDK belong to the platform or application class loader.
const OF_BOOT_LOADER: &[&str] = &[
    "java.base",
    "java.datatransfer",
    "java.desktop",
    "java.instrument",
    "java.logging",
    "java.management",
    "java.management.rmi",
    "java.naming",
    "java.prefs",
    "java.rmi",
    "java.security.sasl",
    "java.xml",
    "jdk.incubator.foreign",
    "jdk.incubator.vector",
    "jdk.internal.vm.ci",
    "jdk.jfr",
    "jdk.management",
    "jdk.management.agent",
    "jdk.management.jfr",
    "jdk.naming.rmi",
    "jdk.net",
    "jdk.nio.mapmode",
    "jdk.sctp",
    "jdk.unsupported",
];

/// Returns the packages of the boot loader's modules among `modules`, the modules of a JDK image.
pub(super) fn packages_without_assertions(modules: &[Module]) -> FxHashSet<Name> {
    let of_boot_loader = |it: &&Module| OF_BOOT_LOADER.iter().any(|name| name.as_bytes() == it.name.bytes());
    modules.iter().filter(of_boot_loader).flat_map(|it| it.packages.iter().copied()).collect()
}
