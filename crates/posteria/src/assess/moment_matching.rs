//! Repair the importance weights of one row by matching the moments of the draws to those without it.

use super::affine::Affine;
use crate::density::special::log_add_exp;
use crate::diagnose::importance::{
    ImportanceError, ImportanceWeights, Smoothing, importance_weights,
};
use crate::target::Infeasible;

/// The model at one state, for one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluated {
    /// Log prior density plus log likelihood of all rows, as a density of the state that is moved;
    /// a constant may be missing.
    pub log_joint: f64,
    /// Log likelihood of the row, normalised.
    pub log_likelihood: f64,
}

/// How to match moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MomentMatching {
    /// Most moves.
    pub most_moves: usize,
    /// Rows whose shape of the tail is not above this are left as they are; see
    /// [`pareto_shape_limit`](super::pareto_shape_limit).
    pub limit: f64,
    /// Others are moved until it is not above this. It is well below the limit on purpose: at the
    /// limit itself the density of an outlier is still biased.
    pub goal: f64,
    /// Whether covariances are matched where means and variances do not help. Its effort grows as
    /// the square of the number of coordinates.
    pub covariance: bool,
    /// Effective size of the draws over their number.
    pub relative_efficiency: f64,
}

impl MomentMatching {
    /// Up to 30 moves to the goal 0.3, covariances included, of independent draws; `limit` as
    /// [`pareto_shape_limit`](super::pareto_shape_limit) gives it.
    pub fn new(limit: f64) -> Self {
        let goal = limit.min(0.3);
        MomentMatching { most_moves: 30, limit, goal, covariance: true, relative_efficiency: 1.0 }
    }
}

/// What was given the value that the weights give it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MomentMove {
    /// The mean.
    Mean,
    /// The mean and the variance of every coordinate.
    Variance,
    /// The mean and the covariance.
    Covariance,
}

/// Draws with weights that leave out one row.
#[derive(Clone, Debug, PartialEq)]
pub struct Matched {
    /// log p(y_i given x_i, D without i).
    pub elpd: f64,
    /// Its Monte Carlo standard error.
    pub mcse: f64,
    /// Weights of the moved draws. The shape of their tail says whether the row is repaired.
    pub weights: ImportanceWeights,
    /// The draws, moved: state after state.
    pub states: Vec<f64>,
    /// Log likelihood of the row at the moved draws; -∞ where there is no usable density.
    pub log_likelihood: Vec<f64>,
    /// The shape of the tail before any move.
    pub shape_before: f64,
    /// The moves that made it smaller, in order.
    pub moves: Vec<MomentMove>,
}

/// Why moments cannot be matched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MomentMatchingError {
    /// There is no state, or a state is cut short.
    #[error("{found} numbers are no states of {dim} coordinates")]
    Shape {
        /// How many numbers there are.
        found: usize,
        /// Coordinates of a state.
        dim: usize,
    },
    /// A draw has no usable density.
    #[error("draw {draw} has no usable density: {reason}; are these draws of this density?")]
    Draw {
        /// Index of the draw.
        draw: usize,
        /// Why.
        reason: Infeasible,
    },
    /// The draws cannot be weighted.
    #[error(transparent)]
    Weights(#[from] ImportanceError),
}

/// The model of which the draws are, one row of it in mind: what it says of a state of a draw with this
/// number.
type Evaluate<'e> = dyn FnMut(usize, &[f64]) -> Result<Evaluated, Infeasible> + 'e;

/// Moves draws of the posterior (`states`, each of `dim` unconstrained coordinates) affinely so that
/// their mean, variances or covariance become what the weights that leave out one row make them,
/// and weights them anew, as long as the tail of the ratios gets thinner: a moved draw θ' = T(θ)
/// has the ratio p(D without i, θ') / p(D, θ) up to a constant. In the end all moves of every
/// other draw are undone, and the draws are weighted as draws of the mixture,
/// p(D without i, θ') / [p(D, θ') + p(D, T⁻¹θ') / det T]: the likelihood of an outlier is large just
/// where the moved draws are not. [Paananen et al. 2021]
///
/// Moves to where `evaluate` finds no usable density get the weight 0. It is called with the number
/// of a draw and a state, once per draw, once per draw for every move that is tried, and for half the
/// draws in the end. What a draw holds besides `states` (discrete values, say) does not move: the
/// density is that of the state together with them.
///
/// # Errors
/// [`MomentMatchingError`].
pub fn match_moments(
    states: &[f64],
    dim: usize,
    evaluate: &mut Evaluate<'_>,
    options: &MomentMatching,
) -> Result<Matched, MomentMatchingError> {
    if dim == 0 || states.is_empty() || !states.len().is_multiple_of(dim) {
        return Err(MomentMatchingError::Shape { found: states.len(), dim });
    }
    let mut original = Vec::with_capacity(states.len() / dim);
    for (draw, state) in states.chunks_exact(dim).enumerate() {
        let found = usable(evaluate(draw, state));
        original.push(found.map_err(|reason| MomentMatchingError::Draw { draw, reason })?);
    }
    let weigh = |log_ratios: &[f64]| {
        importance_weights(log_ratios, Smoothing::Pareto, options.relative_efficiency)
    };
    let log_ratios: Vec<f64> = original.iter().map(|at| -at.log_likelihood).collect();
    let weights = weigh(&log_ratios)?;
    let shape_before = weights.pareto_shape;
    let mut best = Weighted {
        states: states.to_vec(),
        evaluated: original.iter().copied().map(Some).collect(),
        weights,
    };
    let mut maps = Vec::new();
    let mut moves = Vec::new();
    let is_bad = shape_before > options.limit;
    while is_bad && moves.len() < options.most_moves && best.weights.pareto_shape > options.goal {
        let tried = MomentMove::ALL.into_iter().filter(|kind| kind.is_allowed(&best, dim, options));
        let better = tried.filter_map(|kind| {
            let map = kind.map(&best, dim)?;
            let moved = best.moved(&map, dim, evaluate, &original, &weigh)?;
            let thinner = moved.weights.pareto_shape < best.weights.pareto_shape;
            thinner.then_some((kind, map, moved))
        });
        let Some((kind, map, moved)) = { better }.next() else { break };
        best = moved;
        maps.push(map);
        moves.push(kind);
    }
    if !maps.is_empty() {
        best = split(states, &original, best, &maps, evaluate, &weigh)?;
    }
    let log_likelihood: Vec<f64> = best
        .evaluated
        .iter()
        .map(|at| at.map_or(f64::NEG_INFINITY, |at| at.log_likelihood))
        .collect();
    let weights = best.weights;
    Ok(Matched {
        elpd: weights.log_mean_exp(&log_likelihood),
        mcse: weights.log_mean_exp_error(&log_likelihood, options.relative_efficiency),
        weights,
        states: best.states,
        log_likelihood,
        shape_before,
        moves,
    })
}

