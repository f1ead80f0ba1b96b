//! Archives beside the inputs.

mod common;

use camino::Utf8PathBuf;
use common::zip;
use driver::jdk::JdkChoice;
use driver::nearby::nearby;
use driver::world::{WorldSpec, load};

#[test]
fn archives_beside_the_inputs_are_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8PathBuf::from_path_buf(folder.path().to_owned()).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let has = |class: &str| zip(&[(class, b"never read")]);
    write("app/app.jar", &has("p/App.class"));
    write("app/beside.jar", &has("q/Gone.class"));
    write("app/libs/inner.jar", &zip(&[("lib/deep.jar", &has("q/Gone.class")), ("q/Far.class", b"")]));
    write("app/broken.jar", b"no archive");
    write("app/unrelated/far.jar", &has("q/Far.class"));
    write("app/server.war", &zip(&[("WEB-INF/classes/q/Web.class", b"")]));
    write("lib/on-the-path.jar", &has("q/Opened.class"));
    write("lib/other.jar", &has("q/Lib.class"));
    let spec = WorldSpec {
        inputs: vec![root.join("app/app.jar")],
        class_path: vec![root.join("lib/on-the-path.jar")],
        module_path: Vec::new(),
        jdk: JdkChoice::None,
        release: None,
    };
    let world = load(&spec).unwrap();
    let wanted = ["q/Gone", "q/Far", "q/Web", "q/Opened", "q/Lib", "q/Nowhere"];
    let wanted = wanted.iter().map(|it| format!("{it}.class")).collect();
    let found = nearby(&spec, &world, &wanted);
    let mut text = String::new();
    for (class, archives) in &found {
        text += &format!("{class} {}\n", archives.join(" ").replace(root.as_str(), "ROOT"));
    }
    assert_eq!(
        text,
        "q/Far.class ROOT/app/libs/inner.jar\n\
         q/Gone.class ROOT/app/libs/inner.jar!/lib/deep.jar ROOT/app/beside.jar\n\
         q/Lib.class ROOT/lib/other.jar\n\
         q/Web.class ROOT/app/server.war!/WEB-INF/classes\n"
    );
    assert!(nearby(&spec, &world, &Default::default()).is_empty());
}
