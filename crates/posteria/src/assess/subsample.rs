//! Estimate sums over all rows from a random sample of them, where leaving out every row in turn
//! would take too long.

use super::leave_one_out::standard_error;
use crate::caution::Caution;
use crate::random::{Purpose, Seed};

/// A simple random sample of rows, without replacement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowSample {
    all: usize,
    rows: Vec<usize>,
}

/// A sum over all rows, estimated from a sample of them.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SampledTotal {
    /// The estimate of the sum, unbiased.
    #[serde(deserialize_with = "crate::json::nan")]
    pub total: f64,
    /// Standard error over rows of the sum, √(n Var): what remains if all rows are looked at. NaN
    /// for one row.
    #[serde(deserialize_with = "crate::json::nan")]
    pub se: f64,
    /// Standard error of the estimate by the choice of the sample: what looking at all rows would
    /// remove. 0 for all rows; NaN for a sample of one.
    #[serde(deserialize_with = "crate::json::nan")]
    pub subsampling_se: f64,
}

impl RowSample {
    /// `size` of `all` rows, each set of so many with the same probability; all of them if there
    /// are no more. The sample depends on the seed and the two numbers alone, so that models of the
    /// same rows are judged by the same sample.
    pub fn draw(all: usize, size: usize, seed: Seed) -> Self {
        let size = size.min(all);
        let mut stream = seed.stream(Purpose::RowSample, [all as u64, 0]);
        let mut rows = Vec::with_capacity(size);
        // Row by row, with the probability that it is among those still wanted.
        for row in 0..all {
            if rows.len() == size {
                break;
            }
            if stream.index(all - row) < size - rows.len() {
                rows.push(row);
            }
        }
        RowSample { all, rows }
    }

    /// Number of all rows.
    pub fn all(&self) -> usize {
        self.all
    }

    /// The positions of those of these rows that are in it, which must be in order.
    pub fn positions(&self, rows: &[usize]) -> Vec<usize> {
        rows.iter().filter_map(|row| self.rows().binary_search(row).ok()).collect()
    }

    /// The rows of the sample, in order.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Whether every row is in the sample.
    pub fn is_complete(&self) -> bool {
        self.rows.len() == self.all
    }

    /// The share of the rows that are in the sample.
    pub fn share(&self) -> f64 {
        self.rows.len() as f64 / self.all as f64
    }

    /// A caution about a row of the sample, by the number that the row has among all.
    #[must_use]
    pub fn place(&self, mut caution: Caution) -> Caution {
        match &mut caution {
            Caution::HighParetoShape { row, .. }
            | Caution::ImpossibleRow { row, .. }
            | Caution::WaicVariance { row, .. }
            | Caution::UtilityNotFinite { row, .. } => {
                *row = self.rows.get(*row).copied().unwrap_or(*row);
            }
            _ => {}
        }
        caution
    }

    /// What is known of every row, at the rows of the sample.
    ///
    /// # Panics
    /// If there is not one value per row.
    pub fn pick(&self, values: &[f64]) -> Vec<f64> {
        assert_eq!(values.len(), self.all, "one value per row");
        self.rows.iter().map(|row| values[*row]).collect()
    }

    /// The sum of values that are known at the rows of the sample alone.
    ///
    /// # Panics
    /// If there is not one value per row of the sample.
    pub fn total(&self, exact: &[f64]) -> SampledTotal {
        assert_eq!(exact.len(), self.rows.len(), "one value per row of the sample");
        if self.is_complete() {
            let total = exact.iter().sum();
            return SampledTotal { total, se: standard_error(exact), subsampling_se: 0.0 };
        }
        let (all, size) = (self.all as f64, exact.len() as f64);
        let (mean, variance) = moments(exact);
        SampledTotal {
            total: all * mean,
            // s² estimates Σ(x - x̄)²/(n - 1), without bias.
            se: ((all - 1.0) * variance).sqrt(),
            subsampling_se: all * ((1.0 - size / all) * variance / size).sqrt(),
        }
    }

