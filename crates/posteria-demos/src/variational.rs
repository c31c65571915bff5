//! Find approximations by their bounds: mixtures, principal components, divergences.

pub mod divergences;
pub mod faithful;
mod gaussian;
pub mod principal;

use super::{Demonstration, Quantity, Settings};

fn figure(quantity: impl Into<String>, published: Option<f64>, here: f64) -> Quantity {
    Quantity { quantity: quantity.into(), published, here, sd: None }
}

fn conclude(name: &'static str, results: Vec<Quantity>, words: String) -> Demonstration {
    Demonstration { name, results, words, ..Demonstration::default() }
}
