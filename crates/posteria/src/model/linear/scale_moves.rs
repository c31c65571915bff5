//! Move the scales of the coefficients of classes together with what they scale.

use super::classified::ClassLikelihood;
use super::coefficients::{Coefficients, Group, GroupScale};
use crate::model::prior::{LOG_SCALE_LIMIT, ScaleDensity};
use crate::random::Stream;
use crate::sample::{Coordinates, DirectionWalk, Reparametrized, Update};
use crate::target::{Infeasible, LogDensity};

/// First width of the proposals of log scales.
const WIDTH: f64 = 0.5;
/// Proposals of every scale per sweep.
const REPEATS: usize = 4;

/// The density of the log scales t_g given z = w e^(-t): the coefficients follow their scale, so
/// that N(w; 0, e^2t) and the Jacobian of the change cancel and log p(t) + β log p(classes given
/// w = z e^t) is left.
///
/// Where classes are separable the likelihood hardly knows the size of the coefficients, and many
/// of them pin a scale that is drawn given them: it then moves by about a share of one over the
/// root of their number at a time.
pub(super) struct WhitenedScales<'p, L> {
    likelihood: L,
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
    /// The log scales that the coefficients at hand belong to.
    entered: Vec<f64>,
    /// Coefficients of the state, those that are out as 0, and as the likelihood sees them.
    given: Vec<f64>,
    seen: Vec<f64>,
}

/// Metropolis moves of all sampled scales; `None` if there is none.
pub(super) fn scale_moves<'p>(
    likelihood: impl ClassLikelihood + 'p,
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
) -> Option<Box<dyn Update + 'p>> {
    let count = sampled(coefficients).count();
    if count == 0 {
        return None;
    }
    let coordinates = WhitenedScales {
        likelihood,
        coefficients,
        inverse_temperature,
        entered: vec![0.0; count],
        given: vec![0.0; coefficients.count],
        seen: vec![0.0; coefficients.count],
    };
    let walk = DirectionWalk::along_axes(0..count, WIDTH).repeats(REPEATS);
    Some(Box::new(Reparametrized::new("scale moves", coordinates, walk)))
}

/// Groups whose scale is sampled, with its entry of the state and its prior.
fn sampled(coefficients: &Coefficients) -> impl Iterator<Item = (&Group, usize, ScaleDensity)> {
    coefficients.groups.iter().filter_map(|group| match group.scale {
        GroupScale::Sampled(slot, prior) => Some((group, slot, prior)),
        GroupScale::Fixed(_) => None,
    })
}

impl<L: ClassLikelihood> LogDensity for WhitenedScales<'_, L> {
    fn dim(&self) -> usize {
        self.entered.len()
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        self.seen.copy_from_slice(&self.given);
        let mut value = 0.0;
        let pairs = position.iter().zip(&self.entered);
        for ((group, _, prior), (log_scale, entered)) in sampled(self.coefficients).zip(pairs) {
            if log_scale.abs() > LOG_SCALE_LIMIT {
                return Err(Infeasible::OutsideSupport);
            }
            value += prior.log_density_of_log_scale(*log_scale);
            let ratio = (log_scale - entered).exp();
            self.seen[group.members.clone()].iter_mut().for_each(|w| *w *= ratio);
        }
        if self.inverse_temperature > 0.0 {
            value += self.inverse_temperature * self.likelihood.value(&self.seen);
        }
        Ok(value)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        // Walks need none.
        gradient.fill(f64::NAN);
        self.log_density(position)
    }
}

impl<L: ClassLikelihood> Coordinates for WhitenedScales<'_, L> {
    fn enter(&mut self, state: &[f64], position: &mut [f64]) {
        self.likelihood.condition(state);
        self.coefficients.write_seen(state, &mut self.given);
        for ((_, slot, _), (entered, place)) in
            sampled(self.coefficients).zip(self.entered.iter_mut().zip(position))
        {
            *entered = state[slot];
            *place = state[slot];
        }
    }

    fn leave(&mut self, position: &[f64], state: &mut [f64], _stream: &mut Stream) {
        let pairs = position.iter().zip(&self.entered);
        for ((group, slot, _), (log_scale, entered)) in sampled(self.coefficients).zip(pairs) {
            state[slot] = *log_scale;
            let ratio = (log_scale - entered).exp();
            state[group.members.clone()].iter_mut().for_each(|w| *w *= ratio);
        }
    }
}
