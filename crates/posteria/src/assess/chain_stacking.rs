//! Judge chains one by one by leaving rows out, and weigh them by it where they do not mix.

use std::num::NonZero;

use super::leave_one_out::{LeaveOneOut, PointwiseLoo, standard_error};
use super::log_likelihoods::LogLikelihoods;
use super::model_weights::PointwiseError;
use super::stacking::stacking_weights;
use crate::density::special::log_sum_exp;
use crate::diagnose::importance::{ImportanceError, Smoothing};
use crate::diagnose::mean_effective_size;
use crate::fit::run_jobs;

/// Folds of the rows by which weights are chosen for the other rows.
const FOLDS: usize = 10;

/// Below this a difference of log predictive densities of all rows is small whatever its standard
/// error, which is then too small itself. [Sivula, Magnusson & Vehtari 2020]
const SMALL: f64 = 4.0;

/// Chains that do not mix, each taken as a model of its own, and weighed so that their mixture
/// predicts rows left out best.
///
/// Chain k alone predicts row i, left out by importance sampling over its own draws, with the
/// density p_k(y_i given x_i, D without i). The weights w ≥ 0, Σ w = 1 maximise
///
/// Σ_i log Σ_k w_k p_k(y_i given x_i, D without i),
///
/// and predictions are Σ_k w_k p_k(y given x, D) [Yao, Vehtari & Gelman 2022, §2.2]. Where chains
/// are in modes of their own the share of chains in a mode says how easily it is found, not how
/// probable it is; these weights do not depend on it.
///
/// ```
/// use std::num::NonZero;
/// use posteria::assess::{ChainStacking, LogLikelihoods};
///
/// // Two chains of 30 equal draws: the first gives each of 4 rows the density 1/2; the second gives
/// // the first three rows the density 1 and the last one a hundredth.
/// let good = [1.0_f64, 1.0, 1.0, 0.01].map(f64::ln);
/// let values: Vec<f64> = [vec![[0.5_f64.ln(); 4]; 30], vec![good; 30]].concat().concat();
/// let rows = LogLikelihoods::new(&values, 2, 30, 4).unwrap();
/// let found = ChainStacking::new(&rows, NonZero::<usize>::MIN).unwrap();
/// assert!(found.stacked.elpd > found.equal.elpd);
/// assert!((found.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ChainStacking {
    /// Each chain alone.
    pub chains: Vec<LeaveOneOut>,
    /// The weight of every chain.
    pub weights: Vec<f64>,
    /// The mixture with these weights. It is too good by what the choice of the weights owes to
    /// these very rows.
    pub stacked: MixtureScore,
    /// The mixture with equal weights.
    pub equal: MixtureScore,
    /// The first less the second, its standard error that of the sum of paired differences.
    pub difference: MixtureScore,
    /// Log predictive density of all rows, each by weights that were chosen by other rows: row i
    /// (from 0) by those of all rows j with j mod 10 ≠ i mod 10. Without the optimism of `stacked`;
    /// NaN for fewer than two rows.
    pub stacked_by_others: f64,
}

/// Expected log predictive density of as many new rows as there are, by leave-one-out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MixtureScore {
    /// Its estimate, a sum over rows.
    pub elpd: f64,
    /// Its standard error over rows; NaN for one row.
    pub se: f64,
}

/// A chain that predicts worse than the best one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WorseChain {
    /// Index of the chain.
    pub chain: usize,
    /// By how much its log predictive density of all rows left out is lower.
    pub lower: f64,
    /// The standard error of that, over rows.
    pub se: f64,
}

