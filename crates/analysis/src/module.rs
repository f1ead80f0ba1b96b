//! The content of a `module-info`, as plain data for crates that do not read class files.

use classfile::error::Result;
use classfile::module::Module;

/// The declaration of a module. The names of packages and services are in internal form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleInfo {
    /// The name of the module.
    pub name: String,
    /// Whether the module is declared `open`.
    pub open: bool,
    /// The packages that code of any module may use, because they are exported or opened without qualification.
    pub exports: Vec<String>,
    /// The packages that are exported or opened to some modules only, each with the names of those modules.
    pub qualified: Vec<(String, Vec<String>)>,
    /// The names of the modules that this module requires at run time.
    pub requires: Vec<String>,
    /// The names of the services that the module declares in `uses`.
    pub uses: Vec<String>,
    /// The names of the services that the module provides implementations of.
    pub provides: Vec<String>,
    /// Whether the JVM resolves the module by default if the module belongs to the JDK image: the module exports a
    /// package without qualification, and is not an incubator module.
    pub by_default: bool,
}

/// Returns the module that a class file declares; `None` if the file declares no module.
///
/// # Errors
/// When the class file or one of the attributes cannot be read.
pub fn module_info(bytes: &[u8]) -> Result<Option<ModuleInfo>> {
    let Some(it) = Module::read(bytes)? else { return Ok(None) };
    fn texts<T: ToString>(names: &[T]) -> Vec<String> {
        names.iter().map(T::to_string).collect()
    }
    Ok(Some(ModuleInfo {
        name: it.name.to_string(),
        open: it.open,
        exports: texts(&it.exports),
        qualified: it.qualified.iter().map(|(package, to)| (package.to_string(), texts(to))).collect(),
        requires: texts(&it.requires),
        uses: texts(&it.uses),
        provides: texts(&it.provides),
        by_default: it.by_default,
    }))
}
