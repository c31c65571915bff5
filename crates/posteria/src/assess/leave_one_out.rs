//! Leave out every row in turn by importance sampling, and add up what is predicted for it.

use std::num::NonZero;

use super::importance::{
    ImportanceError, ImportanceWeights, Smoothing, importance_weights, pareto_shape_limit,
};
use super::log_likelihoods::LogLikelihoods;
use super::moment_matching::Matched;
use super::pareto::FEWEST_EXCEEDANCES;
use crate::caution::Caution;
use crate::density::special::log_sum_exp;
use crate::diagnose::{mean_effective_size, quantile};
use crate::fit::run_jobs;

/// Fewest draws with a tail of which something can be said: a fifth of them are the tail.
const FEWEST_DRAWS: usize = 5 * (FEWEST_EXCEEDANCES - 1) + 1;

/// Up to this k the variance of the ratios is finite, so that weights are good in any case.
const GOOD_SHAPE: f64 = 0.5;

/// Where the relative efficiency of the draws comes from, their effective size over their number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum RelativeEfficiency {
    /// One number for all rows; 1 for independent draws.
    Given(f64),
    /// The mean over rows of the relative efficiency of the likelihood exp(log p) for its mean;
    /// 1 for one chain. It is what `az.loo` of ArviZ computes where the posterior group holds
    /// these likelihoods.
    #[default]
    Pooled,
    /// The relative efficiency of each row's own likelihood, as `relative_eff` of the R package
    /// loo; 1 for one chain.
    PerRow,
}

/// How to leave rows out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LeaveOneOutOptions {
    /// What happens to the largest ratios.
    pub smoothing: Smoothing,
    /// Where the relative efficiency comes from.
    pub relative_efficiency: RelativeEfficiency,
}

/// What was predicted for rows that were left out. On the log scale: higher is better.
#[derive(Clone, Debug, PartialEq)]
pub struct LeaveOneOut {
    /// Expected log predictive density of as many new rows, Σ_i log p(y_i given x_i, D without i).
    pub elpd: f64,
    /// Its standard error over rows: √(n Var), with division by n as in ArviZ 0.23 (R's loo and
    /// ArviZ 1 divide by n - 1). NaN for one row.
    pub se: f64,
    /// Effective number of parameters, `lppd` - `elpd`. [Vehtari 2001, eq. 3.50]
    pub p_loo: f64,
    /// Log predictive density of the rows with all rows known, Σ_i log p(y_i given x_i, D).
    pub lppd: f64,
    /// One entry per row.
    pub pointwise: Vec<PointwiseLoo>,
    /// How the shapes of the tails fall into bands.
    pub shapes: ShapeCounts,
    /// Smallest effective size of the weights of a row.
    pub min_effective_size: f64,
    /// The 10 % quantile over rows of that effective size.
    pub q10_effective_size: f64,
    /// The relative efficiency that the length of tails was taken from, mean over rows.
    pub relative_efficiency: f64,
    /// Reasons for doubt.
    pub cautions: Vec<Caution>,
}

/// What was predicted for one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointwiseLoo {
    /// log p(y_i given x_i, D without i); -∞ for a row that is impossible under a draw.
    pub elpd: f64,
    /// log p(y_i given x_i, D).
    pub lppd: f64,
    /// Monte Carlo standard error of `elpd`; not to be trusted where `pareto_shape` is high.
    pub mcse: f64,
    /// Shape k of the tail of the ratios, see [`ImportanceWeights::pareto_shape`].
    pub pareto_shape: f64,
    /// Effective size of the weights, see [`ImportanceWeights::effective_size`].
    pub effective_size: f64,
}

/// How many rows have which shape k of the tail of their ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShapeCounts {
    /// What k must not exceed, [`pareto_shape_limit`].
    pub limit: f64,
    /// k up to 0.5, or up to the limit if that is less: the ratios have a finite variance.
    pub good: usize,
    /// k above that, up to the limit: the estimate converges more slowly, but its error is known.
    pub ok: usize,
    /// k above the limit: neither the estimate nor its error can be trusted.
    pub bad: usize,
    /// The largest k; ∞ where a tail could not be fitted.
    pub max: f64,
}

