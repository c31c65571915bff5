//! Turn importance ratios into weights, and say how far to trust them.

use super::pareto::{FEWEST_EXCEEDANCES, ParetoTail};
use crate::density::special::log_sum_exp;

/// What happens to the largest ratios before they become weights.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Smoothing {
    /// Nothing: the weights are the normalised ratios [Gelfand et al. 1992].
    Plain,
    /// They are replaced by the expected order statistics of the generalised Pareto distribution
    /// fitted to them, at most the largest ratio [Vehtari et al. 2024].
    #[default]
    Pareto,
    /// They are cut at √S times their mean [Ionides 2008].
    Truncated,
}

/// Normalised importance weights of the draws, with what judges them.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportanceWeights {
    /// Logarithms of weights that sum to 1, in the order of the draws.
    pub log_weights: Vec<f64>,
    /// Shape k of the tail of the *ratios*, whatever was done to them: below
    /// [`pareto_shape_limit`] the weights can be trusted. +∞ if the tail has fewer than five
    /// exceedances (fewer than 21 draws, or equal ratios) or a ratio is infinite: then nothing was
    /// smoothed and nothing is known. -∞ if all ratios are the same, so that there is no tail and
    /// the weights are exact. (ArviZ says +∞ for that too.)
    pub pareto_shape: f64,
    /// m_eff = 1 / Σ w², of S draws, each counted as independent. [Kong et al. 1994; Vehtari 2001,
    /// eq. 3.17]
    pub effective_size: f64,
}

/// Ratios that give no weights.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImportanceError {
    /// There is no ratio.
    #[error("there is no draw to weigh; at least one is needed")]
    Empty,
    /// A ratio is not a number.
    #[error("the log importance ratio of draw {draw} is NaN; look for a log density that is")]
    NotANumber {
        /// Index of the draw.
        draw: usize,
    },
    /// All ratios are 0.
    #[error("every importance ratio is 0: no draw is possible under the density aimed at")]
    NoWeight,
    /// The relative efficiency is not a positive number.
    #[error("the relative efficiency is {value}; it must be positive, 1 for independent draws")]
    Efficiency {
        /// What was given.
        value: f64,
    },
}

/// Below this k of the tail S draws give reliable weights: min(1 - 1/log₁₀ S, 0.7).
/// [Vehtari et al. 2024]
pub fn pareto_shape_limit(draws: usize) -> f64 {
    (1.0 - 1.0 / (draws as f64).log10()).min(0.7)
}

/// How many of S ratios are the tail: ⌈min(S/5, 3 √(S / r))⌉ with r the relative efficiency of
/// the draws. [Vehtari et al. 2024]
pub fn tail_length(draws: usize, relative_efficiency: f64) -> usize {
    let size = draws as f64;
    (size / 5.0).min(3.0 * (size / relative_efficiency).sqrt()).ceil() as usize
}

