//! The classes of a generated program as text for the assembler.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::{Body, CONTROL, Call, CallKind, FunctionCode, Method, Structure, Type, TypeKind, Visible};

const LAMBDAS: &str = "invokestatic java/lang/invoke/LambdaMetafactory.metafactory(\
    Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;\
    Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;)\
    Ljava/lang/invoke/CallSite;";
const RECORDS: &str = "invokestatic java/lang/runtime/ObjectMethods.bootstrap(\
    Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/TypeDescriptor;\
    Ljava/lang/Class;Ljava/lang/String;[Ljava/lang/invoke/MethodHandle;)Ljava/lang/Object;";

/// The assembler text of each class of the platform that programs use, with the members that they use.
pub(super) fn platform() -> Vec<String> {
    let mut acc = vec![
        ".class public super java/lang/Object\n.super none\n.method public <init>()V\n return\n.end\n"
            .to_owned(),
        subclass("java/lang/Record", "java/lang/Object"),
        subclass("java/lang/Throwable", "java/lang/Object"),
    ];
    for (name, parent) in [
        ("Exception", "Throwable"),
        ("RuntimeException", "Exception"),
        ("Error", "Throwable"),
        ("LinkageError", "Error"),
        ("ExceptionInInitializerError", "LinkageError"),
        ("IncompatibleClassChangeError", "LinkageError"),
        ("BootstrapMethodError", "LinkageError"),
        ("IllegalAccessError", "IncompatibleClassChangeError"),
        ("AbstractMethodError", "IncompatibleClassChangeError"),
        ("NoSuchMethodError", "IncompatibleClassChangeError"),
    ] {
        acc.push(subclass(&format!("java/lang/{name}"), &format!("java/lang/{parent}")));
    }
    acc
}

impl Structure {
    pub(super) fn texts(&self) -> Vec<String> {
        let control = format!(".class public super {}\n.field public static k I\n", self.control());
        let mut acc = vec![control];
        for i in 0..self.exceptions.len() {
            let parent = match self.exceptions[i].parent {
                Ok(it) => self.exception(it),
                Err(it) => it.to_owned(),
            };
            acc.push(subclass(&self.exception(i), &parent));
        }
        for (i, it) in self.types.iter().enumerate() {
            if it.has_initializer {
                // If the parent is not an `Error`, the exception is wrapped when it leaves an initialiser.
                let parent = if i % 3 == 1 { "java/lang/RuntimeException" } else { "java/lang/Error" };
                acc.push(subclass(&self.failure(i), parent));
            }
            acc.push(self.type_text(i));
        }
        acc.extend(['p', 'q'].map(|it| self.factory(it)));
        acc.extend((0..self.calls.len()).map(|it| self.call_class(it)));
        acc
    }

    /// For each ghost of the program, the exceptions that the ghost promises never to throw. The map has the form
    /// that [`crate::ghosts::with_ghosts`] requires.
    pub(super) fn ghosts(&self) -> BTreeMap<String, Vec<String>> {
        let mut acc = BTreeMap::new();
        for (i, it) in self.types.iter().enumerate() {
            for method in &it.methods {
                let Some(never) = &method.ghost else { continue };
                let never = never.iter().map(|it| self.exception(*it)).collect();
                acc.insert(format!("{}.{}()V", self.name(i), method.name), never);
            }
        }
        acc
    }

    pub(super) fn control(&self) -> String {
        format!("{}/{CONTROL}", self.root)
    }

    pub(super) fn exception(&self, it: usize) -> String {
        format!("{}/E{it}", self.root)
    }

    /// The name of the exception class that the initialiser of a type throws.
    pub(super) fn failure(&self, of: usize) -> String {
        format!("{}/X{of}", self.root)
    }

    pub(super) fn name(&self, it: usize) -> String {
        let letter = match self.types[it].kind {
            TypeKind::Interface => 'I',
            TypeKind::Class => 'C',
            TypeKind::Record => 'R',
        };
        format!("{}/{}/{letter}{it}", self.root, self.types[it].package)
    }

    fn factory_name(&self, package: char) -> String {
        format!("{}/{package}/Make", self.root)
    }

