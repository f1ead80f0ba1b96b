//! Irregular archives, each built here. The expectation is what the JVM does; where the JVM refuses a whole archive
//! because of one entry, the other entries are read, with a note.

mod common;

use common::{End, Entry, ZipWriter, entry, listing, zip};

fn two() -> ZipWriter {
    let mut writer = ZipWriter::default();
    writer.add(entry("p/A.class", b"content of A")).add(entry("B.class", b"content of B"));
    writer
}

const TWO: &str = "app t\n  |p/A.class = content of A\n  |B.class = content of B\n";

#[test]
fn plain_archives_are_listed_in_directory_order() {
    assert_eq!(listing(two().end(&End::default())), TWO);
    let mut stored = ZipWriter::default();
    for (name, data) in [("p/A.class", b"content of A"), ("B.class", b"content of B")] {
        stored.add(Entry { method: 0, ..entry(name, data) });
    }
    assert_eq!(listing(stored.end(&End::default())), TWO);
}

#[test]
fn only_members_that_end_in_class_are_candidates() {
    let entries: [(&str, &[u8]); 5] = [
        ("Hello.class.bak", b"1"),
        ("Upper.CLASS", b"2"),
        ("Dir.class/", b""),
        ("x.txt", b"3"),
        ("module-info.class", b"4"),
    ];
    assert_eq!(listing(zip(&entries)), "app t\n  |module-info.class = 4\n");
}

#[test]
fn zip64_in_entries_and_at_the_end() {
    assert_eq!(listing(two().end(&End { zip64: true, ..End::default() })), TWO);
    let mut writer = ZipWriter::default();
    for (name, data) in [("p/A.class", b"content of A"), ("B.class", b"content of B")] {
        writer.add(Entry { zip64: true, ..entry(name, data) });
    }
    assert_eq!(listing(writer.end(&End::default())), TWO);
}

#[test]
fn bytes_before_the_archive_do_not_matter() {
    let script = b"#!/bin/sh\nexec java -jar \"$0\"\n".to_vec();
    // Offsets that are relative to the end of the script, and offsets that include it.
    assert_eq!(listing([script.clone(), two().end(&End::default())].concat()), TWO);
    let mut writer = ZipWriter { bytes: script, ..ZipWriter::default() };
    writer.add(entry("p/A.class", b"content of A")).add(entry("B.class", b"content of B"));
    assert_eq!(listing(writer.end(&End::default())), TWO);
}

#[test]
fn an_end_record_inside_the_comment_is_ignored() {
    let comment = [&[b'x'; 3000][..], b"PK\x05\x06", &[b'y'; 3000]].concat();
    assert_eq!(listing(two().end(&End { comment: &comment, ..End::default() })), TWO);
    // A whole empty archive inside the comment ends where the file ends, and the JVM reads that one.
    let empty = ZipWriter::default().end(&End::default());
    assert_eq!(listing(two().end(&End { comment: &empty, ..End::default() })), "app t\n");
}

#[test]
fn bytes_after_the_archive_do_not_matter() {
    assert_eq!(listing([two().end(&End::default()), b"padding".to_vec()].concat()), TWO);
}

#[test]
fn the_directory_that_ends_at_the_end_record_is_used() {
    // The offset in the end record points to another directory. The JVM uses the size, and takes the difference as
    // the length of what precedes the archive.
    let mut hidden = ZipWriter::default();
    hidden.add(entry("p/A.class", b"stowaway of ")).add(entry("B.class", b"stowaway too"));
    // Both have the same length, so the offset really hits the other directory.
    assert_eq!(hidden.bytes.len(), two().bytes.len());
    let hidden = hidden.end(&End::default());
    let whole = [hidden, two().end(&End::default())].concat();
    assert_eq!(listing(whole), TWO);
}

#[test]
fn of_two_entries_of_one_name_the_last_is_used() {
    let entries: [(&str, &[u8]); 3] = [("A.class", b"first"), ("B.class", b"b"), ("A.class", b"last")];
    assert_eq!(
        listing(zip(&entries)),
        "app t\n  |B.class = b\n  |A.class = last\n\
         note: t: class entries with the same name as a later entry: 1 (the first is `A.class`); the last entry of each name is used, as by the JVM\n"
    );
}

#[test]
fn a_wrong_crc_is_a_note() {
    let mut writer = two();
    writer.add(Entry { crc: Some(1), ..entry("C.class", b"c") });
    assert_eq!(
        listing(writer.end(&End::default())),
        format!(
            "{TWO}  |C.class = c [note: t!/C.class: the CRC of the entry is 06b9df6f, but the archive records 00000001; \
             the entry is read, as by the JVM]\n"
        )
    );
}

