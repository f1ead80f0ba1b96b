//! Why something is open, in words.

use ide::{Human, Origin, Step, Text, Why};

/// The reason as a clause.
pub(crate) fn why(it: Why) -> String {
    match it {
        Why::Outside(class) => format!("{} is not there", dotted(class)),
        Why::Overridable(class) => format!("unknown classes may extend {}", dotted(class)),
        Why::Initializer(class) => format!("the initialiser of {} is not there", dotted(class)),
        Why::SignaturePolymorphic => "it invokes whatever method handle it is given".to_owned(),
        Why::Bootstrap(method) => format!("what {} links is not known", Human(method)),
        Why::Native(method) => format!("what the native {} does is not known", Human(method)),
        Why::MissingCode(method) => format!("the code of {} cannot be read", Human(method)),
        Why::Ghost(method) => format!("{} is not written yet", Human(method)),
        Why::LetsOut(method) => format!("what {} lets out is not all known", Human(method)),
        Why::Caught(_) => "what was caught here was not all known".to_owned(),
        Why::Reflection => "what it runs is found at run time".to_owned(),
        Why::Function => "what a function object lets out is not all known".to_owned(),
    }
}

/// What raises something, as a clause.
pub(crate) fn raised(it: Origin) -> String {
    match it {
        Origin::Instruction => "raised there".to_owned(),
        Origin::Linking => "linking raises it, as the classes do not fit".to_owned(),
        Origin::Conversion => "the cast of an argument or result raises it".to_owned(),
        Origin::NativeRow(method) => format!("the native {} raises it, by our table", Human(method)),
        Origin::Signature(method) => format!("{} declares it", Human(method)),
        Origin::Vm => "the VM may raise it anywhere".to_owned(),
    }
}

/// The way to a reason, a clause each step.
pub(crate) fn steps(steps: &[Step]) -> Vec<String> {
    let mut acc = Vec::new();
    for (i, step) in steps.iter().enumerate() {
        acc.push(match *step {
            // The first is the method that the answer is about.
            Step::Method(_) if i == 0 => continue,
            Step::Method(method) => format!("{} lets it out", Human(method)),
            Step::Dispatch(method) => format!("a call of {}", Human(method)),
            Step::Initializer(class) => format!("the initialisation of {}", dotted(class)),
            Step::Loading(method) => format!("a class loader that is asked: {}", Human(method)),
            Step::Glue(interface) => format!("a function object of {}", dotted(interface)),
            Step::Rethrown(method) => format!("caught and thrown again in {}", Human(method)),
            Step::Raised(origin) => raised(origin),
            Step::Open(reason) => why(reason),
        });
    }
    acc
}

/// `p.C` for `p/C`.
pub(crate) fn dotted(it: Text) -> String {
    it.to_string().replace('/', ".")
}