/// The weights of draws with these log ratios log f(θ)/g(θ), which may lack a common constant.
///
/// A ratio of 0 (-∞) gives the weight 0. Infinite ratios share the whole weight.
/// `relative_efficiency`: effective size of the draws over their number, 1 if independent; only
/// the length of the tail depends on it. Larger ratios never get smaller weights.
///
/// # Errors
/// [`ImportanceError`].
pub fn importance_weights(
    log_ratios: &[f64],
    smoothing: Smoothing,
    relative_efficiency: f64,
) -> Result<ImportanceWeights, ImportanceError> {
    if let Some(draw) = log_ratios.iter().position(|ratio| ratio.is_nan()) {
        return Err(ImportanceError::NotANumber { draw });
    }
    if !(relative_efficiency > 0.0 && relative_efficiency.is_finite()) {
        return Err(ImportanceError::Efficiency { value: relative_efficiency });
    }
    let draws = log_ratios.len();
    let largest = log_ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if draws == 0 {
        return Err(ImportanceError::Empty);
    } else if largest == f64::NEG_INFINITY {
        return Err(ImportanceError::NoWeight);
    } else if largest == f64::INFINITY {
        return Ok(of_infinite(log_ratios));
    }
    let mut log_weights: Vec<f64> = log_ratios.iter().map(|ratio| ratio - largest).collect();
    if log_weights.iter().all(|ratio| *ratio >= 0.0) {
        log_weights.fill(-(draws as f64).ln());
        return Ok(finished(log_weights, f64::NEG_INFINITY));
    }
    let tail = Tail::find(&log_weights, tail_length(draws, relative_efficiency));
    let fitted = tail.as_ref().and_then(Tail::fit);
    let shape = fitted.map_or(f64::INFINITY, |fitted| fitted.shape);
    match (smoothing, tail, fitted) {
        (Smoothing::Pareto, Some(tail), Some(fitted)) => tail.smooth(fitted, &mut log_weights),
        (Smoothing::Truncated, ..) => {
            let limit = log_sum_exp(&log_weights) - 0.5 * (draws as f64).ln();
            log_weights.iter_mut().for_each(|weight| *weight = weight.min(limit));
        }
        _ => {}
    }
    let total = log_sum_exp(&log_weights);
    log_weights.iter_mut().for_each(|weight| *weight -= total);
    Ok(finished(log_weights, shape))
}

/// Infinite ratios share the weight.
fn of_infinite(log_ratios: &[f64]) -> ImportanceWeights {
    let is_infinite = |ratio: f64| ratio == f64::INFINITY;
    let count = log_ratios.iter().filter(|ratio| is_infinite(**ratio)).count();
    let share = -(count as f64).ln();
    let weight = |ratio: &f64| if is_infinite(*ratio) { share } else { f64::NEG_INFINITY };
    finished(log_ratios.iter().map(weight).collect(), f64::INFINITY)
}

fn finished(log_weights: Vec<f64>, pareto_shape: f64) -> ImportanceWeights {
    let squares: f64 = log_weights.iter().map(|weight| (2.0 * weight).exp()).sum();
    ImportanceWeights { log_weights, pareto_shape, effective_size: 1.0 / squares }
}

/// The ratios above a cut-off, in increasing order; the largest of all ratios is 1.
struct Tail {
    /// Logarithm of the cut-off, the largest ratio that is not in the tail.
    cutoff: f64,
    /// The draws of the tail.
    draws: Vec<usize>,
    /// Their ratios less the cut-off.
    exceedances: Vec<f64>,
}

impl Tail {
    /// The at most `length` largest ratios; `None` if there are not more ratios than that.
    fn find(log_ratios: &[f64], length: usize) -> Option<Self> {
        // Ties in the order of the draws, so that the weights are the same on any machine.
        let increasing =
            |a: &usize, b: &usize| log_ratios[*a].total_cmp(&log_ratios[*b]).then_with(|| a.cmp(b));
        let place = log_ratios.len().checked_sub(length + 1)?;
        let mut order: Vec<usize> = (0..log_ratios.len()).collect();
        let (_, last, above) = order.select_nth_unstable_by(place, increasing);
        // Ratios that underflow cannot be a cut-off.
        let cutoff = log_ratios[*last].max(f64::MIN_POSITIVE.ln());
        let mut draws = above.to_vec();
        draws.retain(|draw| log_ratios[*draw] > cutoff);
        draws.sort_unstable_by(increasing);
        let exceedance = |draw: &usize| cutoff.exp() * (log_ratios[*draw] - cutoff).exp_m1();
        let exceedances = draws.iter().map(exceedance).collect();
        Some(Tail { cutoff, draws, exceedances })
    }

    fn fit(&self) -> Option<ParetoTail> {
        (self.draws.len() >= FEWEST_EXCEEDANCES).then(|| ParetoTail::fit(&self.exceedances))?
    }