#[test]
fn too_large_a_size_affects_only_that_entry() {
    let mut writer = two();
    for (size, method) in [(1000, 8), (1 << 31, 8), (100_000_000, 8), (13, 0)] {
        let name = format!("C{size}.class");
        writer.add(Entry { size: Some(size), method, ..entry(&name, b"content of C") });
    }
    assert_eq!(
        listing(writer.end(&End::default())),
        format!(
            "{TWO}  \
             |C1000.class = error: t!/C1000.class: the entry cannot be read: the archive claims 1000 bytes for it, but it unpacks to 12\n  \
             |C2147483648.class = error: t!/C2147483648.class: the entry cannot be read: the archive claims 2147483648 bytes for it, more than the limit of 268435456\n  \
             |C100000000.class = error: t!/C100000000.class: the entry cannot be read: the archive claims 100000000 bytes for it, more than 17 compressed bytes can hold\n  \
             |C13.class = error: t!/C13.class: the entry cannot be read: the archive claims 13 bytes for it, but 12 are stored\n"
        )
    );
}

#[test]
fn of_an_entry_with_too_small_a_size_that_many_bytes_are_read() {
    let mut writer = ZipWriter::default();
    let large = vec![0; 5 << 20];
    writer.add(Entry { size: Some(7), ..entry("A.class", b"content of A") });
    writer.add(Entry { size: Some(7), method: 0, ..entry("B.class", b"content of B") });
    writer.add(Entry { size: Some(7), ..entry("C.class", &large) });
    let note = "the entry has more than the 7 bytes that the archive claims; only 7 are read, as by the JVM";
    assert_eq!(
        listing(writer.end(&End::default())),
        format!(
            "app t\n  |A.class = content [note: t!/A.class: {note}]\n  |B.class = content [note: t!/B.class: {note}]\n  \
             |C.class = error: t!/C.class: the entry cannot be read: the archive claims 7 bytes for it, but it unpacks to far more\n"
        )
    );
}

#[test]
fn entries_for_which_the_jvm_refuses_the_archive_affect_only_themselves() {
    let mut encrypted = two();
    encrypted.add(Entry { flags: 1, ..entry("C.class", b"c") });
    assert_eq!(
        listing(encrypted.end(&End::default())),
        format!(
            "{TWO}  |C.class = error: t!/C.class: the entry is encrypted, so it cannot be read\n\
             note: t: the entry `C.class` is encrypted: the JVM rejects the whole archive; the other entries are read\n"
        )
    );
    let mut unknown = two();
    unknown.add(Entry { method: 99, ..entry("C.class", b"c") });
    assert!(listing(unknown.end(&End::default())).contains("has the unknown compression method 99"));
}

#[test]
fn odd_names_are_kept_as_they_are() {
    let names =
        ["./A.class", "/A.class", "../../evil.class", "a\\b.class", "a//b.class", "ü.class", "a.CLASS.class"];
    let entries: Vec<(&str, &[u8])> = names.iter().map(|it| (*it, &b"x"[..])).collect();
    let expected: String = names.iter().map(|it| format!("  |{it} = x\n")).collect();
    assert_eq!(listing(zip(&entries)), format!("app t\n{expected}"));
}

#[test]
fn names_that_are_not_text_are_escaped() {
    let mut writer = two();
    writer.add(Entry { name: b"\xfc\xff.class", ..entry("", b"c") });
    writer.add(entry("", b"nameless"));
    writer.add(entry("nul\0.class", b"d"));
    let long = "x".repeat(65_000) + ".class";
    writer.add(entry(&long, b"e"));
    assert_eq!(
        listing(writer.end(&End::default())),
        format!(
            "{TWO}  |\\xFC\\xFF.class = c\n  |nul\0.class = d\n  |{long} = e\n\
             note: t: the entry name `\\\\xFC\\\\xFF.class` is not valid, so the JVM may reject the archive; its entries are read\n"
        )
    );
}

#[test]
fn the_directory_decides_about_names() {
    let mut writer = two();
    writer.add(Entry { local_name: Some(b"Other.class"), ..entry("C.class", b"c") });
    assert_eq!(listing(writer.end(&End::default())), format!("{TWO}  |C.class = c\n"));
}

