//! One process: hyperparameters and the targets that are drawn from it.

use std::ops::Range;

use super::hyperparameters::Hyperparameters;

/// Functions with the same hyperparameters.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) hyperparameters: Hyperparameters,
    /// Real targets that follow functions of this process; of classes, all functions.
    pub(super) targets: Range<usize>,
}
