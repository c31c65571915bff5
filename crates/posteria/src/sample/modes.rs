//! Find the modes of a density, and its shape there.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use posteria_linalg::{Cholesky, Matrix, SymmetricEigen};

use super::Emulator;
use super::emulation::Emulation;
use crate::density::draw_by_log_weights;
use crate::optimise::{Optimum, QuasiNewton};
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity};

/// Log density that a climb may leave to be gained: a start and a metric need no more.
const TOLERANCE: f64 = 0.01;
/// Step of the differences of gradients. Coordinates are of order one, and the error of the
/// differences, of the order of its square, is far below what a metric is good for.
const DIFFERENCE: f64 = 1e-2;
/// Largest standard deviation of the approximation in any direction. Where the density is flat at
/// its mode, as along relevances of inputs that do not matter, its curvature does not say how far
/// it stays so.
const WIDEST: f64 = 2.0;
/// Tops within so many standard deviations of a mode are that mode.
const ALIKE: f64 = 3.0;
/// Modes that are lower than the highest by so much log density are left out.
const NEGLIGIBLE: f64 = 12.0;

/// A normal approximation of a density at a mode.
#[derive(Clone, Debug)]
pub struct AtMode {
    /// The mode.
    pub mode: Vec<f64>,
    /// Inverse of minus the second derivatives there, bounded to standard deviations of at most 2
    /// in every direction.
    pub covariance: Matrix,
    /// The factor of the covariance.
    pub factor: Cholesky,
    /// The log density at the mode.
    pub log_density: f64,
}

impl AtMode {
    /// The approximation at `mode`, which has this log density.
    ///
    /// # Errors
    /// [`Infeasible`] if the density is not usable about the mode.
    pub fn new(
        target: &mut dyn LogDensity,
        mode: Vec<f64>,
        log_density: f64,
    ) -> Result<Self, Infeasible> {
        let covariance = bounded_inverse(&curvature(target, &mode)?)?;
        let factor = Cholesky::new(&covariance)
            .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
        Ok(AtMode { mode, covariance, factor, log_density })
    }

    /// Climbs from `start` to a mode of `target`, whose coordinates are of order one, such as
    /// logarithms of scales.
    ///
    /// # Errors
    /// [`Infeasible`] if the density is not usable at the start or about the mode.
    pub fn find(target: &mut dyn LogDensity, start: Vec<f64>) -> Result<Self, Infeasible> {
        let top = climb(target, start)?;
        AtMode::new(target, top.position, top.log_density)
    }

    /// Log of the mass about the mode, up to a constant [MacKay 2003, §27].
    pub fn log_mass(&self) -> f64 {
        self.log_density + 0.5 * self.factor.log_determinant()
    }

    /// Squared distance of a position from the mode, in standard deviations.
    pub fn squared_distance(&self, position: &[f64]) -> f64 {
        let mut deviation: Vec<f64> =
            position.iter().zip(&self.mode).map(|(x, mode)| x - mode).collect();
        self.factor.solve_lower(&mut deviation);
        deviation.iter().map(|d| d * d).sum()
    }

    /// Writes a draw that is `spread` times as wide as the approximation.
    pub fn draw(&self, spread: f64, position: &mut [f64], stream: &mut Stream) {
        stream.fill_normal(position);
        self.factor.multiply_lower(position);
        position.iter_mut().zip(&self.mode).for_each(|(x, mode)| *x = mode + spread * *x);
    }
}

fn climb(target: &mut dyn LogDensity, start: Vec<f64>) -> Result<Optimum, Infeasible> {
    let climb = QuasiNewton { value_tolerance: TOLERANCE, ..QuasiNewton::default() };
    climb.maximise(target, start)
}

/// Minus the second derivatives of `target` at `position`, by central differences of gradients.
fn curvature(target: &mut dyn LogDensity, position: &[f64]) -> Result<Matrix, Infeasible> {
    let dim = position.len();
    let mut curvature = Matrix::zeros(dim, dim);
    let mut shifted = position.to_vec();
    let (mut above, mut below) = (vec![0.0; dim], vec![0.0; dim]);
    for j in 0..dim {
        shifted[j] = position[j] + DIFFERENCE;
        target.log_density_gradient(&shifted, &mut above)?;
        shifted[j] = position[j] - DIFFERENCE;
        target.log_density_gradient(&shifted, &mut below)?;
        shifted[j] = position[j];
        for i in 0..dim {
            // Both (i, j) and (j, i) receive half of either difference.
            let half = (below[i] - above[i]) / (4.0 * DIFFERENCE);
            curvature[(i, j)] += half;
            curvature[(j, i)] += half;
        }
    }
    Ok(curvature)
}

