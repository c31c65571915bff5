//! Emulate a log density by its values at some hundred points.

use posteria_linalg::{Cholesky, Matrix, Points, add_scaled, decay, dot};

use super::AtMode;
use super::memory::{ForeignMemory, MemoryReader};
use crate::density::draw_by_log_weights;
use crate::density::special::{ln_gamma, log_add_exp};
use crate::random::Stream;

/// Degrees of freedom of the Student-t distributions about the modes, and how much wider they are
/// than the normal approximations there.
const DOF: f64 = 5.0;
const INFLATION: f64 = 1.1;
/// Their share of the emulated mass: what keeps π/s bounded as it is for them alone where the
/// process says too little.
const DEFENSIVE: f64 = 0.3;
/// Log density below the highest mode from which on places are all alike: none is ever visited.
const LOWEST: f64 = 25.0;
/// Length scales that are tried, in units of √dim standard deviations, …
const LENGTHS: [f64; 2] = [1.1, 1.6];
/// … standard deviations of the process, …
const AMPLITUDES: [f64; 3] = [1.0, 3.0, 10.0];
/// … and what may be left of the values at the points.
const NUGGET: f64 = 0.1;

/// A density s that is known everywhere at the cost of a few hundred exponentials, close to one π
/// whose values are known at some points:
///
/// log s(x) = log(e^(b(x) + g(x)) + ε t(x)),
/// b(x) = log Σ_k π(m_k) exp(-½ |L_k⁻¹ (x - m_k)|²),
///
/// with the normal approximations at the modes m_k of π, g the mean of a Gaussian process given
/// log π - b at the points (squared exponential, in the coordinates that the first mode makes
/// standard), and t Student-t distributions about the same modes with the same masses.
#[derive(Clone, Debug)]
pub struct Emulator {
    modes: Vec<Mode>,
    /// One point per row, padded with points without weight; one column per coordinate.
    points: Points,
    /// Amplitude² times the weights of the points.
    weights: Vec<f64>,
    /// 1 / (√2 length).
    rate: f64,
    /// log ε, and what makes t have the masses of the normal approximations.
    defensive: f64,
    acceptance: f64,
}

#[derive(Clone, Debug)]
struct Mode {
    at: Vec<f64>,
    covariance: Matrix,
    factor: Cholesky,
    log_density: f64,
}

/// Logarithms of an emulated density at a place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Emulated {
    /// log s.
    pub(super) value: f64,
    /// log t, up to a constant.
    pub(super) guess: f64,
}

/// Buffers for the evaluation of an emulator.
#[derive(Clone, Debug, Default)]
pub(super) struct Room {
    standard: Vec<f64>,
    deviation: Vec<f64>,
    squares: Vec<f64>,
}

impl Emulator {
    /// The emulator given values of the log density at points, one at least; among some length
    /// scales and amplitudes those by which the values are most probable. A value may be -∞.
    /// `None` without a mode, or if nothing can be computed.
    pub(super) fn fit(modes: &[AtMode], known: &[(Vec<f64>, f64)]) -> Option<Self> {
        let top = modes.iter().map(|mode| mode.log_density).fold(f64::NEG_INFINITY, f64::max);
        let own = |mode: &AtMode| Mode {
            at: mode.mode.clone(),
            covariance: mode.covariance.clone(),
            factor: mode.factor.clone(),
            log_density: mode.log_density,
        };
        let dim = modes.first()?.mode.len();
        let mut emulator = Emulator {
            modes: modes.iter().map(own).collect(),
            points: Points::new(known.len().next_multiple_of(Points::LANES), dim),
            weights: vec![0.0; known.len().next_multiple_of(Points::LANES)],
            rate: 1.0,
            defensive: defensive(dim),
            acceptance: 0.0,
        };
        let mut room = Room::default();
        let mut residuals = Vec::with_capacity(known.len());
        for (row, (position, value)) in known.iter().enumerate() {
            let (base, _) = emulator.about_modes(position, &mut room);
            residuals.push((value - top).max(-LOWEST) - (base - top).max(-LOWEST));
            (0..dim).for_each(|k| emulator.points.column_mut(k)[row] = room.standard[k]);
        }
        let mut best = f64::NEG_INFINITY;
        for length in LENGTHS.map(|length| length * (dim as f64).sqrt()) {
            let rate = (2.0_f64.sqrt() * length).recip();
            let correlations = emulator.correlations(known.len(), rate);
            for amplitude in AMPLITUDES {
                let Some((weights, evidence)) = solve(&correlations, amplitude, &residuals) else {
                    continue;
                };
                if evidence > best {
                    best = evidence;
                    emulator.rate = rate;
                    emulator.weights[..known.len()].copy_from_slice(&weights);
                }
            }
        }
        best.is_finite().then_some(emulator)
    }

