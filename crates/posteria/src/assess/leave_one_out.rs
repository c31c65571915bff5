//! Leave out every row in turn by importance sampling, and add up what is predicted for it.

use std::num::NonZero;

use super::log_likelihoods::LogLikelihoods;
use super::moment_matching::Matched;
use crate::caution::Caution;
use crate::density::special::log_sum_exp;
use crate::diagnose::importance::{
    ImportanceError, ImportanceWeights, Smoothing, importance_weights, pareto_shape_limit,
};
use crate::diagnose::pareto::FEWEST_EXCEEDANCES;
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
    /// S, the number of draws of all chains.
    pub draws: usize,
    /// How the shapes of the tails fall into bands.
    pub shapes: ShapeCounts,
    /// Effective sizes of the weights of rows.
    pub effective_sizes: EffectiveSizes,
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
    /// The mass of the k largest weights, for every k of [`PointwiseLoo::LARGEST`]
    /// [Vehtari 2001, fig. 3.3].
    pub mass_of_largest: [f64; 7],
    /// The first draw under which the row is impossible, over all chains, if there is one.
    pub impossible_draw: Option<usize>,
}

/// Effective sizes of the weights of all rows.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EffectiveSizes {
    /// The smallest.
    #[serde(deserialize_with = "crate::json::nan")]
    pub min: f64,
    /// The 10 % quantile over rows.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q10: f64,
}

/// How many rows have which shape k of the tail of their ratios.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ShapeCounts {
    /// k up to 0.5, or up to the limit if that is less: the ratios have a finite variance.
    pub good: usize,
    /// k above that, up to the limit: the estimate converges more slowly, but its error is known.
    pub ok: usize,
    /// k above the limit: neither the estimate nor its error can be trusted.
    pub bad: usize,
    /// The largest k; ∞ where a tail could not be fitted.
    #[serde(deserialize_with = "crate::json::nan")]
    pub max: f64,
    /// What k must not exceed, [`pareto_shape_limit`].
    #[serde(deserialize_with = "crate::json::nan")]
    pub limit: f64,
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
        PointwiseLoo::of_row(&values, options.smoothing, efficiencies[row]).map(|(found, _)| found)
    });
    let pointwise = found.into_iter().collect::<Result<Vec<_>, _>>()?;
    Ok(LeaveOneOut::of_rows(pointwise, log_likelihoods.size(), mean(&efficiencies)))
}

impl PointwiseLoo {
    /// Numbers of largest weights whose mass is told.
    pub const LARGEST: [usize; 7] = [1, 4, 16, 64, 256, 1024, 4096];

    /// Leaves out a row with these log likelihoods under every draw, chain after chain; also the
    /// weights that do so, which turn a mixture over draws into the predictive distribution of the
    /// row for any utility. `relative_efficiency` as [`LogLikelihoods::efficiencies`] gives it.
    ///
    /// # Errors
    /// [`ImportanceError::Efficiency`].
    pub fn of_row(
        log_likelihoods: &[f64],
        smoothing: Smoothing,
        relative_efficiency: f64,
    ) -> Result<(Self, ImportanceWeights), ImportanceError> {
        let weights = row_weights(log_likelihoods, smoothing, relative_efficiency)?;
        let mass = weights.cumulative();
        let found = PointwiseLoo {
            elpd: weights.log_mean_exp(log_likelihoods),
            lppd: log_sum_exp(log_likelihoods) - (log_likelihoods.len() as f64).ln(),
            mcse: weights.log_mean_exp_error(log_likelihoods, relative_efficiency),
            pareto_shape: weights.pareto_shape,
            effective_size: weights.effective_size,
            mass_of_largest: PointwiseLoo::LARGEST.map(|k| mass[k.min(mass.len()) - 1]),
            impossible_draw: log_likelihoods.iter().position(|it| *it == f64::NEG_INFINITY),
        };
        Ok((found, weights))
    }
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

impl LeaveOneOut {
    /// Adds up what was predicted for rows, at least one, by so many draws of all chains.
    ///
    /// # Panics
    /// If there is no row.
    pub fn of_rows(pointwise: Vec<PointwiseLoo>, draws: usize, relative_efficiency: f64) -> Self {
        assert!(!pointwise.is_empty(), "some rows");
        let elpds: Vec<f64> = pointwise.iter().map(|row| row.elpd).collect();
        let sizes: Vec<f64> = pointwise.iter().map(|row| row.effective_size).collect();
        let lppd: f64 = pointwise.iter().map(|row| row.lppd).sum();
        let elpd: f64 = elpds.iter().sum();
        let shapes = ShapeCounts::of(&pointwise, draws);
        LeaveOneOut {
            elpd,
            se: standard_error(&elpds),
            p_loo: lppd - elpd,
            lppd,
            effective_sizes: EffectiveSizes {
                min: sizes.iter().copied().fold(f64::INFINITY, f64::min),
                q10: quantile(&sizes, 0.1),
            },
            relative_efficiency,
            cautions: cautions(&pointwise, &shapes, draws),
            draws,
            shapes,
            pointwise,
        }
    }

    /// Puts what matched moments say about rows, from 0, in place of their estimates, shapes and
    /// effective sizes.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn replace_matched(&mut self, matched: &[(usize, Matched)]) {
        for (row, found) in matched {
            let one = &mut self.pointwise[*row];
            (one.elpd, one.mcse) = (found.elpd, found.mcse);
            one.pareto_shape = found.weights.pareto_shape;
            one.effective_size = found.weights.effective_size;
        }
        let pointwise = std::mem::take(&mut self.pointwise);
        *self = LeaveOneOut::of_rows(pointwise, self.draws, self.relative_efficiency);
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

fn cautions(pointwise: &[PointwiseLoo], shapes: &ShapeCounts, draws: usize) -> Vec<Caution> {
    let mut cautions = Vec::new();
    let impossible = |row: &PointwiseLoo| row.elpd == f64::NEG_INFINITY;
    let count = pointwise.iter().filter(|row| impossible(row)).count();
    if let Some(row) = pointwise.iter().position(impossible) {
        let draw = pointwise[row].impossible_draw.unwrap_or(0);
        cautions.push(Caution::ImpossibleRow { row, draw, count });
    }
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
mod tests;
