//! The chain of facts behind an answer, as text.

use std::fmt::Write;
use std::sync::Arc;

use ide::answer::MethodAnswer;
use ide::pattern::MethodPattern;
use ide::whole::Whole;
use ide::{Call, Human, MethodId, Part, Step, Text, Way};

use crate::text::style::{Ink, Style};
use crate::text::why::{dotted, why};

/// This many receivers are shown of a target.
const RECEIVERS: usize = 3;

/// Appends that nothing comes to the method.
pub(crate) fn unreached(out: &mut Vec<u8>, method: MethodId, style: Style) {
    let name = style.text(Ink::Bold, &Human(method).to_string());
    out.extend(format!("{name}\n  not reached from the entry points\n\n").as_bytes());
}

/// Appends the ways on which things come out of a method.
pub(crate) fn ways(
    out: &mut Vec<u8>,
    method: MethodId,
    ways: &[Way],
    answer: &mut dyn FnMut(MethodId) -> Option<Arc<MethodAnswer>>,
    style: Style,
) {
    if ways.is_empty() {
        return;
    }
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{}", style.text(Ink::Bold, &Human(method).to_string()));
    for way in ways {
        let (ink, what) = match &way.what {
            Some(part) => (Ink::Red, format!("! {}", part_text(part))),
            None => (Ink::Yellow, "? and what is not known".to_owned()),
        };
        let _ = writeln!(text, "  {}", style.text(ink, &what));
        for (i, it) in way.steps.iter().enumerate() {
            let place = it.instr.and_then(|(method, instr)| {
                let answer = answer(method)?;
                let pc = answer.positions.pc(instr)?;
                Some(match answer.positions.line(instr) {
                    Some(line) => format!(" at pc {pc}, line {line}"),
                    None => format!(" at pc {pc}"),
                })
            });
            let place = place.unwrap_or_default();
            let clause = match it.step {
                Step::Method(method) if i == 0 => format!("{}{place}", Human(method)),
                Step::Method(method) => format!("<- {}{place}", Human(method)),
                Step::Dispatch(method) => format!("<- by a call of {}", Human(method)),
                Step::Initializer(class) => format!("<- by the initialisation of {}", dotted(class)),
                Step::Glue(interface) => format!("<- by a function object of {}", dotted(interface)),
                Step::Rethrown(method) => format!("<- caught and thrown again in {}{place}", Human(method)),
                Step::Raised => "<- where it is raised".to_owned(),
                Step::Open(reason) => format!("<- {}", why(reason)),
            };
            let _ = writeln!(text, "      {clause}");
        }
    }
    text.push('\n');
    out.extend(text.as_bytes());
}

/// Appends calls, and why each goes where it goes.
pub(crate) fn calls(
    out: &mut Vec<u8>,
    whole: &Whole,
    answer: &MethodAnswer,
    calls: &[Call],
    targets: &[MethodPattern],
    style: Style,
) {
    if calls.is_empty() {
        return;
    }
    let mut text = String::new();
    let _ = writeln!(text, "{}", style.text(Ink::Bold, &Human(answer.method).to_string()));
    for call in calls {
        let pc = call
            .instr
            .and_then(|it| answer.positions.pc(it))
            .map_or(String::new(), |it| format!("pc {it}: "));
        let what = call.declared.map_or("class initialisation".to_owned(), |it| Human(it).to_string());
        let _ = writeln!(text, "  {pc}{what}");
        let wanted = |it: &&MethodId| targets.is_empty() || targets.iter().any(|pattern| pattern.selects(it));
        for target in call.targets.iter().chain(&call.possible).filter(wanted) {
            let _ = writeln!(text, "    {}", style.text(Ink::Blue, &format!("-> {}", Human(*target))));
            let Some(declared) = call.declared else { continue };
            for it in whole.receivers(answer.method, declared, *target, RECEIVERS) {
                let chain: Vec<String> = it.chain.iter().map(|it| dotted(*it)).collect();
                let _ = writeln!(text, "       selected by receivers of {}", chain.join(" below "));
            }
        }
        if let Some(open) = call.open {
            let _ = writeln!(text, "    {}", style.text(Ink::Yellow, &format!("?  anywhere: {}", why(open))));
        }
    }
    text.push('\n');
    out.extend(text.as_bytes());
}

fn part_text(it: &Part) -> String {
    format!("{}{}", dotted(Text(it.class.bytes())), if it.cone { "+" } else { "" })
}
