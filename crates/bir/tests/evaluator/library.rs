//! The part of `java.lang` that the programs use, and the trace class of the harness.

use classfile::names::{ClassName, MemberRef};

use crate::show::{name, quote, show, simple_name};
use crate::state::{State, Step, abort};
use crate::value::{ObjId, Payload, Value};

/// A class of the library, with the methods that it declares; static ones have the prefix `static `.
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    pub(crate) super_class: &'static str,
    pub(crate) interfaces: &'static [&'static str],
    pub(crate) is_interface: bool,
    pub(crate) methods: &'static [&'static str],
    /// Static fields that hold an object without content, and its class.
    pub(crate) objects: &'static [(&'static str, &'static str)],
}

const fn class(
    name: &'static str,
    super_class: &'static str,
    interfaces: &'static [&'static str],
    methods: &'static [&'static str],
) -> Entry {
    Entry { name, super_class, interfaces, is_interface: false, methods, objects: &[] }
}

const fn interface(name: &'static str, methods: &'static [&'static str]) -> Entry {
    Entry { is_interface: true, ..class(name, OBJECT, &[], methods) }
}

const CONSTRUCTORS: &[&str] = &[
    "<init>()V",
    "<init>(Ljava/lang/String;)V",
    "<init>(Ljava/lang/String;Ljava/lang/Throwable;)V",
    "<init>(Ljava/lang/Throwable;)V",
];

const fn throwable(name: &'static str, super_class: &'static str) -> Entry {
    class(name, super_class, &[], CONSTRUCTORS)
}

const OBJECT: &str = "java/lang/Object";

pub(crate) const CLASSES: &[Entry] = &[
    class(
        OBJECT,
        "",
        &[],
        &[
            "<init>()V",
            "equals(Ljava/lang/Object;)Z",
            "hashCode()I",
            "toString()Ljava/lang/String;",
            "getClass()Ljava/lang/Class;",
            "clone()Ljava/lang/Object;",
        ],
    ),
    interface("java/lang/Cloneable", &[]),
    interface("java/io/Serializable", &[]),
    interface("java/lang/CharSequence", &[]),
    interface("java/lang/Comparable", &[]),
    interface("java/lang/Runnable", &[]),
    interface("java/util/function/Supplier", &[]),
    interface(
        "java/util/function/IntUnaryOperator",
        &[
            "applyAsInt(I)I",
            "andThen(Ljava/util/function/IntUnaryOperator;)Ljava/util/function/IntUnaryOperator;",
        ],
    ),
    interface(
        "java/util/List",
        &["static of(Ljava/lang/Object;)Ljava/util/List;", "toString()Ljava/lang/String;"],
    ),
    Entry { objects: &[("out", "java/io/PrintStream")], ..class("java/lang/System", OBJECT, &[], &[]) },
    class(
        "java/io/PrintStream",
        OBJECT,
        &[],
        &["print(Ljava/lang/Object;)V", "print(Ljava/lang/String;)V", "println(Ljava/lang/String;)V"],
    ),
    class(
        "java/lang/Enum",
        OBJECT,
        &["java/lang/Comparable", "java/io/Serializable"],
        &[
            "<init>(Ljava/lang/String;I)V",
            "name()Ljava/lang/String;",
            "ordinal()I",
            "toString()Ljava/lang/String;",
        ],
    ),
    class(
        "java/lang/StringBuffer",
        OBJECT,
        &["java/lang/CharSequence"],
        &[
            "<init>()V",
            "<init>(Ljava/lang/String;)V",
            "append(I)Ljava/lang/StringBuffer;",
            "append(J)Ljava/lang/StringBuffer;",
            "append(C)Ljava/lang/StringBuffer;",
            "append(Z)Ljava/lang/StringBuffer;",
            "append(Ljava/lang/String;)Ljava/lang/StringBuffer;",
            "append(Ljava/lang/Object;)Ljava/lang/StringBuffer;",
            "toString()Ljava/lang/String;",
        ],
    ),
    class(
        "java/lang/String",
        OBJECT,
        &["java/lang/CharSequence", "java/lang/Comparable", "java/io/Serializable"],
        &[
            "<init>()V",
            "<init>(Ljava/lang/String;)V",
            "<init>([C)V",
            "length()I",
            "isEmpty()Z",
            "charAt(I)C",
            "equals(Ljava/lang/Object;)Z",
            "hashCode()I",
            "concat(Ljava/lang/String;)Ljava/lang/String;",
            "toString()Ljava/lang/String;",
            "intern()Ljava/lang/String;",
            "static valueOf(I)Ljava/lang/String;",
            "static valueOf(J)Ljava/lang/String;",
            "static valueOf(C)Ljava/lang/String;",
            "static valueOf(Z)Ljava/lang/String;",
            "static valueOf(Ljava/lang/Object;)Ljava/lang/String;",
        ],
    ),
    class(
        "java/lang/StringBuilder",
        OBJECT,
        &["java/lang/CharSequence"],
        &[
            "<init>()V",
            "<init>(I)V",
            "<init>(Ljava/lang/String;)V",
            "append(I)Ljava/lang/StringBuilder;",
            "append(J)Ljava/lang/StringBuilder;",
            "append(C)Ljava/lang/StringBuilder;",
            "append(Z)Ljava/lang/StringBuilder;",
            "append(Ljava/lang/String;)Ljava/lang/StringBuilder;",
            "append(Ljava/lang/Object;)Ljava/lang/StringBuilder;",
            "length()I",
            "toString()Ljava/lang/String;",
        ],
    ),
    class(
        "java/lang/Class",
        OBJECT,
        &[],
        &[
            "static forName(Ljava/lang/String;)Ljava/lang/Class;",
            "getName()Ljava/lang/String;",
            "getSimpleName()Ljava/lang/String;",
            "desiredAssertionStatus()Z",
        ],
    ),
    class("java/lang/Number", OBJECT, &["java/io/Serializable"], &["<init>()V"]),
    class(
        "java/lang/Integer",
        "java/lang/Number",
        &["java/lang/Comparable"],
        &[
            "static valueOf(I)Ljava/lang/Integer;",
            "intValue()I",
            "equals(Ljava/lang/Object;)Z",
            "hashCode()I",
        ],
    ),
    class(
        "java/lang/Long",
        "java/lang/Number",
        &["java/lang/Comparable"],
        &["static valueOf(J)Ljava/lang/Long;", "longValue()J"],
    ),
    class(
        "java/lang/Boolean",
        OBJECT,
        &["java/lang/Comparable"],
        &["static valueOf(Z)Ljava/lang/Boolean;", "booleanValue()Z"],
    ),
    class("java/lang/Record", OBJECT, &[], &["<init>()V"]),
    class("java/util/Objects", OBJECT, &[], &["static requireNonNull(Ljava/lang/Object;)Ljava/lang/Object;"]),
    class(
        "java/lang/Math",
        OBJECT,
        &[],
        &[
            "static abs(I)I",
            "static max(II)I",
            "static min(II)I",
            "static max(JJ)J",
            "static min(JJ)J",
            "static negateExact(I)I",
        ],
    ),
    class(
        "java/lang/Throwable",
        OBJECT,
        &["java/io/Serializable"],
        &[
            "<init>()V",
            "<init>(Ljava/lang/String;)V",
            "<init>(Ljava/lang/String;Ljava/lang/Throwable;)V",
            "<init>(Ljava/lang/Throwable;)V",
            "getMessage()Ljava/lang/String;",
            "getCause()Ljava/lang/Throwable;",
            "initCause(Ljava/lang/Throwable;)Ljava/lang/Throwable;",
            "addSuppressed(Ljava/lang/Throwable;)V",
            "getSuppressed()[Ljava/lang/Throwable;",
            "fillInStackTrace()Ljava/lang/Throwable;",
            "toString()Ljava/lang/String;",
        ],
    ),
    throwable("java/lang/Exception", "java/lang/Throwable"),
    throwable("java/io/IOException", "java/lang/Exception"),
    throwable("java/lang/ClassNotFoundException", "java/lang/Exception"),
    throwable("java/lang/CloneNotSupportedException", "java/lang/Exception"),
    throwable("java/lang/InterruptedException", "java/lang/Exception"),
    throwable("java/lang/RuntimeException", "java/lang/Exception"),
    throwable("java/lang/MatchException", "java/lang/RuntimeException"),
    throwable("java/lang/ArithmeticException", "java/lang/RuntimeException"),
    throwable("java/lang/NullPointerException", "java/lang/RuntimeException"),
    throwable("java/lang/ClassCastException", "java/lang/RuntimeException"),
    throwable("java/lang/NegativeArraySizeException", "java/lang/RuntimeException"),
    throwable("java/lang/ArrayStoreException", "java/lang/RuntimeException"),
    throwable("java/lang/IllegalMonitorStateException", "java/lang/RuntimeException"),
    throwable("java/lang/IllegalStateException", "java/lang/RuntimeException"),
    throwable("java/lang/IllegalArgumentException", "java/lang/RuntimeException"),
    throwable("java/lang/UnsupportedOperationException", "java/lang/RuntimeException"),
    throwable("java/lang/IndexOutOfBoundsException", "java/lang/RuntimeException"),
    throwable("java/lang/ArrayIndexOutOfBoundsException", "java/lang/IndexOutOfBoundsException"),
    throwable("java/lang/StringIndexOutOfBoundsException", "java/lang/IndexOutOfBoundsException"),
    throwable("java/lang/Error", "java/lang/Throwable"),
    class("java/lang/AssertionError", "java/lang/Error", &[], &["<init>()V", "<init>(Ljava/lang/Object;)V"]),
    throwable("java/lang/LinkageError", "java/lang/Error"),
    throwable("java/lang/ExceptionInInitializerError", "java/lang/LinkageError"),
    throwable("java/lang/NoClassDefFoundError", "java/lang/LinkageError"),
    throwable("java/lang/BootstrapMethodError", "java/lang/LinkageError"),
    throwable("java/lang/IncompatibleClassChangeError", "java/lang/LinkageError"),
    throwable("java/lang/AbstractMethodError", "java/lang/IncompatibleClassChangeError"),
    throwable("java/lang/InstantiationError", "java/lang/IncompatibleClassChangeError"),
    throwable("java/lang/NoSuchFieldError", "java/lang/IncompatibleClassChangeError"),
    throwable("java/lang/NoSuchMethodError", "java/lang/IncompatibleClassChangeError"),
    throwable("java/lang/VirtualMachineError", "java/lang/Error"),
    throwable("java/lang/StackOverflowError", "java/lang/VirtualMachineError"),
    throwable("java/lang/OutOfMemoryError", "java/lang/VirtualMachineError"),
    class(
        "ajar/T",
        OBJECT,
        &[],
        &[
            "static t(I)I",
            "static t(J)J",
            "static t(F)F",
            "static t(D)D",
            "static t(Ljava/lang/Object;)Ljava/lang/Object;",
            "static say(Ljava/lang/String;)V",
            "static boom(I)V",
        ],
    ),
];

const BOOMS: [&[u8]; 9] = [
    b"java/lang/RuntimeException",
    b"java/lang/ArithmeticException",
    b"java/lang/Exception",
    b"java/io/IOException",
    b"java/lang/Error",
    b"java/lang/AssertionError",
    b"java/lang/IllegalStateException",
    b"java/lang/IndexOutOfBoundsException",
    b"java/lang/Throwable",
];

/// Runs a library method; the receiver is not null.
pub(crate) fn call(state: &mut State<'_>, method: MemberRef, args: &[Value]) -> Step<Option<Value>> {
    let it = method.get();
    let class = it.class.to_string();
    let sig = format!("{}{}", it.name, it.descriptor);
    match (class.as_str(), args) {
        ("ajar/T", &[value]) => trace(state, &sig, value),
        ("java/lang/Math", _) => math(&sig, args),
        ("java/util/Objects", &[Value::Ref(None)]) => state.raise(b"java/lang/NullPointerException"),
        ("java/util/Objects", &[it]) => Ok(Some(it)),
        ("java/io/PrintStream", &[_, value]) => {
            let units = as_text(state, &it.descriptor.to_string(), value)?;
            state.output.extend(units);
            state.output.extend(it.name.to_string().ends_with("ln").then_some(u16::from(b'\n')));
            Ok(None)
        }
        ("java/lang/Enum", &[Value::Ref(Some(id)), ref rest @ ..]) => constant(state, &sig, id, rest),
        ("java/lang/String" | "java/lang/StringBuilder" | "java/lang/StringBuffer", _) => {
            text(state, &class, &sig, args)
        }
        ("java/lang/Integer" | "java/lang/Long" | "java/lang/Boolean", &[value, ..]) => {
            boxed(state, it.class, &sig, value, args)
        }
        ("java/lang/Class", &[Value::Ref(Some(id))]) => match (&state.heap.get(id).payload, sig.as_str()) {
            (Payload::Class(it), "getName()Ljava/lang/String;") => {
                let units = name(*it).replace('/', ".").encode_utf16().collect();
                Ok(Some(state.new_text(units)))
            }
            (Payload::Class(it), "getSimpleName()Ljava/lang/String;") => {
                let units = simple_name(*it).encode_utf16().collect();
                Ok(Some(state.new_text(units)))
            }
            // The launcher disables assertions.
            (Payload::Class(_), "desiredAssertionStatus()Z") => Ok(Some(Value::Int(0))),
            _ => abort(format!("no library method {method}")),
        },
        (_, &[Value::Ref(Some(id)), ref rest @ ..]) => {
            let throwable = ClassName::new(b"java/lang/Throwable");
            if state.world.is_subtype(it.class, throwable) {
                exception(state, &sig, id, rest)
            } else {
                object(state, &sig, id, rest)
            }
        }
        _ => abort(format!("no library method {method}")),
    }
}

fn trace(state: &mut State<'_>, sig: &str, value: Value) -> Step<Option<Value>> {
    match (sig, value) {
        ("say(Ljava/lang/String;)V", Value::Ref(it)) => {
            let text = it.and_then(|it| state.heap.text(it)).map_or_else(|| "null".to_owned(), quote);
            state.line(format!("say {text}"));
            Ok(None)
        }
        ("boom(I)V", Value::Int(number)) => {
            state.line(format!("boom {number}"));
            match usize::try_from(number).ok().and_then(|it| BOOMS.get(it)) {
                Some(it) => state.raise(it),
                None => Ok(None),
            }
        }
        _ => {
            let line = show(&state.heap, value);
            state.line(line);
            Ok(Some(value))
        }
    }
}

fn math(sig: &str, args: &[Value]) -> Step<Option<Value>> {
    Ok(Some(match (sig, args) {
        ("abs(I)I", &[Value::Int(a)]) => Value::Int(a.wrapping_abs()),
        ("max(II)I", &[Value::Int(a), Value::Int(b)]) => Value::Int(a.max(b)),
        ("min(II)I", &[Value::Int(a), Value::Int(b)]) => Value::Int(a.min(b)),
        ("negateExact(I)I", &[Value::Int(a)]) if a != i32::MIN => Value::Int(-a),
        ("max(JJ)J", &[Value::Long(a), Value::Long(b)]) => Value::Long(a.max(b)),
        ("min(JJ)J", &[Value::Long(a), Value::Long(b)]) => Value::Long(a.min(b)),
        _ => return abort(format!("no library method Math.{sig}")),
    }))
}

fn boxed(
    state: &mut State<'_>,
    class: ClassName,
    sig: &str,
    value: Value,
    args: &[Value],
) -> Step<Option<Value>> {
    if sig.starts_with("valueOf(") {
        // Small integers and booleans are cached, which `==` can observe.
        let key = match value {
            Value::Int(it @ -128..=127) => i64::from(it),
            Value::Long(it @ -128..=127) => it,
            _ => return Ok(Some(Value::Ref(Some(state.heap.add(class, Payload::Boxed(value)))))),
        };
        let units: Vec<u16> = format!("\u{1}box {class} {key}").encode_utf16().collect();
        let Value::Ref(Some(id)) = state.interned(units) else {
            return abort("an interned string is not an object");
        };
        let object = state.heap.get_mut(id);
        (object.class, object.payload) = (class, Payload::Boxed(value));
        return Ok(Some(Value::Ref(Some(id))));
    }
    let of = |state: &State<'_>, it: Value| match it {
        Value::Ref(Some(id)) => match state.heap.get(id).payload {
            Payload::Boxed(it) => Some(it),
            _ => None,
        },
        _ => None,
    };
    let Some(inner) = of(state, value) else { return abort(format!("{class}.{sig} of another class")) };
    Ok(Some(match (sig, inner, args) {
        ("equals(Ljava/lang/Object;)Z", Value::Int(a), &[_, b]) => {
            Value::Int(matches!(of(state, b), Some(Value::Int(b)) if a == b).into())
        }
        _ => inner,
    }))
}