#[test]
fn a_wrong_count_is_a_note() {
    assert_eq!(
        listing(two().end(&End { count: Some(1), ..End::default() })),
        format!(
            "{TWO}note: t: the archive claims 1 entries but has 2; all of them are read, as by the JVM\n"
        )
    );
}

#[test]
fn more_entries_than_sixteen_bits_count() {
    let mut writer = two();
    for i in 0..65_540 {
        writer.add(Entry { method: 0, ..entry(&format!("e/{i}"), b"") });
    }
    assert_eq!(listing(writer.end(&End::default())), TWO);
}

#[test]
fn a_file_that_is_not_an_archive_is_an_error() {
    let whole = two().end(&End::default());
    assert_eq!(listing(Vec::new()), "error: the file is empty, so it is not a zip archive\n");
    let missing = "error: the file is not a zip archive: the end record is missing (the file is cut off or of another kind)\n";
    assert_eq!(listing(b"hello, I am text\n".repeat(20)), missing);
    assert_eq!(listing(whole[..whole.len() * 2 / 3].to_vec()), missing);
    assert_eq!(listing(whole[..whole.len() - 30].to_vec()), missing);
    let comment = two().end(&End { comment: &[b'x'; 100], ..End::default() });
    assert_eq!(
        listing(comment[..comment.len() - 50].to_vec()),
        "error: the comment of the archive is cut off\n"
    );
    let lie = listing(two().end(&End { shift: 1 << 20, ..End::default() }));
    assert_eq!(lie, "error: the directory of the archive is not where the end record says\n");
    assert_eq!(listing(ZipWriter::default().end(&End::default())), "app t\n");
}

#[test]
fn a_bomb_within_the_limit_is_read_and_its_buffer_released() {
    let zeros = vec![0; 64 << 20];
    let text = listing(zip(&[("Bomb.class", &zeros), ("A.class", b"a")]));
    assert!(text.ends_with("|A.class = a\n"), "{text:?}");
}

#[test]
fn entries_that_overlap_are_a_note() {
    // One body and two directory entries: the second directory entry is the first one with another name.
    let body = vec![b'x'; 1000];
    let mut writer = ZipWriter::default();
    writer.add(Entry { method: 0, ..entry("A.class", &body) });
    let one = writer.end(&End { count: Some(2), ..End::default() });
    let directory = one.windows(4).position(|it| it == b"PK\x01\x02").unwrap();
    let end = one.windows(4).position(|it| it == b"PK\x05\x06").unwrap();
    let mut line = one[directory..end].to_vec();
    line[46] = b'B';
    let mut two = [&one[..end], &line, &one[end..]].concat();
    let at = two.len() - 22 + 12;
    let size = 2 * (end - directory) as u32;
    two[at..at + 4].copy_from_slice(&size.to_le_bytes());
    let text = listing(two);
    assert!(text.contains("|B.class = xxxxxxxxxxxxxxxxxxxx\n"), "{text}");
    assert!(
        text.ends_with(
            "note: t: the entries of the archive overlap: they claim more bytes than the archive has; all are read\n"
        ),
        "{text}"
    );
}

const MANIFEST: &[u8] = b"Manifest-Version: 1.0\r\nMulti-Release: true\r\n";

#[test]
fn multi_release_archives_choose_for_the_release() {
    let versions: Vec<(String, &[u8])> =
        [("8", "8"), ("9", "9"), ("17", "S"), ("25", "T"), ("x", "X"), ("017", "0")]
            .map(|(version, content)| (format!("META-INF/versions/{version}/A.class"), content.as_bytes()))
            .into();
    let archive = |manifest: &[u8]| {
        let mut entries: Vec<(&str, &[u8])> = vec![("META-INF/MANIFEST.MF", manifest), ("A.class", b"base")];
        entries.extend(versions.iter().map(|(name, content)| (name.as_str(), *content)));
        listing(zip(&entries))
    };
    assert_eq!(archive(MANIFEST), "app t\n  META-INF/versions/17/|A.class = S\n");
    assert_eq!(archive(b"Manifest-Version: 1.0\r\n"), "app t\n  |A.class = base\n");
    assert_eq!(
        archive(b"Multi-Rel\r\n ease: true\r\n"),
        "app t\n  |A.class = base\n\
         note: t!/META-INF/MANIFEST.MF: line 1 of the manifest is not a header; it is skipped, but the JVM may reject the jar\n"
    );
}

