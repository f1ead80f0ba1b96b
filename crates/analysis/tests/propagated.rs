//! The effects of an edit of one class on the exceptions that methods of other classes let out.

mod common;

use std::sync::Arc;

use analysis::answers::throws;
use analysis::db::Db;
use analysis::input::{Part, Settings, World};
use analysis::whole::answers::Throws;
use common::LoggingDatabase;
use program::input::{ClassFile, Container, Role, WorldKind};
use test_utils::asm::assemble;

const CALLER: &str = r"
.class public final p/Caller
.super java/lang/Object
.method public static a()V
  invokestatic p/Callee.b()V
  return
.end
";
const OTHER: &str = r"
.class public final p/Other
.super java/lang/Object
.method public static c()I
  iconst_1
  iconst_0
  idiv
  ireturn
.end
";
const CALLEE: &str = r"
.class public final p/Callee
.super java/lang/Object
.method public static b()V
  iconst_1
  pop
  return
.end
";
/// A version of the callee with a loop. No other class can see the loop.
const CALLEE_QUIET: &str = r"
.class public final p/Callee
.super java/lang/Object
.method public static b()V
  iconst_2
  istore_0
L: iinc 0 -1
  iload_0
  ifgt L
  return
.end
";
const CALLEE_THROWS: &str = r"
.class public final p/Callee
.super java/lang/Object
.method public static b()V
  aconst_null
  athrow
.end
";

fn bytes(code: &str) -> Vec<u8> {
    assemble(code).unwrap().remove(0).bytes
}

/// Reads the exceptions of the class's methods, so the query runs again exactly when these exceptions changed.
#[salsa::tracked]
fn reads_throws(db: &dyn Db, class: ClassFile) -> usize {
    throws(db, class).len()
}

struct Three {
    db: LoggingDatabase,
    caller: ClassFile,
    other: ClassFile,
    callee: ClassFile,
}

impl Three {
    fn new() -> Self {
        let db = LoggingDatabase::new();
        let [caller, other, callee] = [CALLER, OTHER, CALLEE].map(|it| db.class(&bytes(it)));
        let container = Container::new(&db, Role::App, Arc::from([caller, other, callee]), Arc::default());
        let settings = Arc::new(Settings::new(WorldKind::Closed, 25));
        World::new(&db, Arc::from([Part::Classes(container)]), settings);
        let it = Three { db, caller, other, callee };
        it.ask();
        it
    }

    /// Asks for the exceptions of all three classes; returns the queries that ran.
    fn ask(&self) -> Vec<String> {
        for class in [self.caller, self.other, self.callee] {
            reads_throws(&self.db, class);
        }
        self.db.ran()
    }

    fn known(&self, class: ClassFile) -> Vec<String> {
        let all: &Arc<[Throws]> = throws(&self.db, class);
        all.iter().flat_map(|it| &it.known).map(|it| it.class.to_string()).collect()
    }
}

#[test]
fn equal_summary_keeps_callers() {
    let mut it = Three::new();
    it.db.edit(it.callee, &bytes(CALLEE_QUIET));
    assert_eq!(it.ask(), ["parsed", "record"]);
}

#[test]
fn a_new_throw_changes_only_its_callers() {
    let mut it = Three::new();
    assert_eq!(it.known(it.caller), [""; 0]);
    let other = it.known(it.other);
    it.db.edit(it.callee, &bytes(CALLEE_THROWS));
    let ran = it.ask();
    assert_eq!(ran.iter().filter(|it| *it == "propagated").count(), 1, "{ran:?}");
    assert_eq!(ran.iter().filter(|it| *it == "reads_throws").count(), 2, "{ran:?}");
    assert_eq!(it.known(it.caller), ["java/lang/NullPointerException"]);
    assert_eq!(it.known(it.other), other);
    assert_eq!(other, ["java/lang/ArithmeticException"]);
    // The first version is restored.
    it.db.edit(it.callee, &bytes(CALLEE));
    it.ask();
    assert_eq!(it.known(it.caller), [""; 0]);
}

#[test]
fn answers_before_there_is_a_world_are_not_reused() {
    let db = LoggingDatabase::new();
    let class = db.class(&bytes(OTHER));
    assert_eq!(throws(&db, class).len(), 0);
    let container = Container::new(&db, Role::App, Arc::from([class]), Arc::default());
    let settings = Arc::new(Settings::new(WorldKind::Open, 25));
    World::new(&db, Arc::from([Part::Classes(container)]), settings);
    // No input changed. The edit advances the revision of salsa, as each change by the host does.
    let mut db = db;
    db.edit(class, &bytes(OTHER));
    assert_eq!(throws(&db, class).len(), 1);
}
