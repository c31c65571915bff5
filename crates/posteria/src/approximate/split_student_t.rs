//! Put a distribution with two scales per axis about the mode of a density.

use posteria_linalg::{Matrix, SymmetricEigen, dot};

use crate::density::special::ln_gamma;
use crate::random::Stream;
use crate::sample::AtMode;
use crate::target::LogDensity;

/// Degrees of freedom: tails heavy enough for weights to be bounded where the density's are about
/// normal, a middle that is about normal itself.
const DOF: f64 = 5.0;
/// Where the fall of the log density along an axis is measured, in standard deviations.
const MEASURED: [f64; 2] = [1.0, 2.5];
/// Least and largest factor of the standard deviation on one side.
const NARROWEST: f64 = 0.4;
const WIDEST: f64 = 3.0;

/// Student's t with 5 degrees of freedom about a mode m, whose scales on both sides along each axis
/// differ [Geweke 1989; Rue, Martino & Chopin 2009, §6.5].
///
/// With axes a_j (eigenvectors of the covariance at the mode, times their deviations) a position is
/// m + Σ a_j s_j u_j, u multivariate t, and s_j one of s_j⁺ and s_j⁻ by the sign of u_j, which is
/// positive with probability s_j⁺/(s_j⁺ + s_j⁻). The density is continuous.
#[derive(Clone, Debug)]
pub struct SplitStudentT {
    mode: Vec<f64>,
    /// Eigenvectors, and the deviation along each.
    axes: Matrix,
    deviations: Vec<f64>,
    /// (s⁻, s⁺) of every axis.
    sides: Vec<[f64; 2]>,
    log_constant: f64,
}

impl SplitStudentT {
    /// About a mode of `target`, with scales on each side by how far the log density falls there:
    /// t deviations away from the mode by t²/2s². `None` if the mode has no usable covariance.
    pub fn about(target: &mut dyn LogDensity, at: &AtMode) -> Option<Self> {
        let mut found = SplitStudentT::with_covariance(at.mode.clone(), &at.covariance)?;
        let mut position = vec![0.0; at.mode.len()];
        for axis in 0..at.mode.len() {
            let direction = found.axes.column(axis).to_vec();
            for side in 0..2 {
                let mut scale = NARROWEST;
                for steps in MEASURED {
                    let step = [-steps, steps][side] * found.deviations[axis];
                    let places = position.iter_mut().zip(&at.mode).zip(&direction);
                    places.for_each(|((x, mode), along)| *x = mode + step * along);
                    // A wall is no reason to look farther.
                    let Ok(value) = target.log_density(&position) else { continue };
                    let fall = (at.log_density - value).max(0.5 * (steps / WIDEST).powi(2));
                    scale = (steps / (2.0 * fall).sqrt()).max(scale);
                }
                found.sides[axis][side] = scale;
            }
        }
        found.log_constant = found.log_constant();
        Some(found)
    }

    /// The same scales on both sides. `None` unless the covariance is positive definite.
    pub fn with_covariance(mode: Vec<f64>, covariance: &Matrix) -> Option<Self> {
        let eigen = SymmetricEigen::new(covariance).ok()?;
        let deviations: Vec<f64> = eigen.values().iter().map(|value| value.sqrt()).collect();
        if !deviations.iter().all(|deviation| deviation.is_normal()) {
            return None;
        }
        let sides = vec![[1.0; 2]; mode.len()];
        let axes = eigen.vectors().clone();
        let mut found = SplitStudentT { mode, axes, deviations, sides, log_constant: 0.0 };
        found.log_constant = found.log_constant();
        Some(found)
    }

    fn log_constant(&self) -> f64 {
        let dim = self.mode.len() as f64;
        let of_axis =
            |(sides, deviation): (&[f64; 2], &f64)| -(deviation * 0.5 * (sides[0] + sides[1])).ln();
        let axes: f64 = self.sides.iter().zip(&self.deviations).map(of_axis).sum();
        ln_gamma(0.5 * (DOF + dim))
            - ln_gamma(0.5 * DOF)
            - 0.5 * dim * (DOF * std::f64::consts::PI).ln()
            + axes
    }

