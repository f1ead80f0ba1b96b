//! Tests of outlines of classes that javac compiled: `GhostComponent` annotations, nests, sealed classes, `throws`
//! clauses.

use std::fmt::Write;

use program::outline::{Ghost, Outline, class_outline};

const PARITY: &[u8] = include_bytes!("../../../test-data/ghost/Parity.class");
const SHAPE: &[u8] = include_bytes!("../../../test-data/ghost/Shape.class");
const CIRCLE: &[u8] = include_bytes!("../../../test-data/ghost/Shape$Circle.class");

fn ghost(it: &Option<Ghost>) -> String {
    let Some(it) = it else { return String::new() };
    format!(" ghost handlers {:?} req_meths {:?}", it.handlers, it.req_meths)
}

fn text(outline: &Outline) -> String {
    let mut out = format!("{} extends {:?}{}\n", outline.class, outline.super_class, ghost(&outline.ghost));
    for it in &outline.methods {
        writeln!(out, "{}{} throws {:?}{}", it.name, it.descriptor, it.throws, ghost(&it.ghost)).unwrap();
    }
    out
}

#[test]
fn a_ghost_is_known_by_the_simple_name_of_its_annotation() {
    assert_eq!(
        text(&class_outline(PARITY).unwrap()),
        "ghost/Parity extends Some(java/lang/Object)\n\
         <init>()V throws []\n\
         even(I)Z throws [] ghost handlers Some([any]) req_meths Some([odd(int)])\n\
         nested(I)Z throws [java/io/IOException] ghost handlers Some([java/lang/ArithmeticException]) req_meths None\n\
         bare(I)Z throws [] ghost handlers None req_meths None\n\
         odd(I)Z throws []\n"
    );
}

#[test]
fn a_whole_class_may_be_a_ghost() {
    let shape = class_outline(SHAPE).unwrap();
    assert_eq!(ghost(&shape.ghost), " ghost handlers None req_meths Some([])");
    assert_eq!(
        format!("{:?} {:?}", shape.permitted, shape.nest_members),
        "Some([ghost/Shape$Circle]) [ghost/Shape$Circle]"
    );
    let circle = class_outline(CIRCLE).unwrap();
    assert_eq!(format!("{:?} {:?}", circle.permitted, circle.nest_host), "None Some(ghost/Shape)");
}

/// An unreadable list of permitted subclasses must not make the class count as sealed, because the JVM reads the list
/// late or never.
#[test]
fn an_unreadable_list_seals_nothing() {
    let outline = |list: &str| {
        let text = format!(".class public super p/C\n.version 61.0\n.attribute PermittedSubclasses {list}\n");
        class_outline(&test_utils::asm::assemble(&text).unwrap().remove(0).bytes).unwrap()
    };
    assert_eq!(outline("0x0000").permitted.as_deref(), Some(&[][..]));
    assert_eq!(outline("0x0005").permitted, None);
}

#[test]
fn every_cut_of_a_class_is_refused() {
    for n in 0..PARITY.len() {
        assert!(class_outline(&PARITY[..n]).is_err(), "{n} bytes");
    }
}
