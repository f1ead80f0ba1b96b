//! Classes that code of the platform finds without a constant, and of which it then creates objects: by computed names
//! or by attributes (charsets, resource bundles, protocol handlers, handlers of logs, elements of style sheets), in
//! annotations, and enums by their constants.

use classfile::names::ClassName;
use program::hierarchy::{ClassId, Link};
use program::input::Role;
use program::members::MethodId;
use program::members::declared::declared;
use rustc_hash::FxHashSet;

use super::asked::Question;
use super::reflection::created;
use super::search::{Event, Search};
use crate::whole::reachable::From;

/// Methods of the platform that find classes by computed names: a class and the beginning of the methods' names, and a
/// class or interface above all classes that the methods find. The rows explain what traces of programs on JDK 17 showed;
/// other such methods may exist.
const FINDERS: [(&str, &str, &str); 20] = [
    (
        "com/sun/org/apache/xalan/internal/xsltc/compiler/Parser",
        "makeInstance",
        "com/sun/org/apache/xalan/internal/xsltc/compiler/SyntaxTreeNode",
    ),
    // Forms of method handles, whose code is generated, get the object from a static field.
    (
        "java/lang/invoke/DirectMethodHandle",
        "makePreparedLambdaForm",
        "java/lang/invoke/DirectMethodHandle$EnsureInitialized",
    ),
    ("java/net/ContentHandlerFactory", "", "java/net/ContentHandler"),
    ("java/net/InetAddress", "loadImpl", "java/net/InetAddressImpl"),
    ("java/net/InetAddressImplFactory", "create", "java/net/InetAddressImpl"),
    ("java/net/URL", "getURLStreamHandler", "java/net/URLStreamHandler"),
    ("java/net/URL$DefaultFactory", "createURLStreamHandler", "java/net/URLStreamHandler"),
    ("java/net/URLConnection", "getContentHandler", "java/net/ContentHandler"),
    ("java/net/URLConnection", "lookupContentHandlerClassFor", "java/net/ContentHandler"),
    ("java/util/ResourceBundle", "getBundle", "java/util/ResourceBundle"),
    ("java/util/ResourceBundle$Control", "newBundle", "java/util/ResourceBundle"),
    ("java/util/logging/LogManager", "createLoggerHandlers", "java/util/logging/Handler"),
    ("java/util/logging/LogManager", "getFilterProperty", "java/util/logging/Filter"),
    ("java/util/logging/LogManager", "getFormatterProperty", "java/util/logging/Formatter"),
    ("java/util/logging/LogManager", "loadLoggerHandlers", "java/util/logging/Handler"),
    // The native method creates the objects.
    ("sun/java2d/loops/GraphicsPrimitiveMgr", "registerNativeLoops", "sun/java2d/loops/GraphicsPrimitive"),
    ("sun/nio/cs/AbstractCharsetProvider", "lookup", "java/nio/charset/Charset"),
    ("sun/nio/cs/StandardCharsets", "lookup", "java/nio/charset/Charset"),
    ("sun/nio/cs/ext/ExtendedCharsets", "", "java/nio/charset/Charset"),
    (
        "sun/util/locale/provider/LocaleProviderAdapter",
        "forType",
        "sun/util/locale/provider/LocaleProviderAdapter",
    ),
];

/// Adds to the search the classes that a method of the platform finds by computed names, after the search has reached
/// the method. `event` is the event that the search just processed.
pub(super) fn happens(search: &mut Search<'_>, event: Event) {
    let method = match event {
        Event::Method(it) => it,
        Event::Made(class, from) => return enum_made(search, class, from),
        Event::Function(_) | Event::Stream(..) => return,
    };
    let hierarchy = search.hierarchy();
    if hierarchy.role(method.class) != Role::Jdk {
        return;
    }
    let (class, name) = (hierarchy.name(method.class), declared(hierarchy, method).name);
    match (class.bytes(), name.bytes()) {
        (b"java/lang/Class", b"getEnumConstantsShared") => {
            let waiting = search.asked.ask(Question::EnumConstants);
            waiting.into_iter().for_each(|(it, from)| values(search, it, from));
        }
        (b"sun/reflect/annotation/AnnotationParser", b"parseMemberValue") => annotated(search, method),
        _ => {}
    }
    for (owner, start, above) in FINDERS {
        if class.bytes() != owner.as_bytes() || !name.bytes().starts_with(start.as_bytes()) {
            continue;
        }
        // Programs have resource bundles of their own, which the platform finds by names and the locale, and configure
        // loggers by files that name their classes.
        let is_of_programs = above == "java/util/ResourceBundle" || owner == "java/util/logging/LogManager";
        let above = hierarchy.class(ClassName::new(above.as_bytes()));
        for it in above.into_iter().flat_map(|it| hierarchy.subtypes(it)) {
            if is_of_programs || hierarchy.role(it) == Role::Jdk {
                created(search, it, From::Method(method));
            }
        }
    }
}

/// Adds to the search what runs when code of the platform reads annotations: it gets the constants of enums and the
/// classes that the annotations name. `method` is the code that reads.
fn annotated(search: &mut Search<'_>, method: MethodId) {
    let (calls, hierarchy) = (search.calls, search.hierarchy());
    let named = calls.classes.summaries.iter().flat_map(|it| &it.annotated);
    let classes: FxHashSet<ClassName> = named.copied().collect();
    let mut classes: Vec<ClassId> = classes.into_iter().filter_map(|it| hierarchy.class(it)).collect();
    // The order must not depend on the hash set.
    classes.sort_unstable();
    classes.into_iter().for_each(|it| created(search, it, From::Method(method)));
}

/// If the created object is the constant of an enum, adds to the search what the platform runs to find all constants,
/// once it asks for them. `from` is how control reaches the code that creates the object.
fn enum_made(search: &mut Search<'_>, class: ClassId, from: From) {
    let hierarchy = search.hierarchy();
    // A constant with a body has a class of its own below the enum.
    let above = match hierarchy.super_class(class) {
        Some(Link::Present(it)) => Some(it),
        _ => None,
    };
    let is_enum =
        |it: &ClassId| hierarchy.outline(*it).super_class.is_some_and(|it| it.bytes() == b"java/lang/Enum");
    if let Some(of) = [Some(class), above].into_iter().flatten().find(is_enum)
        && search.asked.add(Question::EnumConstants, of, from)
    {
        values(search, of, from);
    }
}

/// Adds to the search the method `values` of an enum.
fn values(search: &mut Search<'_>, class: ClassId, from: From) {
    for (index, it) in search.hierarchy().outline(class).methods.iter().enumerate() {
        if it.name.bytes() == b"values" && it.descriptor.bytes().starts_with(b"()") {
            search.method(MethodId::new(class, index), from);
        }
    }
}
