//! Tests of resolution, selection and access, one per rule. `oracle` compares the same rules with the JVM.

use classfile::names::{Descriptor, Name};
use program::hierarchy::{Below, Hierarchy};
use program::members::access::{are_nestmates, may_access_class, may_access_field, may_access_method};
use program::members::resolve::{resolve_field, resolve_method};
use program::members::select::{select, select_interface, special_target};
use program::members::{LinkError, MethodId, ResolvedField, ResolvedMethod, Selected};

use crate::world::{class, id, method, options, world};

/// Parses a method reference `p/A.m()V`; the prefix `I:` marks a reference to an interface method.
fn parts(text: &str) -> (bool, &str, Name, Descriptor) {
    let (interface, text) = text.strip_prefix("I:").map_or((false, text), |it| (true, it));
    let (owner, member) = text.split_once('.').expect("a dot");
    let (name, ty) = member.split_at(member.find(['(', ':']).expect("a descriptor"));
    let ty = ty.strip_prefix(':').unwrap_or(ty);
    (interface, owner, Name::new(name.as_bytes()), Descriptor::new(ty.as_bytes()))
}

fn unknown(h: &Hierarchy, outside: impl std::fmt::Display, beyond: Option<MethodId>) -> String {
    let beyond = beyond.map_or("nothing".to_owned(), |it| method(h, it));
    format!("{outside}? {beyond}")
}

fn shown(h: &Hierarchy, it: ResolvedMethod) -> String {
    match it {
        ResolvedMethod::Method(it) => method(h, it),
        ResolvedMethod::SignaturePolymorphic(it) => format!("any {}", method(h, it)),
        ResolvedMethod::Error(it) => it.exception().to_owned(),
        ResolvedMethod::Unknown { outside, beyond } => unknown(h, outside, beyond),
    }
}

fn resolved(h: &Hierarchy, text: &str) -> String {
    let (interface, owner, name, ty) = parts(text);
    shown(h, resolve_method(h, class(owner), name, ty, interface))
}

fn selected(h: &Hierarchy, receiver: &str, text: &str) -> String {
    let (interface, owner, name, ty) = parts(text);
    let ResolvedMethod::Method(it) = resolve_method(h, class(owner), name, ty, interface) else {
        panic!("{text} does not resolve")
    };
    let receiver = id(h, receiver);
    let it =
        if interface { select_interface(h, receiver, class(owner), it) } else { select(h, receiver, it) };
    match it {
        Selected::Method(it) => method(h, it),
        Selected::Error(it) => it.exception().to_owned(),
        Selected::Unknown { outside, beyond } => unknown(h, outside, beyond),
    }
}

fn special(h: &Hierarchy, caller: &str, text: &str) -> String {
    let (interface, owner, name, ty) = parts(text);
    shown(h, special_target(h, id(h, caller), class(owner), name, ty, interface))
}

fn field(h: &Hierarchy, text: &str) -> String {
    let (_, owner, name, ty) = parts(text);
    match resolve_field(h, class(owner), name, ty) {
        ResolvedField::Field(it) => h.name(it.class).to_string(),
        ResolvedField::Error(it) => it.exception().to_owned(),
        ResolvedField::Unknown { outside, beyond } => {
            format!("{outside}? {:?}", beyond.map(|it| h.name(it.class)))
        }
    }
}

#[test]
fn methods_come_from_classes_first_then_interfaces() {
    let h = world(
        "interface p/I
  public d()V
  public abstract a()V
  public toString()Ljava/lang/String;
  static s()V
  private v()V
interface p/J < p/I
  public abstract d()V
p/A < java/lang/Object p/J
  public m()V
p/B < p/A",
    )
    .open();
    for (text, want) in [
        ("p/B.m()V", "p/A.m()V"),
        ("p/B.a()V", "p/I.a()V"),
        // The abstract method is more specific.
        ("p/B.d()V", "p/J.d()V"),
        ("p/B.toString()Ljava/lang/String;", "java/lang/Object.toString()Ljava/lang/String;"),
        ("I:p/J.toString()Ljava/lang/String;", "java/lang/Object.toString()Ljava/lang/String;"),
        ("I:p/J.clone()Ljava/lang/Object;", "java/lang/NoSuchMethodError"),
        // Private and static methods of interfaces are not inherited.
        ("p/B.s()V", "java/lang/NoSuchMethodError"),
        ("I:p/J.v()V", "java/lang/NoSuchMethodError"),
        ("I:p/I.v()V", "p/I.v()V"),
        ("p/B.m()I", "java/lang/NoSuchMethodError"),
        ("I:p/B.m()V", "java/lang/IncompatibleClassChangeError"),
        ("p/I.a()V", "java/lang/IncompatibleClassChangeError"),
        ("[Lp/B;.clone()Ljava/lang/Object;", "java/lang/Object.clone()Ljava/lang/Object;"),
        ("x/Out.m()V", "x/Out? nothing"),
    ] {
        assert_eq!(resolved(&h, text), want, "{text}");
    }
    assert_eq!(selected(&h, "p/B", "p/B.d()V"), "java/lang/AbstractMethodError");
}

