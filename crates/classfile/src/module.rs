//! The content of a `module-info` class: exported and opened packages (JVMS §4.7.25, §4.7.26), required modules,
//! and services.

use crate::attributes::Attributes;
use crate::bytes::Reader;
use crate::class::ClassFile;
use crate::error::{Fault, Malformed, Result};
use crate::names::{ClassName, Name};
use crate::pool::{Entry, Pool, PoolIndex};

/// A named module, with the packages that are accessible from outside.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Module {
    /// The name of the module: `java.base`.
    pub name: Name,
    /// Whether all packages are open (`ACC_OPEN`).
    pub open: bool,
    /// The packages that code of any module may link to, in file order: first those exported to all modules, then
    /// those opened to all modules, because at run time the JVM treats open packages as exported
    /// (`java.lang.Module::initExportsAndOpens`). If the module is open, all its packages ([`Module::packages`]) come
    /// after these.
    pub exports: Box<[Name]>,
    /// The packages that are exported or opened only to certain modules, each with the names of these modules.
    pub qualified: Box<[(Name, Box<[Name]>)]>,
    /// The modules that are required at run time.
    pub requires: Box<[Name]>,
    /// The services that the module uses (`uses`).
    pub uses: Box<[ClassName]>,
    /// The services for which the module provides implementations (`provides`).
    pub provides: Box<[ClassName]>,
    /// Whether the module, if it belongs to the JDK's image, is a root module by default (JEP 261, "Root modules"):
    /// it exports a package to all modules and is not an incubator module (JEP 11). A package that is only opened
    /// does not count. Incubator modules are marked by the attribute `ModuleResolution`, which is not in the JVMS.
    pub by_default: bool,
    /// All packages of the module, as listed by `ModulePackages`; empty if the file has no such attribute. Every JDK
    /// image lists them.
    pub packages: Box<[Name]>,
}

impl Module {
    /// Reads the module that the class file `bytes` declares; returns `None` if it is an ordinary class.
    ///
    /// # Errors
    /// Fails if the class file cannot be read, or an attribute that describes the module cannot.
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
        let requires = requires(&mut r, &class.pool)?;
        let (mut exports, mut qualified) = (Vec::new(), Vec::new());
        let mut is_root = false;
        // The tables of exports and of opens have the same format and are adjacent.
        for opens in [false, true] {
            for _ in 0..r.u2()? {
                let (package, _flags, n_to) = (r.u2()?, r.u2()?, r.u2()?);
                let to = r.take(2 * n_to as usize)?;
                let package = named(&class.pool, package)?;
                if n_to == 0 {
                    is_root |= !opens;
                    exports.push(package);
                } else {
                    let to =
                        to.chunks_exact(2).map(|it| named(&class.pool, u16::from_be_bytes([it[0], it[1]])));
                    qualified.push((package, to.collect::<Result<_>>()?));
                }
            }
        }
        if open {
            exports.extend(packages.iter().copied());
        }
        let n_uses = r.u2()?;
        let uses = (0..n_uses).map(|_| class.pool.class_name(PoolIndex(r.u2()?))).collect::<Result<_>>()?;
        let mut provides = Vec::new();
        for _ in 0..r.u2()? {
            provides.push(class.pool.class_name(PoolIndex(r.u2()?))?);
            let n_with = r.u2()?;
            r.take(2 * n_with as usize)?;
        }
        let by_default = match reader(&class.pool, attributes, b"ModuleResolution") {
            Some(mut it) => it.u2()? & DO_NOT_RESOLVE_BY_DEFAULT == 0,
            None => true,
        } && is_root;
        Ok(Some(Module {
            name: named(&class.pool, name)?,
            open,
            exports: exports.into(),
            qualified: qualified.into(),
            requires,
            uses,
            provides: provides.into(),
            by_default,
            packages,
        }))
    }
}

const STATIC_PHASE: u16 = 0x0040;
const DO_NOT_RESOLVE_BY_DEFAULT: u16 = 0x0001;

/// Reads the table of required modules. Modules that are required at compile time only are left out.
fn requires(r: &mut Reader<'_>, pool: &Pool<'_>) -> Result<Box<[Name]>> {
    let mut acc = Vec::new();
    for _ in 0..r.u2()? {
        let (module, flags, _version) = (r.u2()?, r.u2()?, r.u2()?);
        if flags & STATIC_PHASE == 0 {
            acc.push(named(pool, module)?);
        }
    }
    Ok(acc.into())
}

fn packages(pool: &Pool<'_>, attributes: Attributes<'_, '_>) -> Result<Box<[Name]>> {
    let Some(mut r) = reader(pool, attributes, b"ModulePackages") else { return Ok(Box::default()) };
    let n = r.u2()?;
    let items = r.take(2 * n as usize)?;
    items.chunks_exact(2).map(|it| named(pool, u16::from_be_bytes([it[0], it[1]]))).collect()
}

