//! Put a normal distribution at a mode of any log density.

use posteria_linalg::{Cholesky, Matrix, SymmetricEigen};

use crate::density::special::LOG_SQRT_2PI;
use crate::optimise::ScaledConjugateGradient;
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity, Point};

/// Step of the differences of gradients, in standard deviations along the coordinate: their
/// truncation error is its square, 1e-8, and rounding costs four digits.
const STEP: f64 = 1e-4;
/// Most Newton steps that polish a mode.
const POLISH: usize = 8;
/// Log density that a Newton step must still promise to be taken.
const SETTLED: f64 = 1e-10;

/// Why there is no normal approximation.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LaplaceError {
    /// A position from which to climb has no usable density.
    #[error("the climb to the mode cannot begin: {reason}; give another start")]
    Start {
        /// Why.
        reason: Infeasible,
    },
    /// The density is not usable about the mode.
    #[error("the second derivatives at the mode cannot be found: {reason}; is the mode at a wall?")]
    Curvature {
        /// Why.
        reason: Infeasible,
    },
    /// The density does not fall off in every direction.
    #[error(
        "the log density does not fall off in every direction about the point that was found: its \
         curvature is {curvature:.3e} along a direction that is mostly coordinate {coordinate}; give \
         that one a proper prior, or begin elsewhere"
    )]
    NotAMode {
        /// Least eigenvalue of minus the second derivatives.
        curvature: f64,
        /// Coordinate that moves most along its eigenvector.
        coordinate: usize,
    },
}

/// The normal distribution N(m, H⁻¹) at a mode m of a density p, H being minus the second
/// derivatives of log p there, and the evidence that goes with it [MacKay 2003, §27]:
///
/// log Z ≈ log p(m) + ½ d log 2π - ½ log |H|.
///
/// Exact for normal densities, and for others to the order of 1/n as data accumulate.
#[derive(Clone, Debug)]
pub struct Laplace {
    mode: Vec<f64>,
    log_density: f64,
    precision: Cholesky,
}

impl Laplace {
    /// Climbs from `start` to a mode of `target` by scaled conjugate gradients, then by Newton's
    /// steps. Second derivatives are those that the target knows, or central differences of its
    /// gradient, made symmetric, with steps that fit the curvature of every coordinate.
    ///
    /// # Errors
    /// [`LaplaceError`].
    ///
    /// # Panics
    /// If `start` has another length than positions of `target`.
    #[track_caller]
    pub fn at_mode(target: &mut dyn LogDensity, start: Vec<f64>) -> Result<Self, LaplaceError> {
        let climb = ScaledConjugateGradient { value_tolerance: 1e-9, ..Default::default() };
        let top = climb.maximise(target, start).map_err(|reason| LaplaceError::Start { reason })?;
        let fault = |reason| LaplaceError::Curvature { reason };
        let mut point = Point::new(target, top.position).map_err(fault)?;
        let mut curvature = curvature(target, &point.position).map_err(fault)?;
        for _ in 0..POLISH {
            let Ok(precision) = Cholesky::new(&curvature) else { break };
            let mut step = point.gradient.clone();
            precision.solve(&mut step);
            let gain: f64 = step.iter().zip(&point.gradient).map(|(s, g)| 0.5 * s * g).sum();
            if gain < SETTLED {
                break;
            }
            let mut trial = point.clone();
            trial.position.iter_mut().zip(&step).for_each(|(x, s)| *x += s);
            if trial.evaluate(target).is_err() || trial.log_density < point.log_density {
                break;
            }
            point = trial;
            curvature = self::curvature(target, &point.position).map_err(fault)?;
        }
        let precision = Cholesky::new(&curvature).map_err(|_| not_a_mode(&curvature))?;
        Ok(Laplace { mode: point.position, log_density: point.log_density, precision })
    }

    /// The approximation at the highest of the modes that are found from several `starts`.
    ///
    /// # Errors
    /// That of the last start, if none leads to a mode.
    ///
    /// # Panics
    /// If there are none, or as [`Laplace::at_mode`].
    #[track_caller]
    pub fn at_highest_mode(
        target: &mut dyn LogDensity,
        starts: impl IntoIterator<Item = Vec<f64>>,
    ) -> Result<Self, LaplaceError> {
        let mut best: Option<Result<Self, LaplaceError>> = None;
        for start in starts {
            let found = Laplace::at_mode(target, start);
            let better = match (&best, &found) {
                (Some(Ok(best)), Ok(found)) => found.log_density > best.log_density,
                (Some(Ok(_)), Err(_)) => false,
                _ => true,
            };
            if better {
                best = Some(found);
            }
        }
        best.expect("at least one start")
    }

    /// The mode m.
    pub fn mode(&self) -> &[f64] {
        &self.mode
    }

    /// The log density at the mode.
    pub fn log_density_at_mode(&self) -> f64 {
        self.log_density
    }

    /// H, factorised.
    pub fn precision(&self) -> &Cholesky {
        &self.precision
    }