#[test]
fn absent_classes_on_the_path_leave_answers_open() {
    let h = world(
        "p/A < x/Out p/I
  public m()V
p/B < java/lang/Object p/I x/IOut
interface p/I
  public d()V
interface p/Over < x/IOut
  public d()V
p/C < java/lang/Object p/Over
p/D < p/C p/I",
    )
    .open();
    for (text, want) in [
        ("p/A.m()V", "p/A.m()V"),
        ("p/A.n()V", "x/Out? nothing"),
        ("p/A.d()V", "x/Out? p/I.d()V"),
        ("p/A.toString()Ljava/lang/String;", "x/Out? java/lang/Object.toString()Ljava/lang/String;"),
        // Present superclasses are searched before any interface.
        ("p/B.toString()Ljava/lang/String;", "java/lang/Object.toString()Ljava/lang/String;"),
        ("p/B.d()V", "x/IOut? p/I.d()V"),
        // An absent interface above a candidate is less specific than it.
        ("p/C.d()V", "p/Over.d()V"),
        // The absent interface may make one of the two candidates more specific than the other.
        ("p/D.d()V", "x/IOut? p/I.d()V"),
    ] {
        assert_eq!(resolved(&h, text), want, "{text}");
    }
    assert_eq!(selected(&h, "p/A", "I:p/I.d()V"), "x/Out? p/I.d()V");
    assert_eq!(selected(&h, "p/C", "I:p/Over.d()V"), "p/Over.d()V");
    assert_eq!(
        selected(&h, "p/A", "java/lang/Object.toString()Ljava/lang/String;"),
        "x/Out? java/lang/Object.toString()Ljava/lang/String;"
    );
    // A receiver that may be a subtype.
    assert_eq!(
        selected(&h, "p/A", "p/C.toString()Ljava/lang/String;"),
        "x/Out? java/lang/Object.toString()Ljava/lang/String;"
    );
}

#[test]
fn the_methods_of_an_absent_object_are_known_by_name() {
    let h = world("p/A\n  public m()V\ninterface p/I").without(class("java/lang/Object")).open();
    for (text, want) in [
        ("p/A.n()V", "java/lang/NoSuchMethodError"),
        ("p/A.hashCode()I", "java/lang/Object? nothing"),
        ("I:p/I.hashCode()I", "java/lang/Object? nothing"),
        ("I:p/I.clone()Ljava/lang/Object;", "java/lang/NoSuchMethodError"),
        ("[I.clone()Ljava/lang/Object;", "java/lang/Object? nothing"),
        ("[I.length()I", "java/lang/NoSuchMethodError"),
    ] {
        assert_eq!(resolved(&h, text), want, "{text}");
    }
}

#[test]
fn package_private_methods_are_overridden_in_their_package_or_by_way_of_it() {
    let text = "public p/A
  m()V
public q/B < p/A
  m()V
public p/C < q/B
  public m()V
public q/D < p/C
  m()V
public r/E < q/D
  m()V";
    let h = world(text).open();
    // The public method of p/C is overridden from every package, also across a class of another package.
    for (receiver, want) in [("p/A", "p/A"), ("q/B", "p/A"), ("p/C", "p/C"), ("q/D", "q/D"), ("r/E", "r/E")] {
        assert_eq!(selected(&h, receiver, "p/A.m()V"), format!("{want}.m()V"), "{receiver}");
    }
    // The method of q/B is a different one; p/C does not override it, but q/D does.
    for (receiver, want) in [("q/B", "q/B"), ("p/C", "q/B"), ("q/D", "q/D"), ("r/E", "q/D")] {
        assert_eq!(selected(&h, receiver, "q/B.m()V"), format!("{want}.m()V"), "{receiver}");
    }
    // Before class version 51, overriding is not transitive: q/D finds the public method of p/C, which it
    // overrides.
    let h = world(&text.replace("public q/D < p/C", "public q/D < p/C\n  version 50")).open();
    assert_eq!(selected(&h, "q/D", "p/A.m()V"), "q/D.m()V");
    assert_eq!(selected(&h, "q/D", "q/B.m()V"), "q/D.m()V");
    // With p/C absent, it is unknown what q/D overrides.
    let h = world(text).without(class("p/C")).open();
    assert_eq!(selected(&h, "q/D", "p/A.m()V"), "p/C? p/A.m()V");
    assert_eq!(selected(&h, "q/D", "q/B.m()V"), "q/D.m()V");
}

