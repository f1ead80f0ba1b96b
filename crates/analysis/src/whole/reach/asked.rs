//! Questions that reached code asks other objects about classes. A class that the program has only as part of another
//! object, or that it hands on for an unknown purpose, matters once reached code asks for it.

use flow::summary::Source;
use program::hierarchy::ClassId;

use crate::summary::CodeSummary;
use crate::whole::reachable::From;

/// A question that code asks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Question {
    /// Code of the program asks the class of an array for the class of the elements.
    Elements,
    /// Code of the program asks a method type (`java.lang.invoke.MethodType`) for its types.
    MethodType,
    /// Code of the program loads a service that is no constant at the call.
    Service,
    /// Code of the platform asks a class for the constants of the enum.
    EnumConstants,
}

/// What reached code asks for, and the classes that wait for each question, by [`Question`].
#[derive(Default)]
pub(super) struct Asked([Answers; 4]);

/// The classes that answer one question.
#[derive(Default)]
struct Answers {
    is_asked: bool,
    /// The classes found before the question was asked, each with the way in which control reaches the code that has it.
    waiting: Vec<(ClassId, From)>,
}

impl Asked {
    /// Adds a class that answers the question. Returns whether the question has been asked already.
    pub(super) fn add(&mut self, question: Question, class: ClassId, from: From) -> bool {
        let answers = &mut self.0[question as usize];
        if !answers.is_asked {
            answers.waiting.push((class, from));
        }
        answers.is_asked
    }

    /// Asks the question, and returns the classes that waited for it.
    pub(super) fn ask(&mut self, question: Question) -> Vec<(ClassId, From)> {
        let answers = &mut self.0[question as usize];
        answers.is_asked = true;
        std::mem::take(&mut answers.waiting)
    }
}

/// Returns the questions that the calls of this code ask about parts of other objects. Code of the platform asks them,
/// too, but seldom creates objects of the classes.
pub(super) fn questions(code: &CodeSummary) -> impl Iterator<Item = Question> + '_ {
    code.summary.items.iter().filter_map(|item| {
        let Source::Call(_, method) = item.source else { return None };
        let it = method.get();
        match (it.class.bytes(), it.name.bytes()) {
            (b"java/lang/Class", b"getComponentType" | b"componentType") => Some(Question::Elements),
            (
                b"java/lang/invoke/MethodType",
                b"lastParameterType" | b"parameterArray" | b"parameterList" | b"parameterType"
                | b"returnType",
            ) => Some(Question::MethodType),
            _ => None,
        }
    })
}
