//! Draw the density of draws as a line of bars.

use posteria::diagnose::{Summary, VariableSummary};
use posteria::draws::Draws;

use crate::text;

/// Bars of a line.
const BARS: usize = 8;
/// The quantiles at its ends: tails would press the rest together.
const ENDS: [f64; 2] = [0.01, 0.99];

/// The densities of the variables of a summary.
pub struct Shapes<'d> {
    draws: &'d Draws,
    summary: &'d Summary,
}

impl<'d> Shapes<'d> {
    /// Those of a summary of `draws`.
    pub fn new(draws: &'d Draws, summary: &'d Summary) -> Self {
        Shapes { draws, summary }
    }

    /// The density of a variable of the summary between its 1 % and its 99 % quantile; that of the
    /// logarithm where the summary is of logarithms. Empty where nothing varies.
    pub fn of(&self, variable: &VariableSummary) -> String {
        let slot = self.summary.variables.iter().position(|it| std::ptr::eq(it, variable));
        let mut values = match slot {
            Some(slot) if slot < self.draws.layout.len() => self.draws.component(slot).concat(),
            // What follows the components is the log density.
            _ => self.draws.statistics.iter().map(|it| it.log_density).collect(),
        };
        if variable.of_log.is_some() {
            values.iter_mut().for_each(|value| *value = value.ln());
        }
        line(values)
    }
}

/// A histogram of numbers in one line.
fn line(mut values: Vec<f64>) -> String {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1) as f64;
    let ends = ENDS.map(|level| values.get((last * level).round() as usize).copied());
    let [Some(low), Some(high)] = ends else { return String::new() };
    // Halves, so that the difference of the greatest numbers is one.
    let width = 0.5 * high - 0.5 * low;
    if width <= 0.0 {
        return String::new();
    }
    let mut counts = [0.0; BARS];
    for value in values.iter().filter(|value| (low..=high).contains(value)) {
        let part = (0.5 * value - 0.5 * low) / width;
        counts[((part * BARS as f64) as usize).min(BARS - 1)] += 1.0;
    }
    let most = counts.iter().copied().fold(0.0, f64::max);
    text::bars(&counts, [0.0, most])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_as_high_as_draws_are_many() {
        let even = (0..1200).map(f64::from).collect();
        assert_eq!(line(even), "████████");
        // A density that rises in proportion to its place, from 0.1 to 0.995 of the range: in the middles
        // of the bars it has 0.17, 0.29, … of the last height, times 7 and rounded.
        let rising = (0..12_000).map(|i| f64::from(i).sqrt()).collect();
        assert_eq!(line(rising), "▂▃▄▅▅▆▇█");
        let apart = (0..600).map(|i| f64::from(i % 2)).collect();
        assert_eq!(line(apart), "█▁▁▁▁▁▁█");
        // One draw far away presses nothing together.
        let mut values: Vec<f64> = (0..1200).map(f64::from).collect();
        values.push(1e300);
        assert_eq!(line(values), "████████");
        for nothing in [vec![], vec![f64::NAN; 3], vec![2.0; 50]] {
            assert_eq!(line(nothing), "");
        }
        assert_eq!(line(vec![f64::MIN, 0.0, f64::MAX]).chars().count(), BARS);
    }
}
