//! Match the moments of draws that a fit has kept, for rows whose importance weights fail.

use super::moment_matching::{
    Evaluated, Matched, MomentMatching, MomentMatchingError, match_moments,
};
use crate::draws::Draws;
use crate::model::Posterior;
use crate::target::Infeasible;

/// Largest difference between a recorded log density and that of the state found back, relative
/// to its size or 1: far above rounding, far below anything that would matter.
const SAME: f64 = 1e-6;

/// Draws of a posterior with the states behind them: what moves where a row is not known.
///
/// A draw determines its state ([`state_of`](crate::model::StateDensity::state_of)); of it the
/// entries [`movable_slots`](crate::model::StateDensity::movable_slots) are moved affinely, and
/// others stay: given discrete values the rest has a density, so the moved draws are draws of a known
/// density all the same.
pub struct DrawMatching<'p> {
    posterior: &'p dyn Posterior,
    draws: &'p Draws,
    /// Entries of a state that move.
    slots: Vec<usize>,
    /// State after state.
    states: Vec<f64>,
}

/// Draws that are moment-matched to the posterior without one row.
#[derive(Clone, Debug)]
pub struct MatchedDraws {
    /// Weights and density of the row.
    pub matched: Matched,
    /// The moved draws, on the user's scale; those without weight as they were. They come without
    /// statistics and log likelihoods.
    pub draws: Draws,
}

/// Why moments of draws cannot be matched.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DrawMatchingError {
    /// The state is not in the draws.
    #[error(
        "draws do not hold the whole state (latent functions, values of inputs that are out, or a \
         density other than the posterior)"
    )]
    NoState,
    /// Everything is known or discrete.
    #[error("nothing of a draw can be moved")]
    NothingMoves,
    /// The state found back has another density than was recorded.
    #[error(
        "the log density of draw {draw} is {found}, and {recorded} was recorded: these are no draws \
         of this posterior"
    )]
    Differs {
        /// Number of the draw.
        draw: usize,
        /// What was recorded with it.
        recorded: f64,
        /// What the state found back has.
        found: f64,
    },
    /// The moments of a row cannot be matched.
    #[error(transparent)]
    Row(#[from] MomentMatchingError),
}

impl<'p> DrawMatching<'p> {
    /// Finds back the states of `draws`, and checks that the density of some of them is the recorded
    /// one.
    ///
    /// # Errors
    /// [`DrawMatchingError`] if draws do not tell their states or are of another density.
    pub fn new(posterior: &'p dyn Posterior, draws: &'p Draws) -> Result<Self, DrawMatchingError> {
        let each = draws.values.chunks_exact(draws.layout.len().max(1));
        let model = posterior.state_density().ok_or(DrawMatchingError::NoState)?;
        let states = each.map(|draw| model.state_of(draw)).collect::<Option<Vec<_>>>();
        let states = states.filter(|states| !states.is_empty());
        let states = states.ok_or(DrawMatchingError::NoState)?.concat();
        let slots = model.movable_slots();
        if slots.is_empty() {
            return Err(DrawMatchingError::NothingMoves);
        }
        let matching = DrawMatching { posterior, draws, slots, states };
        matching.check()?;
        Ok(matching)
    }

    /// Number of coordinates that move.
    pub fn dim(&self) -> usize {
        self.slots.len()
    }

    /// The first draw of every chain has the density that was recorded.
    fn check(&self) -> Result<(), DrawMatchingError> {
        let mut evaluate = Evaluate::new(self.posterior);
        for draw in (0..self.draws.statistics.len()).step_by(self.draws.draws.max(1)) {
            let recorded = self.draws.statistics[draw].log_density;
            let found = evaluate.log_density(self.state(draw)).unwrap_or(f64::NAN);
            let close = (found - recorded).abs() <= SAME * recorded.abs().max(1.0);
            if !close {
                return Err(DrawMatchingError::Differs { draw, recorded, found });
            }
        }
        Ok(())
    }

    fn state(&self, draw: usize) -> &[f64] {
        let length = self.posterior.state_len();
        &self.states[draw * length..(draw + 1) * length]
    }

    /// Matches the moments of the draws to those without `row`, see [`match_moments`].
    ///
    /// # Errors
    /// [`DrawMatchingError::Row`].
    ///
    /// # Panics
    /// If there is no such row.
    pub fn without(
        &self,
        row: usize,
        options: &MomentMatching,
    ) -> Result<MatchedDraws, DrawMatchingError> {
        let count = self.states.len() / self.posterior.state_len();
        let moving = |draw: usize| self.slots.iter().map(move |slot| self.state(draw)[*slot]);
        let coordinates: Vec<f64> = (0..count).flat_map(moving).collect();
        let mut evaluate = Evaluate::new(self.posterior);
        let mut state = vec![0.0; self.posterior.state_len()];
        let place = |draw: usize, coordinates: &[f64], state: &mut [f64]| {
            state.copy_from_slice(self.state(draw));
            self.slots.iter().zip(coordinates).for_each(|(slot, value)| state[*slot] = *value);
        };
        let mut of_row = |draw: usize, coordinates: &[f64]| {
            place(draw, coordinates, &mut state);
            let log_joint = evaluate.log_density(&state)?;
            Ok(Evaluated { log_joint, log_likelihood: evaluate.rows[row] })
        };
        let dim = self.dim();
        let matched = match_moments(&coordinates, dim, &mut of_row, options)?;
        let Draws { layout, chains, draws, values, .. } = self.draws;
        let mut values = values.clone();
        let both = matched.states.chunks_exact(dim).zip(coordinates.chunks_exact(dim));
        let places = values.chunks_exact_mut(layout.len());
        for (draw, ((moved, before), place_of_draw)) in both.zip(places).enumerate() {
            let counts = matched.weights.log_weights[draw] > f64::NEG_INFINITY;
            if counts && moved != before {
                place(draw, moved, &mut state);
                // It has a density, or it would not count.
                if evaluate.log_density(&state).is_ok() {
                    place_of_draw.copy_from_slice(&evaluate.draw);
                }
            }
        }
        let draws = Draws { draws: *draws, values, ..Draws::empty(layout.clone(), *chains, 0) };
        Ok(MatchedDraws { matched, draws })
    }
}

/// Evaluates states, with what comes of it.
struct Evaluate<'p> {
    evaluator: Box<dyn crate::model::Evaluator + 'p>,
    draw: Vec<f64>,
    rows: Vec<f64>,
}

impl<'p> Evaluate<'p> {
    fn new(posterior: &'p dyn Posterior) -> Self {
        let (draw, rows) = (vec![0.0; posterior.layout().len()], vec![0.0; posterior.rows()]);
        Evaluate { evaluator: posterior.evaluator(), draw, rows }
    }

    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        let terms = self.evaluator.evaluate(state, &mut self.draw, &mut self.rows)?;
        Ok(terms.at(1.0))
    }
}

#[cfg(test)]
mod tests;