    /// The same, of which so many transitions are accepted.
    #[must_use]
    pub(super) fn accepted(self, acceptance: f64) -> Self {
        Emulator { acceptance, ..self }
    }

    /// How often a draw of the emulated density was accepted in place of another, as judged by
    /// draws that it was not fitted to.
    pub fn acceptance(&self) -> f64 {
        self.acceptance
    }

    /// Number of coordinates.
    pub(super) fn dim(&self) -> usize {
        self.points.columns()
    }

    /// exp(-½ r² / length²) between the first `count` points; the lower half.
    fn correlations(&self, count: usize, rate: f64) -> Matrix {
        let mut correlations = Matrix::zeros(count, count);
        let (mut squares, mut at) = (vec![0.0; self.points.rows()], vec![0.0; self.dim()]);
        for row in 0..count {
            self.points.read_row(row, &mut at);
            self.decays(&at, rate, &mut squares);
            correlations.column_mut(row)[row..].copy_from_slice(&squares[row..count]);
        }
        correlations
    }

    /// exp(-rate² r²) between a place and every point.
    fn decays(&self, standard: &[f64], rate: f64, squares: &mut [f64]) {
        self.points.pairs(0..squares.len(), standard).squared_distances(squares);
        squares.iter_mut().for_each(|square| *square *= rate * rate);
        decay::squared_exponential(squares);
    }

    /// b and log t, up to a constant; leaves the coordinates behind that the first mode makes
    /// standard.
    fn about_modes(&self, position: &[f64], room: &mut Room) -> (f64, f64) {
        let dim = position.len() as f64;
        let (mut base, mut guess) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        for (index, mode) in self.modes.iter().enumerate() {
            let square = mode.square(position, &mut room.deviation);
            if index == 0 {
                room.standard.clone_from(&room.deviation);
            }
            let tail = (square / (INFLATION * INFLATION * DOF)).ln_1p();
            base = log_add_exp(base, mode.log_density - 0.5 * square);
            guess = log_add_exp(guess, mode.log_density - 0.5 * (DOF + dim) * tail);
        }
        (base, guess)
    }

    /// The density at a place.
    pub(super) fn at(&self, position: &[f64], room: &mut Room) -> Emulated {
        let (base, guess) = self.about_modes(position, room);
        room.squares.resize(self.weights.len(), 0.0);
        self.decays(&room.standard, self.rate, &mut room.squares);
        let emulated = base + dot(&self.weights, &room.squares);
        Emulated { value: log_add_exp(emulated, self.defensive + guess), guess }
    }

    /// Writes a draw of t.
    pub(super) fn guess(&self, position: &mut [f64], stream: &mut Stream) {
        let mode = self.choose(stream);
        stream.fill_normal(position);
        mode.factor.multiply_lower(position);
        let chi_square = 2.0 * stream.gamma(0.5 * DOF);
        let scale = INFLATION * (DOF / chi_square).sqrt();
        position.iter_mut().zip(&mode.at).for_each(|(x, mode)| *x = mode + scale * *x);
    }

    /// Writes a normal step of so many standard deviations of the first mode.
    pub(super) fn walk(&self, width: f64, from: &[f64], to: &mut [f64], stream: &mut Stream) {
        stream.fill_normal(to);
        self.modes[0].factor.multiply_lower(to);
        to.iter_mut().zip(from).for_each(|(to, from)| *to = from + width * *to);
    }

