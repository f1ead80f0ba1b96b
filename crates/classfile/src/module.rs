//! What a `module-info` class says about its packages (JVMS §4.7.25, §4.7.26).

use crate::attributes::Attributes;
use crate::bytes::Reader;
use crate::class::ClassFile;
use crate::error::{Fault, Malformed, Result};
use crate::names::Name;
use crate::pool::{Entry, Pool, PoolIndex};

/// A named module and which of its packages everybody may use.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// Its name: `java.base`.
    pub name: Name,
    /// Whether all its packages are open (`ACC_OPEN`).
    pub open: bool,
    /// The packages that code of any module may link to, in the order of the file: those exported to all, and
    /// those opened to all, because the run time exports to the JVM what is open
    /// (`java.lang.Module::initExportsAndOpens`). Of an open module also its [`Module::packages`].
    pub exports: Box<[Name]>,
    /// All its packages, if the file lists them (`ModulePackages`); empty otherwise. Every JDK image lists them.
    pub packages: Box<[Name]>,
}

impl Module {
    /// The module that the class file `bytes` declares; `None` if it is an ordinary class.
    ///
    /// # Errors
    /// When the class file or one of the two attributes cannot be read.
    pub fn read(bytes: &[u8]) -> Result<Option<Module>> {
        let class = ClassFile::parse(bytes)?;
        if !class.flags.is_module() {
            return Ok(None);
        }
        let attributes = class.attributes();
        let Some(mut r) = reader(&class.pool, attributes, b"Module") else { return Ok(None) };
        let packages = packages(&class.pool, attributes)?;
        let (name, flags, _version) = (r.u2()?, r.u2()?, r.u2()?);
        let open = flags & 0x0020 != 0;
        let n_requires = r.u2()?;
        r.take(6 * n_requires as usize)?;
        let mut exports = Vec::new();
        // The tables of exports and of opens have the same form and follow each other.
        for _ in 0..2 {
            for _ in 0..r.u2()? {
                let (package, _flags, n_to) = (r.u2()?, r.u2()?, r.u2()?);
                r.take(2 * n_to as usize)?;
                if n_to == 0 {
                    exports.push(named(&class.pool, package)?);
                }
            }
        }
        if open {
            exports.extend(packages.iter().copied());
        }
        let name = named(&class.pool, name)?;
        Ok(Some(Module { name, open, exports: exports.into(), packages }))
    }
}

fn packages(pool: &Pool<'_>, attributes: Attributes<'_, '_>) -> Result<Box<[Name]>> {
    let Some(mut r) = reader(pool, attributes, b"ModulePackages") else { return Ok(Box::default()) };
    let n = r.u2()?;
    let items = r.take(2 * n as usize)?;
    items.chunks_exact(2).map(|it| named(pool, u16::from_be_bytes([it[0], it[1]]))).collect()
}

/// A reader of the content of the first attribute of this name.
fn reader<'a>(pool: &Pool<'a>, attributes: Attributes<'_, 'a>, name: &[u8]) -> Option<Reader<'a>> {
    let it = attributes.find(name)?;
    Some(Reader::new(pool.bytes().get(..it.offset + it.content.len())?, it.offset, "4.7.25"))
}

/// The name in the `CONSTANT_Module` or `CONSTANT_Package` at `index`.
fn named(pool: &Pool<'_>, index: u16) -> Result<Name> {
    match pool.entry(PoolIndex(index))? {
        Entry::Module(name) | Entry::Package(name) => pool.name(name),
        _ => {
            let want = "CONSTANT_Module or CONSTANT_Package";
            Err(Malformed::new(0, "4.7.25", Fault::PoolKind { index, want }))
        }
    }
}
