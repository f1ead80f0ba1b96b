//! What a `module-info` says, as plain data for rooms that know no class files.

use classfile::error::Result;
use classfile::module::Module;

/// A module, by its descriptor. Packages and services have internal names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleInfo {
    /// Its name.
    pub name: String,
    /// Whether all its packages are open.
    pub open: bool,
    /// The packages that code of any module may link to: exported or opened to all.
    pub exports: Vec<String>,
    /// The packages that are exported or opened to some modules only, with the names of those.
    pub qualified: Vec<(String, Vec<String>)>,
    /// The modules that it cannot do without at run time.
    pub requires: Vec<String>,
    /// The services that it looks up.
    pub uses: Vec<String>,
    /// The services that it provides.
    pub provides: Vec<String>,
    /// Whether it is there without being asked for when it is of the JDK's image: it exports a package to all, and is no
    /// incubator.
    pub by_default: bool,
}

/// What the class file says of a module; `None` if it declares none.
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
