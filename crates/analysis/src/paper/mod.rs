//! Profile `paper`: control-flow graphs by the rules of Fig. 4 of *Sound Control Flow Graph Extraction
//! from Incomplete Java Bytecode Programs* (de Carvalho Gomes, Picoco, Gurov), over enumerated exception types.
//!
//! A transcription, apart from the sound answers of [`crate::whole`] and sharing none of their rules, so that each can be
//! held against the other. [`intra`] is the intra-procedural analysis, a function of one body; [`environment`] is the open
//! environment Γ of Fig. 3, with the formula MCA; [`propagation`] is the fixed point behind N; [`extract`] draws the graph.
//!
//! Where the text of Fig. 4 is misprinted or silent, and what Java got since:
//! - In the second case of H the source is ∘^{pc}, as in the first; N asks whether Γ^M\[n\] is available, not Γ^M\[m\].
//! - *closest super-type*: the type itself, then its superclasses, then the nearest of all superinterfaces.
//!   A method reference that is not virtual names the method that its closest super-type defines, as in the paper's Γ it
//!   is already resolved.
//! - dom(Γ^M) has the methods of the program that have, or should have, code: no abstract ones. Native methods and code
//!   that cannot be read are unavailable; so is a method of a class that is not there, which the call declares missing.
//! - `throw X`: X is every static type that the value may have; of one that was caught, what its handler catches.
//! - *API methods* are those of the platform: labelled ε, with what their signature declares, and its subtypes. A platform
//!   that is not there declares anything.
//! - `invokedynamic`, dynamic constants, monitors and allocation apart from its constructor call are ε steps, as
//!   assignments are; a switch is an `if` with more targets.

pub mod answers;
pub mod environment;
pub mod extract;
pub mod intra;
pub mod program;
pub mod propagation;
