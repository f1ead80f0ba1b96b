//! Provider-configuration files: `META-INF/services/NAME-OF-SERVICE` (`java.util.ServiceLoader`).

/// The folder of the provider-configuration files, relative to the root of the classes.
pub const SERVICES_FOLDER: &str = "META-INF/services/";

/// Returns the name of the service for which this member of an archive or folder lists the providers; `None` if the
/// member is no provider-configuration file.
pub fn service_of(member: &str) -> Option<&str> {
    // In a war or a Spring Boot jar, the class root is an inner folder.
    let roots = ["", "WEB-INF/classes/", "BOOT-INF/classes/"];
    let below = roots.iter().find_map(|it| member.strip_prefix(it)?.strip_prefix(SERVICES_FOLDER))?;
    Some(below).filter(|it| !it.is_empty() && !it.contains('/'))
}

/// Returns the names of the provider classes that a provider-configuration file lists, in file order and without
/// duplicates. Illegal names, which the JDK refuses, are skipped.
pub fn providers(bytes: &[u8]) -> Vec<String> {
    let mut acc: Vec<String> = Vec::new();
    for line in String::from_utf8_lossy(bytes).split(['\n', '\r']) {
        let name = line.split('#').next().unwrap_or_default().trim();
        let is_name = !name.is_empty() && !name.contains(|it: char| it.is_whitespace() || it == '/');
        if is_name && !acc.iter().any(|it| it == name) {
            acc.push(name.to_owned());
        }
    }
    acc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_are_found_at_class_roots() {
        assert_eq!(service_of("META-INF/services/p.Service"), Some("p.Service"));
        assert_eq!(service_of("BOOT-INF/classes/META-INF/services/p.Service"), Some("p.Service"));
        assert_eq!(service_of("x/META-INF/services/p.Service"), None);
        assert_eq!(service_of("META-INF/services/"), None);
        assert_eq!(service_of("META-INF/services/a/b"), None);
    }

    #[test]
    fn each_line_names_one_provider_before_a_comment() {
        let text = b"# all\np.A # the first\r\n\n  p.B$C\np.A\nno name\n";
        assert_eq!(providers(text), ["p.A", "p.B$C"]);
        assert_eq!(providers(b"\xff\n").len(), 1);
    }
}
