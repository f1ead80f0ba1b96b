//! What a `module-info` says.

use analysis::fault::Fault;
use analysis::module::ModuleInfo;

/// What the class file says of a module; `None` if it declares none.
///
/// # Errors
/// When the class file or one of the attributes that tell of the module cannot be read.
pub fn module_info(bytes: &[u8]) -> Result<Option<ModuleInfo>, Fault> {
    analysis::module::module_info(bytes).map_err(Fault::from)
}
