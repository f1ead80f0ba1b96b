//! placeholder while the walk is written
