//! The reference walk: reads bytecode as simply as possible, and shares no code with the decoder of the product.

use std::collections::{BTreeMap, BTreeSet};

/// The lengths of the instructions by opcode; 0 for `tableswitch`, `lookupswitch`, `wide` and opcodes that do not
/// exist. JVMS §6.5, in rows of 64.
const LENGTHS: &[u8; 202] = b"\
    1111111111111111232332222211111111111111111111111111112222211111\
    1111111111111111111111111111111111111111111111111111111111111111\
    1111311111111111111111111333333333333333320011111133333335532311\
    3311043355";

/// One instruction.
#[derive(Clone, Debug)]
pub(crate) struct RawInsn {
    /// The opcode; for a `wide` instruction, the opcode after the prefix.
    pub(crate) opcode: u8,
    /// The pcs of the instructions that control may enter next without an exception.
    pub(crate) next: BTreeSet<u32>,
}

/// One row of the exception table.
#[derive(Clone, Debug)]
pub(crate) struct RawRow {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) handler: u32,
    pub(crate) catch_type: Option<String>,
}

/// A body as the reference reads it: the instructions that control reaches, by pc.
pub(crate) struct Raw {
    pub(crate) insns: BTreeMap<u32, RawInsn>,
    pub(crate) rows: Vec<RawRow>,
}

fn be(code: &[u8], at: usize, n: usize) -> i64 {
    let unsigned = code[at..at + n].iter().fold(0i64, |acc, &it| acc << 8 | i64::from(it));
    unsigned << (64 - 8 * n) >> (64 - 8 * n)
}

/// Reads the instruction at `pc`; `None` for `jsr` and `ret`, which the reference does not follow.
fn insn(code: &[u8], pc: usize) -> Option<RawInsn> {
    let opcode = code[pc];
    let mut next: Vec<i64> = Vec::new();
    let at = pc as i64;
    let follows = |n: usize| at + n as i64;
    let mut shown = opcode;
    match opcode {
        0xa8 | 0xa9 | 0xc9 => return None,
        0x99..=0xa6 | 0xc6 | 0xc7 => next.extend([follows(3), at + be(code, pc + 1, 2)]),
        0xa7 => next.push(at + be(code, pc + 1, 2)),
        0xc8 => next.push(at + be(code, pc + 1, 4)),
        0xac..=0xb1 | 0xbf => {}
        0xaa => {
            let p = (pc + 4) & !3;
            let (low, high) = (be(code, p + 4, 4), be(code, p + 8, 4));
            next.push(at + be(code, p, 4));
            next.extend((0..=high - low).map(|i| at + be(code, p + 12 + 4 * i as usize, 4)));
        }
        0xab => {
            let p = (pc + 4) & !3;
            next.push(at + be(code, p, 4));
            next.extend((0..be(code, p + 4, 4)).map(|i| at + be(code, p + 12 + 8 * i as usize, 4)));
        }
        0xc4 => {
            shown = code[pc + 1];
            if shown == 0xa9 {
                return None;
            }
            next.push(follows(if shown == 0x84 { 6 } else { 4 }));
        }
        _ => next.push(follows(usize::from(LENGTHS[usize::from(opcode)] - b'0'))),
    }
    let next: BTreeSet<u32> = next.into_iter().map(|it| u32::try_from(it).unwrap()).collect();
    Some(RawInsn { opcode: shown, next })
}

impl Raw {
    /// Walks the code from its start; `None` if it has subroutines.
    pub(crate) fn walk(code: &[u8], rows: Vec<RawRow>) -> Option<Self> {
        let mut insns: BTreeMap<u32, RawInsn> = BTreeMap::new();
        let mut work = vec![0u32];
        while let Some(pc) = work.pop() {
            if insns.contains_key(&pc) {
                continue;
            }
            let it = insn(code, pc as usize)?;
            work.extend(it.next.iter().copied());
            work.extend(rows.iter().filter(|row| row.start <= pc && pc < row.end).map(|row| row.handler));
            insns.insert(pc, it);
        }
        Some(Raw { insns, rows })
    }
}

