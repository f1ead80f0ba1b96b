//! The queries that join program, bodies and flow.