/// Converts a value to text; objects of the program's own classes have been converted before.
fn units_of(state: &State<'_>, it: Value) -> Step<Vec<u16>> {
    let text = match it {
        Value::Int(it) => it.to_string(),
        Value::Long(it) => it.to_string(),
        Value::Ref(None) => "null".to_owned(),
        Value::Ref(Some(id)) => match &state.heap.get(id).payload {
            Payload::Text(it) => return Ok(it.clone()),
            &Payload::Boxed(it) => return units_of(state, it),
            _ => return abort("toString of what has no text that all JVMs agree on"),
        },
        Value::Float(_) | Value::Double(_) => return abort("floating point to text"),
    };
    Ok(text.encode_utf16().collect())
}

fn as_text(state: &State<'_>, descriptor: &str, it: Value) -> Step<Vec<u16>> {
    match (descriptor.as_bytes().get(1), it) {
        (Some(b'C'), Value::Int(it)) => Ok(vec![it as u16]),
        (Some(b'Z'), Value::Int(it)) => Ok((if it == 0 { "false" } else { "true" }).encode_utf16().collect()),
        _ => units_of(state, it),
    }
}

fn text(state: &mut State<'_>, class: &str, sig: &str, args: &[Value]) -> Step<Option<Value>> {
    let at = sig.find('(').unwrap_or_default();
    let (name, descriptor) = sig.split_at(at);
    if name == "valueOf" {
        let [it] = *args else { return abort(sig) };
        let units = as_text(state, descriptor, it)?;
        return Ok(Some(state.new_text(units)));
    }
    let &[Value::Ref(Some(id)), ref rest @ ..] = args else { return abort(sig) };
    if name == "<init>" {
        let units = match *rest {
            [] | [Value::Int(_)] => Vec::new(),
            [Value::Ref(Some(from))] => match (&state.heap.get(from).payload, descriptor) {
                (Payload::Text(it), _) => it.clone(),
                (Payload::Array(it), _) => {
                    it.iter().map(|it| if let Value::Int(it) = it { *it as u16 } else { 0 }).collect()
                }
                _ => return abort(sig),
            },
            _ => return state.raise(b"java/lang/NullPointerException"),
        };
        state.heap.get_mut(id).payload = Payload::Text(units);
        return Ok(None);
    }
    let Some(units) = state.heap.text(id).map(<[u16]>::to_vec) else {
        return abort(format!("{sig} of no text"));
    };
    Ok(Some(match (name, rest) {
        ("length", []) => Value::Int(units.len() as i32),
        ("isEmpty", []) => Value::Int(units.is_empty().into()),
        ("charAt", &[Value::Int(at)]) => match usize::try_from(at).ok().and_then(|it| units.get(it)) {
            Some(&it) => Value::Int(it.into()),
            None => return state.raise(b"java/lang/StringIndexOutOfBoundsException"),
        },
        ("equals", &[Value::Ref(other)]) if class == "java/lang/String" => {
            let other = other.filter(|it| state.heap.get(*it).class.bytes() == b"java/lang/String");
            let same = other.and_then(|it| state.heap.text(it)).is_some_and(|it| it == units);
            Value::Int(same.into())
        }
        ("hashCode", []) if class == "java/lang/String" => {
            Value::Int(units.iter().fold(0i32, |h, &u| h.wrapping_mul(31).wrapping_add(u.into())))
        }
        ("concat", &[Value::Ref(None)]) => return state.raise(b"java/lang/NullPointerException"),
        ("concat", &[Value::Ref(Some(other))]) => {
            let tail = state.heap.text(other).map(<[u16]>::to_vec).unwrap_or_default();
            if tail.is_empty() { Value::Ref(Some(id)) } else { state.new_text([units, tail].concat()) }
        }
        ("toString", []) if class == "java/lang/String" => Value::Ref(Some(id)),
        ("toString", []) => state.new_text(units),
        ("intern", []) => state.interned(units),
        ("append", &[it]) => {
            let tail = as_text(state, descriptor, it)?;
            state.heap.get_mut(id).payload = Payload::Text([units, tail].concat());
            Value::Ref(Some(id))
        }
        _ => return abort(format!("no library method {class}.{sig}")),
    }))
}

