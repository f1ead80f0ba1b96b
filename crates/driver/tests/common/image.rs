//! A small JDK image of either byte order, with an uncompressed, a zip-compressed and a string-sharing resource.

/// The content of the class that is stored in all three ways: the header of a class file, three constants, and a
/// tail.
pub(crate) const CLASS: &[u8] = b"\xca\xfe\xba\xbe\x00\x00\x00\x3d\x00\x05\
    \x01\x00\x05hello\
    \x05\x00\x00\x00\x00\x00\x00\x00\x2a\
    \x01\x00\x17(Lp/Text;)Ljava/lang/A;and the tail";

struct Writer {
    big_endian: bool,
    strings: Vec<u8>,
    locations: Vec<u8>,
    content: Vec<u8>,
    slots: Vec<(String, u32)>,
}

impl Writer {
    fn u4(&self, it: u32) -> [u8; 4] {
        if self.big_endian { it.to_be_bytes() } else { it.to_le_bytes() }
    }

    fn u8(&self, it: u64) -> [u8; 8] {
        if self.big_endian { it.to_be_bytes() } else { it.to_le_bytes() }
    }

    fn string(&mut self, text: &str) -> u32 {
        let at = self.strings.len() as u32;
        self.strings.extend_from_slice(text.as_bytes());
        self.strings.push(0);
        at
    }

    fn attribute(&mut self, kind: u8, value: u32) {
        self.locations.push(kind << 3 | 3);
        self.locations.extend_from_slice(&value.to_be_bytes());
    }

    fn resource(
        &mut self,
        module: &str,
        package: &str,
        base: &str,
        stored: &[u8],
        size: usize,
        compressed: bool,
    ) {
        let at = self.locations.len() as u32;
        self.slots.push((format!("/{module}/{package}/{base}.class"), at));
        for (kind, text) in [(1, module), (2, package), (3, base), (4, "class")] {
            let text = self.string(text);
            self.attribute(kind, text);
        }
        self.attribute(5, self.content.len() as u32);
        self.attribute(6, if compressed { stored.len() as u32 } else { 0 });
        self.attribute(7, size as u32);
        // An attribute of a kind that later formats may add.
        self.attribute(9, 1);
        self.locations.push(0);
        self.content.extend_from_slice(stored);
    }

    fn layer(&mut self, decompressor: &str, stored: &[u8], size: usize) -> Vec<u8> {
        let name = self.string(decompressor);
        let mut out = self.u4(0xCAFE_FAFA).to_vec();
        out.extend_from_slice(&self.u8(stored.len() as u64));
        out.extend_from_slice(&self.u8(size as u64));
        out.extend_from_slice(&self.u4(name));
        out.extend_from_slice(&self.u4(0));
        out.push(1);
        out.extend_from_slice(stored);
        out
    }

    fn finish(self) -> Vec<u8> {
        const N: usize = 16;
        let (mut redirect, mut offsets) = ([0u32; N], [0u32; N]);
        for (index, (name, at)) in self.slots.iter().enumerate() {
            let hash =
                name.bytes().fold(0x0100_0193u32, |acc, it| acc.wrapping_mul(0x0100_0193) ^ u32::from(it));
            let slot = (hash & 0x7fff_ffff) as usize % N;
            assert_eq!(redirect[slot], 0, "choose names without a collision");
            redirect[slot] = (-1 - index as i32) as u32;
            offsets[index] = *at;
        }
        let mut out = Vec::new();
        let header = [0xCAFE_DADA, 1 << 16, 0, self.slots.len() as u32, N as u32];
        let sizes = [self.locations.len() as u32, self.strings.len() as u32];
        for it in header.into_iter().chain(sizes).chain(redirect).chain(offsets) {
            out.extend_from_slice(&self.u4(it));
        }
        [out, self.locations, self.strings, self.content].concat()
    }
}

/// Writes the image: `m/p/Plain`, `m/p/Zipped`, `m/q/Shared` (string sharing inside zip) and `n/p/Other`.
pub(crate) fn sample(big_endian: bool) -> Vec<u8> {
    // Location 0 is for empty slots, string 0 is the empty string.
    let mut writer =
        Writer { big_endian, strings: vec![0], locations: vec![0], content: vec![], slots: vec![] };
    writer.resource("m", "p", "Plain", CLASS, CLASS.len(), false);
    let zipped = writer.layer("zip", &zlib(CLASS), CLASS.len());
    writer.resource("m", "p", "Zipped", &zipped, CLASS.len(), true);
    let shared = shared(&mut writer);
    let inner = writer.layer("compact-cp", &shared, CLASS.len());
    let outer = writer.layer("zip", &zlib(&inner), inner.len());
    writer.resource("m", "q", "Shared", &outer, CLASS.len(), true);
    writer.resource("n", "p", "Other", b"other", 5, false);
    writer.finish()
}

/// Writes an image that has only `m/p/A`.
pub(crate) fn with_class(content: &[u8]) -> Vec<u8> {
    let mut writer =
        Writer { big_endian: false, strings: vec![0], locations: vec![0], content: vec![], slots: vec![] };
    writer.resource("m", "p", "A", content, content.len(), false);
    writer.finish()
}

/// Writes an image in which every slot is the same class with a long name.
pub(crate) fn with_long_names() -> Vec<u8> {
    let mut writer =
        Writer { big_endian: false, strings: vec![0], locations: vec![0], content: vec![], slots: vec![] };
    writer.resource("m", &"p".repeat(60_000), "A", b"", 0, false);
    let mut image = writer.finish();
    // The table of offsets follows 28 bytes of header and 16 redirects, and has 16 places for the one location. It
    // is replaced by a larger table, in which each place takes eight bytes.
    const N: usize = 100_000;
    let rest = image.split_off(28 + 8 * 16);
    let mut grown = image[..28].to_vec();
    grown[16..20].copy_from_slice(&(N as u32).to_le_bytes());
    grown.extend(std::iter::repeat_n(0, 4 * N));
    grown.extend(std::iter::repeat_n(1u32.to_le_bytes(), N).flatten());
    grown.extend_from_slice(&rest);
    grown
}

/// `CLASS` with its strings moved to the string table.
fn shared(writer: &mut Writer) -> Vec<u8> {
    let hello = writer.string("hello");
    let descriptor = writer.string("(L;)L;");
    let parts = ["p", "Text", "java/lang", "A"].map(|it| writer.string(it));
    // Indices are encoded in two bytes (1, 10, five bits) or in four.
    let short = |it: u32| [0xC0 | (it >> 8) as u8, it as u8];
    let mut out = CLASS[..10].to_vec();
    out.push(23);
    out.extend_from_slice(&hello.to_be_bytes());
    out.extend_from_slice(b"\x05\x00\x00\x00\x00\x00\x00\x00\x2a");
    out.push(25);
    out.extend_from_slice(&descriptor.to_be_bytes());
    let pairs: Vec<u8> = parts.iter().flat_map(|&it| short(it)).collect();
    out.extend_from_slice(&[0xA0 | pairs.len() as u8]);
    out.extend_from_slice(&pairs);
    out.extend_from_slice(b"and the tail");
    out
}

fn zlib(data: &[u8]) -> Vec<u8> {
    let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
    let mut out = vec![0; compressor.zlib_compress_bound(data.len())];
    let length = compressor.zlib_compress(data, &mut out).unwrap();
    out.truncate(length);
    out
}