/// The inverse of a symmetric matrix with its eigenvalues raised to at least 1/4.
fn bounded_inverse(curvature: &Matrix) -> Result<Matrix, Infeasible> {
    let eigen = SymmetricEigen::new(curvature).map_err(|_| Infeasible::NotFinite)?;
    let (dim, vectors) = (curvature.rows(), eigen.vectors());
    let mut inverse = Matrix::zeros(dim, dim);
    for (index, value) in eigen.values().iter().enumerate() {
        let variance = value.max((WIDEST * WIDEST).recip()).recip();
        let vector = vectors.column(index);
        for column in 0..dim {
            let factor = variance * vector[column];
            let entries = inverse.column_mut(column).iter_mut();
            entries.zip(vector).for_each(|(entry, v)| *entry += factor * v);
        }
    }
    Ok(inverse)
}

/// Where climbs from several starts end: found once, by whichever chains come first, each taking
/// the next start, and the same for all of them whoever finds it.
#[derive(Debug)]
pub struct Modes {
    starts: Vec<Vec<f64>>,
    next: AtomicUsize,
    tops: Vec<OnceLock<Option<Optimum>>>,
    distinct: OnceLock<Vec<AtMode>>,
    emulation: Emulation,
}

impl Modes {
    /// Those above `starts`; nothing is climbed yet.
    pub fn new(starts: Vec<Vec<f64>>) -> Self {
        let tops = starts.iter().map(|_| OnceLock::new()).collect();
        let (next, distinct) = (AtomicUsize::new(0), OnceLock::new());
        Modes { starts, next, tops, distinct, emulation: Emulation::new() }
    }

    /// The distinct modes of `target` that matter, the greatest mass first. The target must be the
    /// same for all who ask.
    pub fn find(&self, target: &mut dyn LogDensity) -> &[AtMode] {
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(start) = self.starts.get(index) else { break };
            self.tops[index].get_or_init(|| climb(target, start.clone()).ok());
        }
        let mut tops = Vec::new();
        for (top, start) in self.tops.iter().zip(&self.starts) {
            // Those that others have taken are waited for.
            tops.extend(top.get_or_init(|| climb(target, start.clone()).ok()));
        }
        self.distinct.get_or_init(|| distinct(target, tops))
    }

    /// An emulator of `target`, trained on values that are found once as the modes are; `None` if
    /// there is no mode.
    pub fn emulator(&self, target: &mut dyn LogDensity) -> Option<&Arc<Emulator>> {
        let modes = self.find(target);
        self.emulation.emulator(target, modes)
    }

    /// The modes, if they have been looked for.
    pub fn get(&self) -> Option<&[AtMode]> {
        self.distinct.get().map(Vec::as_slice)
    }
}

/// Tops that are not the same mode as a higher one.
fn distinct(target: &mut dyn LogDensity, mut tops: Vec<&Optimum>) -> Vec<AtMode> {
    tops.sort_by(|a, b| b.log_density.total_cmp(&a.log_density));
    let mut modes: Vec<AtMode> = Vec::new();
    for top in tops {
        let far = |mode: &AtMode| mode.squared_distance(&top.position) > ALIKE * ALIKE;
        let matters = |best: &AtMode| top.log_density > best.log_density - NEGLIGIBLE;
        if modes.iter().all(far) && modes.first().is_none_or(matters) {
            modes.extend(AtMode::new(target, top.position.clone(), top.log_density));
        }
    }
    modes.sort_by(|a, b| b.log_mass().total_cmp(&a.log_mass()));
    modes
}

/// One of `modes`, with probability in proportion to its mass.
pub(super) fn choose<'m>(modes: &'m [AtMode], stream: &mut Stream) -> Option<&'m AtMode> {
    let mut log_masses: Vec<f64> = modes.iter().map(AtMode::log_mass).collect();
    modes.get(draw_by_log_weights(&mut log_masses, stream).unwrap_or(0))
}