fn exception(state: &mut State<'_>, sig: &str, id: ObjId, rest: &[Value]) -> Step<Option<Value>> {
    let at = sig.find('(').unwrap_or_default();
    let object = state.heap.get(id);
    match (&sig[..at], rest) {
        ("<init>", []) => Ok(None),
        ("<init>", rest) => {
            for (param, it) in sig.split(';').zip(rest) {
                let Value::Ref(it) = *it else { return abort(sig) };
                let object = state.heap.get_mut(id);
                if param.ends_with("java/lang/Throwable") { object.cause = it } else { object.message = it }
            }
            Ok(None)
        }
        ("getMessage", []) => Ok(Some(Value::Ref(object.message))),
        ("getCause", []) => Ok(Some(Value::Ref(object.cause))),
        ("initCause", &[Value::Ref(it)]) => {
            state.heap.get_mut(id).cause = it;
            Ok(Some(Value::Ref(Some(id))))
        }
        ("fillInStackTrace", []) => Ok(Some(Value::Ref(Some(id)))),
        ("addSuppressed", &[Value::Ref(Some(it))]) if it != id => {
            state.heap.get_mut(id).suppressed.push(it);
            Ok(None)
        }
        ("addSuppressed", [Value::Ref(None)]) => state.raise(b"java/lang/NullPointerException"),
        ("addSuppressed", _) => state.raise(b"java/lang/IllegalArgumentException"),
        ("getSuppressed", []) => {
            let all = object.suppressed.iter().map(|it| Value::Ref(Some(*it))).collect();
            let class = ClassName::new(b"[Ljava/lang/Throwable;");
            Ok(Some(Value::Ref(Some(state.heap.add(class, Payload::Array(all))))))
        }
        _ => abort(format!("no library method Throwable.{sig}")),
    }
}