    /// The sum of values x that are known exactly at the rows of the sample, and approximately, as
    /// a, at every row: the difference estimator Σ a + n/m Σ_S (x - a), whose variance
    /// n² (1 - m/n) s²/m is that of the errors x - a alone, with s² their variance in the sample
    /// [Magnusson et al. 2020, eq. 7, 8]. Where an approximation is not finite, [`RowSample::total`].
    ///
    /// # Panics
    /// If there is not one approximation per row, or not one value per row of the sample.
    pub fn difference_total(&self, approximations: &[f64], exact: &[f64]) -> SampledTotal {
        let at_sample = self.pick(approximations);
        let finite = approximations.iter().all(|it| it.is_finite());
        if self.is_complete() || !finite {
            return self.total(exact);
        }
        let (all, size) = (self.all as f64, self.rows.len() as f64);
        let errors: Vec<f64> = exact.iter().zip(&at_sample).map(|(x, a)| x - a).collect();
        let (mean, variance) = moments(&errors);
        // About their mean, so that squares do not swamp the variance.
        let centre = approximations.iter().map(|it| it / all).sum::<f64>();
        let subsampling = all * all * (1.0 - size / all) * variance / size;
        let squares: f64 = approximations.iter().map(|a| (a - centre).powi(2)).sum();
        let pairs = exact.iter().zip(&at_sample);
        let corrections = pairs.map(|(x, a)| (x - centre).powi(2) - (a - centre).powi(2));
        // Σ(x - c)² less (Σ(x - c))²/n, each without bias: the estimate of the latter squared has
        // the variance of the estimate too much. [Magnusson et al. 2020, supplement, eq. 6]
        let squares = squares + all / size * corrections.sum::<f64>();
        let of_rows = squares - ((all * mean).powi(2) - subsampling) / all;
        SampledTotal {
            total: all * (centre + mean),
            // An estimate without bias may be negative where approximations are poor.
            se: if of_rows < 0.0 { self.total(exact).se } else { of_rows.sqrt() },
            subsampling_se: subsampling.sqrt(),
        }
    }
}

