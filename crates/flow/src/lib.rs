//! Pure functions over one method body (local facts, exception sets, the control-flow graph), and solvers of systems
//! of inclusions.
//!
//! Start at [`facts::method_facts`], which derives facts from one body (proved assertions, thrown exceptions, locks),
//! and [`cfg::cfg`], which draws the control-flow graph from the body and these facts. A function that needs facts
//! about other classes gets them through a trait, for example [`throwables::Subtypes`]; this crate reads no files and
//! no database.

mod asserting;
pub mod block_view;
pub mod blocks;
pub mod callbacks;
pub mod cfg;
mod components;
pub mod constants;
mod coverage;
pub mod discharge;
pub mod distances;
pub mod exceptions;
pub mod facts;
pub mod fuel;
pub mod functional;
pub mod incremental;
pub mod initializers;
pub mod locks;
pub mod named;
pub mod natives;
pub mod operands;
pub mod passed;
pub mod places;
pub mod proving;
pub mod reaching;
pub mod reflected;
pub mod solver;
pub mod summary;
pub mod throwables;
pub mod thrown;
pub mod universe;
