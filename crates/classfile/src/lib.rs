//! Class-file bytes to typed data, and the vocabulary of names and descriptors.
