//! Edits method bodies: changes a constant, or inserts instructions before the first one.

use super::{Attribute, Bytes, Patch, STATIC, frames, insns, put_attributes, result};

/// Code that an edit inserts at the beginning of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Insertion<'a> {
    /// Throws a new `java/lang/IllegalStateException` under a condition that never holds at run time.
    Throw,
    /// Calls a method of a class (not of an interface), with default values as arguments. The receiver is an element
    /// of a new array: it is null at run time, but the code does not show that.
    Call {
        /// The class that declares the method: `p/C`.
        class: &'a [u8],
        /// The name of the method, which must not be a constructor.
        name: &'a [u8],
        /// The descriptor of the method.
        descriptor: &'a [u8],
        /// Whether the method is static.
        is_static: bool,
    },
}

/// The parts of a `Code` attribute (JVMS §4.7.3).
struct Code {
    max_stack: u16,
    max_locals: u16,
    insns: Vec<u8>,
    /// The exception table, eight bytes for each row.
    rows: Vec<u8>,
    attributes: Vec<Attribute>,
}

impl Code {
    fn read(bytes: &[u8]) -> Option<Code> {
        let mut it = Bytes(bytes);
        let (max_stack, max_locals, length) = (it.u2()?, it.u2()?, it.u4()?);
        let insns = it.take(length as usize)?.to_vec();
        let n = usize::from(it.u2()?);
        let rows = it.take(8 * n)?.to_vec();
        Some(Code { max_stack, max_locals, insns, rows, attributes: it.attributes()? })
    }

    fn bytes(&self) -> Vec<u8> {
        let mut out =
            [self.max_stack, self.max_locals].iter().flat_map(|it| it.to_be_bytes()).collect::<Vec<u8>>();
        out.extend((self.insns.len() as u32).to_be_bytes());
        out.extend(&self.insns);
        out.extend(((self.rows.len() / 8) as u16).to_be_bytes());
        out.extend(&self.rows);
        put_attributes(&self.attributes, &mut out);
        out
    }
}

impl Patch {
    /// The pcs of the instructions whose int constant [`Patch::change_constant`] can change.
    pub fn constants(&self, method: usize) -> Vec<usize> {
        let Some(code) = self.code(method) else { return Vec::new() };
        let is_constant = |pc: &usize| matches!(code.insns[*pc], 0x03..=0x08 | 0x10 | 0x11);
        insns::starts(&code.insns).filter(is_constant).collect()
    }

    /// Flips the lowest bit of the constant at `pc`; `iconst_4` and `iconst_5` are swapped. Returns `None` if there
    /// is no int constant at `pc`.
    pub fn change_constant(&mut self, method: usize, pc: usize) -> Option<()> {
        let mut code = self.code(method)?;
        match *code.insns.get(pc)? {
            op @ 0x03..=0x08 => code.insns[pc] = ((op - 3) ^ 1) + 3,
            0x10 => *code.insns.get_mut(pc + 1)? ^= 1,
            0x11 => *code.insns.get_mut(pc + 2)? ^= 1,
            _ => return None,
        }
        self.set_code(method, &code)
    }

    /// Whether the method with this index has a body.
    pub fn has_body(&self, method: usize) -> bool {
        self.code(method).is_some()
    }

    /// Inserts instructions before the first one of a body. Returns `None` if the method has no body, or if a table
    /// or the code gets too large.
    pub fn insert(&mut self, method: usize, what: Insertion<'_>) -> Option<()> {
        let mut code = self.code(method)?;
        let (insns, stack) = match what {
            Insertion::Throw => (self.throwing()?, 4),
            Insertion::Call { class, name, descriptor, is_static } => {
                let called = self.method_ref(class, name, descriptor)?.to_be_bytes();
                let mut insns = Vec::new();
                if !is_static {
                    let class = self.class(class)?.to_be_bytes();
                    insns.extend([0x04, 0xbd, class[0], class[1], 0x03, 0x32]);
                }
                insns.extend(insns::defaults(descriptor)?);
                insns.extend([if is_static { 0xb8 } else { 0xb6 }, called[0], called[1]]);
                insns.extend(match result(descriptor)? {
                    b'V' => None,
                    b'J' | b'D' => Some(0x58),
                    _ => Some(0x57),
                });
                (insns, insns::slots(descriptor)? + 2)
            }
        };
        // Insert a multiple of four bytes, so that the padding of switches stays right.
        let mut first = vec![0x00; insns.len().wrapping_neg() % 4];
        first.extend(insns);
        let by = u16::try_from(first.len()).ok()?;
        if first.len() + code.insns.len() > 65_535 {
            return None;
        }
        code.max_stack = code.max_stack.max(stack);
        code.insns.splice(0..0, first);
        for row in code.rows.chunks_exact_mut(8) {
            for at in [0, 2, 4] {
                let pc = u16::from_be_bytes([row[at], row[at + 1]]).checked_add(by)?;
                row[at..at + 2].copy_from_slice(&pc.to_be_bytes());
            }
        }
        self.shift_attributes(&mut code, by, what == Insertion::Throw)?;
        self.set_code(method, &code)
    }