/// Draws with what the model says about them.
struct Weighted {
    states: Vec<f64>,
    /// `None` where there is no usable density.
    evaluated: Vec<Option<Evaluated>>,
    weights: ImportanceWeights,
}

type Weigh<'w> = dyn Fn(&[f64]) -> Result<ImportanceWeights, ImportanceError> + 'w;

impl Weighted {
    /// These draws moved by `map`, with new weights; `None` if no draw is left with any.
    fn moved(
        &self,
        map: &Affine,
        dim: usize,
        evaluate: &mut Evaluate<'_>,
        original: &[Evaluated],
        weigh: &Weigh<'_>,
    ) -> Option<Weighted> {
        let mut states = self.states.clone();
        states.chunks_exact_mut(dim).for_each(|state| map.apply(state));
        let each = states.chunks_exact(dim).enumerate();
        let evaluated: Vec<Option<Evaluated>> =
            each.map(|(draw, state)| usable(evaluate(draw, state)).ok()).collect();
        let log_ratio = |(at, before): (&Option<Evaluated>, &Evaluated)| {
            at.map_or(f64::NEG_INFINITY, |at| at.without_row() - before.log_joint)
        };
        let log_ratios: Vec<f64> = evaluated.iter().zip(original).map(log_ratio).collect();
        let weights = weigh(&log_ratios).ok()?;
        Some(Weighted { states, evaluated, weights })
    }
}

/// Undoes all moves of every other draw, and weights the mixture.
fn split(
    states: &[f64],
    original: &[Evaluated],
    moved: Weighted,
    maps: &[Affine],
    evaluate: &mut Evaluate<'_>,
    weigh: &Weigh<'_>,
) -> Result<Weighted, ImportanceError> {
    let dim = states.len() / original.len();
    let log_determinant: f64 = maps.iter().map(Affine::log_determinant).sum();
    let Weighted { states: mut mixed, mut evaluated, .. } = moved;
    let mut log_ratios = Vec::with_capacity(original.len());
    let mut back = vec![0.0; dim];
    for (draw, before) in original.iter().enumerate() {
        // What the draw would be under the inverse of the moves.
        let behind = if draw % 2 == 0 {
            before.log_joint
        } else {
            let range = draw * dim..(draw + 1) * dim;
            mixed[range.clone()].copy_from_slice(&states[range.clone()]);
            evaluated[draw] = Some(*before);
            back.copy_from_slice(&states[range]);
            maps.iter().rev().for_each(|map| map.undo(&mut back));
            usable(evaluate(draw, &back)).map_or(f64::NEG_INFINITY, |at| at.log_joint)
        };
        log_ratios.push(evaluated[draw].map_or(f64::NEG_INFINITY, |at| {
            at.without_row() - log_add_exp(at.log_joint, behind - log_determinant)
        }));
    }
    Ok(Weighted { states: mixed, evaluated, weights: weigh(&log_ratios)? })
}

impl Evaluated {
    /// Log density of the state and all rows but one.
    fn without_row(&self) -> f64 {
        self.log_joint - self.log_likelihood
    }
}

/// Both numbers finite, or infeasible: of an infinite log likelihood the rest cannot be told.
fn usable(found: Result<Evaluated, Infeasible>) -> Result<Evaluated, Infeasible> {
    found.and_then(|at| match at.without_row().is_finite() {
        true => Ok(at),
        false => Err(Infeasible::NotFinite),
    })
}

impl MomentMove {
    const ALL: [Self; 3] = [MomentMove::Mean, MomentMove::Variance, MomentMove::Covariance];

    fn is_allowed(self, draws: &Weighted, dim: usize, options: &MomentMatching) -> bool {
        // A covariance of fewer effective draws than coordinates is singular but for rounding.
        self != MomentMove::Covariance
            || (options.covariance && dim > 1 && draws.weights.effective_size > dim as f64)
    }

    fn map(self, draws: &Weighted, dim: usize) -> Option<Affine> {
        let weights: Vec<f64> = draws.weights.log_weights.iter().map(|w| w.exp()).collect();
        match self {
            MomentMove::Mean => Some(Affine::shift(&draws.states, dim, &weights)),
            MomentMove::Variance => Affine::scale(&draws.states, dim, &weights),
            MomentMove::Covariance => Affine::covariance(&draws.states, dim, &weights),
        }
    }
}

#[cfg(test)]
mod tests;