    /// Puts the quantiles at (j - ½)/M in place of the M ratios, none larger than the largest was.
    fn smooth(&self, fitted: ParetoTail, log_ratios: &mut [f64]) {
        let count = self.draws.len() as f64;
        for (rank, draw) in self.draws.iter().enumerate() {
            let exceedance = fitted.quantile((rank as f64 + 0.5) / count);
            log_ratios[*draw] = (exceedance + self.cutoff.exp()).ln().min(0.0);
        }
    }
}

impl ImportanceWeights {
    /// The mass of the k largest weights at index k - 1: a curve that rises steeply where few
    /// draws carry the estimate. [Vehtari 2001, figure 3.3]
    pub fn cumulative(&self) -> Vec<f64> {
        let mut weights: Vec<f64> = self.log_weights.iter().map(|weight| weight.exp()).collect();
        weights.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut mass = 0.0;
        for weight in &mut weights {
            mass += *weight;
            *weight = mass;
        }
        weights
    }

    /// log Σ w_s exp(x_s): the logarithm of the weighted mean of exp(x).
    ///
    /// # Panics
    /// If there is not one value per draw.
    pub fn log_mean_exp(&self, values: &[f64]) -> f64 {
        assert_eq!(values.len(), self.log_weights.len(), "one value per draw");
        // A weight of 0 counts for nothing, whatever the value.
        let term = |(weight, value): (&f64, &f64)| match *weight == f64::NEG_INFINITY {
            true => f64::NEG_INFINITY,
            false => weight + value,
        };
        let terms: Vec<f64> = self.log_weights.iter().zip(values).map(term).collect();
        log_sum_exp(&terms)
    }

