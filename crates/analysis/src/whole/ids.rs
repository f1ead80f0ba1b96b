//! Numbers of what calls go through. They never change their meaning while a program is kept, and are never printed or sorted by.

/// A virtual call by the names at its call site: a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DispatchId(pub u32);

/// An object of a class that exists at run time only, made by a `LambdaMetafactory` site: a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FunctionSiteId(pub u32);