/// `q/D` overrides the method of `p/A` through the public `p/C`, whose version matters only for what `p/C` itself
/// overrides.
#[test]
fn what_a_class_before_version_51_overrides_is_overridden_with_it() {
    let h = world(
        "public p/A
  m()V
public q/B < p/A
  m()V
public p/C < q/B
  version 50
  public m()V
public q/D < p/C
  m()V",
    )
    .open();
    for (receiver, want) in [("q/B", "p/A"), ("p/C", "p/C"), ("q/D", "q/D")] {
        assert_eq!(selected(&h, receiver, "p/A.m()V"), format!("{want}.m()V"), "{receiver}");
    }
}

/// Any of several candidate methods may be resolved (JVMS §5.4.3.3); the answer must not depend on the order of the
/// class path.
#[test]
fn conflicting_methods_resolve_to_the_smallest_class_name() {
    let interfaces = ["interface p/I\n  public d()V\n", "interface p/J\n  public d()V\n"];
    let class = "p/A < java/lang/Object p/J p/I\n";
    for [first, second] in [interfaces, [interfaces[1], interfaces[0]]] {
        let h = world(&format!("{first}{second}{class}")).open();
        assert_eq!(resolved(&h, "p/A.d()V"), "p/I.d()V");
    }
}

#[test]
fn defaults_conflict_only_among_those_with_code() {
    let h = world(
        "interface p/I
  public d()V
interface p/J
  public d()V
interface p/K
  public abstract d()V
interface p/L < p/I p/J
  public d()V
p/A < java/lang/Object p/I p/J
p/B < java/lang/Object p/I p/K
p/C < p/A p/L
p/D < java/lang/Object p/I
  d()V
p/E < java/lang/Object p/I
  private d()V",
    )
    .open();
    for (receiver, want) in [
        ("p/A", "java/lang/IncompatibleClassChangeError"),
        ("p/B", "p/I.d()V"),
        ("p/C", "p/L.d()V"),
        ("p/D", "java/lang/IllegalAccessError"),
        ("p/E", "p/I.d()V"),
    ] {
        assert_eq!(selected(&h, receiver, "I:p/I.d()V"), want, "{receiver}");
    }
    // A receiver that does not implement p/K, which the verifier does not reject.
    assert_eq!(selected(&h, "p/A", "I:p/K.d()V"), "java/lang/IncompatibleClassChangeError");
}

#[test]
fn invokespecial_starts_at_the_direct_superclass() {
    let h = world(
        "interface p/I
  public d()V
interface p/J < p/I
abstract p/A
  public <init>()V
  public m()V
  public abstract a()V
  static s()V
p/B < p/A p/J
  public m()V
  private v()V
p/C < p/B
  public m()V
p/Out < x/Out",
    )
    .open();
    for (caller, text, want) in [
        ("p/C", "p/A.m()V", "p/B.m()V"),
        ("p/C", "p/C.m()V", "p/C.m()V"),
        ("p/B", "p/B.v()V", "p/B.v()V"),
        ("p/B", "p/A.a()V", "java/lang/AbstractMethodError"),
        ("p/B", "p/A.s()V", "java/lang/IncompatibleClassChangeError"),
        ("p/B", "I:p/J.d()V", "p/I.d()V"),
        ("p/C", "p/B.d()V", "p/I.d()V"),
        ("p/B", "p/A.<init>()V", "p/A.<init>()V"),
        ("p/C", "p/B.<init>()V", "java/lang/NoSuchMethodError"),
        ("p/Out", "x/Out.<init>()V", "x/Out? nothing"),
        ("p/Out", "p/Out.<init>()V", "java/lang/NoSuchMethodError"),
        ("p/Out", "p/A.m()V", "x/Out? p/A.m()V"),
    ] {
        assert_eq!(special(&h, caller, text), want, "{caller} {text}");
    }
}

#[test]
fn fields_come_from_interfaces_before_superclasses() {
    let h = world(
        "interface p/I
  static f:I
interface p/J < p/I
p/A
  f:I
  f:J
p/B < p/A p/J
p/C < p/B x/IOut
p/D < x/Out",
    )
    .open();
    for (text, want) in [
        ("p/B.f:I", "p/I"),
        ("p/B.f:J", "p/A"),
        ("p/B.g:J", "java/lang/NoSuchFieldError"),
        ("p/C.f:I", "x/IOut? Some(p/I)"),
        ("p/D.f:I", "x/Out? None"),
        ("[I.length:I", "java/lang/NoSuchFieldError"),
    ] {
        assert_eq!(field(&h, text), want, "{text}");
    }
}

