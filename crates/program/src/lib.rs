//! salsa inputs and class outlines.