    /// The name of the class whose methods `r0`, `r1`, … start the runs of the call with the index `it`.
    pub(super) fn call_name(&self, it: usize) -> String {
        let package = self.calls[it].at.map_or_else(|it| it, |it| self.types[it].package);
        format!("{}/{package}/Call{it}", self.root)
    }

    /// The name of the class that contains the call with the index `it`.
    pub(super) fn caller_name(&self, it: usize) -> String {
        self.calls[it].at.map_or_else(|_| self.call_name(it), |it| self.name(it))
    }

    /// The descriptor of the parameter of the method that contains the call with the index `it`; empty if this method
    /// has no parameter.
    pub(super) fn parameter(&self, it: usize) -> String {
        match self.calls[it].kind {
            CallKind::Virtual(named, _) => format!("L{};", self.name(named)),
            CallKind::Raise(it) => format!("L{};", self.exception(it)),
            CallKind::Static(_) | CallKind::New(..) | CallKind::Private(_) => String::new(),
        }
    }

    fn type_text(&self, at: usize) -> String {
        let it = &self.types[at];
        let mut out = String::from(".class");
        out += if it.is_public { " public" } else { "" };
        out += match it.kind {
            TypeKind::Interface => " interface abstract",
            TypeKind::Class if it.is_abstract => " super abstract",
            TypeKind::Class => " super",
            TypeKind::Record => " super final",
        };
        let _ = writeln!(out, " {}\n.version {}.0", self.name(at), it.version);
        let parent = self.parent_name(at);
        let _ = writeln!(out, ".super {parent}");
        for &it in &it.interfaces {
            let _ = writeln!(out, ".implements {}", self.name(it));
        }
        self.relations(at, &mut out);
        if it.kind == TypeKind::Record {
            let _ = writeln!(
                out,
                ".attribute Record 0x0000\n.bootstrap b0 {RECORDS} class {} \"\"",
                self.name(at)
            );
        }
        if it.kind != TypeKind::Interface {
            let call = format!(" aload_0\n invokespecial {parent}.<init>()V\n");
            let _ = writeln!(out, ".method public <init>()V\n{call} return\n.end");
        }
        if let Some(body) = it.constructor {
            let above = match it.parent {
                Some(above) if self.types[above].constructor.is_some() => {
                    " iload_1\n invokespecial {}.<init>(I)V"
                }
                _ => " invokespecial {}.<init>()V",
            };
            let above = above.replace("{}", &parent);
            let _ = writeln!(
                out,
                ".method public <init>(I)V\n aload_0\n{above}\n{}.end",
                self.body(at, body, 'i')
            );
        }
        if it.has_initializer {
            out += &self.initializer(at);
        }
        for method in &it.methods {
            out += &self.method_text(at, method);
        }
        if it.kind == TypeKind::Record {
            let _ = writeln!(
                out,
                ".method public final toString()Ljava/lang/String;\n aload_0\n invokedynamic b0 toString(L{};)\
                 Ljava/lang/String;\n areturn\n.end",
                self.name(at)
            );
        }
        for (i, call) in self.calls.iter().enumerate().filter(|it| it.1.at == Ok(at)) {
            out += &self.caller(i, call);
        }
        out
    }

    fn parent_name(&self, at: usize) -> String {
        match (self.types[at].kind, self.types[at].parent) {
            (TypeKind::Record, _) => "java/lang/Record".to_owned(),
            (_, Some(it)) => self.name(it),
            (_, None) => "java/lang/Object".to_owned(),
        }
    }

    fn relations(&self, at: usize, out: &mut String) {
        let it = &self.types[at];
        for it in self.children(at).into_iter().filter(|_| it.is_sealed) {
            let _ = writeln!(out, ".permits {}", self.name(it));
        }
        if let Some((host, _)) = it.host {
            let _ = writeln!(out, ".nesthost {}", self.name(host));
        }
        for (member, _) in self.types.iter().enumerate().filter(|it| it.1.host == Some((at, true))) {
            let _ = writeln!(out, ".nestmember {}", self.name(member));
        }
    }