/// Leaves out every row in turn, with the draws of the posterior given all rows: draw s gets the
/// ratio 1 / p(y_i given x_i, θ_s) [Gelfand et al. 1992; Vehtari 2001, §3.2.1], smoothed as
/// [Vehtari, Gelman & Gabry 2017]. Rows are spread over at most `threads` threads, which changes
/// no result.
///
/// # Errors
/// [`ImportanceError::Efficiency`] if a given relative efficiency is not positive.
pub fn leave_one_out(
    log_likelihoods: &LogLikelihoods<'_>,
    options: &LeaveOneOutOptions,
    threads: NonZero<usize>,
) -> Result<LeaveOneOut, ImportanceError> {
    let efficiencies = log_likelihoods.efficiencies(options.relative_efficiency, threads);
    let rows = log_likelihoods.rows();
    let found = run_jobs(rows, threads, |row| {
        let values = log_likelihoods.row(row);
        let weights = row_weights(&values, options.smoothing, efficiencies[row])?;
        Ok(PointwiseLoo {
            elpd: weights.log_mean_exp(&values),
            lppd: log_sum_exp(&values) - (values.len() as f64).ln(),
            mcse: weights.log_mean_exp_error(&values, efficiencies[row]),
            pareto_shape: weights.pareto_shape,
            effective_size: weights.effective_size,
        })
    });
    let pointwise = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(summed(pointwise, log_likelihoods, mean(&efficiencies)))
}

/// The weights that make draws of the posterior draws of the posterior without one row.
fn row_weights(
    log_likelihood: &[f64],
    smoothing: Smoothing,
    relative_efficiency: f64,
) -> Result<ImportanceWeights, ImportanceError> {
    let log_ratios: Vec<f64> = log_likelihood.iter().map(|value| -value).collect();
    importance_weights(&log_ratios, smoothing, relative_efficiency)
}

impl LogLikelihoods<'_> {
    /// The relative efficiency of the draws for every row. What is not defined, for fewer than four
    /// draws per chain, counts as 1.
    pub fn efficiencies(&self, source: RelativeEfficiency, threads: NonZero<usize>) -> Vec<f64> {
        let rows = self.rows();
        let given = match source {
            RelativeEfficiency::Given(value) => Some(value),
            _ if self.chains() == 1 => Some(1.0),
            _ => None,
        };
        if let Some(value) = given {
            return vec![value; rows];
        }
        let of_row = |row: usize| {
            let values = self.row(row);
            // The efficiency does not depend on the scale; so scaled, no likelihood overflows.
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if largest == f64::NEG_INFINITY {
                return 1.0;
            }
            let scaled: Vec<f64> = values.iter().map(|value| (value - largest).exp()).collect();
            let chains: Vec<&[f64]> = scaled.chunks_exact(self.draws()).collect();
            let efficiency = mean_effective_size(&chains) / self.size() as f64;
            if efficiency.is_finite() { efficiency } else { 1.0 }
        };
        let each = run_jobs(rows, threads, of_row);
        match source {
            RelativeEfficiency::PerRow => each,
            _ => vec![mean(&each); rows],
        }
    }

    /// The log weights of all draws that leave out one row: what turns a mixture over draws into
    /// the predictive distribution of that row, for any utility. `relative_efficiency` as
    /// [`LogLikelihoods::efficiencies`] gives it.
    ///
    /// # Errors
    /// [`ImportanceError::Efficiency`].
    ///
    /// # Panics
    /// If there is no such row.
    pub fn weights_without(
        &self,
        row: usize,
        smoothing: Smoothing,
        relative_efficiency: f64,
    ) -> Result<ImportanceWeights, ImportanceError> {
        row_weights(&self.row(row), smoothing, relative_efficiency)
    }
}

fn summed(
    pointwise: Vec<PointwiseLoo>,
    log_likelihoods: &LogLikelihoods<'_>,
    relative_efficiency: f64,
) -> LeaveOneOut {
    let elpds: Vec<f64> = pointwise.iter().map(|row| row.elpd).collect();
    let sizes: Vec<f64> = pointwise.iter().map(|row| row.effective_size).collect();
    let lppd: f64 = pointwise.iter().map(|row| row.lppd).sum();
    let elpd: f64 = elpds.iter().sum();
    let shapes = ShapeCounts::of(&pointwise, log_likelihoods.size());
    LeaveOneOut {
        elpd,
        se: standard_error(&elpds),
        p_loo: lppd - elpd,
        lppd,
        min_effective_size: sizes.iter().copied().fold(f64::INFINITY, f64::min),
        q10_effective_size: quantile(&sizes, 0.1),
        relative_efficiency,
        cautions: cautions(&pointwise, &shapes, log_likelihoods),
        shapes,
        pointwise,
    }
}

