//! Jars for tests, with stored entries only.

/// Returns the bytes of a jar with these members. `manifest` holds the main attributes of the manifest; each of its
/// lines must end with a line feed.
pub fn jar(manifest: &str, members: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let manifest = format!("Manifest-Version: 1.0\n{manifest}").into_bytes();
    let mut entries = vec![("META-INF/MANIFEST.MF", &manifest)];
    entries.extend(members.iter().map(|it| (it.0, &it.1)));
    let (mut out, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in &entries {
        let (offset, size) = (out.len() as u32, bytes.len() as u32);
        let mut common = Vec::new();
        common.extend([10, 0, 0, 0, 0, 0, 0, 0, 0x21, 0]);
        common.extend(crc(bytes).to_le_bytes());
        common.extend([size.to_le_bytes(), size.to_le_bytes()].concat());
        common.extend((name.len() as u16).to_le_bytes());
        common.extend([0, 0]);
        out.extend(b"PK\x03\x04");
        out.extend(&common);
        out.extend(name.as_bytes());
        out.extend(*bytes);
        directory.extend(b"PK\x01\x02\x0a\x00");
        directory.extend(&common);
        directory.extend([0; 10]);
        directory.extend(offset.to_le_bytes());
        directory.extend(name.as_bytes());
    }
    let (at, n) = (out.len() as u32, (entries.len() as u16).to_le_bytes());
    let size = directory.len() as u32;
    out.extend(directory);
    out.extend(b"PK\x05\x06\0\0\0\0");
    out.extend([n, n].concat());
    out.extend(size.to_le_bytes());
    out.extend(at.to_le_bytes());
    out.extend([0, 0]);
    out
}

fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |acc, byte| {
        (0..8).fold(
            acc ^ u32::from(*byte),
            |acc, _| if acc & 1 == 1 { acc >> 1 ^ 0xedb8_8320 } else { acc >> 1 },
        )
    })
}