    /// Length of a position.
    pub fn dim(&self) -> usize {
        self.mode.len()
    }

    /// Writes an independent draw.
    pub fn draw(&self, position: &mut [f64], stream: &mut Stream) {
        let stretch = (DOF / (2.0 * stream.gamma(0.5 * DOF))).sqrt();
        position.copy_from_slice(&self.mode);
        for (axis, [below, above]) in self.sides.iter().enumerate() {
            let size = stretch * self.deviations[axis] * stream.normal().abs();
            let is_above = stream.uniform() * (below + above) < *above;
            let step = if is_above { above * size } else { -below * size };
            let along = self.axes.column(axis);
            position.iter_mut().zip(along).for_each(|(x, along)| *x += step * along);
        }
    }

    /// The log density at `position`, normalised.
    pub fn log_density(&self, position: &[f64]) -> f64 {
        let off: Vec<f64> = position.iter().zip(&self.mode).map(|(x, mode)| x - mode).collect();
        let square = |axis: usize| {
            let z = dot(self.axes.column(axis), &off) / self.deviations[axis];
            let [below, above] = self.sides[axis];
            (z / if z < 0.0 { below } else { above }).powi(2)
        };
        let square: f64 = (0..off.len()).map(square).sum();
        self.log_constant - 0.5 * (DOF + off.len() as f64) * (square / DOF).ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    fn skewed() -> SplitStudentT {
        let covariance = Matrix::from_fn(2, 2, |i, j| if i == j { 1.0 } else { 0.6 });
        let mut found = SplitStudentT::with_covariance(vec![0.5, -1.0], &covariance).unwrap();
        found.sides = vec![[0.5, 2.0], [1.0, 0.4]];
        found.log_constant = found.log_constant();
        found
    }

    /// On a lattice that reaches where the tails hold 1e-4 of the mass (P(|t₅| > 15) = 2e-5 per axis).
    #[test]
    fn the_density_is_normalised_and_continuous() {
        let found = skewed();
        let (step, half) = (0.1, 600);
        let mut sum = 0.0;
        for i in -half..=half {
            for j in -half..=half {
                let at = [0.5 + step * f64::from(i), -1.0 + step * f64::from(j)];
                sum += step * step * found.log_density(&at).exp();
            }
        }
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
        let at = |t: f64| {
            let axis = found.axes.column(0);
            found.log_density(&[0.5 + t * axis[0], -1.0 + t * axis[1]])
        };
        assert!((at(1e-9) - at(-1e-9)).abs() < 1e-6);
    }

    /// Counts above the mode along each axis and the mean of a bounded function: 20 000 draws, five
    /// standard errors, so that one of four fails by chance with probability 2e-6.
    #[test]
    fn draws_follow_the_density() {
        let found = skewed();
        let mut stream = Seed(4).stream(Purpose::Data, [41, 0]);
        let count = 20_000;
        let mut above = [0.0; 2];
        let mut cosine = [0.0; 2];
        let mut position = [0.0; 2];
        for _ in 0..count {
            found.draw(&mut position, &mut stream);
            for axis in 0..2 {
                let off = [position[0] - 0.5, position[1] + 1.0];
                let z = dot(found.axes.column(axis), &off) / found.deviations[axis];
                above[axis] += f64::from(u8::from(z > 0.0)) / f64::from(count);
                cosine[axis] += position[axis].cos() / f64::from(count);
            }
        }
        let error = 5.0 / (4.0 * f64::from(count)).sqrt();
        assert!(
            (above[0] - 0.8).abs() < error && (above[1] - 0.4 / 1.4).abs() < error,
            "{above:?}"
        );
        let (step, half) = (0.1, 300);
        let mut expected = [0.0; 2];
        for i in -half..=half {
            for j in -half..=half {
                let at = [0.5 + step * f64::from(i), -1.0 + step * f64::from(j)];
                let mass = step * step * found.log_density(&at).exp();
                (0..2).for_each(|axis| expected[axis] += mass * at[axis].cos());
            }
        }
        for axis in 0..2 {
            let off = (cosine[axis] - expected[axis]).abs();
            assert!(off < 5.0 / (2.0 * f64::from(count)).sqrt(), "{cosine:?} {expected:?}");
        }
    }
}
