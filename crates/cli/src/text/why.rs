//! The reasons for answers, as text: why a part is unknown, and why an exception is raised.

use ide::{Origin, Step, Text, Why};

use crate::text::names::Names;

/// Returns the reason why a part of an answer is unknown, as a clause.
pub(crate) fn why(it: Why, names: Names<'_>) -> String {
    match it {
        Why::Outside(class) => format!("{} is missing", dotted(class)),
        Why::Overridable(class) => format!("unseen classes may extend {}", dotted(class)),
        Why::Initializer(class) => format!("the initialiser of {} is missing", dotted(class)),
        Why::SignaturePolymorphic => "the method handle that the call invokes is unknown".to_owned(),
        Why::Bootstrap(method) => {
            format!("the method that the bootstrap method {} links is unknown", names.of(method))
        }
        Why::Native(method) => format!("the effect of the native method {} is unknown", names.of(method)),
        Why::MissingCode(method) => format!("the code of {} cannot be read", names.of(method)),
        Why::Ghost(method) => format!("the code of {} is not written yet", names.of(method)),
        Why::LetsOut(method) => format!("{} may throw unknown exceptions", names.of(method)),
        Why::Caught(_) => "the method throws a caught exception again, which may be unknown".to_owned(),
        Why::Reflection => "the call runs code that is found by name at run time".to_owned(),
        Why::Function => "a function object may throw unknown exceptions".to_owned(),
    }
}

/// Returns the cause of an exception, as a clause.
pub(crate) fn raised(it: Origin, names: Names<'_>) -> String {
    match it {
        Origin::Instruction => "an instruction raises the exception".to_owned(),
        Origin::Linking => "linking raises the exception, because the classes do not match".to_owned(),
        Origin::Conversion => {
            "the cast of an argument or result in a function object or proxy raises the exception".to_owned()
        }
        Origin::NativeRow(method) => {
            format!("the native method {} raises the exception, according to ajar's table", names.of(method))
        }
        Origin::Signature(method) => {
            format!("{} declares the exception in its `throws` clause", names.of(method))
        }
        Origin::Vm => "the VM may raise the exception at any instruction".to_owned(),
    }
}

/// Returns the steps of an explanation as text, one clause for each step.
pub(crate) fn steps(steps: &[Step], names: Names<'_>) -> Vec<String> {
    let mut acc = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        acc.push(match *step {
            // The first step is the method that the answer is about.
            Step::Method(_) if i == 0 => continue,
            Step::Method(method) => format!("{} throws the exception", names.of(method)),
            Step::Dispatch(method) => format!("a call of {}", names.of(method)),
            Step::Initializer(class) => format!("the initialisation of {}", dotted(class)),
            Step::Loading(method) => format!("loading a class, which may run {}", names.of(method)),
            Step::Glue(interface) => format!("a function object that implements {}", dotted(interface)),
            Step::Rethrown(method) => {
                format!("the exception is caught and thrown again in {}", names.of(method))
            }
            Step::Raised(origin) => raised(origin, names),
            Step::Open(reason) => why(reason, names),
        });
    }
    acc
}

/// Returns the name with dots: `p.C` for `p/C`.
pub(crate) fn dotted(it: Text) -> String {
    it.to_string().replace('/', ".")
}
