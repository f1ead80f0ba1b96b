//! What the rest of a program must know of the code of one class: a function of the class bytes alone.

use classfile::names::ClassName;
use flow::functional::{DynamicSite, dynamic_site};
use flow::summary::{Source, Summary, summary};

use crate::parts::{MethodCode, MethodPart, Scratch};

/// The summaries of the methods of one class, in file order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassSummary {
    /// One a method.
    pub methods: Box<[MethodSummary]>,
}

/// What the rest of a program must know of one method's code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MethodSummary {
    /// There is no code: the method is abstract or native.
    None,
    /// There is code that cannot be read: it may do anything.
    Missing,
    /// There is code that nobody read, as nobody asked for it: it may do anything.
    Unread,
    /// The code.
    Known(Box<CodeSummary>),
}

/// The summary of a body, and what its dynamic sites do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeSummary {
    /// What it raises and calls.
    pub summary: Summary,
    /// Its call sites and dynamic constants, in the order of the body's table.
    pub dynamics: Box<[DynamicSite]>,
}

impl ClassSummary {
    /// The classes of the methods that the code calls, some more than once.
    pub fn called_classes(&self) -> impl Iterator<Item = ClassName> + '_ {
        let items = self.methods.iter().filter_map(|it| match it {
            MethodSummary::Known(code) => Some(&code.summary.items),
            MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => None,
        });
        let classes = items.flatten().filter_map(|it| match it.source {
            Source::Call(_, method) | Source::CallOnThis(_, method) | Source::Construct(method) => {
                Some(method.class())
            }
            Source::Exact(_)
            | Source::Cone(_)
            | Source::Caught(_)
            | Source::Initialize(_)
            | Source::Object(_)
            | Source::CallDynamic(_)
            | Source::ConstDynamic(_) => None,
        });
        classes.filter(|it| !it.is_array())
    }
}

/// The summary of a body. `scratch` is memory that one leaves for the next.
pub fn code_summary(code: &MethodCode, scratch: &mut Scratch) -> CodeSummary {
    CodeSummary {
        summary: summary(&code.body, &code.facts, &mut scratch.summary),
        dynamics: code.body.dynamics.iter().map(dynamic_site).collect(),
    }
}

/// The summary of a method that has been taken apart.
pub fn method_summary(part: &MethodPart, scratch: &mut Scratch) -> MethodSummary {
    match &part.code {
        None => MethodSummary::None,
        Some(Err(_)) => MethodSummary::Missing,
        Some(Ok((code, _))) => MethodSummary::Known(Box::new(code_summary(code, scratch))),
    }
}
