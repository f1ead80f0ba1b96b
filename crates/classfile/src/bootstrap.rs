//! Bootstrap methods and their arguments (JVMS §4.7.23), resolved to content.
//!
//! An argument of a bootstrap method may be a dynamic constant, which has a bootstrap method itself. Crafted files
//! make such constants circular, so their nesting depth and the total number of arguments are limited.

use crate::bytes::{Reader, u2};
use std::cell::RefCell;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::class::ClassFile;
use crate::error::{Fault, Malformed, Result};
use crate::names::{ClassName, Descriptor, MemberRef, Name};
use crate::pool::{Entry, Pool, PoolIndex};

/// The maximum nesting depth of dynamic constants.
const MAX_DEPTH: u32 = 16;
/// The maximum number of arguments of one call site or dynamic constant, including those of nested constants.
const MAX_ARGS: usize = 1 << 16;

/// The kinds of method handles (JVMS §5.4.3.5, table 5.4.3.5-A).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // These are the names of the table, without `REF_`.
pub enum HandleKind {
    GetField,
    GetStatic,
    PutField,
    PutStatic,
    InvokeVirtual,
    InvokeStatic,
    InvokeSpecial,
    NewInvokeSpecial,
    InvokeInterface,
}

impl HandleKind {
    /// Returns the kind with this number, from 1 to 9; `None` for other numbers.
    pub fn from_number(number: u8) -> Option<Self> {
        use HandleKind::*;
        const KINDS: [HandleKind; 9] = [
            GetField,
            GetStatic,
            PutField,
            PutStatic,
            InvokeVirtual,
            InvokeStatic,
            InvokeSpecial,
            NewInvokeSpecial,
            InvokeInterface,
        ];
        KINDS.get(usize::from(number).checked_sub(1)?).copied()
    }

    /// Returns the name of the kind in the table of the JVMS, without `REF_`: `getField`.
    pub fn word(self) -> &'static str {
        match self {
            HandleKind::GetField => "getField",
            HandleKind::GetStatic => "getStatic",
            HandleKind::PutField => "putField",
            HandleKind::PutStatic => "putStatic",
            HandleKind::InvokeVirtual => "invokeVirtual",
            HandleKind::InvokeStatic => "invokeStatic",
            HandleKind::InvokeSpecial => "invokeSpecial",
            HandleKind::NewInvokeSpecial => "newInvokeSpecial",
            HandleKind::InvokeInterface => "invokeInterface",
        }
    }
}

/// A method handle constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MethodHandle {
    /// The operation on the member.
    pub kind: HandleKind,
    /// The field or method that the handle refers to.
    pub member: MemberRef,
    /// Whether the handle refers to its member by a `CONSTANT_InterfaceMethodref`.
    pub interface: bool,
}

/// The content of a dynamic constant or call site.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dynamic {
    /// The name passed to the bootstrap method.
    pub name: Name,
    /// The type passed to the bootstrap method: a method descriptor for a call site, a field descriptor for a
    /// constant.
    pub descriptor: Descriptor,
    /// The bootstrap method.
    pub bootstrap: MethodHandle,
    /// The static arguments, shared by all call sites that use the same row of `BootstrapMethods`.
    pub args: Arc<[Loadable]>,
}

/// A constant that `ldc` can load or that can be a bootstrap argument (JVMS §4.4, table 4.4-C).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Loadable {
    /// An `int`.
    Int(i32),
    /// A `long`.
    Long(i64),
    /// A `float`, as bits.
    Float(u32),
    /// A `double`, as bits.
    Double(u64),
    /// A string.
    Str(Name),
    /// A class.
    Class(ClassName),
    /// A method type.
    MethodType(Descriptor),
    /// A method handle.
    MethodHandle(MethodHandle),
    /// A dynamic constant.
    Dynamic(Box<Dynamic>),
}

/// The `BootstrapMethods` table of one class.
pub struct Bootstraps<'c, 'a> {
    pool: &'c Pool<'a>,
    /// The offset in the class file of each row of the table.
    rows: Vec<u32>,
    /// A cache: the static arguments of the rows read so far, by row number. It bounds the work on crafted files, in
    /// which many call sites share a row with many arguments.
    known: RefCell<FxHashMap<u16, Arc<[Loadable]>>>,
}

impl<'c, 'a> Bootstraps<'c, 'a> {
    /// Returns the `BootstrapMethods` table of the class; an empty table if the class has none.
    ///
    /// # Errors
    /// Fails if the table exists but is truncated.
    pub fn of(class: &'c ClassFile<'a>) -> Result<Self> {
        let mut rows = Vec::new();
        if let Some(it) = class.attributes().find(b"BootstrapMethods") {
            let end = it.offset + it.content.len();
            let mut r = Reader::new(&class.bytes()[..end], it.offset, "4.7.23");
            for _ in 0..r.u2()? {
                rows.push(r.pos() as u32);
                r.u2()?;
                let n = r.u2()? as usize;
                r.take(2 * n)?;
            }
        }
        Ok(Bootstraps { pool: &class.pool, rows, known: RefCell::default() })
    }

