//! Demonstrations of approximations at a mode, and of tempered learning.

pub mod evidence_sinusoid;
pub mod neuron_laplace;
pub mod tempered;

use super::{Demonstration, Quantity, Settings, neuron};
