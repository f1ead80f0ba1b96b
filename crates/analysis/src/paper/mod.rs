//! Profile `paper`: control-flow graphs by the rules of Fig. 4 of *Sound Control Flow Graph Extraction
//! from Incomplete Java Bytecode Programs* (de Carvalho Gomes, Picoco, Gurov), over enumerated exception types.
//!
//! This module is a transcription of the paper. It is separate from the sound answers of [`crate::whole`] and shares
//! none of their rules, so that the two can be compared. [`intra`] is the intra-procedural analysis, a function of
//! one body; [`environment`] is the open environment Γ of Fig. 3, with the formula MCA; [`propagation`] is the fixed
//! point behind N; [`extract`] draws the graph.
//!
//! Where the text of Fig. 4 is misprinted or silent, and for features that Java gained later, these rules apply:
//! - In the second case of H the source is ∘^{pc}, as in the first case; N tests whether Γ^M\[n\] is available, not
//!   Γ^M\[m\].
//! - The *closest super-type* is the type itself, then its superclasses, then the nearest of all superinterfaces. A
//!   method reference that is not virtual names the method that its closest super-type defines, because in the
//!   paper's Γ it is already resolved.
//! - dom(Γ^M) has the methods of the program that have, or should have, code, so no abstract methods. Native methods
//!   and methods whose code cannot be read are unavailable; so is a method of an absent class, which the call
//!   declares to be missing.
//! - In `throw X`, X ranges over the static types that the value may have. The types of a caught value are those that
//!   its handler catches.
//! - *API methods* are the methods of the platform. Calls to them are labelled ε, and they raise the exceptions that
//!   their signatures declare, with all subtypes. A method of an absent platform class is taken to declare all
//!   exceptions.
//! - `invokedynamic`, dynamic constants, monitors and allocation (apart from its constructor call) are ε steps, like
//!   assignments. A switch is an `if` with more targets.

pub mod answers;
pub mod environment;
pub mod extract;
pub mod intra;
pub mod program;
pub mod propagation;
