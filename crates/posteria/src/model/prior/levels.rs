//! Keep the scales of one level of a hierarchy, with the level above them, in a state.

use std::ops::Range;

use super::{
    DofGrid, LOG_SCALE_LIMIT, Squares, common_log_scale_given_log_scales, variance_given_normal,
};
use crate::density::InverseGamma;
use crate::random::Stream;

/// Where degrees of freedom come from.
#[derive(Clone, Debug)]
pub enum DofSource {
    /// Known.
    Fixed(f64),
    /// One of a grid of values, at this entry of the state.
    Sampled {
        /// Entry of the state.
        slot: usize,
        /// The values with their prior, and room for their conditional.
        grid: DofGrid,
    },
}

impl DofSource {
    /// The present value.
    pub fn value(&self, state: &[f64]) -> f64 {
        match self {
            DofSource::Fixed(dof) => *dof,
            DofSource::Sampled { slot, .. } => state[*slot],
        }
    }

    /// Log prior probability of the present value; 0 where it is known.
    pub fn log_prior(&self, state: &[f64]) -> f64 {
        match self {
            DofSource::Fixed(_) => 0.0,
            DofSource::Sampled { slot, grid } => grid.log_prior_of(state[*slot]),
        }
    }

    /// Draws a value from the prior into the state.
    pub fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        if let DofSource::Sampled { slot, grid } = self {
            let mut grid = grid.clone();
            grid.begin();
            if let Some(index) = grid.draw(stream) {
                state[*slot] = grid.dofs()[index];
            }
        }
    }
}

/// The level above the scales.
#[derive(Clone, Debug)]
pub enum Above {
    /// A known scale a_ave: the hierarchy ends here.
    Fixed(f64),
    /// log a_ave is an entry of the state, a_ave² ~ Inv-gamma(a_0², ν_ave).
    Sampled {
        /// Entry of the state.
        slot: usize,
        /// Prior of a_ave².
        prior: InverseGamma,
    },
}

/// Scales a_k with a common prior, a_k² ~ Inv-gamma(a_ave², ν), and perhaps
/// a_ave² ~ Inv-gamma(a_0², ν_ave) above them. The state holds logarithms of standard
/// deviations.
///
/// *Coordinates* of the level free the scales from a sampled level above: log a_ave, then
/// log a_k - log a_ave, which is independent of a_ave in the prior. Without a sampled level
/// above they are the log a_k.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Entries of the state with log a_k.
    pub slots: Range<usize>,
    /// ν.
    pub dof: DofSource,
    /// The level above.
    pub above: Above,
}

impl Levels {
    /// Number of coordinates.
    pub fn coordinates(&self) -> usize {
        self.slots.len() + usize::from(matches!(self.above, Above::Sampled { .. }))
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

    /// Log prior density of `coordinates` for ν = `dof`. On entry `gradient` holds the
    /// derivatives of the rest of the target with respect to the log a_k, in its last places;
    /// on return those of everything with respect to the coordinates.
    ///
    /// `None` if a scale is so far out that a square of it is not a number: a trajectory must not
    /// follow where a draw cannot be.
    pub fn log_density_gradient(
        &self,
        dof: f64,
        coordinates: &[f64],
        gradient: &mut [f64],
    ) -> Option<f64> {
        let below = match self.above {
            Above::Fixed(scale) => InverseGamma::new(scale, dof).ok()?,
            Above::Sampled { .. } => InverseGamma::new(1.0, dof).ok()?,
        };
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
            value += below.log_density_of_log_scale(*coordinate);
            sum += *slot;
            *slot += below.log_scale_density_derivative(*coordinate);
        }
        if let Above::Sampled { prior, .. } = &self.above {
            value += prior.log_density_of_log_scale(coordinates[0]);
            gradient[0] = sum + prior.log_scale_density_derivative(coordinates[0]);
        }
        Some(value)
    }

    /// Log prior density of the scales and of a sampled level above in `state`, in their
    /// logarithms; `add` receives the derivative with respect to every entry.
    ///
    /// `None` where the square of a scale is not a number.
    pub fn centred_log_density(
        &self,
        state: &[f64],
        mut add: impl FnMut(usize, f64),
    ) -> Option<f64> {
        let log_above = self.log_above(state);
        let below = InverseGamma::new(1.0, self.dof.value(state)).ok()?;
        if !within_limits(log_above) {
            return None;
        }
        let (mut value, mut sum) = (0.0, 0.0);
        for slot in self.slots.clone() {
            if !within_limits(state[slot]) {
                return None;
            }
            let relative = state[slot] - log_above;
            value += below.log_density_of_log_scale(relative);
            let derivative = below.log_scale_density_derivative(relative);
            add(slot, derivative);
            sum += derivative;
        }
        if let Above::Sampled { slot, prior } = &self.above {
            value += prior.log_density_of_log_scale(log_above);
            add(*slot, prior.log_scale_density_derivative(log_above) - sum);
        }
        Some(value)
    }

