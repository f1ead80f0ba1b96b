//! Parses the output of the tracer; `test-data/replay/README.md` describes the lines.

use std::process::{Child, Command, Stdio};

use test_utils::jdk::Jdk;

/// The number of an activation of a method of the program, in the order in which activations began.
pub(crate) type Activation = u32;

/// A line of a trace.
#[derive(Debug)]
pub(crate) enum Event {
    /// A method began; its callers, from the nearest to the first of the program.
    Enter { activation: Activation, method: String, stepped: bool, callers: Vec<Frame> },
    /// The instructions that an activation reached.
    Step { activation: Activation, pcs: Vec<i64> },
    /// An activation ended at a return instruction, the last one that it reached.
    Return { activation: Activation },
    /// The rest of an activation was not followed.
    Lost { activation: Activation },
    /// An exception was thrown: its class and superclasses, the frames from where it was thrown to where it was
    /// caught, and the handler there. Without a handler, nothing catches it.
    Throw { classes: Vec<String>, frames: Vec<Frame>, handler: Option<i64> },
    /// The program ended.
    Exit,
}

/// A frame of a thread's stack, and its position.
#[derive(Debug)]
pub(crate) struct Frame {
    pub(crate) who: Who,
    /// The pc; -1 in native methods.
    pub(crate) pc: i64,
}

/// The owner of a frame.
#[derive(Debug)]
pub(crate) enum Who {
    Known(Activation),
    /// A method of the JDK, or an activation that was not reported because its method had begun too often.
    Method(String),
}

/// Limits on what is reported of a run.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    /// The number of activations of each method that are stepped through.
    pub(crate) stepped: u32,
    /// The number of steps that are followed in each of these activations.
    pub(crate) steps: u32,
    /// The number of activations of each method that are reported.
    pub(crate) reported: u32,
}

/// Starts a run under the tracer.
pub(crate) fn start(jdk: &Jdk, tracer: &str, budget: Budget, class_path: &str, program: &[String]) -> Child {
    let Budget { stepped, steps, reported } = budget;
    let mut it = Command::new(jdk.java());
    it.args(["--add-modules", "jdk.jdi", "-cp", tracer, "Tracer"]);
    it.args([stepped, steps, reported].map(|it| it.to_string()));
    it.arg(class_path).args(program);
    it.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    it.spawn().expect("java can be run")
}

/// Waits for the end of a run and parses its trace.
pub(crate) fn finish(run: Child) -> Vec<Event> {
    let out = run.wait_with_output().expect("the tracer ends");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let text = String::from_utf8(out.stdout).expect("a trace is text");
    text.lines().map(|it| event(it).unwrap_or_else(|| panic!("what is `{it}`?"))).collect()
}

fn event(line: &str) -> Option<Event> {
    let mut words = line.split(' ');
    let kind = words.next()?;
    if kind == "throw" {
        let classes = words.next()?.split(':').map(str::to_owned).collect();
        let (mut frames, mut handler) = (Vec::new(), None);
        for word in words {
            let word = match word.rsplit_once('>').filter(|it| it.1.bytes().all(|it| it.is_ascii_digit())) {
                Some((word, at)) => {
                    handler = Some(at.parse().ok()?);
                    word
                }
                None => word,
            };
            frames.push(frame(word)?);
        }
        return Some(Event::Throw { classes, frames, handler });
    }
    if kind == "exit" {
        return Some(Event::Exit);
    }
    let activation = words.next()?.parse().ok()?;
    Some(match kind {
        "enter" => Event::Enter {
            activation,
            stepped: words.next()? == "full",
            method: words.next()?.to_owned(),
            callers: words.map(frame).collect::<Option<_>>()?,
        },
        "step" => Event::Step { activation, pcs: words.map(|it| it.parse().ok()).collect::<Option<_>>()? },
        "return" => Event::Return { activation },
        "lost" => Event::Lost { activation },
        _ => return None,
    })
}

fn frame(word: &str) -> Option<Frame> {
    let (who, pc) = word.rsplit_once('@')?;
    let who = match who.strip_prefix('#') {
        Some(number) => Who::Known(number.parse().ok()?),
        None => Who::Method(who.to_owned()),
    };
    Some(Frame { who, pc: pc.parse().ok()? })
}