/// Mean and variance, with division by n - 1.
fn moments(values: &[f64]) -> (f64, f64) {
    let size = values.len() as f64;
    let mean = values.iter().map(|value| value / size).sum::<f64>();
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (size - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::assert_relative;

    fn population(count: usize) -> (Vec<f64>, Vec<f64>) {
        let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
        let exact: Vec<f64> = (0..count).map(|_| -stream.exponential() - 1.0).collect();
        let approximations = exact.iter().map(|x| 0.9 * x + 0.1 + 0.05 * stream.normal());
        let approximations = approximations.collect();
        (exact, approximations)
    }

    /// Every sample of `size` of `all` rows.
    fn samples(all: usize, size: usize) -> Vec<RowSample> {
        let sets = (0_u32..1 << all).filter(|set| set.count_ones() as usize == size);
        let rows = |set: u32| (0..all).filter(|row| set >> row & 1 == 1).collect();
        sets.map(|set| RowSample { all, rows: rows(set) }).collect()
    }

    #[test]
    fn all_rows_give_the_sum_itself() {
        let (exact, approximations) = population(50);
        let sample = RowSample::draw(50, 60, Seed(1));
        assert!(sample.is_complete());
        let found = sample.difference_total(&approximations, &exact);
        assert_eq!(found.total.to_bits(), exact.iter().sum::<f64>().to_bits());
        assert_eq!(found.se.to_bits(), standard_error(&exact).to_bits());
        assert_eq!(found.subsampling_se.to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn the_mean_over_all_samples_is_exact() {
        // No chance here: estimates and both variances are unbiased, so that over all 252 samples
        // of 5 of 10 rows their means are what they estimate, to rounding.
        let (exact, mut approximations) = population(10);
        let total: f64 = exact.iter().sum();
        let all = samples(10, 5);
        assert_eq!(all.len(), 252);
        for poor in [false, true] {
            if poor {
                approximations.iter_mut().enumerate().for_each(|(row, it)| *it += row as f64 / 9.0);
            }
            let found: Vec<SampledTotal> = all
                .iter()
                .map(|it| it.difference_total(&approximations, &it.pick(&exact)))
                .collect();
            let mean =
                |of: &dyn Fn(&SampledTotal) -> f64| found.iter().map(of).sum::<f64>() / 252.0;
            assert_relative(mean(&|it| it.total), total, 1e-12);
            let scatter = mean(&|it| (it.total - total).powi(2));
            assert_relative(mean(&|it| it.subsampling_se.powi(2)), scatter, 1e-10);
            // Unless it would be negative, for which there is a way out.
            if !poor {
                assert_relative(mean(&|it| it.se.powi(2)), standard_error(&exact).powi(2), 1e-10);
            }
            let plain: Vec<SampledTotal> =
                all.iter().map(|it| it.total(&it.pick(&exact))).collect();
            let mean =
                |of: &dyn Fn(&SampledTotal) -> f64| plain.iter().map(of).sum::<f64>() / 252.0;
            assert_relative(mean(&|it| it.total), total, 1e-12);
            let plain_scatter = mean(&|it| (it.total - total).powi(2));
            assert_relative(mean(&|it| it.subsampling_se.powi(2)), plain_scatter, 1e-10);
            assert_relative(mean(&|it| it.se.powi(2)), standard_error(&exact).powi(2), 1e-10);
            assert!(poor || scatter < 0.1 * plain_scatter, "approximations help");
        }
    }

    #[test]
    fn rows_are_drawn_alike_and_estimates_are_without_bias() {
        let (exact, approximations) = population(300);
        let total: f64 = exact.iter().sum();
        let (seeds, size) = (4000, 30);
        let mut chosen = vec![0_usize; 300];
        let mut standardised = Vec::with_capacity(seeds);
        for seed in 0..seeds {
            let sample = RowSample::draw(300, size, Seed(seed as u64));
            assert_eq!(sample.rows().len(), size);
            assert!(sample.rows().windows(2).all(|pair| pair[0] < pair[1]));
            sample.rows().iter().for_each(|row| chosen[*row] += 1);
            let found = sample.difference_total(&approximations, &sample.pick(&exact));
            standardised.push((found.total - total) / found.subsampling_se);
        }
        // Each count is binomial(4000, 0.1): one of 300 is off by more than 5.5 sd with
        // probability 1e-5.
        let sd = (4000.0_f64 * 0.1 * 0.9).sqrt();
        assert!(chosen.iter().all(|count| (*count as f64 - 400.0).abs() < 5.5 * sd));
        // Errors in units of their standard error: mean within 5 of its errors (6e-7; the t-like
        // skewness of ratios shifts it by less than 0.1), variance near 1 as of t with 29 degrees.
        let mean = standardised.iter().sum::<f64>() / seeds as f64;
        let variance = standardised.iter().map(|z| z * z).sum::<f64>() / seeds as f64;
        assert!(mean.abs() < 5.0 / (seeds as f64).sqrt() + 0.1, "{mean}");
        assert!((0.85..1.35).contains(&variance), "{variance}");
        let same = RowSample::draw(300, size, Seed(7));
        assert_eq!(same, RowSample::draw(300, size, Seed(7)));
        assert_ne!(same, RowSample::draw(300, size, Seed(8)));
    }

    #[test]
    fn approximations_that_are_not_finite_are_not_used() {
        let (exact, mut approximations) = population(40);
        let sample = RowSample::draw(40, 10, Seed(2));
        approximations[3] = f64::NEG_INFINITY;
        let known = sample.pick(&exact);
        assert_eq!(sample.difference_total(&approximations, &known), sample.total(&known));
        let one = RowSample::draw(40, 1, Seed(2));
        assert!(one.total(&one.pick(&exact)).subsampling_se.is_nan());
    }
}