    /// Sixteen bytes of code that jump to their end or throw. Because the end is a jump target, the method may need a
    /// stack map frame there.
    fn throwing(&mut self) -> Option<Vec<u8>> {
        const EXCEPTION: &[u8] = b"java/lang/IllegalStateException";
        let class = self.class(EXCEPTION)?.to_be_bytes();
        let init = self.method_ref(EXCEPTION, b"<init>", b"()V")?.to_be_bytes();
        let mut insns = vec![0x00, 0x00, 0x09, 0x09, 0x94, 0x99, 0x00, 0x0b];
        insns.extend([0xbb, class[0], class[1], 0x59, 0xb7, init[0], init[1], 0xbf]);
        Some(insns)
    }

    /// Shifts the pcs in the attributes of a body by `by`. Attributes of unknown names are removed. `is_joined` is
    /// true if the end of the inserted code is a jump target.
    fn shift_attributes(&mut self, code: &mut Code, by: u16, is_joined: bool) -> Option<()> {
        let mut kept = Vec::new();
        let mut has_frames = false;
        for (name, mut content) in std::mem::take(&mut code.attributes) {
            let width = match self.text(name) {
                b"LineNumberTable" => 4,
                b"LocalVariableTable" | b"LocalVariableTypeTable" => 10,
                b"StackMapTable" => {
                    has_frames = true;
                    kept.push((name, frames::shifted(&content, by, is_joined)?));
                    continue;
                }
                _ => continue,
            };
            for row in content.get_mut(2..)?.chunks_exact_mut(width) {
                let pc = u16::from_be_bytes([row[0], row[1]]).checked_add(by)?;
                row[..2].copy_from_slice(&pc.to_be_bytes());
            }
            kept.push((name, content));
        }
        if is_joined && !has_frames && self.major >= 50 {
            kept.push((self.utf8(b"StackMapTable")?, frames::shifted(&[0, 0], by, true)?));
        }
        code.attributes = kept;
        Some(())
    }

    fn code(&self, method: usize) -> Option<Code> {
        let attributes = &self.methods.get(method)?.attributes;
        Code::read(&attributes.iter().find(|it| self.text(it.0) == b"Code")?.1)
    }

    fn set_code(&mut self, method: usize, code: &Code) -> Option<()> {
        let is_code: Vec<bool> =
            self.methods.get(method)?.attributes.iter().map(|it| self.text(it.0) == b"Code").collect();
        let at = is_code.iter().position(|it| *it)?;
        self.methods.get_mut(method)?.attributes.get_mut(at)?.1 = code.bytes();
        Some(())
    }

    /// Whether [`Insertion::Call`] can call the method: from any class if the method and its class are public, and
    /// from a class of the same package (`from_package`) unless the method is private or protected.
    pub fn is_callable(&self, method: usize, from_package: bool) -> bool {
        const PUBLIC: u16 = 0x0001;
        const PRIVATE_OR_PROTECTED: u16 = 0x0006;
        let Some(it) = self.methods.get(method) else { return false };
        let is_named = !self.text(it.name).starts_with(b"<");
        let both_public = self.flags & it.flags & PUBLIC != 0;
        let near = from_package && it.flags & PRIVATE_OR_PROTECTED == 0;
        is_named && self.flags & super::INTERFACE == 0 && (both_public || near)
    }

    /// Whether the method can be overridden: it is not static, private, final or a constructor.
    pub fn is_overridable(&self, method: usize) -> bool {
        const PRIVATE: u16 = 0x0002;
        const FINAL: u16 = 0x0010;
        let Some(it) = self.methods.get(method) else { return false };
        it.flags & (PRIVATE | FINAL | STATIC) == 0 && !self.text(it.name).starts_with(b"<")
    }
}
