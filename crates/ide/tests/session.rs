//! An answer that is kept current while classes are left out because their analysis panicked.

use std::sync::Arc;

use ide::change::{Change, ContainerId, ContainerListing, Listing};
use ide::difference::Fact;
use ide::explained::Places;
use ide::host::Definition;
use ide::session::{Question, Session, Subject};
use ide::{EntryIdentity, FileId, Role, Settings, WorldKind};
use test_utils::asm::assemble;
use vfs::file::Vfs;

/// A map from definitions to paths that knows no paths.
struct Nowhere;

impl Places for Nowhere {
    fn place(&self, _: Definition) -> Option<String> {
        None
    }
}

fn content(file: FileId, text: &str) -> (FileId, EntryIdentity, Arc<[u8]>) {
    let bytes = assemble(text).unwrap().remove(0).bytes;
    (file, EntryIdentity::of_bytes(&bytes), bytes.into())
}

/// The methods that were added, each with a sign, and those that were removed.
fn answered(session: &mut Session) -> Vec<String> {
    let job = session.job(Arc::new(Nowhere));
    let update = job.update().unwrap();
    let classes = update.stale.iter().map(|&it| (it, job.class(it).unwrap())).collect();
    drop(job);
    let changes = session.take(update, classes);
    let methods = changes.iter().filter(|it| it.fact == Fact::Method);
    methods.map(|it| format!("{}{}", if it.added { '+' } else { '-' }, it.method.unwrap())).collect()
}

#[test]
fn a_class_that_was_left_out_returns_when_it_changes() {
    let mut vfs = Vfs::default();
    let (a, b) = (vfs.file("A.class"), vfs.file("B.class"));
    let of = |name: &str, code: &str| {
        format!(".class public final p/{name}\n.method public static m()V\n {code}\n return\n.end\n")
    };
    let mut session = Session::new(Question { subject: Subject::Throws, shown: Vec::new(), to: Vec::new() });
    let listing = ContainerListing { id: ContainerId(0), role: Role::App, classes: vec![a, b] };
    let change = Change {
        containers: Some(vec![Listing::Classes(listing)]),
        classes: vec![content(a, &of("A", "nop")), content(b, &of("B", "nop"))],
        settings: Some(Settings::new(WorldKind::Closed, 17)),
    };
    session.apply(change, Some(vec![a, b]));
    session.leave_out(vec![(a, "half way".to_owned())]);
    assert_eq!(answered(&mut session), ["+p/B.m()V"]);
    assert_eq!(session.broken().collect::<Vec<_>>(), [(a, "half way")]);
    // Change another class.
    session
        .apply(Change { classes: vec![content(b, &of("B", "iconst_0\n pop"))], ..Change::default() }, None);
    assert_eq!(answered(&mut session), [""; 0]);
    session
        .apply(Change { classes: vec![content(a, &of("A", "iconst_0\n pop"))], ..Change::default() }, None);
    assert_eq!(answered(&mut session), ["+p/A.m()V"]);
    assert_eq!(session.broken().count(), 0);
}
