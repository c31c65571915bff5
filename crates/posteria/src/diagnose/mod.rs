//! Judge whether chains can be trusted.
