//! Sum up numbers: means with standard errors, shares, medians, rank correlations.

use super::mean_and_sd;

/// A figure and how far it may be off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    pub value: f64,
    pub sd: f64,
}

impl Estimate {
    /// Mean and standard deviation of draws.
    pub fn of_draws(values: &[f64]) -> Self {
        let (value, sd) = mean_and_sd(values);
        Estimate { value, sd }
    }

    /// Mean over rows and its standard error.
    pub fn of_mean(values: &[f64]) -> Self {
        let Estimate { value, sd } = Estimate::of_draws(values);
        Estimate { value, sd: sd / (values.len() as f64).sqrt() }
    }

    /// Root of the mean of squares, and its standard error to first order.
    pub fn of_root_mean(squares: &[f64]) -> Self {
        let Estimate { value, sd } = Estimate::of_mean(squares);
        let root = value.sqrt();
        Estimate { value: root, sd: if root > 0.0 { sd / (2.0 * root) } else { 0.0 } }
    }

    /// Share of successes and its binomial standard error.
    pub fn of_share(successes: impl IntoIterator<Item = bool>) -> Self {
        let (hits, count) = successes
            .into_iter()
            .fold((0.0, 0.0), |(hits, count), hit| (hits + f64::from(u8::from(hit)), count + 1.0));
        let value: f64 = hits / count;
        Estimate { value, sd: (value * (1.0 - value) / count).sqrt() }
    }

    /// Median of draws, and half the width of their central 68 %: for a normal distribution its
    /// standard deviation, and for long tails still a number of the size of the bulk.
    pub fn of_bulk(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |probability: f64| values[((values.len() - 1) as f64 * probability) as usize];
        Estimate { value: at(0.5), sd: (at(0.84) - at(0.16)) / 2.0 }
    }
}

/// Spearman's rank correlation of numbers without ties.
pub fn rank_correlation(left: &[f64], right: &[f64]) -> f64 {
    let ranks = |values: &[f64]| -> Vec<f64> {
        values.iter().map(|one| values.iter().filter(|other| *other < one).count() as f64).collect()
    };
    let count = left.len() as f64;
    let apart: f64 = ranks(left).iter().zip(ranks(right)).map(|(l, r)| (l - r).powi(2)).sum();
    1.0 - 6.0 * apart / (count * (count * count - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: f64 = 1e-12;

    fn is(estimate: Estimate, value: f64, sd: f64) -> bool {
        (estimate.value - value).abs() < EXACT && (estimate.sd - sd).abs() < EXACT
    }

    #[test]
    fn estimates_are_those_of_the_textbook() {
        let values = [1.0, 2.0, 3.0, 6.0];
        // Squares about the mean 3: 4 + 1 + 0 + 9 = 14.
        assert!(is(Estimate::of_draws(&values), 3.0, (14.0_f64 / 3.0).sqrt()));
        assert!(is(Estimate::of_mean(&values), 3.0, (14.0_f64 / 12.0).sqrt()));
        let root = 3.0_f64.sqrt();
        assert!(is(Estimate::of_root_mean(&values), root, (14.0_f64 / 12.0).sqrt() / 2.0 / root));
        assert!(is(Estimate::of_root_mean(&[0.0; 3]), 0.0, 0.0));
        assert!(is(Estimate::of_share([true, true, false, true]), 0.75, (0.1875_f64 / 4.0).sqrt()));
        let hundred: Vec<f64> = (0..=100).rev().map(f64::from).collect();
        assert!(is(Estimate::of_bulk(hundred), 50.0, 34.0));
    }

    #[test]
    fn rank_correlation_sees_order_alone() {
        let rising = [0.1, 0.2, 5.0, 900.0];
        assert!((rank_correlation(&rising, &[1.0, 2.0, 3.0, 4.0]) - 1.0).abs() < EXACT);
        assert!((rank_correlation(&rising, &[4.0, 3.0, 2.0, 1.0]) + 1.0).abs() < EXACT);
        // One swap of neighbours: 1 - 6 · 2 / (4 · 15).
        assert!((rank_correlation(&rising, &[2.0, 1.0, 3.0, 4.0]) - 0.8).abs() < EXACT);
    }
}
