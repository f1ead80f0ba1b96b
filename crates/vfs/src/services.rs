//! Provider-configuration files: `META-INF/services/NAME-OF-SERVICE` (`java.util.ServiceLoader`).

/// Where they lie below a root of classes.
pub const SERVICES_FOLDER: &str = "META-INF/services/";

/// The service that a member of an archive or folder names providers of, if it is such a file.
pub fn service_of(member: &str) -> Option<&str> {
    // A war and a Spring Boot jar have their roots inside.
    let roots = ["", "WEB-INF/classes/", "BOOT-INF/classes/"];
    let below = roots.iter().find_map(|it| member.strip_prefix(it)?.strip_prefix(SERVICES_FOLDER))?;
    Some(below).filter(|it| !it.is_empty() && !it.contains('/'))
}

/// The classes that a file names, in its order, each once. What is no name the JDK refuses; here it names nobody.
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
    fn files_name_services_where_loaders_look() {
        assert_eq!(service_of("META-INF/services/p.Service"), Some("p.Service"));
        assert_eq!(service_of("BOOT-INF/classes/META-INF/services/p.Service"), Some("p.Service"));
        assert_eq!(service_of("x/META-INF/services/p.Service"), None);
        assert_eq!(service_of("META-INF/services/"), None);
        assert_eq!(service_of("META-INF/services/a/b"), None);
    }

    #[test]
    fn providers_stand_one_a_line_with_comments() {
        let text = b"# all\np.A # the first\r\n\n  p.B$C\np.A\nno name\n";
        assert_eq!(providers(text), ["p.A", "p.B$C"]);
        assert_eq!(providers(b"\xff\n").len(), 1);
    }
}