fn constant(state: &mut State<'_>, sig: &str, id: ObjId, rest: &[Value]) -> Step<Option<Value>> {
    Ok(match (sig, rest, &state.heap.get(id).payload) {
        ("<init>(Ljava/lang/String;I)V", &[Value::Ref(Some(name)), Value::Int(ordinal)], _) => {
            state.heap.get_mut(id).payload = Payload::Constant(name, ordinal);
            None
        }
        ("name()Ljava/lang/String;" | "toString()Ljava/lang/String;", [], Payload::Constant(name, _)) => {
            Some(Value::Ref(Some(*name)))
        }
        ("ordinal()I", [], Payload::Constant(_, ordinal)) => Some(Value::Int(*ordinal)),
        _ => return abort(format!("no library method Enum.{sig}")),
    })
}

fn object(state: &mut State<'_>, sig: &str, id: ObjId, rest: &[Value]) -> Step<Option<Value>> {
    match (sig, rest) {
        ("<init>()V", []) => Ok(None),
        ("equals(Ljava/lang/Object;)Z", &[Value::Ref(it)]) => Ok(Some(Value::Int((it == Some(id)).into()))),
        ("getClass()Ljava/lang/Class;", []) => {
            let class = state.heap.get(id).class;
            Ok(Some(Value::Ref(Some(state.class_object(class)))))
        }
        ("clone()Ljava/lang/Object;", []) => {
            let it = state.heap.get(id).clone();
            let cloneable = state.is_instance(id, ClassName::new(b"java/lang/Cloneable"));
            if !cloneable {
                return state.raise(b"java/lang/CloneNotSupportedException");
            }
            let copy = state.heap.add(it.class, it.payload);
            state.heap.get_mut(copy).fields = it.fields;
            Ok(Some(Value::Ref(Some(copy))))
        }
        _ => abort(format!("no library method Object.{sig}")),
    }
}

/// Describes the exception itself, as the harness does.
pub(crate) fn describe(state: &State<'_>, id: ObjId) -> String {
    let object = state.heap.get(id);
    let class = name(object.class);
    match object.cause {
        Some(cause) if state.is_instance(id, ClassName::new(b"java/lang/ExceptionInInitializerError")) => {
            format!("{class} <- {}", name(state.heap.get(cause).class))
        }
        _ => class,
    }
}
