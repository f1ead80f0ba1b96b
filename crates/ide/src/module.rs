//! Module descriptors.

use analysis::fault::Fault;
use analysis::module::ModuleInfo;

/// Returns the facts about the module that the class file declares; `None` if it declares none.
///
/// # Errors
/// When the class file or one of its attributes about the module cannot be read.
pub fn module_info(bytes: &[u8]) -> Result<Option<ModuleInfo>, Fault> {
    analysis::module::module_info(bytes).map_err(Fault::from)
}
