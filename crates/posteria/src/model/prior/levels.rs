//! Keep the scales of one level of a hierarchy, with the level above them, in a state.

use std::ops::Range;

use super::scale_density::LogScaleDensity;
use super::{DofSource, ScaleDensity, Squares};
use crate::random::Stream;

/// Largest |log scale| a draw may put into the state: the variance e^±700 is still a double.
/// Only priors of a few hundredths of a degree of freedom ever reach it.
pub const LOG_SCALE_LIMIT: f64 = 350.0;

/// The level above the scales.
#[derive(Clone, Debug)]
pub enum Above {
    /// A known scale a_ave: the hierarchy ends here.
    Fixed(f64),
    /// log a_ave is an entry of the state.
    Sampled {
        /// Entry of the state.
        slot: usize,
        /// Prior of a_ave.
        prior: ScaleDensity,
    },
}

/// How scales are distributed about the one above them.
#[derive(Clone, Debug)]
pub enum Spread {
    /// a_k² ~ Inv-gamma(a_ave², ν).
    InverseGamma(DofSource),
    /// log a_k ~ N(log a_ave, τ²).
    LogNormal {
        /// τ.
        log_sd: f64,
    },
}

impl Spread {
    /// Degrees of freedom that are sampled, with their entry of the state.
    pub fn sampled_dof(&self) -> Option<usize> {
        match self {
            Spread::InverseGamma(DofSource::Sampled { slot, .. }) => Some(*slot),
            _ => None,
        }
    }

    /// Log prior probability of sampled degrees of freedom; 0 where there are none.
    pub fn log_prior(&self, state: &[f64]) -> f64 {
        match self {
            Spread::InverseGamma(dof) => dof.log_prior(state),
            Spread::LogNormal { .. } => 0.0,
        }
    }

    /// The distribution of a_k where a_ave is `above`; `None` if that is none.
    pub fn about(&self, above: f64, state: &[f64]) -> Option<ScaleDensity> {
        match self {
            Spread::InverseGamma(dof) => ScaleDensity::inverse_gamma(above, dof.value(state)).ok(),
            Spread::LogNormal { log_sd } => ScaleDensity::log_normal(above, *log_sd).ok(),
        }
    }
}

/// Scales a_k with a common prior about a_ave, and perhaps a prior of a_ave above them. The state
/// holds logarithms of standard deviations.
///
/// *Coordinates* of the level free the scales from a sampled level above: log a_ave, then
/// log a_k - log a_ave, which is independent of a_ave in the prior. Without a sampled level
/// above they are the log a_k.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Entries of the state with log a_k.
    pub slots: Range<usize>,
    /// The distribution about the level above.
    pub spread: Spread,
    /// The level above.
    pub above: Above,
}

/// Densities of the coordinates of a level, given its degrees of freedom.
#[derive(Clone, Copy, Debug)]
pub struct LevelDensities {
    /// Of log a_k - log a_ave, or of log a_k.
    below: LogScaleDensity,
    /// Of a sampled log a_ave.
    above: Option<LogScaleDensity>,
}

