//! Tell the weights of chains, and what they are worth.

use posteria::assess::StackedChains;

use crate::text::{self, decimals_for, fixed};

/// In words, chains counted from 1.
pub fn render(chains: &StackedChains) -> String {
    let of = match chains.rows == chains.of {
        true => text::count(chains.rows, "row"),
        false => format!("{} of {} rows, chosen at random", chains.rows, chains.of),
    };
    let mut order: Vec<usize> = (0..chains.weights.len()).collect();
    order.sort_by(|a, b| chains.weights[*b].total_cmp(&chains.weights[*a]));
    let shown: Vec<String> = order
        .iter()
        .filter(|chain| chains.weights[**chain] >= 0.005)
        .map(|chain| format!("chain {} {}", chain + 1, fixed(chains.weights[*chain], 2)))
        .collect();
    let none = chains.weights.len() - shown.len();
    let others = if none > 0 { format!("; {none} next to nothing") } else { String::new() };
    let fails = match chains.pareto_k_bad {
        0 => String::new(),
        bad => format!("; importance weights fail for {bad} of {of} in a chain"),
    };
    let decimals = decimals_for(chains.dse, 2).max(1);
    let [stacked, equal, gain, dse, by_others] = [
        chains.elpd_stacked,
        chains.elpd_equal,
        chains.elpd_diff,
        chains.dse,
        chains.elpd_stacked_by_others,
    ]
    .map(|value| fixed(value, decimals));
    format!(
        "chains weighed by stacking, worth {} of {} chains: {}{others}\n\
         leave-one-out log predictive density of {of}: stacked {stacked}, equal weights {equal} \
         (difference {gain} ± {dse});\nthe first is optimistic, as the weights were chosen by \
         these rows: {by_others} with weights chosen by others of them{fails}\n",
        fixed(chains.effective, 1),
        chains.weights.len(),
        shown.join(", "),
    )
}
