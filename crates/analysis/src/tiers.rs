//! The classes of a program as its keeper sees them: container by container.

use std::sync::Arc;

use program::input::Role;

use crate::whole::record::ClassRecord;

/// A class file of which somebody asks, by a number that its owner gives to no other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ClassKey(pub u32);

/// What is known of a class. A class of a library has no key: no question is about it.
pub type KeyedRecord = (Option<ClassKey>, ClassRecord);

/// The classes of a container that can be read, in its order.
pub type Records = Arc<[KeyedRecord]>;

/// A container.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tier {
    /// What it is to the program.
    pub role: Role,
    /// Its classes.
    pub records: Records,
}
