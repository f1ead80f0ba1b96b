//! Pure solvers and per-method analyses.