impl Levels {
    /// Number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.slots.len() + usize::from(matches!(self.above, Above::Sampled { .. }))
    }

    /// Entries of the state that the log prior is a density of; `None` if degrees of freedom are
    /// sampled too.
    pub fn density_slots(&self) -> Option<Vec<usize>> {
        self.spread.sampled_dof().is_none().then(|| self.movable_slots())
    }

    /// The same given the degrees of freedom.
    pub fn movable_slots(&self) -> Vec<usize> {
        let mut slots: Vec<usize> = self.slots.clone().collect();
        if let Above::Sampled { slot, .. } = self.above {
            slots.push(slot);
        }
        slots
    }

    fn log_above(&self, state: &[f64]) -> f64 {
        match self.above {
            Above::Fixed(scale) => scale.ln(),
            Above::Sampled { slot, .. } => state[slot],
        }
    }

    /// Writes the coordinates of `state`.
    pub fn enter(&self, state: &[f64], coordinates: &mut [f64]) {
        let mut rest = coordinates;
        let mut shift = 0.0;
        if let Above::Sampled { slot, .. } = self.above {
            shift = state[slot];
            rest[0] = shift;
            rest = &mut rest[1..];
        }
        for (coordinate, log_scale) in rest.iter_mut().zip(&state[self.slots.clone()]) {
            *coordinate = log_scale - shift;
        }
    }

    /// Writes the scales that `coordinates` stand for into `state`.
    pub fn leave(&self, coordinates: &[f64], state: &mut [f64]) {
        let mut rest = coordinates;
        let mut shift = 0.0;
        if let Above::Sampled { slot, .. } = self.above {
            shift = rest[0];
            state[slot] = shift;
            rest = &rest[1..];
        }
        for (log_scale, coordinate) in state[self.slots.clone()].iter_mut().zip(rest) {
            *log_scale = coordinate + shift;
        }
    }

    /// Densities of the coordinates given degrees of freedom in `state`; `None` if there are none.
    pub fn densities(&self, state: &[f64]) -> Option<LevelDensities> {
        let (scale, above) = match &self.above {
            Above::Fixed(scale) => (*scale, None),
            Above::Sampled { prior, .. } => (1.0, Some(prior.of_log_scale())),
        };
        let below = self.spread.about(scale, state)?.of_log_scale();
        Some(LevelDensities { below, above })
    }

    /// Log prior density of `coordinates`. On entry `gradient` holds the derivatives of the rest
    /// of the target with respect to the log a_k, in its last places; on return those of
    /// everything with respect to the coordinates.
    ///
    /// `None` if a scale is so far out that a square of it is not a number: a trajectory must not
    /// follow where a draw cannot be.
    pub fn log_density_gradient(
        &self,
        densities: &LevelDensities,
        coordinates: &[f64],
        gradient: &mut [f64],
    ) -> Option<f64> {
        let first = coordinates.len() - self.slots.len();
        let shift = if first > 0 { coordinates[0] } else { 0.0 };
        let mut value = 0.0;
        let mut sum = 0.0;
        if !within_limits(shift) {
            return None;
        }
        for (coordinate, slot) in coordinates[first..].iter().zip(&mut gradient[first..]) {
            if !within_limits(coordinate + shift) {
                return None;
            }
            let (log_density, derivative) = densities.below.log_density(*coordinate);
            value += log_density;
            sum += *slot;
            *slot += derivative;
        }
        if let Some(above) = &densities.above {
            let (log_density, derivative) = above.log_density(shift);
            value += log_density;
            gradient[0] = sum + derivative;
        }
        Some(value)
    }

    /// Log prior density of the scales and of a sampled level above in `state`, in their
    /// logarithms; `add` receives the derivative with respect to every entry.
    ///
    /// `None` where the square of a scale is not a number.
    pub fn centred_log_density(&self, state: &[f64], add: impl FnMut(usize, f64)) -> Option<f64> {
        self.centred_log_density_of(state, |_| true, add)
    }

    /// As [`Levels::centred_log_density`], of those scales only that are `counted`.
    pub fn centred_log_density_of(
        &self,
        state: &[f64],
        counted: impl Fn(usize) -> bool,
        mut add: impl FnMut(usize, f64),
    ) -> Option<f64> {
        let log_above = self.log_above(state);
        let below = self.spread.about(1.0, state)?.of_log_scale();
        if !within_limits(log_above) {
            return None;
        }
        let (mut value, mut sum) = (0.0, 0.0);
        for slot in self.slots.clone().filter(|slot| counted(slot - self.slots.start)) {
            if !within_limits(state[slot]) {
                return None;
            }
            let relative = state[slot] - log_above;
            let (log_density, derivative) = below.log_density(relative);
            value += log_density;
            add(slot, derivative);
            sum += derivative;
        }
        if let Above::Sampled { slot, prior } = &self.above {
            let (log_density, derivative) = prior.of_log_scale().log_density(log_above);
            value += log_density;
            add(*slot, derivative - sum);
        }
        Some(value)
    }

    /// Log prior density of the scales, the level above and the degrees of freedom in `state`,
    /// in the logarithms of the scales.
    pub fn log_prior(&self, state: &[f64]) -> f64 {
        self.log_prior_of(state, |_| true)
    }

    /// As [`Levels::log_prior`], of those scales only that are `counted`.
    pub fn log_prior_of(&self, state: &[f64], counted: impl Fn(usize) -> bool) -> f64 {
        let log_above = self.log_above(state);
        let Some(below) = self.spread.about(1.0, state) else {
            return f64::NAN;
        };
        let below = below.of_log_scale();
        let mut value = self.spread.log_prior(state);
        for (k, log_scale) in state[self.slots.clone()].iter().enumerate() {
            if counted(k) {
                value += below.log_density(log_scale - log_above).0;
            }
        }
        if let Above::Sampled { slot, prior } = &self.above {
            value += prior.log_density_of_log_scale(state[*slot]);
        }
        value
    }

    /// Draws everything from the prior.
    pub fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        if let Spread::InverseGamma(dof) = &self.spread {
            dof.draw_prior(state, stream);
        }
        if let Above::Sampled { slot, prior } = &self.above {
            state[*slot] = limited(prior.draw_log_scale(stream));
        }
        let log_above = self.log_above(state);
        if let Some(below) = self.spread.about(1.0, state) {
            for slot in self.slots.clone() {
                state[slot] = limited(log_above + below.draw_log_scale(stream));
            }
        }
    }

    /// Draws the scale a_k from its prior given the level above.
    pub fn draw_scale(&self, k: usize, state: &mut [f64], stream: &mut Stream) {
        if let Some(below) = self.spread.about(1.0, state) {
            let log_above = self.log_above(state);
            state[self.slots.start + k] = limited(log_above + below.draw_log_scale(stream));
        }
    }

    /// Puts every log scale about `middle` with this spread, and degrees of freedom at the middle
    /// of their grid.
    pub fn start(&self, state: &mut [f64], middle: f64, spread: f64, stream: &mut Stream) {
        for slot in self.slots.clone() {
            state[slot] = middle + spread * stream.normal();
        }
        if let Above::Sampled { slot, .. } = self.above {
            state[slot] = middle + spread * stream.normal();
        }
        if let Spread::InverseGamma(DofSource::Sampled { slot, grid }) = &self.spread {
            state[*slot] = grid.dofs()[grid.dofs().len() / 2];
        }
    }

    /// Draws the log a_k from their conditionals given what is normal with those scales
    /// (`squares` of scale k, its normal density raised to β), then the level above and the
    /// degrees of freedom. `false` if something was not finite and stays.
    pub fn gibbs(
        &mut self,
        state: &mut [f64],
        squares: impl Fn(&[f64], usize) -> Squares,
        inverse_temperature: f64,
        stream: &mut Stream,
    ) -> bool {
        let Some(prior) = self.spread.about(self.log_above(state).exp(), state) else {
            return false;
        };
        let mut fine = true;
        for (k, slot) in self.slots.clone().enumerate() {
            let squares = squares(state, k);
            match prior.draw_given_normal(squares, inverse_temperature, stream) {
                Some(log_scale) => state[slot] = limited(log_scale),
                None => fine = false,
            }
        }
        self.gibbs_above(state, stream) && fine
    }

    /// Draws the level above and the degrees of freedom given the log a_k.
    pub fn gibbs_above(&mut self, state: &mut [f64], stream: &mut Stream) -> bool {
        self.gibbs_above_of(state, |_| true, stream)
    }

    /// As [`Levels::gibbs_above`], given those log a_k only that are `counted`.
    pub fn gibbs_above_of(
        &mut self,
        state: &mut [f64],
        counted: impl Fn(usize) -> bool,
        stream: &mut Stream,
    ) -> bool {
        let first = self.slots.start;
        let counted = |slot: &usize| counted(slot - first);
        let mut fine = true;
        if let Above::Sampled { slot, prior } = &self.above {
            let members = self.slots.clone().filter(counted).map(|slot| state[slot]);
            let drawn = self
                .spread
                .about(1.0, state)
                .and_then(|below| prior.draw_common(&below, members, stream));
            match drawn {
                Some(log_scale) => state[*slot] = limited(log_scale),
                None => fine = false,
            }
        }
        let scale = self.log_above(state).exp();
        if let Spread::InverseGamma(DofSource::Sampled { slot, grid }) = &mut self.spread {
            grid.begin();
            let members = self.slots.clone().filter(counted).map(|slot| state[slot]);
            grid.add_log_scales(members, scale, 1.0);
            match grid.draw(stream) {
                Some(index) => state[*slot] = grid.dofs()[index],
                None => fine = false,
            }
        }
        fine
    }
}

/// Whether a log scale is one that draws may have, rounding aside.
fn within_limits(log_scale: f64) -> bool {
    log_scale.abs() < LOG_SCALE_LIMIT + 1.0
}

/// Keeps a log scale where its square and inverse square are numbers.
pub fn limited(log_scale: f64) -> f64 {
    log_scale.clamp(-LOG_SCALE_LIMIT, LOG_SCALE_LIMIT)
}

#[cfg(test)]
mod tests;