#[test]
fn of_two_manifests_the_last_is_used() {
    let plain: &[u8] = b"Manifest-Version: 1.0\r\n";
    let archive = |first: &'static [u8], second: &'static [u8]| {
        listing(zip(&[
            ("META-INF/MANIFEST.MF", first),
            ("META-INF/manifest.mf", second),
            ("A.class", b"base"),
            ("META-INF/versions/9/A.class", b"9"),
        ]))
    };
    assert_eq!(archive(plain, MANIFEST), "app t\n  META-INF/versions/9/|A.class = 9\n");
    assert_eq!(archive(MANIFEST, plain), "app t\n  |A.class = base\n");
}

#[test]
fn wars_have_classes_and_libraries() {
    let lib = zip(&[("L.class", b"lib")]);
    let war = zip(&[
        ("WEB-INF/lib/b.jar", &lib),
        ("WEB-INF/classes/p/A.class", b"hidden"),
        ("WEB-INF/classes/p/A.class", b"a"),
        ("WEB-INF/lib/a.jar", &lib),
        ("WEB-INF/web.xml", b"<web-app/>"),
    ]);
    let note = "class entries with the same name as a later entry: 1 (the first is `WEB-INF/classes/p/A.class`); \
                the last entry of each name is used, as by the JVM";
    assert_eq!(
        listing(war),
        format!(
            "app t!/WEB-INF/classes\n  WEB-INF/classes/|p/A.class = a\n\
             lib t!/WEB-INF/lib/b.jar\n  |L.class = lib\n\
             lib t!/WEB-INF/lib/a.jar\n  |L.class = lib\n\
             note: t: {note}\n"
        )
    );
}

fn boot_manifest(main: &str, more: &str) -> Vec<u8> {
    format!("Manifest-Version: 1.0\nMain-Class: org.springframework.boot.loader.{main}\n{more}").into_bytes()
}

/// The loaders were run on such archives: the index counts only if the archive is unpacked, and the loader of the JVM,
/// which searches the root, is asked first.
#[test]
fn spring_boot_jars_go_by_the_order_of_their_entries() {
    let lib = |content: &[u8]| {
        let version = "META-INF/versions/8/L.class";
        zip(&[("META-INF/MANIFEST.MF", MANIFEST), ("L.class", b"old"), (version, content)])
    };
    let (a, b, c) = (lib(b"a"), lib(b"b"), lib(b"c"));
    let archive = |main: &str, more: &str| {
        let mut writer = ZipWriter::default();
        writer.add(entry("META-INF/MANIFEST.MF", &boot_manifest(main, more)));
        let mut inner = |name: &str, jar: &[u8]| _ = writer.add(Entry { method: 0, ..entry(name, jar) });
        inner("BOOT-INF/lib/b.jar", &b);
        inner("BOOT-INF/classes/static/late.jar", &c);
        inner("BOOT-INF/classes/", b"");
        inner("BOOT-INF/classes/A.class", b"app");
        inner("BOOT-INF/lib/sub/a.zip", &a);
        inner("BOOT-INF/classes/META-INF/versions/9/A.class", b"app9");
        inner("BOOT-INF/classpath.idx", b"- \"BOOT-INF/lib/sub/a.zip\"\n- \"BOOT-INF/lib/b.jar\"\n");
        inner("org/example/Launcher.class", b"launch");
        listing(writer.end(&End::default()))
    };
    let expected = |versioned: bool, app: &str| {
        let lib = |it: &str| {
            if versioned {
                format!("META-INF/versions/8/|L.class = {it}")
            } else {
                "|L.class = old".to_owned()
            }
        };
        format!(
            "lib t\n  |org/example/Launcher.class = launch\n\
             lib t!/BOOT-INF/lib/b.jar\n  {}\n\
             app t!/BOOT-INF/classes\n  BOOT-INF/classes/{app}\n\
             lib t!/BOOT-INF/lib/sub/a.zip\n  {}\n\
             lib t!/BOOT-INF/classes/static/late.jar\n  META-INF/versions/8/|L.class = c\n",
            lib("b"),
            lib("a")
        )
    };
    let (plain, versioned) = ("|A.class = app", "META-INF/versions/9/|A.class = app9");
    let multi = "Multi-Release: true\nSpring-Boot-Version: ";
    assert_eq!(archive("launch.JarLauncher", ""), expected(true, plain));
    assert_eq!(archive("launch.JarLauncher", &format!("{multi}4.0.7\n")), expected(true, plain));
    assert_eq!(archive("JarLauncher", &format!("{multi}2.7.18\n")), expected(false, versioned));
    assert_eq!(archive("JarLauncher", "Spring-Boot-Version: 2.7.18\n"), expected(false, plain));
    assert_eq!(archive("JarLauncher", &format!("{multi}2.0.9.RELEASE\n")), expected(false, plain));
}

