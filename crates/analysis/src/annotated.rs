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
