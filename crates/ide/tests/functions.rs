//! The targets of calls do not depend on whether the bodies of the platform are read, except bodies that create
//! function objects. Each class in turn is the program, and all others are its platform.

use std::path::Path;

use ide::answer::{Question, class_answer};
use ide::whole::{ClassRecord, Whole, read_class, read_functions};
use ide::{Call, MethodName, Role, Scratch, WholeOptions, WorldKind};
use test_utils::asm::assemble;

fn classes() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test-data");
    let mut paths = Vec::new();
    for folder in ["calls", "programs"] {
        let files = std::fs::read_dir(root.join(folder)).unwrap().map(|it| it.unwrap().path());
        paths.extend(files.filter(|it| it.extension().is_some_and(|it| it == "class")));
    }
    paths.sort();
    paths.iter().map(|it| std::fs::read(it).unwrap()).collect()
}

/// The calls of one class, with all other classes as the platform.
fn calls(class: &[u8], records: &[ClassRecord], number: usize, world: WorldKind) -> Vec<Vec<Call>> {
    let role = |it| if it == number { Role::App } else { Role::Jdk };
    let records = records.iter().cloned().enumerate().map(|(it, record)| (record, role(it))).collect();
    let options = WholeOptions {
        world,
        release: Some(17),
        assume_contract: false,
        link_errors: false,
        async_errors: false,
        system_assertions: false,
    };
    let whole = Whole::new(records, options);
    let question = Question { select: &|_| true, graphs: false, clock: None };
    let answer = class_answer(class, &question, &mut Scratch::default()).unwrap();
    answer.methods.iter().map(|it| whole.calls(it.method, &it.code)).collect()
}

#[test]
fn calls_depend_only_on_bodies_that_create_function_objects() {
    let classes = classes();
    assert!(classes.len() > 50, "{}", classes.len());
    let mut scratch = Scratch::default();
    let read = |it: &Vec<u8>| read_class(it, &mut Scratch::default()).unwrap();
    let full: Vec<ClassRecord> = classes.iter().map(read).collect();
    let few: Vec<ClassRecord> = classes.iter().map(|it| read_functions(it, &mut scratch).unwrap()).collect();
    let mut elsewhere = 0;
    for world in [WorldKind::Open, WorldKind::Closed] {
        for (i, class) in classes.iter().enumerate() {
            let mut mixed = few.clone();
            mixed[i] = full[i].clone();
            let seen = calls(class, &mixed, i, world);
            assert_eq!(seen, calls(class, &full, i, world), "class {i}");
            // Count the classes for which the platform makes a difference at all.
            let alone = calls(class, &full[i..=i], 0, world);
            elsewhere += usize::from(alone != seen);
        }
    }
    assert!(elsewhere > 20, "{elsewhere}");
}

/// A handle that names a method of an interface through a `Methodref` constant of a class is invalid (JVMS §5.4.3.3).
#[test]
fn a_function_object_calls_a_static_interface_method() {
    let lookup = "Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;";
    let rest = "Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;";
    let text = format!(
        ".class public super p/C\n.version 52.0\n\
         .bootstrap b0 invokestatic java/lang/invoke/LambdaMetafactory.metafactory({lookup}{rest})Ljava/lang/invoke/CallSite; \
         methodtype ()V handle invokestatic interface p/I.s()V methodtype ()V\n\
         .method public static make()Lp/F;\n invokedynamic b0 f()Lp/F;\n areturn\n.end\n\
         .method public static run(Lp/F;)V\n aload_0\n invokeinterface p/F.f()V\n return\n.end\n\
         .class public interface abstract p/I\n.version 52.0\n.method public static s()V\n return\n.end\n\
         .class public interface abstract p/F\n.version 52.0\n.method public abstract f()V\n.end\n"
    );
    let classes: Vec<Vec<u8>> = assemble(&text).unwrap().into_iter().map(|it| it.bytes).collect();
    let records: Vec<ClassRecord> =
        classes.iter().map(|it| read_class(it, &mut Scratch::default()).unwrap()).collect();
    let calls = calls(&classes[0], &records, 0, WorldKind::Closed).concat();
    let of_run: Vec<&Call> = calls.iter().filter(|it| !it.glue.is_empty()).collect();
    assert_eq!(of_run.len(), 1, "{calls:?}");
    let targets: Vec<String> = of_run[0].targets.iter().map(MethodName::to_string).collect();
    assert_eq!(targets, ["p/I.s()V"]);
    assert!(of_run[0].errors.is_empty() && of_run[0].open.is_none(), "{:?}", of_run[0]);
}