/// Returns the edges after removing the pcs that are not in `kept`: an edge into a removed pc is replaced by edges to
/// the successors of that pc. Edges from a pc to itself are left out.
pub(crate) fn contracted(next: &BTreeMap<u32, BTreeSet<u32>>, kept: &BTreeSet<u32>) -> BTreeSet<(u32, u32)> {
    let mut edges = BTreeSet::new();
    for (&from, first) in next.iter().filter(|it| kept.contains(it.0)) {
        let mut work: Vec<u32> = first.iter().copied().collect();
        let mut seen = BTreeSet::new();
        while let Some(to) = work.pop() {
            if !seen.insert(to) {
                continue;
            }
            if kept.contains(&to) {
                edges.insert((from, to));
            } else {
                work.extend(next.get(&to).into_iter().flatten());
            }
        }
    }
    edges.retain(|it| it.0 != it.1);
    edges
}

/// Returns the exceptions that an instruction may raise (JVMS §6.5): classes that are raised exactly, and classes of
/// which any subclass can be raised. Link errors and VM errors are left out, because the product leaves them out,
/// too.
pub(crate) fn raises(opcode: u8) -> (&'static [&'static str], &'static [&'static str]) {
    const NPE: &str = "NullPointerException";
    const AIOOBE: &str = "ArrayIndexOutOfBoundsException";
    match opcode {
        // ldc, ldc_w, ldc2_w of a dynamic constant.
        0x12..=0x14 => (&[], &["Error"]),
        0x2e..=0x35 | 0x4f..=0x52 | 0x54..=0x56 => (&[NPE, AIOOBE], &[]),
        0x53 => (&[NPE, AIOOBE, "ArrayStoreException"], &[]),
        0x6c | 0x6d | 0x70 | 0x71 => (&["ArithmeticException"], &[]),
        0xac..=0xb1 => (&["IllegalMonitorStateException"], &[]),
        // getstatic, putstatic, new: the initialiser.
        0xb2 | 0xb3 | 0xbb => (&[], &["Error"]),
        0xb4 | 0xb5 | 0xbe | 0xc2 => (&[NPE], &[]),
        0xb6 | 0xb7 | 0xb9 => (&[NPE], &["Throwable"]),
        0xb8 => (&[], &["Error", "Throwable"]),
        0xba => (&[], &["Error", "Throwable"]),
        0xbc | 0xbd | 0xc5 => (&["NegativeArraySizeException"], &[]),
        0xbf => (&[NPE], &["Throwable"]),
        0xc0 => (&["ClassCastException"], &[]),
        0xc3 => (&[NPE, "IllegalMonitorStateException"], &[]),
        _ => (&[], &[]),
    }
}

/// Returns a class of exceptions that the VM raises and its superclasses, by their names without `java/lang/`.
fn chain(of: &str) -> Vec<&str> {
    let middle: &[&str] = match of {
        "ArrayIndexOutOfBoundsException" => &["IndexOutOfBoundsException", "RuntimeException", "Exception"],
        "RuntimeException" => &["Exception"],
        "Exception" | "Error" => &[],
        "NoClassDefFoundError" | "ExceptionInInitializerError" | "BootstrapMethodError" => {
            &["LinkageError", "Error"]
        }
        "Throwable" => return vec![of],
        _ => &["RuntimeException", "Exception"],
    };
    [&[of], middle, &["Throwable"]].concat()
}

/// Returns whether the row catches every object of the class.
pub(crate) fn catches(row: &RawRow, class: &str) -> bool {
    row.catch_type.as_deref().is_none_or(|it| {
        let simple = it.strip_prefix("java/lang/").unwrap_or(it);
        simple == "Throwable" || chain(class).contains(&simple)
    })
}

/// Returns whether the row may catch some object of the class `top` or of a subclass.
pub(crate) fn may_catch_below(row: &RawRow, top: &str) -> bool {
    let Some(it) = row.catch_type.as_deref().filter(|_| top != "Throwable") else { return true };
    // A class outside `java/lang` may have any superclass; an exception is not an error.
    let simple = it.strip_prefix("java/lang/");
    !matches!(simple, Some("Exception" | "RuntimeException"))
        && !simple.is_some_and(|it| chain(it).contains(&"Exception") && it.ends_with("Exception"))
}