impl LeaveOneOut {
    /// Puts what matched moments say about rows, from 0, in place of their estimates, shapes and
    /// effective sizes; `log_likelihoods` are those that were left out.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn mend(&mut self, matched: &[(usize, Matched)], log_likelihoods: &LogLikelihoods<'_>) {
        for (row, found) in matched {
            let one = &mut self.pointwise[*row];
            (one.elpd, one.mcse) = (found.elpd, found.mcse);
            one.pareto_shape = found.weights.pareto_shape;
            one.effective_size = found.weights.effective_size;
        }
        let pointwise = std::mem::take(&mut self.pointwise);
        *self = summed(pointwise, log_likelihoods, self.relative_efficiency);
    }

    /// Puts log predictive densities in place of estimates that importance sampling cannot give:
    /// rows, from 0, that were left out by fits without them. Their shapes stay, so that it is
    /// known why they were, but give no reason for doubt any more.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn replace(&mut self, exact: &[(usize, f64)]) {
        for (row, elpd) in exact {
            self.pointwise[*row].elpd = *elpd;
        }
        let elpds: Vec<f64> = self.pointwise.iter().map(|row| row.elpd).collect();
        self.elpd = elpds.iter().sum();
        self.se = standard_error(&elpds);
        self.p_loo = self.lppd - self.elpd;
        let replaced = |row: usize| exact.iter().any(|(own, _)| *own == row);
        let left = self.pointwise.iter().enumerate();
        let left =
            left.filter(|(row, one)| one.pareto_shape > self.shapes.limit && !replaced(*row));
        if left.count() == 0 {
            self.cautions.retain(|caution| !matches!(caution, Caution::HighParetoShape { .. }));
        }
    }
}

impl ShapeCounts {
    /// Counts the shapes of rows that `draws` draws were weighted for.
    pub fn of(pointwise: &[PointwiseLoo], draws: usize) -> Self {
        let limit = pareto_shape_limit(draws);
        let up_to = |limit: f64| pointwise.iter().filter(|row| row.pareto_shape <= limit).count();
        let (good, usable) = (up_to(GOOD_SHAPE.min(limit)), up_to(limit));
        let shapes = pointwise.iter().map(|row| row.pareto_shape);
        let max = shapes.fold(f64::NEG_INFINITY, f64::max);
        ShapeCounts { limit, good, ok: usable - good, bad: pointwise.len() - usable, max }
    }
}

fn cautions(
    pointwise: &[PointwiseLoo],
    shapes: &ShapeCounts,
    log_likelihoods: &LogLikelihoods<'_>,
) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let impossible = |row: &PointwiseLoo| row.elpd == f64::NEG_INFINITY;
    let count = pointwise.iter().filter(|row| impossible(row)).count();
    if let Some(row) = pointwise.iter().position(impossible) {
        let values = log_likelihoods.row(row);
        let draw = values.iter().position(|value| *value == f64::NEG_INFINITY).unwrap_or(0);
        cautions.push(Caution::ImpossibleRow { row, draw, count });
    }
    let draws = log_likelihoods.size();
    if shapes.bad > 0 && draws < FEWEST_DRAWS {
        cautions.push(Caution::FewTailDraws { draws, needed: FEWEST_DRAWS });
    } else if shapes.bad > count {
        let possible = pointwise.iter().enumerate().filter(|(_, row)| !impossible(row));
        let worst = possible.max_by(|a, b| a.1.pareto_shape.total_cmp(&b.1.pareto_shape));
        cautions.extend(worst.map(|(row, found)| Caution::HighParetoShape {
            row,
            pareto_shape: found.pareto_shape,
            limit: shapes.limit,
            count: shapes.bad,
            rows: pointwise.len(),
        }));
    }
    cautions
}

