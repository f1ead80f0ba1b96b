//! Which code may use what a module exports only to some modules, or not at all.

use ide::answer::{Question, class_answer};
use ide::entries::Receivers;
use ide::whole::{Setup, Whole, read_class};
use ide::{Owner, Packages, Role, Scratch, WholeOptions, WorldKind};
use test_utils::asm::assemble;

/// The targets of the call in method `c` of the class `caller`.
fn targets(caller: &str) -> Vec<String> {
    let called = ".class public super m/in/Called\n.method public static s()V\n return\n.end\n";
    let calls = format!(
        ".class public super {caller}\n.method public static c()V\n invokestatic m/in/Called.s()V\n return\n.end\n"
    );
    let classes = [called, &calls].map(|it| assemble(it).unwrap().remove(0).bytes);
    let record = |it: &Vec<u8>| (read_class(it, &mut Scratch::default()).unwrap(), Role::App);
    let options = WholeOptions {
        world: WorldKind::Closed,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    let module = |package: &str, module| (package.to_owned(), Owner::Module { module, exported: false });
    let owners = vec![module("m/in", 0), module("m/other", 0), module("n", 1)];
    let packages = Packages { add_exports: Vec::new(), owners };
    let setup =
        Setup { options, packages: &packages, entries: None, receivers: Receivers::Created, solve: true };
    let whole = Whole::joined(classes.iter().map(record).collect(), &setup).unwrap();
    let question = Question { select: &|_| true, graphs: false, clock: None };
    let answer = class_answer(&classes[1], &question, &mut Scratch::default()).unwrap();
    let calls = answer.methods.iter().flat_map(|it| whole.calls(it.method, &it.code));
    calls.flat_map(|it| it.targets).map(|it| it.to_string()).collect()
}

/// It is unknown to which modules a qualified export applies, so no other module is refused.
#[test]
fn another_module_is_not_refused() {
    assert_eq!(targets("m/other/Caller"), ["m/in/Called.s()V"], "a caller in the module itself");
    assert_eq!(targets("n/Caller"), ["m/in/Called.s()V"], "a caller in another module");
    assert_eq!(targets("free/Caller"), [""; 0], "a caller on the class path");
}
