//! The classes that values of annotations name. Code that reads the annotations gets objects of these classes, or the
//! class objects, although no instruction names them.

use classfile::attributes::Value;
use classfile::class::ClassFile;
use classfile::descriptor::FieldType;
use classfile::names::{ClassName, Descriptor};

/// Returns the classes that values of visible annotations of the class and its members name, each once: enums by their
/// constants, and classes by class constants.
pub(crate) fn annotated_classes(file: &ClassFile<'_>) -> Box<[ClassName]> {
    let mut acc = Vec::new();
    let members = file.fields().chain(file.methods()).map(|it| it.attributes());
    for attributes in members.chain([file.attributes()]) {
        attributes.visible_values().iter().for_each(|it| classes_of(it, &mut acc));
    }
    acc.into()
}

fn classes_of(value: &Value, acc: &mut Vec<ClassName>) {
    match value {
        Value::Enum(descriptor, _) | Value::Class(descriptor) => {
            let class = Descriptor::new(descriptor.bytes()).field_type().and_then(FieldType::class);
            let class = class.and_then(ClassName::element);
            acc.extend(class.filter(|it| !acc.contains(it)));
        }
        Value::Annotation(it) => it.elements.iter().for_each(|it| classes_of(&it.1, acc)),
        Value::Array(items) => items.iter().for_each(|it| classes_of(it, acc)),
        Value::Const(..) | Value::Str(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the index of the text in the constant pool of a class file. The pool has only entries that the assembler
    /// makes for a field without a value.
    fn index_of(text: &[u8], file: &[u8]) -> u16 {
        let (mut at, mut index) = (10, 1);
        loop {
            let len = u16::from_be_bytes([file[at + 1], file[at + 2]]) as usize;
            match file[at] {
                1 if &file[at + 3..at + 3 + len] == text => return index,
                1 => at += 3 + len,
                7 => at += 3,
                tag => panic!("the pool has an entry with tag {tag}"),
            }
            index += 1;
        }
    }

    #[test]
    fn nested_lists_of_record_components_are_not_followed() {
        let source = ".class public super p/A\n.super java/lang/Object\n.field public Record I\n";
        let mut bytes = test_utils::asm::assemble(source).unwrap().remove(0).bytes;
        let name = index_of(b"Record", &bytes).to_be_bytes();
        // The class has no attributes, so the last two bytes are their number.
        assert_eq!(bytes.split_off(bytes.len() - 2), [0, 0]);
        const DEPTH: u32 = 200_000;
        for level in (1..=DEPTH).rev() {
            // One attribute with one component, whose attributes are the next level: 14 bytes each, and 2 at the end.
            let content = 14 * (level - 1) + 8;
            bytes.extend([&[0, 1][..], &name, &content.to_be_bytes(), &[0, 1, 0, 0, 0, 0]].concat());
        }
        bytes.extend([0, 0]);
        let file = ClassFile::parse(&bytes).unwrap();
        assert!(annotated_classes(&file).is_empty());
    }
}
