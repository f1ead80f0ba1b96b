//! Tests of supertypes, subtypes and what absent classes may extend, one per rule (`semantics.md` §1).

use classfile::module::Module;
use classfile::names::Name;
use program::hierarchy::{Below, Hierarchy, Link, MAX_SUPERS, ProblemKind};
use program::input::WorldKind;

use crate::world::{World, below, class, id, names, options, world};

/// Returns the names of the extensible classes, sorted.
fn extensible(h: &Hierarchy) -> String {
    names(h, &h.ids().filter(|it| h.extensible(*it)).collect::<Vec<_>>())
}

fn problems(h: &Hierarchy) -> Vec<(String, ProblemKind, String)> {
    h.problems().iter().map(|it| (it.class.to_string(), it.kind, it.other.to_string())).collect()
}

#[test]
fn supertypes_reach_through_classes_and_interfaces() {
    let h = world(
        "p/A < java/lang/Object p/I
p/B < p/A p/J
interface p/I
interface p/J < p/I
p/B",
    )
    .open();
    assert_eq!(names(&h, h.supers(id(&h, "p/B"))), "java/lang/Object p/A p/B p/I p/J");
    assert_eq!(names(&h, h.supers(id(&h, "p/J"))), "java/lang/Object p/I p/J");
    assert_eq!(names(&h, h.children(id(&h, "p/I"))), "p/A p/J");
    assert_eq!(names(&h, &h.subtypes(id(&h, "p/I"))), "p/A p/B p/I p/J");
    assert_eq!(h.super_class(id(&h, "p/B")), Some(Link::Present(id(&h, "p/A"))));
    assert_eq!(h.interfaces(id(&h, "p/B")), [Link::Present(id(&h, "p/J"))]);
    assert_eq!(h.super_class(id(&h, "java/lang/Object")), None);
    // The second p/B is ignored.
    assert_eq!(problems(&h), [("p/B".into(), ProblemKind::Duplicate, "p/B".into())]);
    assert_eq!(h.len(), 5);
}

#[test]
fn subtyping_is_unknown_beyond_absent_supertypes() {
    let h = world(
        "p/A < x/Out
p/B < p/A
p/C < java/lang/Object x/IOut
p/Open
  public <init>()V
final p/Final
interface p/I
p/K",
    )
    .open();
    assert_eq!(h.outside_above(id(&h, "p/B")), Some(class("x/Out")));
    assert_eq!(h.outside_superclass(id(&h, "p/C")), None);
    assert_eq!(h.outside_above(id(&h, "p/K")), None);
    for (sub, sup, want) in [
        ("p/B", "x/Out", Below::Yes),
        ("p/B", "p/A", Below::Yes),
        ("p/B", "p/Open", Below::Unknown),
        ("p/B", "p/I", Below::Unknown),
        ("p/B", "p/Final", Below::No),
        ("p/B", "x/Other", Below::Unknown),
        // x/Out cannot be below its own subtype.
        ("x/Out", "p/B", Below::No),
        ("x/Out", "p/Open", Below::Unknown),
        ("x/Out", "java/lang/Object", Below::Yes),
        // An absent interface has only interfaces above it.
        ("p/C", "p/Open", Below::No),
        ("p/C", "p/I", Below::Unknown),
        // A chain of present classes ends in Object.
        ("p/K", "p/I", Below::No),
        ("p/K", "x/Out", Below::No),
        ("x/Out", "x/Other", Below::Unknown),
    ] {
        assert_eq!(below(&h, sub, sup), want, "{sub} <: {sup}");
    }
}

#[test]
fn object_is_known_without_its_file() {
    let h = world("p/A\np/B < p/A\ninterface p/I").without(class("java/lang/Object")).open();
    assert_eq!(h.outside_above(id(&h, "p/B")), None);
    assert_eq!(below(&h, "p/B", "java/lang/Object"), Below::Yes);
    assert_eq!(below(&h, "p/B", "p/I"), Below::No);
}