fn mean(values: &[f64]) -> f64 {
    // About the first, so that equal values have exactly that mean.
    let shift = values[0];
    shift + values.iter().map(|value| value - shift).sum::<f64>() / values.len() as f64
}

/// √(n Var) of the sum of n terms, with division by n; NaN for fewer than two and for infinite
/// terms.
pub(super) fn standard_error(terms: &[f64]) -> f64 {
    if terms.len() < 2 {
        return f64::NAN;
    }
    let centre = mean(terms);
    terms.iter().map(|term| (term - centre).powi(2)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    fn one() -> NonZero<usize> {
        NonZero::<usize>::MIN
    }

    fn noise(size: usize, scale: f64) -> Vec<f64> {
        let mut stream = Seed(8).stream(Purpose::Data, [0, 0]);
        (0..size).map(|_| -scale * stream.normal().powi(2)).collect()
    }

    #[test]
    fn threads_change_nothing() {
        let values = noise(2 * 60 * 13, 0.3);
        let matrix = LogLikelihoods::new(&values, 2, 60, 13).expect("usable");
        let options = LeaveOneOutOptions::default();
        let alone = leave_one_out(&matrix, &options, one()).expect("usable");
        let many = leave_one_out(&matrix, &options, 3.try_into().expect("three")).expect("usable");
        assert_eq!(alone, many);
        let weights = matrix.weights_without(4, Smoothing::Pareto, alone.relative_efficiency);
        let weights = weights.expect("weights");
        let elpd = weights.log_mean_exp(&matrix.row(4));
        assert_eq!(elpd.to_bits(), alone.pointwise[4].elpd.to_bits());
    }

    #[test]
    fn plain_weights_give_the_harmonic_mean() {
        let values = noise(40 * 2, 0.5);
        let matrix = LogLikelihoods::new(&values, 1, 40, 2).expect("usable");
        let options = LeaveOneOutOptions { smoothing: Smoothing::Plain, ..Default::default() };
        let found = leave_one_out(&matrix, &options, one()).expect("usable");
        for row in 0..2 {
            let inverse = matrix.row(row).iter().map(|value| (-value).exp()).sum::<f64>() / 40.0;
            assert!((found.pointwise[row].elpd + inverse.ln()).abs() < 1e-12);
        }
    }

    #[test]
    fn a_constant_row_is_known_exactly() {
        let values: Vec<f64> = noise(100, 0.2).into_iter().flat_map(|x| [x, -1.25]).collect();
        let matrix = LogLikelihoods::new(&values, 2, 50, 2).expect("usable");
        let found = leave_one_out(&matrix, &LeaveOneOutOptions::default(), one()).expect("usable");
        let row = found.pointwise[1];
        assert!((row.elpd + 1.25).abs() < 1e-12 && (row.effective_size - 100.0).abs() < 1e-9);
        assert!(row.mcse < 1e-12 && found.cautions.is_empty(), "{:?}", found.cautions);
        assert_eq!([found.shapes.good + found.shapes.ok, found.shapes.bad], [2, 0]);
    }

    #[test]
    fn one_row_few_draws_and_impossible_rows_are_answered_and_doubted() {
        let values = noise(12, 0.5);
        let matrix = LogLikelihoods::new(&values, 1, 12, 1).expect("usable");
        let found = leave_one_out(&matrix, &LeaveOneOutOptions::default(), one()).expect("usable");
        assert!(found.elpd.is_finite() && found.se.is_nan());
        assert!(matches!(found.cautions[..], [Caution::FewTailDraws { draws: 12, needed: 21 }]));

        let mut values = noise(4 * 50 * 3, 0.1);
        values[3 * 57 + 1] = f64::NEG_INFINITY;
        let matrix = LogLikelihoods::new(&values, 4, 50, 3).expect("usable");
        let found = leave_one_out(&matrix, &LeaveOneOutOptions::default(), one()).expect("usable");
        assert!(found.elpd == f64::NEG_INFINITY && found.se.is_nan());
        assert!(found.pointwise[1].lppd.is_finite() && found.pointwise[0].elpd.is_finite());
        let expected = Caution::ImpossibleRow { row: 1, draw: 57, count: 1 };
        assert_eq!(found.cautions, [expected]);
        assert_eq!([found.shapes.good, found.shapes.ok, found.shapes.bad], [2, 0, 1]);
    }
}
