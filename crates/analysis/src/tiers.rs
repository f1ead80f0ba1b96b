//! The classes of a program, grouped by container, as the keeper reads them.

use std::sync::Arc;

use program::input::Role;

use crate::whole::record::ClassRecord;

/// The number of a class file about which clients may ask questions. The owner of the files gives each file a
/// different number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClassKey(pub u32);

/// The record of a class, with the key of its file. A class of a library has no key (`None`), because clients ask no
/// questions about such a class.
pub type KeyedRecord = (Option<ClassKey>, ClassRecord);

/// The records of the readable classes of a container, in the order of the container.
pub type Records = Arc<[KeyedRecord]>;

/// A container, with the records of its classes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tier {
    /// The role of the container in the program.
    pub role: Role,
    /// The records of the container's classes.
    pub records: Records,
}