    /// The assembler text of a static initialiser that throws if the field `Control.k` is the number of the type (its
    /// index plus one). The only jump target, 17 bytes after the start, has the same stack map frame as the method's
    /// entry.
    fn initializer(&self, at: usize) -> String {
        let failure = new(&self.failure(at));
        format!(
            ".method static <clinit>()V\n getstatic {}.k I\n sipush {}\n if_icmpne L\n{failure} athrow\nL: return\n\
             .codeattribute StackMapTable 0x000111\n.end\n",
            self.control(),
            at + 1
        )
    }

    fn method_text(&self, at: usize, it: &Method) -> String {
        let visible = match it.visible {
            Visible::Public => " public",
            Visible::Protected => " protected",
            Visible::Package => "",
            Visible::Private => " private",
        };
        let is_static = if it.is_static { " static" } else { "" };
        let is_abstract = if it.is_abstract { " abstract" } else { "" };
        let body = if it.is_abstract { String::new() } else { self.body(at, it.body, it.name) };
        format!(".method{visible}{is_static}{is_abstract} {}()V\n{body}.end\n", it.name)
    }

    fn body(&self, at: usize, body: Body, name: char) -> String {
        let call = match body {
            Body::Nothing => String::new(),
            Body::Throw(it) => return format!("{} athrow\n", new(&self.exception(it))),
            Body::Super(of) => {
                format!(" aload_0\n invokespecial {}{}.{name}()V\n", self.word(of), self.name(of))
            }
            Body::OnThis(name) => format!(" aload_0\n{}", self.on_this(at, name)),
            Body::OnReplaced(by, name) => {
                format!("{} astore_0\n aload_0\n{}", new(&self.name(by)), self.on_this(at, name))
            }
            Body::Private(of) => self.private(at, of),
            Body::Static(of) => format!(" invokestatic {}{}.s()V\n", self.word(of), self.name(of)),
        };
        format!("{call} return\n")
    }

    fn on_this(&self, at: usize, name: char) -> String {
        // Before version 55, private methods are called by another instruction.
        if name == 'h' && self.types[at].version < 55 {
            return format!(" invokespecial {}{}.h()V\n", self.word(at), self.name(at));
        }
        format!(" {} {}.{name}()V\n", self.invoke(at), self.name(at))
    }