#[test]
fn arrays_follow_their_components() {
    let h = world("p/A\np/B < p/A\np/C < x/Out\np/O").open();
    for (sub, sup, want) in [
        ("[Lp/B;", "[Lp/A;", Below::Yes),
        ("[Lp/A;", "[Lp/B;", Below::No),
        ("[[Lp/B;", "[Ljava/lang/Object;", Below::Yes),
        ("[[I", "[Ljava/lang/Cloneable;", Below::Yes),
        ("[I", "[J", Below::No),
        ("[I", "[I", Below::Yes),
        ("[I", "[Ljava/lang/Object;", Below::No),
        ("[I", "java/io/Serializable", Below::Yes),
        ("[I", "java/lang/Object", Below::Yes),
        ("[I", "p/A", Below::No),
        ("p/A", "[I", Below::No),
        ("[Lp/C;", "[Lp/A;", Below::Unknown),
    ] {
        assert_eq!(below(&h, sub, sup), want, "{sub} <: {sup}");
    }
}

#[test]
fn cycles_and_wrong_kinds_are_reported() {
    let h = world(
        "p/A < p/B
p/B < p/A
p/Under < p/A
p/Self < p/Self
interface p/I < p/Under
p/K < p/I
final p/F
p/G < p/F
p/S
  permits p/T
p/U < p/S",
    )
    .open();
    use ProblemKind::*;
    let want = [
        ("p/A", Cycle, "p/B"),
        ("p/B", Cycle, "p/A"),
        ("p/G", FinalSuperclass, "p/F"),
        ("p/I", ClassAsInterface, "p/Under"),
        ("p/K", InterfaceAsSuperclass, "p/I"),
        ("p/Self", Cycle, "p/Self"),
        ("p/U", NotPermitted, "p/S"),
    ];
    assert_eq!(problems(&h), want.map(|(a, b, c)| (a.to_owned(), b, c.to_owned())));
    assert_eq!(h.super_class(id(&h, "p/A")), Some(Link::Outside(class("p/B"))));
    assert_eq!(h.outside_above(id(&h, "p/Under")), Some(class("p/B")));
    assert_eq!(below(&h, "p/A", "p/B"), Below::Yes);
}

#[test]
fn a_chain_of_too_many_supertypes_is_cut() {
    let mut text = "p/C0\n".to_owned();
    for i in 1..5000 {
        text += &format!("p/C{i} < p/C{}\n", i - 1);
    }
    let h = world(&text).open();
    assert!(h.ids().all(|it| h.supers(it).len() <= MAX_SUPERS));
    assert_eq!(below(&h, "p/C4999", "p/C4998"), Below::Yes);
    assert_eq!(below(&h, "p/C4999", "p/C0"), Below::Unknown);
    assert!(h.problems().iter().all(|it| it.kind == ProblemKind::TooManySupertypes));
    assert_eq!(h.problems().len(), 4);
    // A cycle of any length is found without recursion.
    let text = text.replacen("p/C0\n", "p/C0 < p/C4999\n", 1);
    let h = world(&text).open();
    assert_eq!(h.problems().len(), 5000);
}

#[test]
fn final_classes_and_private_constructors_close() {
    let h = world(
        "final p/Final
p/Public
  public <init>()V
p/Protected
  protected <init>()V
p/PackagePrivate
  <init>()V
p/Private
  private <init>()V
p/Host
  private <init>()V
  members p/Host$In
p/Host$In
  private <init>()V
  host p/Host
p/Half
  private <init>()V
  members p/Half$In p/Half$Gone
p/Half$In
  private <init>()V
  host p/Half
p/Lost
  private <init>()V
  host p/Gone
p/Old
  private <init>()V
  members p/Gone
  version 52
interface p/I",
    )
    .open();
    let want = "java/lang/Object p/Half p/Half$In p/I p/Lost p/PackagePrivate p/Protected p/Public";
    assert_eq!(extensible(&h), want);
}

