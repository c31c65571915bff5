//! Distributions: normalised log densities, draws, special functions.

pub mod special;