    /// A mode, with the probability that its mass says.
    fn choose(&self, stream: &mut Stream) -> &Mode {
        let mass = |mode: &Mode| mode.log_density + 0.5 * mode.factor.log_determinant();
        let mut log_masses: Vec<f64> = self.modes.iter().map(mass).collect();
        &self.modes[draw_by_log_weights(&mut log_masses, stream).unwrap_or(0)]
    }

    pub(super) fn memory(&self) -> Vec<f64> {
        let counts = [self.modes.len(), self.dim(), self.weights.len()];
        let mut memory = counts.map(|count| count as f64).to_vec();
        for mode in &self.modes {
            memory.push(mode.log_density);
            memory.extend(&mode.at);
            memory.extend(mode.covariance.values());
        }
        (0..self.dim()).for_each(|k| memory.extend(self.points.column(k)));
        memory.extend(&self.weights);
        memory.extend([self.rate, self.acceptance]);
        memory
    }

    pub(super) fn recall(memory: &mut MemoryReader<'_>) -> Result<Self, ForeignMemory> {
        let (count, dim, rows) = (memory.count()?, memory.count()?, memory.count()?);
        let mut modes = Vec::new();
        for _ in 0..count {
            let log_density = memory.number()?;
            let at = memory.take(dim)?.to_vec();
            let values = memory.take(dim.saturating_mul(dim))?;
            let covariance = Matrix::from_fn(dim, dim, |i, j| values[j * dim + i]);
            let factor = Cholesky::new(&covariance).map_err(|_| memory.foreign())?;
            modes.push(Mode { at, covariance, factor, log_density });
        }
        let values = memory.take(rows.saturating_mul(dim))?;
        let mut points = Points::new(rows, dim);
        let columns = values.chunks_exact(rows.max(1)).enumerate();
        columns.for_each(|(k, column)| points.column_mut(k).copy_from_slice(column));
        let weights = memory.take(rows)?.to_vec();
        if modes.is_empty() || !rows.is_multiple_of(Points::LANES) {
            return Err(memory.foreign());
        }
        Ok(Emulator {
            modes,
            points,
            weights,
            rate: memory.number()?,
            defensive: defensive(dim),
            acceptance: memory.number()?,
        })
    }
}

impl Mode {
    /// |L⁻¹ (x - m)|²; leaves L⁻¹ (x - m) behind.
    fn square(&self, position: &[f64], deviation: &mut Vec<f64>) -> f64 {
        deviation.clear();
        deviation.extend(position.iter().zip(&self.at).map(|(x, mode)| x - mode));
        self.factor.solve_lower(deviation);
        dot(deviation, deviation)
    }
}

/// log ε + log of what a Student-t density has at its mode in units of (2π)^(-d/2) |L|⁻¹, which
/// the normal approximation has there.
fn defensive(dim: usize) -> f64 {
    let dim = dim as f64;
    let peak = ln_gamma(0.5 * (DOF + dim)) - ln_gamma(0.5 * DOF) + 0.5 * dim * (2.0 / DOF).ln();
    DEFENSIVE.ln() + peak - dim * INFLATION.ln()
}