#[test]
fn sealed_classes_close_when_all_branches_are_there() {
    let text = "p/S
  <init>()V
  permits p/A p/B
final p/A < p/S
p/B < p/S
  <init>()V
interface p/I
  permits p/J
interface p/J < p/I
  permits p/C
final p/C < java/lang/Object p/J";
    let h = world(text).open();
    assert_eq!(extensible(&h), "java/lang/Object p/B");
    assert_eq!(h.open_witness(id(&h, "p/S")), Some(id(&h, "p/B")));
    assert!(h.open_witness(id(&h, "p/I")).is_none());
    // An absent permitted subclass opens the sealed class itself.
    let h = world(text).without(class("p/C")).open();
    assert_eq!(extensible(&h), "java/lang/Object p/B p/J");
    assert_eq!(h.open_witness(id(&h, "p/I")), Some(id(&h, "p/J")));
    assert_eq!(h.opened_by(id(&h, "p/J")), Some(class("p/C")));
    assert_eq!(h.opened_by(id(&h, "p/B")), None);
    // Before version 61, the attribute has an effect in preview versions only.
    for (version, sealed) in [("60", false), ("60.65535", true), ("59.65535", true), ("58.65535", false)] {
        let text =
            format!("interface p/I\n  permits p/A\n  version {version}\nfinal p/A < java/lang/Object p/I");
        let h = world(&text).open();
        assert_eq!(h.extensible(id(&h, "p/I")), !sealed, "{version}");
    }
}

#[test]
fn the_nearest_witness_is_taken() {
    let h = world(
        "interface p/I
  permits p/B p/C
abstract p/B < java/lang/Object p/I
  permits p/D
abstract p/C < java/lang/Object p/I
  permits p/E p/F
p/D < p/B
  <init>()V
p/F < p/C
  <init>()V
p/E < p/C
  <init>()V
p/A < p/E
  <init>()V",
    )
    .open();
    assert_eq!(h.open_witness(id(&h, "p/I")), Some(id(&h, "p/D")));
    assert_eq!(h.open_witness(id(&h, "p/C")), Some(id(&h, "p/E")));
    assert_eq!(h.open_witness(id(&h, "p/A")), Some(id(&h, "p/A")));
}

#[test]
fn worlds_without_unknown_classes_close() {
    let text = "p/A\n  <init>()V\np/B < x/Out\n  <init>()V";
    let full = "p/A\n  <init>()V";
    let in_world = |text, kind| world(text).hierarchy(&[], &options(kind));
    for kind in [WorldKind::Declared, WorldKind::Closed] {
        let h = in_world(text, kind);
        assert_eq!(extensible(&h), "");
        let is_declared = kind == WorldKind::Declared;
        assert_eq!(below(&h, "p/B", "p/A"), if is_declared { Below::Unknown } else { Below::No });
        // x/Out is absent, so it may be below p/A; with no absent class, nothing may be.
        assert_eq!(h.open_witness(id(&h, "p/A")).is_some(), is_declared);
        let h = in_world(full, kind);
        assert!(h.open_witness(id(&h, "p/A")).is_none());
    }
    let named = program::hierarchy::HierarchyOptions { names_outside: true, ..options(WorldKind::Declared) };
    let h = world(full).hierarchy(&[], &named);
    assert!(h.open_witness(id(&h, "p/A")).is_some());
}

fn image() -> (World, Module) {
    let world = world(
        "public j/out/Public
  public <init>()V
  role jdk
j/out/Hidden
  public <init>()V
  role jdk
public j/out/Made
  <init>()V
  role jdk
public j/in/Closed
  public <init>()V
  role jdk
public j/in/App
  public <init>()V",
    );
    let names = |it: &[&str]| it.iter().map(|it| Name::new(it.as_bytes())).collect();
    let (exports, packages) = (names(&["j/out", "java/lang"]), names(&["j/out", "j/in", "java/lang"]));
    let module = Module {
        name: Name::new(b"j"),
        open: false,
        exports,
        qualified: Box::default(),
        requires: Box::default(),
        uses: Box::default(),
        provides: Box::default(),
        by_default: true,
        packages,
    };
    (world, module)
}

