//! Classes of the platform that its code finds by computed names or by attributes, and of which it then creates
//! objects: charsets, resource bundles, protocol handlers, handlers of logs, elements of style sheets.

use classfile::names::ClassName;
use program::input::Role;
use program::members::declared::declared;

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
    let Event::Method(method) = event else { return };
    let hierarchy = search.hierarchy();
    if hierarchy.role(method.class) != Role::Jdk {
        return;
    }
    let (class, name) = (hierarchy.name(method.class), declared(hierarchy, method).name);
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