/// Weights of points for values with these residuals, and their log density.
fn solve(correlations: &Matrix, amplitude: f64, residuals: &[f64]) -> Option<(Vec<f64>, f64)> {
    let mut covariances = correlations.clone();
    let variance = amplitude * amplitude;
    covariances.values_mut().iter_mut().for_each(|value| *value *= variance);
    (0..residuals.len()).for_each(|row| covariances[(row, row)] += NUGGET * NUGGET);
    let factor = Cholesky::new(&covariances).ok()?;
    let mut solved = residuals.to_vec();
    factor.solve(&mut solved);
    let evidence = -0.5 * (dot(&solved, residuals) + factor.log_determinant());
    let mut weights = vec![0.0; residuals.len()];
    add_scaled(&mut weights, variance, &solved);
    Some((weights, evidence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    /// The logarithm of a gamma variable of shape 2, which has a long tail to the left, and another
    /// variable about it.
    fn log_density(x: &[f64]) -> f64 {
        2.0 * (x[0] - x[0].exp()) - 0.5 * (x[1] - x[0]).powi(2)
    }

    fn mode() -> AtMode {
        let covariance = Matrix::from_fn(2, 2, |i, j| if (i, j) == (1, 1) { 1.5 } else { 0.5 });
        let factor = Cholesky::new(&covariance).unwrap();
        AtMode { mode: vec![0.0; 2], covariance, factor, log_density: log_density(&[0.0; 2]) }
    }

    fn draws(count: usize, seed: u64) -> Vec<(Vec<f64>, f64)> {
        let mut stream = Seed(seed).stream(Purpose::Data, [0, 0]);
        let about = Emulator::fit(&[mode()], &[(vec![0.0; 2], 0.0)]).unwrap();
        let draw = |_| {
            let mut position = vec![0.0; 2];
            about.guess(&mut position, &mut stream);
            let value = log_density(&position);
            (position, value)
        };
        (0..count).map(draw).collect()
    }

    /// Mean square of log s - log π over draws where π is not negligible, up to a constant.
    fn error(emulator: &Emulator, draws: &[(Vec<f64>, f64)]) -> f64 {
        let mut room = Room::default();
        let top = draws.iter().map(|draw| draw.1).fold(f64::NEG_INFINITY, f64::max);
        let of = |draw: &&(Vec<f64>, f64)| draw.1 > top - 6.0;
        let differences: Vec<f64> = draws
            .iter()
            .filter(of)
            .map(|(x, value)| emulator.at(x, &mut room).value - value)
            .collect();
        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        differences.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / differences.len() as f64
    }

    #[test]
    fn more_values_make_it_closer_to_the_density() {
        let fresh = draws(400, 2);
        let of = |count: usize| error(&Emulator::fit(&[mode()], &draws(count, 1)).unwrap(), &fresh);
        let [few, some, many] = [1, 30, 200].map(of);
        // What is left is mostly the Student-t part, log(1 + 0.3 t/π), which no value takes away.
        assert!(some < 0.5 * few && many < some && many < 0.08, "{few} {some} {many}");
    }

    #[test]
    fn it_is_never_far_below_what_the_modes_say() {
        // Values that say the density vanishes everywhere.
        let known: Vec<_> = draws(50, 1).into_iter().map(|(x, _)| (x, f64::NEG_INFINITY)).collect();
        let emulator = Emulator::fit(&[mode()], &known).unwrap();
        let mut room = Room::default();
        for (x, _) in draws(50, 2) {
            let at = emulator.at(&x, &mut room);
            assert!(at.value >= at.guess + emulator.defensive && at.value.is_finite());
        }
    }

    #[test]
    fn a_recalled_emulator_has_the_same_bits_and_foreign_memories_are_refused() {
        let emulator = Emulator::fit(&[mode(), mode()], &draws(30, 1)).unwrap().accepted(0.7);
        let memory = emulator.memory();
        let mut reader = MemoryReader::new("emulator", &memory);
        let recalled = Emulator::recall(&mut reader).unwrap();
        reader.finish().unwrap();
        assert_eq!(recalled.memory(), memory);
        let mut room = Room::default();
        for (x, _) in draws(20, 3) {
            let [own, other] = [&emulator, &recalled].map(|it| it.at(&x, &mut room).value);
            assert_eq!(own.to_bits(), other.to_bits());
        }
        for cut in [0, 2, 5, memory.len() - 1] {
            let mut reader = MemoryReader::new("emulator", &memory[..cut]);
            assert!(Emulator::recall(&mut reader).is_err(), "{cut}");
        }
        let mut huge = memory.clone();
        huge[1] = 1e18;
        assert!(Emulator::recall(&mut MemoryReader::new("emulator", &huge)).is_err());
    }

    #[test]
    fn nothing_is_emulated_without_a_mode() {
        assert!(Emulator::fit(&[], &draws(3, 1)).is_none());
    }
}