#[test]
fn the_image_closes_packages() {
    let (world, module) = image();
    let with = |release, add: &[&str]| {
        let add_exports = add.iter().map(|it| Name::new(it.as_bytes())).collect();
        program::hierarchy::HierarchyOptions {
            platform_release: release,
            add_exports,
            ..options(WorldKind::Open)
        }
    };
    let modules = std::slice::from_ref(&module);
    let h = world.hierarchy(modules, &with(Some(17), &[]));
    // JDK classes that are not exported, not public, or not constructible from elsewhere are closed; app classes
    // are not.
    assert_eq!(extensible(&h), "j/in/App j/out/Public java/lang/Object");
    let h = world.hierarchy(modules, &with(Some(17), &["j/in"]));
    assert_eq!(extensible(&h), "j/in/App j/in/Closed j/out/Public java/lang/Object");
    // JEP 261: missing exports close nothing up to release 15, but no absent class belongs to the packages.
    for release in [Some(11), None] {
        let h = world.hierarchy(modules, &with(release, &[]));
        assert_eq!(extensible(&h), "j/in/App j/in/Closed j/out/Public java/lang/Object");
    }
    let h = world.hierarchy(&[], &with(Some(8), &[]));
    assert_eq!(h.ids().filter(|it| h.extensible(*it)).count(), h.len());
}

#[test]
fn packages_outside_the_image_have_owners() {
    let world = world(
        "public m/in/Hidden
  public <init>()V
public m/out/Public
  public <init>()V
m/out/Mate
  <init>()V
public m/out/Kept
  <init>()V
public m/out/Base
  protected <init>()V
public n/Other
  public <init>()V
public s/Sealed
  public <init>()V
s/Mate
  <init>()V
public free/Free
  public <init>()V",
    );
    let module = |module, exported| program::hierarchy::Owner::Module { module, exported };
    let owners = |all: &[(&str, program::hierarchy::Owner)]| program::hierarchy::HierarchyOptions {
        owners: all.iter().map(|it| (Name::new(it.0.as_bytes()), it.1)).collect(),
        ..options(WorldKind::Open)
    };
    let all = [
        ("m/in", module(0, false)),
        ("m/out", module(0, true)),
        ("n", module(1, true)),
        ("s", program::hierarchy::Owner::Sealed),
    ];
    let h = world.hierarchy(&[], &owners(&all));
    // Constructors of subclasses may call a protected constructor (JVMS §5.4.4).
    assert_eq!(extensible(&h), "free/Free java/lang/Object m/out/Base m/out/Public n/Other s/Sealed");
    // Packages opened by `--add-exports` are usable, but still no absent class belongs to them.
    let added =
        program::hierarchy::HierarchyOptions { add_exports: [Name::new(b"m/in")].into(), ..owners(&all) };
    assert_eq!(
        extensible(&world.hierarchy(&[], &added)),
        "free/Free java/lang/Object m/in/Hidden m/out/Base m/out/Public n/Other s/Sealed"
    );
    let h = world.hierarchy(&[], &owners(&[]));
    assert_eq!(h.ids().filter(|it| h.extensible(*it)).count(), h.len());

    // The module may access what it does not export; the class path may not. Another module may be the target of a
    // qualified export, and so may a platform class whose module is unknown.
    let h = world.hierarchy(&[], &owners(&all));
    let may = |from: &str| program::members::access::may_access_class(&h, id(&h, from), class("m/in/Hidden"));
    let want = [
        ("m/out/Public", Below::Yes),
        ("n/Other", Below::Unknown),
        ("free/Free", Below::No),
        ("s/Sealed", Below::No),
        ("java/lang/Object", Below::Unknown),
    ];
    for (from, want) in want {
        assert_eq!(may(from), want, "{from}");
    }
}
