//! Fixtures, an assembler from text to class bytes, the JVM harness (dev-dependency only).
