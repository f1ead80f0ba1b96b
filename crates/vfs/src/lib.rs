//! Names of files and jar members, a log of changes, the loader and content traits; no I/O.
