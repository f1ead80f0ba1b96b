//! Answers as DOT, GraphML and JSON: plain data in, bytes out.
