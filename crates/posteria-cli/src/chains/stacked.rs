//! Tell the weights of chains, and what they are worth.

use serde::Serialize;

use crate::text::{decimals_for, fixed};

/// Chains weighed by stacking, as JSON has it.
#[derive(Clone, Debug, Serialize)]
pub struct StackedChains {
    /// Of every chain, in their order.
    pub(super) weights: Vec<f64>,
    /// Chains of equal weight that these are worth.
    pub(super) effective: f64,
    /// Of the rows that the weights were chosen by: optimistic.
    pub(super) elpd_stacked: f64,
    pub(super) se_stacked: f64,
    pub(super) elpd_equal: f64,
    pub(super) se_equal: f64,
    /// Stacked less equal weights.
    pub(super) elpd_diff: f64,
    pub(super) dse: f64,
    /// Every row by weights that other rows have chosen.
    pub(super) elpd_stacked_by_others: f64,
    /// Most rows of a chain whose importance weights fail.
    pub(super) pareto_k_bad: usize,
    pub(super) rows: usize,
    #[serde(skip)]
    pub(super) of: String,
}

impl StackedChains {
    /// In words, chains counted from 1.
    pub fn render(&self) -> String {
        let mut order: Vec<usize> = (0..self.weights.len()).collect();
        order.sort_by(|a, b| self.weights[*b].total_cmp(&self.weights[*a]));
        let shown: Vec<String> = order
            .iter()
            .filter(|chain| self.weights[**chain] >= 0.005)
            .map(|chain| format!("chain {} {}", chain + 1, fixed(self.weights[*chain], 2)))
            .collect();
        let none = self.weights.len() - shown.len();
        let others = if none > 0 { format!("; {none} next to nothing") } else { String::new() };
        let fails = match self.pareto_k_bad {
            0 => String::new(),
            bad => format!("; importance weights fail for {bad} of {} in a chain", self.of),
        };
        let decimals = decimals_for(self.dse, 2).max(1);
        let [stacked, equal, gain, dse, by_others] = [
            self.elpd_stacked,
            self.elpd_equal,
            self.elpd_diff,
            self.dse,
            self.elpd_stacked_by_others,
        ]
        .map(|value| fixed(value, decimals));
        format!(
            "chains weighed by stacking, worth {} of {} chains: {}{others}\n\
             leave-one-out log predictive density of {}: stacked {stacked}, equal weights {equal} \
             (difference {gain} ± {dse});\nthe first is optimistic, as the weights were chosen by \
             these rows: {by_others} with weights chosen by others of them{fails}\n",
            fixed(self.effective, 1),
            self.weights.len(),
            shown.join(", "),
            self.of,
        )
    }
}