/// Returns a reader of the content of the first attribute with this name; `None` if there is no such attribute.
fn reader<'a>(pool: &Pool<'a>, attributes: Attributes<'_, 'a>, name: &[u8]) -> Option<Reader<'a>> {
    let it = attributes.find(name)?;
    Some(Reader::new(pool.bytes().get(..it.offset + it.content.len())?, it.offset, "4.7.25"))
}

/// Returns the name in the `CONSTANT_Module` or `CONSTANT_Package` at `index`.
fn named(pool: &Pool<'_>, index: u16) -> Result<Name> {
    match pool.entry(PoolIndex(index))? {
        Entry::Module(name) | Entry::Package(name) => pool.name(name),
        _ => {
            let want = "CONSTANT_Module or CONSTANT_Package";
            Err(Malformed::new(0, "4.7.25", Fault::PoolKind { index, want }))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPEN: u16 = 0x0020;

    /// Returns the class file of [`exporting`] in which `p/out` is exported to all modules.
    fn module_info(class_flags: u16, module_flags: u16, with_packages: bool) -> Vec<u8> {
        exporting(class_flags, module_flags, with_packages, true)
    }

    /// Returns a `module-info` of module `my.mod`, which exports `p/out` to all modules (`to_all`) or only to itself,
    /// exports `p/to` to itself, opens `p/open` to all modules, and also contains `p/in`. The bytes are written by
    /// hand, because no compiler writes all variants.
    fn exporting(class_flags: u16, module_flags: u16, with_packages: bool, to_all: bool) -> Vec<u8> {
        let mut out = vec![0xca, 0xfe, 0xba, 0xbe, 0, 0, 0, 53];
        let put = |out: &mut Vec<u8>, it: &[u16]| it.iter().for_each(|it| out.extend(it.to_be_bytes()));
        let texts = ["module-info", "Module", "ModulePackages", "my.mod", "p/out", "p/to", "p/open", "p/in"];
        // The texts from index 1 on, then class, module and packages.
        put(&mut out, &[15]);
        for text in texts {
            out.push(1);
            put(&mut out, &[text.len() as u16]);
            out.extend(text.bytes());
        }
        for (tag, text) in [(7, 1), (19, 4), (20, 5), (20, 6), (20, 7), (20, 8)] {
            out.push(tag);
            put(&mut out, &[text]);
        }
        put(&mut out, &[class_flags, 9, 0, 0, 0, 0, 1 + u16::from(with_packages)]);
        let mut module = Vec::new();
        put(&mut module, &[10, module_flags, 0, 1, 10, 0, 0]);
        let out_to: &[u16] = if to_all { &[0] } else { &[1, 10] };
        put(&mut module, &[&[2, 11, 0], out_to, &[12, 0, 1, 10, 1, 13, 0, 0]].concat());
        put(&mut module, &[0, 0]);
        put(&mut out, &[2, 0, module.len() as u16]);
        out.extend(module);
        if with_packages {
            put(&mut out, &[3, 0, 10, 4, 11, 12, 13, 14]);
        }
        out
    }

    fn shown(bytes: &[u8]) -> String {
        let it = Module::read(bytes).expect("readable").expect("a module");
        format!("{} {} {:?} {:?} {:?}", it.name, it.open, it.exports, it.packages, it.qualified)
    }

    #[test]
    fn packages_exported_or_opened_to_all_are_exported() {
        let to = "[(p/to, [my.mod])]";
        let all = "[p/out, p/to, p/open, p/in]";
        assert_eq!(shown(&module_info(0x8000, 0, true)), format!("my.mod false [p/out, p/open] {all} {to}"));
        assert_eq!(shown(&module_info(0x8000, 0, false)), format!("my.mod false [p/out, p/open] [] {to}"));
        let open = "[p/out, p/open, p/out, p/to, p/open, p/in]";
        assert_eq!(shown(&module_info(0x8000, OPEN, true)), format!("my.mod true {open} {all} {to}"));
    }

    #[test]
    fn a_module_that_exports_nothing_to_all_is_no_default_root() {
        let is_there = |bytes: &[u8]| Module::read(bytes).expect("readable").expect("a module").by_default;
        assert!(is_there(&module_info(0x8000, 0, true)));
        assert!(!is_there(&exporting(0x8000, 0, true, false)), "it opens one to all");
        assert!(!is_there(&exporting(0x8000, OPEN, true, false)), "it is open");
    }

    #[test]
    fn only_modules_are_modules() {
        assert_eq!(Module::read(&module_info(0x21, 0, true)), Ok(None));
    }

    #[test]
    fn no_bytes_panic() {
        let good = module_info(0x8000, 0, true);
        for n in 0..good.len() {
            assert!(Module::read(&good[..n]).is_err(), "{n} bytes");
            for bit in 0..8 {
                let mut bad = good.clone();
                bad[n] ^= 1 << bit;
                let _ = Module::read(&bad);
            }
        }
    }
}
