//! Average the probabilities of several classes over normal functions.

use posteria_linalg::{add_scaled, dot, exp, multiply_by};

use crate::density::special::log_sum_exp;

/// Most of the spacing of the lattice: log probabilities are off by less than 1e-7, which is far
/// below what draws leave open, at a third of the cost of errors of 1e-9.
const SPACING: f64 = 0.5;
/// Spacing in deviations of the functions.
const RELATIVE_SPACING: f64 = 1.0;
/// Beyond this deviation the lattice grows with it.
const WIDEST: f64 = 20.0;
/// Up to this deviation five nodes of Gauss and Hermite are exact to 1e-10.
const NARROW: f64 = 0.1;
const NODES: [(f64, f64); 5] = [
    (-2.856_970_013_872_806, 0.011_257_411_327_720_69),
    (-1.355_626_179_974_266, 0.222_075_922_005_612_6),
    (0.0, 0.533_333_333_333_333_3),
    (1.355_626_179_974_266, 0.222_075_922_005_612_6),
    (2.856_970_013_872_806, 0.011_257_411_327_720_69),
];
/// Deviations beyond which a normal density does not count.
const DEVIATIONS: f64 = 8.7;
/// Where exp(-x) does not count: what the lattice leaves out of a probability, as a share of it.
const DEPTH: f64 = 27.0;
/// Stands for exp(-x) where that is larger: no Gumbel variable is there.
const LARGEST: f64 = 1e4;
/// Below this a probability is that of the functions' means, which keeps its logarithm finite.
const SMALLEST: f64 = 1e-280;

/// Class probabilities ∫ softmax(f) N(f; centres, variance · I) df.
///
/// A softmax chooses the largest of f_c + g_c with standard Gumbel g_c, so for any number of
/// classes P(c) = ∫ p(t - m_c) Π_{j≠c} S(t - m_j) dt, with S and p the distribution function and
/// density of a normal plus a Gumbel variable: a single integral, whose factors are integrals
/// themselves. All are taken on one lattice by the trapezoid rule, so that each factor is a
/// convolution. Functions in contrasts of one variance are centred, which a softmax does not see.
#[derive(Clone, Debug, Default)]
pub(super) struct SoftmaxNormal {
    weights: Vec<f64>,
    /// Of a Gumbel variable.
    distribution: Vec<f64>,
    density: Vec<f64>,
    /// S and p · Π of the classes before, c·n + k.
    below: Vec<f64>,
    own: Vec<f64>,
    product: Vec<f64>,
}

impl SoftmaxNormal {
    /// Writes the log probabilities of all classes.
    pub(super) fn log_probabilities(
        &mut self,
        centres: &[f64],
        variance: f64,
        log_probabilities: &mut [f64],
    ) {
        let largest = centres.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = centres.iter().copied().fold(f64::INFINITY, f64::min);
        let sum: f64 = centres.iter().sum();
        if !(sum.is_finite() && variance.is_finite()) {
            return log_probabilities.fill(f64::NAN);
        }
        let total = log_sum_exp(centres);
        for (slot, centre) in log_probabilities.iter_mut().zip(centres) {
            *slot = centre - total;
        }
        if variance <= 0.0 {
            return;
        }
        let sd = variance.sqrt();
        let narrow = sd <= NARROW;
        let relative = if narrow { SPACING } else { RELATIVE_SPACING * sd };
        let spacing = relative.min(SPACING * (sd / WIDEST).max(1.0));
        let reach = DEVIATIONS * sd;
        // Classes far below the largest only count where the largest may be low.
        let lowest = least.max(largest - 2.0 * reach - DEPTH) - reach - 4.0;
        let count = ((largest + reach + DEPTH - lowest) / spacing).ceil() as usize;
        self.below.clear();
        self.own.clear();
        self.product.clear();
        self.product.resize(count, 1.0);
        if !narrow {
            self.weigh(sd, spacing);
        }
        for centre in centres {
            let start = self.below.len();
            self.below.resize(start + count, 0.0);
            self.own.resize(start + count, 0.0);
            match narrow {
                true => self.fill_narrow(lowest - centre, spacing, sd, count),
                false => self.fill(lowest - centre, spacing, count),
            }
            multiply_by(&mut self.own[start..], &self.product);
            multiply_by(&mut self.product, &self.below[start..]);
        }
        self.product.fill(spacing);
        for class in (0..centres.len()).rev() {
            let range = class * count..(class + 1) * count;
            let probability = dot(&self.own[range.clone()], &self.product);
            if probability > SMALLEST {
                log_probabilities[class] = probability.ln();
            }
            multiply_by(&mut self.product, &self.below[range]);
        }
        let total = log_sum_exp(log_probabilities);
        log_probabilities.iter_mut().for_each(|slot| *slot -= total);
    }

    /// Weights of the normal distribution on the lattice.
    fn weigh(&mut self, sd: f64, spacing: f64) {
        let half = (DEVIATIONS * sd / spacing).ceil() as i32;
        self.weights.clear();
        self.weights.extend((-half..=half).map(|index| {
            let z = f64::from(index) * spacing / sd;
            (-0.5 * z * z).exp()
        }));
        let total: f64 = self.weights.iter().sum();
        self.weights.iter_mut().for_each(|weight| *weight /= total);
    }

