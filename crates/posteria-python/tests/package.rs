//! The package, from Python.