    /// Log prior density of the scales, the level above and the degrees of freedom in `state`,
    /// in the logarithms of the scales.
    pub fn log_prior(&self, state: &[f64]) -> f64 {
        let log_above = self.log_above(state);
        let Ok(below) = InverseGamma::new(1.0, self.dof.value(state)) else {
            return f64::NAN;
        };
        let mut value = self.dof.log_prior(state);
        for log_scale in &state[self.slots.clone()] {
            value += below.log_density_of_log_scale(log_scale - log_above);
        }
        if let Above::Sampled { slot, prior } = &self.above {
            value += prior.log_density_of_log_scale(state[*slot]);
        }
        value
    }

    /// Draws everything from the prior.
    pub fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        self.dof.draw_prior(state, stream);
        if let Above::Sampled { slot, prior } = &self.above {
            state[*slot] = limited(prior.draw_log_scale(stream));
        }
        let log_above = self.log_above(state);
        if let Ok(below) = InverseGamma::new(1.0, self.dof.value(state)) {
            for slot in self.slots.clone() {
                state[slot] = limited(log_above + below.draw_log_scale(stream));
            }
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
        if let DofSource::Sampled { slot, grid } = &self.dof {
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
        let mut fine = true;
        let dof = self.dof.value(state);
        match InverseGamma::new(self.log_above(state).exp(), dof) {
            Ok(prior) => {
                for (k, slot) in self.slots.clone().enumerate() {
                    let squares = squares(state, k);
                    match variance_given_normal(squares, &prior, inverse_temperature) {
                        Ok(conditional) => {
                            state[slot] = limited(conditional.draw_log_scale(stream));
                        }
                        Err(_) => fine = false,
                    }
                }
            }
            Err(_) => fine = false,
        }
        self.gibbs_above(state, stream) && fine
    }

    /// Draws the level above and the degrees of freedom given the log a_k.
    pub fn gibbs_above(&mut self, state: &mut [f64], stream: &mut Stream) -> bool {
        let mut fine = true;
        let dof = self.dof.value(state);
        if let Above::Sampled { slot, prior } = &self.above {
            let members = state[self.slots.clone()].iter().copied();
            match common_log_scale_given_log_scales(members, dof, prior, 1.0, stream) {
                Some(log_scale) => state[*slot] = limited(log_scale),
                None => fine = false,
            }
        }
        let scale = self.log_above(state).exp();
        if let DofSource::Sampled { slot, grid } = &mut self.dof {
            grid.begin();
            grid.add_log_scales(state[self.slots.clone()].iter().copied(), scale, 1.0);
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
mod tests {
    use super::*;
    use crate::density::Categorical;
    use crate::random::{Purpose, Seed};

    /// Three scales, with and without a level above, after two entries that are not theirs.
    fn every_level() -> [Levels; 2] {
        let grid = DofGrid::new(&[2.0, 6.0], &Categorical::new(&[1.0, 3.0]).unwrap()).unwrap();
        let prior = InverseGamma::new(0.4, 3.0).unwrap();
        [
            Levels { slots: 2..5, dof: DofSource::Fixed(5.0), above: Above::Fixed(0.7) },
            Levels {
                slots: 2..5,
                dof: DofSource::Sampled { slot: 0, grid },
                above: Above::Sampled { slot: 5, prior },
            },
        ]
    }

    const STATE: [f64; 7] = [6.0, 9.0, -0.3, 0.8, -1.1, 0.2, 9.0];

    #[test]
    fn coordinates_and_states_are_one_to_one() {
        for levels in every_level() {
            let mut coordinates = vec![f64::NAN; levels.coordinates()];
            levels.enter(&STATE, &mut coordinates);
            let mut state = STATE;
            levels.slots.clone().for_each(|slot| state[slot] = f64::NAN);
            if let Above::Sampled { slot, .. } = levels.above {
                state[slot] = f64::NAN;
            }
            levels.leave(&coordinates, &mut state);
            for (found, expected) in state.iter().zip(STATE) {
                assert!((found - expected).abs() < 1e-15, "{state:?}");
            }
        }
    }

    /// The change of coordinates is a shear, of determinant 1: the density stays.
    #[test]
    fn coordinates_have_the_density_of_the_scales() {
        for levels in every_level() {
            let mut coordinates = vec![0.0; levels.coordinates()];
            levels.enter(&STATE, &mut coordinates);
            let dof = levels.dof.value(&STATE);
            let mut gradient = vec![0.0; coordinates.len()];
            let found = levels.log_density_gradient(dof, &coordinates, &mut gradient).unwrap();
            let expected = levels.log_prior(&STATE) - levels.dof.log_prior(&STATE);
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
            // And by hand: densities of variances, Jacobian 2v each.
            let above = match levels.above {
                Above::Fixed(scale) => scale,
                Above::Sampled { slot, .. } => STATE[slot].exp(),
            };
            let of = |log_scale: f64, prior: InverseGamma| {
                let variance = (2.0 * log_scale).exp();
                prior.log_density(variance) + (2.0 * variance).ln()
            };
            let level = InverseGamma::new(above, dof).unwrap();
            let mut by_hand: f64 = STATE[2..5].iter().map(|log_scale| of(*log_scale, level)).sum();
            if let Above::Sampled { slot, prior } = levels.above {
                by_hand += of(STATE[slot], prior);
            }
            assert!((found - by_hand).abs() < 1e-12, "{found} {by_hand}");
        }
    }

    #[test]
    fn gradients_carry_those_of_the_rest_of_the_target() {
        // The rest of the target: Σ c_k log a_k.
        let rest = [0.7, -1.3, 0.4];
        for levels in every_level() {
            let mut coordinates = vec![0.0; levels.coordinates()];
            levels.enter(&STATE, &mut coordinates);
            let first = coordinates.len() - 3;
            let value = |coordinates: &[f64], gradient: &mut [f64]| {
                gradient[first..].copy_from_slice(&rest);
                let density = levels.log_density_gradient(5.0, coordinates, gradient).unwrap();
                let mut state = STATE;
                levels.leave(coordinates, &mut state);
                density + state[2..5].iter().zip(rest).map(|(l, c)| l * c).sum::<f64>()
            };
            let mut gradient = vec![0.0; coordinates.len()];
            value(&coordinates, &mut gradient);
            let mut ignored = gradient.clone();
            for (index, claimed) in gradient.iter().enumerate() {
                let mut at = |h: f64| {
                    let mut moved = coordinates.clone();
                    moved[index] += h;
                    value(&moved, &mut ignored)
                };
                let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((claimed - numeric).abs() < 1e-8, "{index}: {claimed} {numeric}");
            }
        }
    }

    #[test]
    fn centred_derivatives_are_those_of_the_log_prior() {
        for levels in every_level() {
            let mut gradient = [0.0; 7];
            let value = levels.centred_log_density(&STATE, |slot, d| gradient[slot] += d).unwrap();
            let expected = levels.log_prior(&STATE) - levels.dof.log_prior(&STATE);
            assert!((value - expected).abs() < 1e-12, "{value} {expected}");
            for slot in 2..6 {
                let at = |h: f64| {
                    let mut moved = STATE;
                    moved[slot] += h;
                    levels.log_prior(&moved)
                };
                let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((gradient[slot] - numeric).abs() < 1e-8, "{slot}: {numeric}");
            }
        }
    }

    #[test]
    fn log_scales_stay_where_their_squares_are_numbers() {
        assert!((2.0 * limited(1e9)).exp().is_finite() && (2.0 * limited(-1e9)).exp() > 0.0);
        let mut stream = Seed(3).stream(Purpose::Data, [20, 0]);
        let tiny = InverseGamma::new(1.0, 1e-3).unwrap();
        let levels = Levels {
            slots: 0..3,
            dof: DofSource::Fixed(1e-3),
            above: Above::Sampled { slot: 3, prior: tiny },
        };
        let mut state = [0.0; 4];
        let mut coordinates = [0.0; 4];
        for _ in 0..100 {
            levels.draw_prior(&mut state, &mut stream);
            assert!(state.iter().all(|log| log.abs() <= LOG_SCALE_LIMIT));
            levels.enter(&state, &mut coordinates);
            assert!(levels.log_density_gradient(1e-3, &coordinates, &mut [0.0; 4]).is_some());
        }
        // Neither the level above nor a scale below may leave the range.
        for far in [[352.0, 0.0, 0.0, 0.0], [-352.0, 0.0, 2.0, 0.0], [300.0, 0.0, 0.0, 60.0]] {
            assert!(levels.log_density_gradient(1e-3, &far, &mut [0.0; 4]).is_none());
        }
        let near = [300.0, 0.0, -60.0, 40.0];
        assert!(levels.log_density_gradient(1e-3, &near, &mut [0.0; 4]).is_some());
    }
}
