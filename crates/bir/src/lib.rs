//! Stackless method bodies: data, lowering from Code, printer, parser, verifier.
