//! Legends: one line that explains the marks of a text answer.

/// The marks of sets of exceptions.
const EXCEPTIONS: &str =
    "! may be thrown by code that was read, ? by code that was not; C+ means C or a subclass";
/// The mark of calls that an answer sets apart.
pub(crate) const APART: &str = "~ a call on an object whose class is not known here, or an initialiser: what it throws, unless it is caught";
/// The marks of calls.
const CALLS: &str = "-> may run; ?> may run, if a class that was not read inherits it; ? may run code that was not read; ! link error";
/// The marks of calls and sets of exceptions together.
const BOTH: &str = "-> may run; ?> may run, if a class that was not read inherits it; \
    ! exception or link error because of code that was read, ? what code that was not read may run or throw; \
    C+ means C or a subclass";
/// The mark of the steps of an explanation.
const BECAUSE: &str = "<- because of";

/// The legend of a comparison of call graphs.
pub(crate) const AGAINST: &str =
    "+ came since the saved answer, - went; -> may run, ? is code that was not read";

/// Returns the legend of the text output of a command; empty for commands without marks.
pub(crate) fn of(command: &str) -> String {
    match command {
        "throws" => EXCEPTIONS.to_owned(),
        "calls" => CALLS.to_owned(),
        "cfg" => format!("{EXCEPTIONS}; -> leads to"),
        "explain" => explanations(false, true),
        _ => String::new(),
    }
}

/// Returns the legend of explanations of calls, of exceptions, or of both.
pub(crate) fn explanations(calls: bool, exceptions: bool) -> String {
    match (calls, exceptions) {
        (true, true) => format!("{BOTH}; {BECAUSE}"),
        (false, true) => format!("{EXCEPTIONS}; {BECAUSE}"),
        (true, false) => CALLS.to_owned(),
        (false, false) => String::new(),
    }
}

/// Returns the legend of the changes of the answer of a command.
pub(crate) fn of_changes(command: &str) -> String {
    let legend = of(command);
    let signs = "+ at the beginning of a line is new, - is gone";
    if legend.is_empty() { signs.to_owned() } else { format!("{signs}; {legend}") }
}