/// A servlet container searches the classes first; the loader of Spring Boot goes by the order of the entries, and takes
/// the provided libraries, too.
#[test]
fn a_war_that_can_be_run_goes_by_the_order_of_its_entries() {
    let lib = zip(&[("L.class", b"lib")]);
    let archive = |manifest: &[u8]| {
        listing(zip(&[
            ("META-INF/MANIFEST.MF", manifest),
            ("WEB-INF/lib-provided/p.jar", &lib),
            ("WEB-INF/lib/sub/s.jar", &lib),
            ("WEB-INF/lib/l.jar", &lib),
            ("WEB-INF/classes/", b""),
            ("WEB-INF/classes/A.class", b"a"),
            ("T.class", b"top"),
        ]))
    };
    let inner = |it: &str| format!("lib t!/WEB-INF/{it}.jar\n  |L.class = lib\n");
    let (p, s, l) = (inner("lib-provided/p"), inner("lib/sub/s"), inner("lib/l"));
    let (app, top) =
        ("app t!/WEB-INF/classes\n  WEB-INF/classes/|A.class = a\n", "lib t\n  |T.class = top\n");
    assert_eq!(archive(&boot_manifest("WarLauncher", "")), format!("{top}{p}{s}{l}{app}"));
    assert_eq!(archive(b"Main-Class: Other\n"), format!("{app}{l}{top}{p}{s}"));
}

#[test]
fn the_modules_of_an_ear_are_app() {
    let lib = zip(&[("L.class", b"lib")]);
    let war = zip(&[("WEB-INF/classes/A.class", b"a"), ("WEB-INF/lib/l.jar", &lib)]);
    let beans = zip(&[("Bean.class", b"bean")]);
    let ear = zip(&[
        ("META-INF/application.xml", b""),
        ("app.war", &war),
        ("beans.jar", &beans),
        ("lib/l.jar", &lib),
        ("broken.jar", b"text"),
    ]);
    assert_eq!(
        listing(ear),
        "app t!/app.war!/WEB-INF/classes\n  WEB-INF/classes/|A.class = a\n\
         lib t!/app.war!/WEB-INF/lib/l.jar\n  |L.class = lib\n\
         app t!/beans.jar\n  |Bean.class = bean\n\
         lib t!/lib/l.jar\n  |L.class = lib\n\
         error: t!/broken.jar: the file is not a zip archive: the end record is missing \
         (the file is cut off or of another kind); the classes of the archive are missing\n"
    );
}

#[test]
fn jmods_have_their_classes_in_a_folder() {
    let jmod = zip(&[("classes/module-info.class", b"m"), ("classes/p/A.class", b"a"), ("lib/libx.so", b"")]);
    assert_eq!(
        listing([b"JM\x01\x00".to_vec(), jmod].concat()),
        "app t!/classes\n  classes/|module-info.class = m\n  classes/|p/A.class = a\n"
    );
}

#[test]
fn nesting_ends_at_a_depth() {
    let mut archive = zip(&[("A.class", b"a")]);
    for depth in (1..=9).rev() {
        archive = zip(&[(&format!("{depth}.jar"), &archive)]);
        if depth == 2 {
            assert!(
                listing(archive.clone()).contains(
                    "lib t!/2.jar!/3.jar!/4.jar!/5.jar!/6.jar!/7.jar!/8.jar!/9.jar\n  |A.class = a\n"
                )
            );
        }
    }
    let text = listing(archive);
    assert!(!text.contains("A.class"), "{text}");
    assert!(
        text.ends_with(
            "9.jar: the archive is not opened, because it is nested 9 deep and the limit is 8; the classes of the archive are missing\n"
        ),
        "{text}"
    );
}

#[test]
fn an_archive_that_names_one_archive_very_often_ends() {
    // Each level names the next 30 times: there are 30 to the power of 8 paths down.
    let mut archive = zip(&[("A.class", b"a")]);
    for _ in 0..7 {
        let names: Vec<String> = (0..30).map(|it| format!("{it}.jar")).collect();
        let mut writer = ZipWriter::default();
        for name in &names {
            writer.add(Entry { method: 8, ..entry(name, &archive) });
        }
        archive = writer.end(&End::default());
    }
    let text = listing(archive);
    assert!(text.contains("the input has too many inner archives; this one and later ones are left out"));
}