    /// Monte Carlo standard error of [`ImportanceWeights::log_mean_exp`] by the delta method:
    /// √(Σ w_s² (exp(x_s - x̄) - 1)² / r) with x̄ that logarithm and r the relative efficiency.
    /// [Vehtari et al. 2024]
    ///
    /// # Panics
    /// If there is not one value per draw.
    pub fn log_mean_exp_error(&self, values: &[f64], relative_efficiency: f64) -> f64 {
        let mean = self.log_mean_exp(values);
        let square = |(weight, value): (&f64, &f64)| match *weight == f64::NEG_INFINITY {
            true => 0.0,
            false => (weight.exp() * (value - mean).exp_m1()).powi(2),
        };
        let sum: f64 = self.log_weights.iter().zip(values).map(square).sum();
        (sum / relative_efficiency).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: [Smoothing; 3] = [Smoothing::Plain, Smoothing::Pareto, Smoothing::Truncated];

    fn weigh(log_ratios: &[f64], smoothing: Smoothing) -> ImportanceWeights {
        importance_weights(log_ratios, smoothing, 1.0).expect("weights")
    }

    proptest! {
        #[test]
        fn weights_sum_to_one_grow_with_the_ratios_and_ignore_constants(
            ratios in prop::collection::vec(-30.0..30.0_f64, 1..200),
            spread in 0.01..4.0_f64,
            shift in -500.0..500.0_f64,
        ) {
            let ratios: Vec<f64> = ratios.iter().map(|ratio| ratio * spread).collect();
            let shifted: Vec<f64> = ratios.iter().map(|ratio| ratio + shift).collect();
            for smoothing in ALL {
                let weights = weigh(&ratios, smoothing);
                let sum: f64 = weights.log_weights.iter().map(|weight| weight.exp()).sum();
                prop_assert!((sum - 1.0).abs() < 1e-12, "{smoothing:?}: sum {sum}");
                let size = weights.effective_size;
                prop_assert!((1.0 - 1e-12..=ratios.len() as f64 * (1.0 + 1e-12)).contains(&size));
                let mut order: Vec<usize> = (0..ratios.len()).collect();
                order.sort_by(|a, b| ratios[*a].total_cmp(&ratios[*b]));
                for pair in order.windows(2) {
                    let (low, high) = (weights.log_weights[pair[0]], weights.log_weights[pair[1]]);
                    prop_assert!(low <= high + 1e-12, "{smoothing:?}: {low} above {high}");
                }
                // Shifting rounds the ratios themselves by 1e-13.
                let other = weigh(&shifted, smoothing);
                for (a, b) in weights.log_weights.iter().zip(&other.log_weights) {
                    prop_assert!((a - b).abs() < 1e-6, "{smoothing:?}: {a} became {b}");
                }
                let curve = weights.cumulative();
                prop_assert!(curve.windows(2).all(|pair| pair[0] <= pair[1]));
                prop_assert!((curve[curve.len() - 1] - 1.0).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn equal_ratios_give_equal_weights_and_no_doubt() {
        for smoothing in ALL {
            let weights = weigh(&[-3.5; 100], smoothing);
            assert!((weights.effective_size - 100.0).abs() < 1e-9);
            assert!(weights.pareto_shape < 0.0);
        }
    }

    #[test]
    fn few_or_tied_tails_are_not_smoothed_and_doubted() {
        let few: Vec<f64> = (0..20).map(f64::from).collect();
        let mut tied = vec![0.0; 100];
        tied[..60].fill(1.0);
        for ratios in [few, tied] {
            let weights = weigh(&ratios, Smoothing::Pareto);
            assert_eq!(weights.log_weights, weigh(&ratios, Smoothing::Plain).log_weights);
            assert!(weights.pareto_shape == f64::INFINITY);
        }
        assert!(weigh(&[0.0, 1.0], Smoothing::Pareto).pareto_shape == f64::INFINITY);
        assert!((weigh(&[7.0], Smoothing::Pareto).effective_size - 1.0).abs() < 1e-15);
    }

    #[test]
    fn zero_and_infinite_ratios() {
        let none = f64::NEG_INFINITY;
        let weights = weigh(&[none, 1.0, 1.0, none], Smoothing::Plain);
        assert!((weights.effective_size - 2.0).abs() < 1e-12);
        assert!(weights.log_mean_exp(&[f64::INFINITY, 3.0, 3.0, 0.0]) - 3.0 < 1e-12);
        let weights = weigh(&[1.0, f64::INFINITY, f64::INFINITY, none], Smoothing::Pareto);
        assert!((weights.effective_size - 2.0).abs() < 1e-12);
        assert!(weights.pareto_shape == f64::INFINITY);
        let error = |ratios: &[f64], efficiency| {
            importance_weights(ratios, Smoothing::Pareto, efficiency).expect_err("refused")
        };
        assert_eq!(error(&[], 1.0), ImportanceError::Empty);
        assert_eq!(error(&[0.0, f64::NAN], 1.0), ImportanceError::NotANumber { draw: 1 });
        assert_eq!(error(&[none; 3], 1.0), ImportanceError::NoWeight);
        assert_eq!(error(&[0.0], 0.0), ImportanceError::Efficiency { value: 0.0 });
    }

    #[test]
    fn truncation_cuts_at_root_s_times_the_mean() {
        let mut ratios = vec![0.0; 99];
        ratios.push(100.0_f64.ln());
        // Mean 1.99, cut at 19.9: the weight of the last is 19.9 / 118.9.
        let weights = weigh(&ratios, Smoothing::Truncated);
        assert!((weights.log_weights[99].exp() - 19.9 / 118.9).abs() < 1e-12);
    }

    #[test]
    fn limits_and_lengths() {
        assert!((pareto_shape_limit(100) - 0.5).abs() < 1e-12);
        assert!((pareto_shape_limit(100_000) - 0.7).abs() < 1e-12);
        assert!(pareto_shape_limit(1) < 0.0);
        assert_eq!([tail_length(100, 1.0), tail_length(4000, 1.0)], [20, 190]);
        assert_eq!(tail_length(4000, 0.25), 380);
    }
}