    /// log Z; the log evidence where the density is prior × likelihood, normalised.
    pub fn log_evidence(&self) -> f64 {
        self.log_density + self.mode.len() as f64 * LOG_SQRT_2PI
            - 0.5 * self.precision.log_determinant()
    }

    /// Variance gᵀH⁻¹g of a quantity with this gradient at the mode, to first order.
    ///
    /// # Panics
    /// If there is not one entry of `gradient` per coordinate.
    pub fn variance(&self, gradient: &[f64]) -> f64 {
        let mut whitened = gradient.to_vec();
        self.precision.solve_lower(&mut whitened);
        whitened.iter().map(|value| value * value).sum()
    }

    /// Writes an independent draw. Allocates nothing.
    ///
    /// # Panics
    /// If `position` has another length than the mode.
    pub fn draw(&self, position: &mut [f64], stream: &mut Stream) {
        stream.fill_normal(position);
        self.precision.solve_lower_transposed(position);
        position.iter_mut().zip(&self.mode).for_each(|(x, mode)| *x += mode);
    }

    /// log q at `position`. Allocates nothing.
    ///
    /// # Panics
    /// If `position` has another length than the mode.
    pub fn log_density(&self, position: &[f64]) -> f64 {
        log_normal(&self.mode, &self.precision, position)
    }
}

/// Log density of N(mean, Λ⁻¹) from the factor Λ = LLᵀ, without a buffer for Lᵀ(x - m).
pub(super) fn log_normal(mean: &[f64], precision: &Cholesky, position: &[f64]) -> f64 {
    assert_eq!(mean.len(), position.len(), "one entry per coordinate");
    let factor = precision.factor();
    let squares: f64 = (0..mean.len())
        .map(|j| {
            let below = factor.column(j)[j..].iter().zip(&position[j..]).zip(&mean[j..]);
            below.map(|((l, x), m)| l * (x - m)).sum::<f64>().powi(2)
        })
        .sum();
    0.5 * precision.log_determinant() - mean.len() as f64 * LOG_SQRT_2PI - 0.5 * squares
}

/// Minus the second derivatives of `target` at `position`.
pub(super) fn curvature(
    target: &mut dyn LogDensity,
    position: &[f64],
) -> Result<Matrix, Infeasible> {
    let dim = position.len();
    let mut curvature = Matrix::zeros(dim, dim);
    if target.curvature(position, &mut curvature)? {
        return Ok(curvature);
    }
    // Curvatures along the coordinates first, which say how long a step is short.
    let mut widths: Vec<f64> = match target.step_scale() {
        Some(scales) => scales.iter().map(|scale| STEP * scale).collect(),
        None => position.iter().map(|x| STEP * x.abs().max(1.0)).collect(),
    };
    for (j, width) in widths.iter_mut().enumerate() {
        let [above, below] = slopes(target, position, j, *width)?;
        let along = (below[j] - above[j]) / (2.0 * *width);
        if along.is_normal() {
            *width = STEP / along.abs().sqrt();
        }
        let [above, below] = slopes(target, position, j, *width)?;
        for (i, slot) in curvature.column_mut(j).iter_mut().enumerate() {
            *slot = (below[i] - above[i]) / (2.0 * *width);
        }
    }
    for j in 0..dim {
        for i in 0..j {
            let mean = 0.5 * (curvature[(i, j)] + curvature[(j, i)]);
            (curvature[(i, j)], curvature[(j, i)]) = (mean, mean);
        }
    }
    match curvature.values().iter().all(|value| value.is_finite()) {
        true => Ok(curvature),
        false => Err(Infeasible::NotFinite),
    }
}

/// Gradients a `width` up and down coordinate `j`.
fn slopes(
    target: &mut dyn LogDensity,
    position: &[f64],
    j: usize,
    width: f64,
) -> Result<[Vec<f64>; 2], Infeasible> {
    let mut at = |offset: f64| {
        let (mut shifted, mut gradient) = (position.to_vec(), vec![0.0; position.len()]);
        shifted[j] += offset;
        target.log_density_gradient(&shifted, &mut gradient).map(|_| gradient)
    };
    Ok([at(width)?, at(-width)?])
}

fn not_a_mode(curvature: &Matrix) -> LaplaceError {
    let Ok(eigen) = SymmetricEigen::new(curvature) else {
        return LaplaceError::Curvature { reason: Infeasible::NotFinite };
    };
    let least = (0..eigen.values().len())
        .min_by(|a, b| eigen.values()[*a].total_cmp(&eigen.values()[*b]))
        .unwrap_or(0);
    let direction = eigen.vectors().column(least);
    let coordinate = (0..direction.len())
        .max_by(|a, b| direction[*a].abs().total_cmp(&direction[*b].abs()))
        .unwrap_or(0);
    LaplaceError::NotAMode { curvature: eigen.values()[least], coordinate }
}

#[cfg(test)]
mod tests;