#[test]
fn signature_polymorphic_methods_take_any_descriptor() {
    let h = world(
        "java/lang/invoke/MethodHandle
  native varargs invoke([Ljava/lang/Object;)Ljava/lang/Object;
  native varargs two([Ljava/lang/Object;)V
  native varargs two([Ljava/lang/Object;)I
p/Fake
  native varargs invoke([Ljava/lang/Object;)Ljava/lang/Object;",
    )
    .open();
    let invoke = "any java/lang/invoke/MethodHandle.invoke([Ljava/lang/Object;)Ljava/lang/Object;";
    assert_eq!(resolved(&h, "java/lang/invoke/MethodHandle.invoke(I)V"), invoke);
    assert_eq!(resolved(&h, "java/lang/invoke/MethodHandle.two(I)V"), "java/lang/NoSuchMethodError");
    assert_eq!(resolved(&h, "p/Fake.invoke(I)V"), "java/lang/NoSuchMethodError");
}

#[test]
fn access_depends_on_package_subclass_and_nest() {
    let h = world(
        "public p/A
  public pub()V
  protected pro()V
  protected static stat()V
  pack()V
  private priv()V
  private f:I
  members p/A$In p/A$Gone
p/A$In
  host p/A
p/A$Liar
  host p/A$In
p/A$Lost
  private priv()V
  host p/A$Host
p/A$Lost2
  host p/A$Host
p/Near
public q/Sub < p/A
q/SubSub < q/Sub
q/Far
q/Open < x/Out",
    )
    .open();
    use Below::*;
    for (from, text, named, want) in [
        ("q/Far", "pub()V", "p/A", Yes),
        ("q/Far", "pro()V", "p/A", No),
        ("p/Near", "pro()V", "p/A", Yes),
        ("q/Sub", "pro()V", "q/Sub", Yes),
        ("q/Sub", "pro()V", "q/SubSub", Yes),
        // For the JVM alone, a superclass may be named; the verifier then checks the type of the receiver.
        ("q/Sub", "pro()V", "p/A", Yes),
        ("q/Sub", "stat()V", "p/A", Yes),
        ("q/Open", "pro()V", "p/A", Unknown),
        ("q/Open", "stat()V", "p/A", Unknown),
        // An absent supertype of the named class may be a subtype of the accessing class.
        ("q/Sub", "pro()V", "q/Open", Unknown),
        ("q/Sub", "pack()V", "p/A", No),
        ("p/Near", "pack()V", "p/A", Yes),
        ("p/Near", "priv()V", "p/A", No),
        ("p/A$In", "priv()V", "p/A", Yes),
        ("p/A$Liar", "priv()V", "p/A", No),
        ("p/A$Lost", "priv()V", "p/A", No),
    ] {
        let (_, _, name, ty) = parts(&format!("x.{text}"));
        let a = id(&h, "p/A");
        let method = MethodId { class: a, index: h.method(a, name, ty).expect("declared") };
        assert_eq!(may_access_method(&h, id(&h, from), class(named), method), want, "{from} {text} {named}");
    }
    let ResolvedField::Field(f) = resolve_field(&h, class("p/A"), Name::new(b"f"), Descriptor::new(b"I"))
    else {
        panic!("no field")
    };
    assert_eq!(may_access_field(&h, id(&h, "p/A$In"), class("p/A"), f), Yes);
    assert_eq!(are_nestmates(&h, id(&h, "p/A$Lost"), id(&h, "p/A$Lost2")), Unknown);
    for (from, to, want) in [
        ("q/Far", "p/A", Yes),
        ("q/Far", "p/Near", No),
        ("p/A", "p/Near", Yes),
        ("p/A", "x/Out", Unknown),
        ("q/Far", "[[Lp/Near;", No),
        ("q/Far", "[[I", Yes),
        ("q/Far", "java/lang/Object", Yes),
    ] {
        assert_eq!(may_access_class(&h, id(&h, from), class(to)), want, "{from} {to}");
    }
    let object = id(&h, "java/lang/Object");
    let (name, ty) = (Name::new(b"clone"), Descriptor::new(b"()Ljava/lang/Object;"));
    let clone = MethodId { class: object, index: h.method(object, name, ty).expect("declared") };
    assert_eq!(may_access_method(&h, id(&h, "q/Far"), class("[I"), clone), Yes);
    assert_eq!(may_access_method(&h, id(&h, "q/Far"), class("p/A"), clone), No);
}

#[test]
fn errors_name_what_the_jvm_throws() {
    let closed = world("p/A").hierarchy(&[], &options(program::input::WorldKind::Closed));
    assert_eq!(resolved(&closed, "p/A.m()V"), LinkError::NoSuchMethod.exception());
    assert_eq!(field(&closed, "p/A.f:I"), LinkError::NoSuchField.exception());
}