    /// Appends S and p at `first`, `first` + spacing, …
    fn fill(&mut self, first: f64, spacing: f64, count: usize) {
        let half = (self.weights.len() / 2) as f64;
        self.gumbel(first - half * spacing, spacing, count + self.weights.len() - 1);
        for (offset, weight) in self.weights.iter().enumerate() {
            let window = offset..offset + count;
            let start = self.below.len() - count;
            add_scaled(&mut self.below[start..], *weight, &self.distribution[window.clone()]);
            add_scaled(&mut self.own[start..], *weight, &self.density[window]);
        }
    }

    /// As [`SoftmaxNormal::fill`], by few nodes off the lattice.
    fn fill_narrow(&mut self, first: f64, spacing: f64, sd: f64, count: usize) {
        let start = self.below.len() - count;
        for (node, weight) in NODES {
            self.gumbel(first - sd * node, spacing, count);
            add_scaled(&mut self.below[start..], weight, &self.distribution);
            add_scaled(&mut self.own[start..], weight, &self.density);
        }
    }

    /// Distribution function exp(-exp(-x)) and density of the standard Gumbel distribution at
    /// `first`, `first` + spacing, …
    fn gumbel(&mut self, first: f64, spacing: f64, count: usize) {
        self.density.clear();
        self.density.resize(count, 0.0);
        // From the right, where exp(-x) is small: no product overflows.
        let growth = spacing.exp();
        let mut e = (-(first + (count - 1) as f64 * spacing)).exp();
        for slot in self.density.iter_mut().rev() {
            *slot = e;
            e = (e * growth).min(LARGEST);
        }
        self.distribution.clear();
        self.distribution.extend(self.density.iter().map(|e| -e));
        exp(&mut self.distribution);
        multiply_by(&mut self.density, &self.distribution);
    }
}

#[cfg(test)]
mod tests {
    use super::super::logistic_normal::log_odds;
    use super::*;
    use crate::model::spec::Link;
    use crate::random::{Purpose, Seed};

    fn averaged(centres: &[f64], variance: f64) -> Vec<f64> {
        let mut found = vec![f64::NAN; centres.len()];
        SoftmaxNormal::default().log_probabilities(centres, variance, &mut found);
        found
    }

    /// Two classes are a logistic of the difference, whose variance is twice as large.
    #[test]
    fn two_classes_have_the_odds_of_their_difference() {
        for sd in [1e-5, 0.05, 0.0999, 0.1001, 0.3, 1.0, 3.0, 8.0, 19.0] {
            for difference in [0.0, 0.4, 3.0, 20.0] {
                let found = averaged(&[difference - 1.0, -1.0], sd * sd);
                let expected = log_odds(Link::Logit, difference, 2.0 * sd * sd);
                let odds = found[0] - found[1];
                let error = (odds - expected).abs() / expected.abs().max(1.0);
                assert!(error < 2e-7, "{sd} {difference}: {odds} {expected}");
            }
        }
    }

    /// Against a product rule of the trapezoid rule over all functions.
    #[test]
    fn classes_are_averaged_over_all_their_functions() {
        for centres in [vec![0.3, -1.0, 0.9], vec![0.0, 4.0, -6.0], vec![0.5, 0.0, -0.2, 1.1]] {
            for sd in [0.05, 0.5, 2.0] {
                let half = if centres.len() == 3 { 42 } else { 18 };
                let spacing = 8.0 / f64::from(half);
                let side = 2 * half as usize + 1;
                let mut sums = vec![0.0; centres.len()];
                for number in 0..side.pow(centres.len() as u32) {
                    let mut rest = number;
                    let mut weight = 1.0;
                    let f: Vec<f64> = centres
                        .iter()
                        .map(|centre| {
                            let z = ((rest % side) as f64 - f64::from(half)) * spacing;
                            rest /= side;
                            weight *= (-0.5 * z * z).exp();
                            centre + sd * z
                        })
                        .collect();
                    let total = log_sum_exp(&f);
                    for (sum, f) in sums.iter_mut().zip(&f) {
                        *sum += weight * (f - total).exp();
                    }
                }
                let total: f64 = sums.iter().sum();
                for (found, sum) in averaged(&centres, sd * sd).iter().zip(&sums) {
                    let error = (found.exp() / (sum / total) - 1.0).abs();
                    assert!(error < 2e-7, "{centres:?} {sd}: {found} {}", (sum / total).ln());
                }
            }
        }
    }

    #[test]
    fn many_classes_and_extreme_functions_stay_probabilities() {
        let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
        for (classes, spread, variance) in
            [(12, 2.0, 0.5), (5, 300.0, 4.0), (4, 2000.0, 1.0), (3, 1.0, 1e6), (7, 0.0, 9.0)]
        {
            let centres: Vec<f64> = (0..classes).map(|_| spread * stream.normal()).collect();
            let found = averaged(&centres, variance);
            assert!(found.iter().all(|value| value.is_finite()), "{found:?}");
            let total: f64 = found.iter().map(|value| value.exp()).sum();
            assert!((total - 1.0).abs() < 1e-12, "{total}");
        }
        assert!(averaged(&[f64::NAN, 0.0, 1.0], 1.0).iter().all(|value| value.is_nan()));
        assert!(averaged(&[1.0, 0.0, 1.0], f64::NAN).iter().all(|value| value.is_nan()));
        let exact = averaged(&[1.0, 0.0, -1.0], 0.0);
        assert!((exact[0] - 1.0 + log_sum_exp(&[1.0, 0.0, -1.0])).abs() < 1e-14);
    }
}