    fn invoke(&self, named: usize) -> &'static str {
        if self.is_interface(named) { "invokeinterface" } else { "invokevirtual" }
    }

    /// The word `interface`, which the assembler needs before the name of an interface; empty for a class.
    fn word(&self, named: usize) -> &'static str {
        if self.is_interface(named) { "interface " } else { "" }
    }

    /// Assembler text that creates an object of a type and calls the object's private method. Before version 55, a
    /// class may call only its own private methods, and only by `invokespecial`.
    fn private(&self, at: usize, of: usize) -> String {
        let invoke = if at == of && self.types[at].version < 55 { "invokespecial" } else { "invokevirtual" };
        format!("{} {invoke} {}.h()V\n", new(&self.name(of)), self.name(of))
    }

    /// The assembler text of the factory class of a package. Its static methods create the receivers of calls, which
    /// are objects of the package's classes and function objects of its interfaces. The classes that start runs call
    /// these methods.
    fn factory(&self, package: char) -> String {
        let name = self.factory_name(package);
        let mut out = format!(".class public super {name}\n.version 55.0\n");
        let mut methods = String::new();
        for (i, it) in self.functions.iter().enumerate() {
            if self.types[it.interface].package != package {
                continue;
            }
            let (handle, taken, push) = match it.code {
                FunctionCode::Lambda(of) => {
                    let body = format!("{} athrow\n", new(&self.exception(of)));
                    let _ = writeln!(methods, ".method private static lambda{i}()V\n{body}.end");
                    (format!("invokestatic {name}.lambda{i}()V"), String::new(), String::new())
                }
                FunctionCode::Bound(of, name) => {
                    let of = self.name(of);
                    (format!("invokevirtual {of}.{name}()V"), format!("L{of};"), new(&of))
                }
                FunctionCode::New(of) => {
                    (format!("newinvokespecial {}.<init>()V", self.name(of)), String::new(), String::new())
                }
            };
            let interface = self.name(it.interface);
            let _ = writeln!(out, ".bootstrap b{i} {LAMBDAS} methodtype ()V handle {handle} methodtype ()V");
            let _ = writeln!(
                methods,
                ".method public static f{i}()L{interface};\n{push} invokedynamic b{i} {}({taken})L{interface};\n \
                 areturn\n.end",
                it.name
            );
        }
        for it in
            (0..self.types.len()).filter(|&it| self.is_concrete(it) && self.types[it].package == package)
        {
            let of = self.name(it);
            let _ = writeln!(methods, ".method public static c{it}()L{of};\n{} areturn\n.end", new(&of));
        }
        out + &methods
    }

    /// The assembler text of the class whose methods `r0`, `r1`, … start the runs of the call, one for each receiver.
    /// The class also contains the call itself unless a type contains it.
    fn call_class(&self, i: usize) -> String {
        let call = &self.calls[i];
        // In later versions, handlers would need frames.
        let version = if call.catches.is_some() { 49 } else { 55 };
        let mut out = format!(".class public super {}\n.version {version}.0\n", self.call_name(i));
        if call.at.is_err() {
            out += &self.caller(i, call);
        }
        let word = call.at.map_or("", |it| self.word(it));
        let made = self.receivers(i).into_iter().map(|it| match it {
            super::cases::Receiver::None => String::new(),
            super::cases::Receiver::Type(it) => {
                format!(
                    " invokestatic {}.c{it}()L{};\n",
                    self.factory_name(self.types[it].package),
                    self.name(it)
                )
            }
            super::cases::Receiver::Function(it) => {
                let interface = self.functions[it].interface;
                let factory = self.factory_name(self.types[interface].package);
                format!(" invokestatic {factory}.f{it}()L{};\n", self.name(interface))
            }
            super::cases::Receiver::Exception(it) => new(&self.exception(it)),
        });
        for (n, made) in made.enumerate() {
            let _ = writeln!(
                out,
                ".method public static r{n}(I)V\n iload_0\n putstatic {}.k I\n{made} invokestatic {word}{}.c{i}({})V\n \
                 return\n.end",
                self.control(),
                self.caller_name(i),
                self.parameter(i)
            );
        }
        out
    }

    fn caller(&self, i: usize, call: &Call) -> String {
        let code = match call.kind {
            CallKind::Virtual(named, name) => {
                format!(" aload_0\n {} {}.{name}()V\n", self.invoke(named), self.name(named))
            }
            CallKind::Static(of) => format!(" invokestatic {}{}.s()V\n", self.word(of), self.name(of)),
            CallKind::New(of, false) => format!("{} pop\n", new(&self.name(of))),
            CallKind::New(of, true) => {
                format!(" new {0}\n dup\n iconst_0\n invokespecial {0}.<init>(I)V\n pop\n", self.name(of))
            }
            CallKind::Private(of) => self.private(call.at.unwrap_or(usize::MAX), of),
            CallKind::Raise(_) => " aload_0\n athrow\n".to_owned(),
        };
        let mut rows = String::new();
        if let Some((class, again)) = call.catches {
            let again = if again { "athrow" } else { "pop\n return" };
            let class = self.exception(class);
            rows = format!("H: {again}\n.catch {class} from A to B using H\n");
        }
        let back = if matches!(call.kind, CallKind::Raise(_)) { "" } else { " return\n" };
        let parameter = self.parameter(i);
        format!(".method public static c{i}({parameter})V\nA:\n{code}B:\n{back}{rows}.end\n")
    }
}

fn new(class: &str) -> String {
    format!(" new {class}\n dup\n invokespecial {class}.<init>()V\n")
}

/// The assembler text of a class that has only a constructor, which calls the constructor of the superclass.
fn subclass(name: &str, parent: &str) -> String {
    format!(
        ".class public super {name}\n.super {parent}\n.method public <init>()V\n aload_0\n \
         invokespecial {parent}.<init>()V\n return\n.end\n"
    )
}

impl Type {
    /// Whether the interface has methods with code that are not static. If it has, initialising an implementing class
    /// also runs the initialiser of the interface (JVMS §5.5).
    pub(super) fn has_instance_code(&self) -> bool {
        self.methods.iter().any(|it| !it.is_static && !it.is_abstract)
    }
}
