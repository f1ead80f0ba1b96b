//! The only room with I/O and threads.
