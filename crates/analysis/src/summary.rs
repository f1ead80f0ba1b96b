//! The part of the code of one class that the rest of a program needs. It is a function of the class bytes alone.

use classfile::names::ClassName;
use flow::functional::{DynamicSite, dynamic_site};
use flow::summary::{Source, Summary, summary};

use crate::parts::{MethodCode, MethodPart, Scratch};

/// The summaries of the methods of one class, in file order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClassSummary {
    /// The summary of each method, in file order.
    pub methods: Box<[MethodSummary]>,
    /// The classes that values of annotations in the class file name: enums by their constants, and classes by class
    /// constants. Each is listed once.
    pub annotated: Box<[ClassName]>,
}

/// The summary of one method's code, or the reason why there is no summary.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MethodSummary {
    /// No code: the method is abstract or native.
    None,
    /// The code cannot be read, so the method may do anything.
    Missing,
    /// The code was not read, because no caller needs its summary. The method is treated as one that may do anything.
    Unread,
    /// The summary of the code.
    Known(Box<CodeSummary>),
}

/// The summary of a body, and its dynamic sites.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodeSummary {
    /// The exceptions that the body raises and the calls that it makes.
    pub summary: Summary,
    /// The dynamic call sites and dynamic constants, in the order of the body's table of dynamic sites.
    pub dynamics: Box<[DynamicSite]>,
}

impl ClassSummary {
    /// Returns the classes that are named in the calls of the code; some may occur more than once.
    pub fn called_classes(&self) -> impl Iterator<Item = ClassName> + '_ {
        let items = self.methods.iter().filter_map(|it| match it {
            MethodSummary::Known(code) => Some(&code.summary.items),
            MethodSummary::None | MethodSummary::Missing | MethodSummary::Unread => None,
        });
        let classes = items.flatten().filter_map(|it| match it.source {
            Source::Call(_, method)
            | Source::CallOnThis(_, method)
            | Source::Construct(method)
            | Source::Access(method) => Some(method.class()),
            Source::Exact(_)
            | Source::Cone(_)
            | Source::Caught(_)
            | Source::Initialize(_)
            | Source::Object(_)
            | Source::Receiver(_)
            | Source::CallDynamic(_)
            | Source::ConstDynamic(_) => None,
        });
        classes.filter(|it| !it.is_array())
    }
}

/// Returns the summary of a body. `scratch` is working memory that is reused between calls.
pub fn code_summary(code: &MethodCode, scratch: &mut Scratch) -> CodeSummary {
    CodeSummary {
        summary: summary(&code.body, &code.facts, &mut scratch.summary),
        dynamics: code.body.dynamics.iter().map(dynamic_site).collect(),
    }
}

/// Returns the summary of a parsed method. `scratch` is working memory that is reused between calls.
pub fn method_summary(part: &MethodPart, scratch: &mut Scratch) -> MethodSummary {
    match &part.code {
        None => MethodSummary::None,
        Some(Err(_)) => MethodSummary::Missing,
        Some(Ok((code, _))) => MethodSummary::Known(Box::new(code_summary(code, scratch))),
    }
}