/// Chains that cannot be weighed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChainStackingError {
    /// There is nothing to choose from.
    #[error("{0} chain(s) cannot be weighed against each other; fit with --chains 4 or more")]
    FewChains(usize),
    /// The log predictive densities cannot be used.
    #[error(transparent)]
    Densities(#[from] PointwiseError),
    /// The importance weights cannot be computed.
    #[error(transparent)]
    Importance(#[from] ImportanceError),
}

impl PointwiseLoo {
    /// Leaves out a row for each of so many chains alone, by the row's log likelihoods under every
    /// draw, chain after chain. The tail of the ratios is as long as the effective size of the
    /// likelihood within the chain allows.
    ///
    /// # Errors
    /// [`ImportanceError`].
    ///
    /// # Panics
    /// If the draws are not those of so many chains.
    pub fn of_each_chain(
        log_likelihoods: &[f64],
        chains: usize,
    ) -> Result<Vec<Self>, ImportanceError> {
        let draws = log_likelihoods.len() / chains.max(1);
        assert!(draws > 0 && draws * chains == log_likelihoods.len(), "draws of {chains} chains");
        let own = log_likelihoods.chunks_exact(draws);
        own.map(|own| Ok(Self::of_row(own, Smoothing::Pareto, efficiency(own))?.0)).collect()
    }
}

/// Effective size of the likelihoods of one chain for their mean over their number; 1 where it is
/// not defined.
fn efficiency(log_likelihoods: &[f64]) -> f64 {
    let largest = log_likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest == f64::NEG_INFINITY {
        return 1.0;
    }
    let scaled: Vec<f64> = log_likelihoods.iter().map(|value| (value - largest).exp()).collect();
    let size = mean_effective_size(&[&scaled]) / scaled.len() as f64;
    if size.is_finite() && size > 0.0 { size } else { 1.0 }
}

impl ChainStacking {
    /// Weighs the chains behind these log likelihoods. Rows are spread over at most `threads`
    /// threads, which changes no result.
    ///
    /// # Errors
    /// [`ChainStackingError`].
    pub fn new(
        log_likelihoods: &LogLikelihoods<'_>,
        threads: NonZero<usize>,
    ) -> Result<Self, ChainStackingError> {
        let chains = log_likelihoods.chains();
        let rows = run_jobs(log_likelihoods.rows(), threads, |row| {
            PointwiseLoo::of_each_chain(&log_likelihoods.row(row), chains)
        });
        let rows = rows.into_iter().collect::<Result<Vec<_>, _>>()?;
        ChainStacking::of_rows(&rows, log_likelihoods.draws())
    }

    /// Weighs chains of so many draws each by what each of them predicts for every row
    /// ([`PointwiseLoo::of_each_chain`]).
    ///
    /// # Errors
    /// [`ChainStackingError`].
    ///
    /// # Panics
    /// If rows are predicted by different numbers of chains.
    pub fn of_rows(rows: &[Vec<PointwiseLoo>], draws: usize) -> Result<Self, ChainStackingError> {
        let count = rows.first().map_or(0, Vec::len);
        if count == 0 {
            return Err(PointwiseError::Empty.into());
        }
        if count < 2 {
            return Err(ChainStackingError::FewChains(count));
        }
        assert!(rows.iter().all(|row| row.len() == count), "the same chains for every row");
        let elpds = |chain: usize| rows.iter().map(move |row| row[chain].elpd);
        let pointwise: Vec<Vec<f64>> = (0..count).map(|chain| elpds(chain).collect()).collect();
        let views: Vec<&[f64]> = pointwise.iter().map(Vec::as_slice).collect();
        let weights = stacking_weights(&views)?;
        let equal = vec![1.0 / count as f64; count];
        let [by_weights, by_equal] = [&weights, &equal].map(|it| mixture(&views, it));
        let difference: Vec<f64> = by_weights.iter().zip(&by_equal).map(|(a, b)| a - b).collect();
        let chain = |chain: usize| {
            let own: Vec<PointwiseLoo> = rows.iter().map(|row| row[chain]).collect();
            LeaveOneOut::of_rows(own, draws, 1.0)
        };
        Ok(ChainStacking {
            chains: (0..count).map(chain).collect(),
            stacked: MixtureScore::of(&by_weights),
            equal: MixtureScore::of(&by_equal),
            difference: MixtureScore::of(&difference),
            stacked_by_others: by_others(&views)?,
            weights,
        })
    }

    /// The logarithm of the weight of every draw, chain after chain, of chains with so many draws
    /// each: what [`Predictive::weighted`](crate::predict::Predictive::weighted) takes.
    pub fn log_weights(&self, draws: usize) -> Vec<f64> {
        let each = |weight: &f64| std::iter::repeat_n((weight / draws as f64).ln(), draws);
        self.weights.iter().flat_map(each).collect()
    }

    /// How many chains of equal weight the weights are worth, 1 / Σ w².
    pub fn effective_chains(&self) -> f64 {
        1.0 / self.weights.iter().map(|weight| weight * weight).sum::<f64>()
    }

    /// Index of the chain with the highest elpd.
    pub fn best(&self) -> usize {
        let each = self.chains.iter().enumerate();
        let best = each.reduce(|best, one| if one.1.elpd > best.1.elpd { one } else { best });
        best.map_or(0, |(chain, _)| chain)
    }

    /// By how much the elpd of a chain is below that of the best one, with the standard error of the
    /// paired difference over rows.
    ///
    /// # Panics
    /// If there is no such chain.
    pub fn below_best(&self, chain: usize) -> WorseChain {
        let pairs = self.chains[self.best()].pointwise.iter().zip(&self.chains[chain].pointwise);
        // Rows that are impossible under both say nothing.
        let terms: Vec<f64> = pairs
            .map(|(best, own)| best.elpd - own.elpd)
            .map(|term| if term.is_nan() { 0.0 } else { term })
            .collect();
        WorseChain { chain, lower: terms.iter().sum(), se: standard_error(&terms) }
    }

    /// The chains that predict rows left out worse than the best one, by more than two standard
    /// errors and by more than is small.
    pub fn worse(&self) -> Vec<WorseChain> {
        let all = (0..self.chains.len()).map(|chain| self.below_best(chain));
        // A difference that is infinite has no standard error.
        let is_worse = |it: &WorseChain| {
            it.lower > SMALL && (it.lower.is_infinite() || it.lower > 2.0 * it.se)
        };
        all.filter(is_worse).collect()
    }

    /// Most rows of a chain whose importance weights cannot be trusted, and that chain.
    pub fn most_failing(&self) -> (usize, usize) {
        let each = self.chains.iter().enumerate().map(|(chain, loo)| (chain, loo.shapes.bad));
        let most = each.reduce(|most, one| if one.1 > most.1 { one } else { most });
        let (chain, rows) = most.unwrap_or((0, 0));
        (rows, chain)
    }
}

impl MixtureScore {
    fn of(terms: &[f64]) -> Self {
        MixtureScore { elpd: terms.iter().sum(), se: standard_error(terms) }
    }
}

/// The log density of every row under a mixture.
fn mixture(pointwise: &[&[f64]], weights: &[f64]) -> Vec<f64> {
    let logs: Vec<f64> = weights.iter().map(|weight| weight.ln()).collect();
    let of_row = |row: usize| {
        let terms: Vec<f64> =
            pointwise.iter().zip(&logs).map(|(own, log)| own[row] + log).collect();
        log_sum_exp(&terms)
    };
    (0..pointwise[0].len()).map(of_row).collect()
}

/// The log density of all rows under mixtures, the weights of each chosen by rows of other folds.
fn by_others(pointwise: &[&[f64]]) -> Result<f64, PointwiseError> {
    let rows = pointwise[0].len();
    let folds = FOLDS.min(rows);
    if folds < 2 {
        return Ok(f64::NAN);
    }
    let mut sum = 0.0;
    for fold in 0..folds {
        let part = |own: bool| -> Vec<Vec<f64>> {
            let kept = move |row: &usize| (row % folds == fold) == own;
            let of = |values: &&[f64]| (0..rows).filter(kept).map(|row| values[row]).collect();
            pointwise.iter().map(of).collect()
        };
        let [left, others] = [part(true), part(false)];
        let others: Vec<&[f64]> = others.iter().map(Vec::as_slice).collect();
        let left: Vec<&[f64]> = left.iter().map(Vec::as_slice).collect();
        sum += mixture(&left, &stacking_weights(&others)?).iter().sum::<f64>();
    }
    Ok(sum)
}

#[cfg(test)]
mod tests;
