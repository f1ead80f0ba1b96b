//! The alignment of two bodies of one method: which instructions are the same.
//!
//! An edit shifts everything after it: ordinals, temporaries and labels get new numbers. Bodies are therefore aligned
//! by the text of each instruction without those numbers (a longest common subsequence, after Myers: *An O(ND)
//! Difference Algorithm and Its Variations*, 1986).

use analysis::parts::MethodCode;
use bir::body::{Body, Instr, InstrId, ordinal};
use bir::print;
use similar::{Algorithm, DiffOp, capture_diff_slices};

/// For each instruction of the old body, the ordinal of the matching instruction of the new body, if there is one.
pub(super) struct Alignment(Vec<Option<u32>>);

impl Alignment {
    pub(super) fn new(old: &MethodCode, new: &MethodCode) -> Self {
        if old.body == new.body {
            return Alignment((0..old.body.instrs.len() as u32).map(Some).collect());
        }
        let (before, after) = (texts(&old.body), texts(&new.body));
        let mut acc = vec![None; before.len()];
        for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
            if let DiffOp::Equal { old_index, new_index, len } = op {
                for i in 0..len {
                    acc[old_index + i] = Some((new_index + i) as u32);
                }
            }
        }
        Alignment(acc)
    }

    /// Returns the ordinal, in the new body, of the instruction that matches `instr` of the old body, if one does.
    pub(super) fn of(&self, instr: InstrId) -> Option<u32> {
        self.0.get(ordinal(instr) as usize).copied().flatten()
    }
}

fn texts(body: &Body) -> Vec<String> {
    body.instrs.iter().map(|(id, _)| without_temporaries(&without_targets(body, id))).collect()
}

/// The text of an instruction without the ordinals of jump targets.
fn without_targets(body: &Body, id: InstrId) -> String {
    let keys = |table: u32| -> Vec<i32> {
        body.switches.get(table as usize).map_or_else(Vec::new, |it| it.cases.iter().map(|it| it.0).collect())
    };
    match body.instrs[id] {
        Instr::Goto(_) => "goto".to_owned(),
        Instr::If(cond, a, b, _) => {
            format!("if {} {cond:?} {}", print::expr(body, a), print::expr(body, b))
        }
        Instr::Switch(e, table) => format!("switch {} {:?}", print::expr(body, e), keys(table)),
        Instr::Ret(e, _) => format!("ret {}", print::expr(body, e)),
        _ => print::instr(body, id),
    }
}

/// Returns the text of an instruction without the numbers of temporaries.
pub(super) fn without_temporaries(text: &str) -> String {
    let mut acc = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        acc.push(c);
        rest = &rest[c.len_utf8()..];
        if before == '$' && c.is_ascii_lowercase() {
            rest = rest.trim_start_matches(|it: char| it.is_ascii_digit());
        }
        before = c;
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_temporaries_are_ignored() {
        assert_eq!(without_temporaries("$a3 := a0->p/L1.f2:I"), "$a := a0->p/L1.f2:I");
    }
}
