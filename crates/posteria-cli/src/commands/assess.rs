//! Estimate how well new rows are predicted.

mod log_lik;

use super::Context;
use crate::args;
use crate::failure::Result;

/// Runs `posteria assess`.
pub fn run(arguments: &args::Assess, context: &Context) -> Result<()> {
    log_lik::run(arguments, context)
}
