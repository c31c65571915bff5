//! The posteria command line.

fn main() {}
