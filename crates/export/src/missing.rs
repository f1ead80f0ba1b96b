//! Which classes are not there, as one JSON document.

use ide::{MethodId, Missing};

use crate::frame::{Header, header_members};
use crate::json::{array, key, method_name, texts};

/// The document.
pub fn missing_json(header: &Header, missing: &[Missing]) -> Vec<u8> {
    let mut out = Vec::new();
    header_members(&mut out, header);
    key(&mut out, "missing");
    array(&mut out, missing, |out, it| {
        out.push(b'{');
        key(out, "class");
        texts(out, &[it.class]);
        key(out, "supertype_of");
        array(out, &it.supertype_of, |out, it| texts(out, &[*it]));
        methods(out, "called", &it.called);
        methods(out, "used_by", &it.used_by);
        methods(out, "widened", &it.widened);
        out.push(b'}');
    });
    out.extend(b"}\n");
    out
}

fn methods(out: &mut Vec<u8>, name: &str, methods: &[MethodId]) {
    key(out, name);
    array(out, methods, |out, it| method_name(out, *it));
}