    /// Returns the call site of the `CONSTANT_InvokeDynamic` at `index`.
    pub fn call_site(&self, index: PoolIndex) -> Result<Dynamic> {
        match self.pool.entry(index)? {
            Entry::InvokeDynamic(row, name_and_type) => {
                let it = self.dynamic(row, name_and_type, 0, &mut 0)?;
                if it.descriptor.method_type().is_none() {
                    return Err(Malformed::new(0, "4.4.10", Fault::Grammar("call site descriptor")));
                }
                Ok(it)
            }
            _ => Err(Malformed::new(0, "4.4.10", Fault::PoolKind { index: index.0, want: "call site" })),
        }
    }

    /// Returns the constant at `index` that `ldc`, `ldc_w` or `ldc2_w` loads.
    pub fn loadable(&self, index: PoolIndex) -> Result<Loadable> {
        self.loadable_at(index, 0, &mut 0)
    }

    fn loadable_at(&self, index: PoolIndex, depth: u32, args: &mut usize) -> Result<Loadable> {
        Ok(match self.pool.entry(index)? {
            Entry::Integer(it) => Loadable::Int(it),
            Entry::Long(it) => Loadable::Long(it),
            Entry::Float(it) => Loadable::Float(it),
            Entry::Double(it) => Loadable::Double(it),
            Entry::String(it) => Loadable::Str(self.pool.name(it)?),
            Entry::Class(_) => Loadable::Class(self.pool.class_name(index)?),
            Entry::MethodType(it) => {
                let it = self.pool.descriptor(it)?;
                if it.method_type().is_none() {
                    return Err(Malformed::new(0, "4.4.9", Fault::Grammar("method type")));
                }
                Loadable::MethodType(it)
            }
            Entry::MethodHandle(kind, member) => Loadable::MethodHandle(self.handle(kind, member)?),
            Entry::Dynamic(row, name_and_type) => {
                let it = self.dynamic(row, name_and_type, depth, args)?;
                if it.descriptor.field_type().is_none() {
                    return Err(Malformed::new(0, "4.4.10", Fault::Grammar("dynamic constant descriptor")));
                }
                Loadable::Dynamic(Box::new(it))
            }
            _ => {
                let fault = Fault::PoolKind { index: index.0, want: "loadable constant" };
                return Err(Malformed::new(0, "4.4", fault));
            }
        })
    }

    fn handle(&self, kind: u8, member: PoolIndex) -> Result<MethodHandle> {
        let Some(kind) = HandleKind::from_number(kind) else {
            return Err(Malformed::new(
                0,
                "4.4.8",
                Fault::OtherAt("unknown kind of a method handle:", kind.into()),
            ));
        };
        use HandleKind::*;
        let (member, interface) = match kind {
            GetField | GetStatic | PutField | PutStatic => (self.pool.field_ref(member)?.0, false),
            _ => {
                let (member, interface, _) = self.pool.method_ref(member)?;
                (member, interface)
            }
        };
        Ok(MethodHandle { kind, member, interface })
    }

    fn dynamic(&self, row: u16, name_and_type: PoolIndex, depth: u32, args: &mut usize) -> Result<Dynamic> {
        let bytes = self.pool.bytes();
        let Some(&at) = self.rows.get(usize::from(row)) else {
            return Err(Malformed::new(
                0,
                "4.7.23",
                Fault::OtherAt("the class file has no bootstrap method with index", row.into()),
            ));
        };
        let at = at as usize;
        let n2 = |k: usize| u2(bytes, at + k).unwrap_or_default();
        let n = n2(2) as usize;
        *args += n;
        if depth >= MAX_DEPTH || *args > MAX_ARGS {
            return Err(Malformed::new(at, "4.7.23", Fault::Other("the dynamic constants nest too deeply")));
        }
        let bootstrap = match self.pool.entry(PoolIndex(n2(0)))? {
            Entry::MethodHandle(kind, member) => self.handle(kind, member)?,
            _ => {
                let fault = Fault::PoolKind { index: n2(0), want: "CONSTANT_MethodHandle" };
                return Err(Malformed::new(at, "4.7.23", fault));
            }
        };
        // Only the arguments of call sites and outermost constants are cached: nested ones are counted each time.
        let known = if depth == 0 { self.known.borrow().get(&row).cloned() } else { None };
        let loaded = match known {
            Some(loaded) => loaded,
            None => {
                let mut out = Vec::with_capacity(n);
                for i in 0..n {
                    out.push(self.loadable_at(PoolIndex(n2(4 + 2 * i)), depth + 1, args)?);
                }
                let loaded: Arc<[Loadable]> = out.into();
                if depth == 0 {
                    self.known.borrow_mut().insert(row, loaded.clone());
                }
                loaded
            }
        };
        let (name, descriptor) = self.pool.name_and_type(name_and_type)?;
        Ok(Dynamic { name, descriptor, bootstrap, args: loaded })
    }
}
