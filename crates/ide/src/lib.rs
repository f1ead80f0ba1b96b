//! The facade: owns the database; snapshots and answers as plain data.
