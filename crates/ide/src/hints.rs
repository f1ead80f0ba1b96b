//! Hints about where a missing class may be found. They are guesses from names and from files beside the inputs; no
//! answer depends on them.

use std::sync::LazyLock;

use program::names::Text;

/// A hint about where a missing class may be found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hint {
    /// The class file exists at this path, but cannot be read.
    Unreadable(String),
    /// This archive contains the class, but is not part of the program.
    Archive(String),
    /// This container of the program has other classes of the same package: another version of the container may have
    /// the missing class.
    Container(String),
    /// The program has no JDK, and the class is named like a JDK class. The field is the JDK module that has the
    /// class's package, if known.
    NoJdk(Option<&'static str>),
    /// The class is named like a JDK class, but the JDK of the program does not have it; another release may have it.
    /// The field is the JDK module that has the class's package, if known.
    OtherJdk(Option<&'static str>),
    /// The class's package belongs to this module, which the JDK of the program lacks, for example because the JDK
    /// image was linked for one program.
    Module(&'static str),
    /// The class's package belongs to this module of the program's JDK, but the module is not resolved by default.
    NotResolved(String),
    /// JDKs from this release on do not have the class. The second field is the artifact outside the JDK that
    /// contains the class, if there is one.
    Removed(u16, Option<&'static str>),
}

/// Facts about the inputs of the program that give hints about a missing class.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Around {
    /// The path of the class file, if it exists but cannot be read.
    pub unreadable: Option<String>,
    /// The archives that contain the class, but are not part of the program.
    pub archives: Vec<String>,
    /// The containers of the program, except the JDK, that have classes of the missing class's package.
    pub containers: Vec<String>,
    /// The module of the program's JDK that has the class's package but is not resolved; `None` if there is no such
    /// module.
    pub unresolved: Option<String>,
    /// Facts about the JDK of the program; `None` without a JDK.
    pub jdk: Option<AroundJdk>,
}

/// Facts about the JDK of the program that matter for a missing class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AroundJdk {
    /// The Java release of the JDK.
    pub release: u16,
    /// Whether the JDK has classes of the missing class's package.
    pub has_package: bool,
}

/// Classes removed from the JDK: the class name, or a prefix of class names that ends with a dot; the first release
/// without the class; and the artifact that contains the class, if there is one.
static REMOVED: LazyLock<Vec<(&str, u16, Option<&str>)>> = LazyLock::new(|| {
    let rows = rows(include_str!("jdk_removed.tsv"));
    rows.filter_map(|it| {
        let (name, rest) = it.split_once('\t')?;
        let (release, artifact) = rest.split_once('\t')?;
        Some((name, release.parse().ok()?, Some(artifact).filter(|it| *it != "-")))
    })
    .collect()
});

/// The packages of the JDK, each with its module; sorted by package.
static PACKAGES: LazyLock<Vec<(&str, &str)>> =
    LazyLock::new(|| rows(include_str!("jdk_packages.tsv")).filter_map(|it| it.split_once('\t')).collect());

fn rows(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|it| !it.starts_with('#'))
}

/// Returns the hints about a missing class, most reliable first.
pub fn hints(class: Text, around: Around) -> Vec<Hint> {
    let name = class.to_string().replace('/', ".");
    let mut hints: Vec<Hint> = around.unreadable.into_iter().map(Hint::Unreadable).collect();
    hints.extend(around.archives.into_iter().map(Hint::Archive));
    match around.unresolved {
        Some(module) => hints.push(Hint::NotResolved(module)),
        None => hints.extend(platform(&name, around.jdk)),
    }
    if hints.iter().all(|it| !matches!(it, Hint::Unreadable(_))) {
        hints.extend(around.containers.into_iter().map(Hint::Container));
    }
    hints
}

/// Returns the hint for a class that is named like one that JDKs have or had; `None` for other names.
fn platform(name: &str, jdk: Option<AroundJdk>) -> Option<Hint> {
    let begins =
        |it: &&(&str, u16, _)| if it.0.ends_with('.') { name.starts_with(it.0) } else { name == it.0 };
    if let Some(&(_, release, artifact)) = REMOVED.iter().find(begins)
        && jdk.is_none_or(|it| it.release >= release)
    {
        return Some(Hint::Removed(release, artifact));
    }
    let package = name.rsplit_once('.').map_or("", |it| it.0);
    let module = PACKAGES.binary_search_by_key(&package, |it| it.0).ok().map(|at| PACKAGES[at].1);
    let internal = ["java.", "jdk.", "sun.", "com.sun."].iter().any(|it| name.starts_with(it));
    match (module, jdk) {
        (None, _) if !internal => None,
        (module, None) => Some(Hint::NoJdk(module)),
        (Some(module), Some(jdk)) if !jdk.has_package => Some(Hint::Module(module)),
        (module, Some(_)) => Some(Hint::OtherJdk(module)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(class: &'static str, jdk: Option<(u16, bool)>) -> Option<Hint> {
        platform(class, jdk.map(|(release, has_package)| AroundJdk { release, has_package }))
    }

    #[test]
    fn tables_are_complete_and_sorted() {
        assert_eq!(REMOVED.len(), rows(include_str!("jdk_removed.tsv")).count());
        assert_eq!(PACKAGES.len(), rows(include_str!("jdk_packages.tsv")).count());
        assert!(REMOVED.is_sorted() && PACKAGES.is_sorted());
    }

    #[test]
    fn names_of_jdk_classes_give_hints() {
        let jaxb = Some(Hint::Removed(11, Some("javax.xml.bind:jaxb-api")));
        assert_eq!(hint("javax.xml.bind.JAXBContext", Some((17, false))), jaxb);
        assert_eq!(hint("javax.xml.bind.JAXBContext", None), jaxb);
        assert_eq!(hint("javax.xml.bind.JAXBContext", Some((8, true))), None);
        assert!(hint("javax.annotation.PostConstruct", Some((25, false))).is_some());
        assert_eq!(hint("javax.annotation.Nullable", Some((25, false))), None);
        assert_eq!(hint("java.sql.Connection", Some((17, false))), Some(Hint::Module("java.sql")));
        assert_eq!(hint("java.lang.ScopedValue", Some((17, true))), Some(Hint::OtherJdk(Some("java.base"))));
        assert_eq!(hint("java.lang.Object", None), Some(Hint::NoJdk(Some("java.base"))));
        assert_eq!(hint("sun.misc.Unsafe", None), Some(Hint::NoJdk(Some("jdk.unsupported"))));
        assert_eq!(hint("sun.security.x509.X500Name", Some((25, true))), Some(Hint::OtherJdk(None)));
        assert_eq!(hint("org.acme.Order", None), None);
    }
}
