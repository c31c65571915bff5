//! Climb the lower bound of principal components, one factor of the approximation at a time.

use posteria_linalg::{
    Cholesky, Matrix, NotPositiveDefinite, SymmetricEigen, dot, multiply, transposed_multiply,
};

use super::scatter::Scatter;
use crate::density::special::LOG_SQRT_2PI;
use crate::density::{Gamma, Precision};

/// Rounds after which a climb ends even if the bound still rises.
const MOST_ROUNDS: usize = 10_000;
/// A climb ends when a round raises the bound by less than this part of it.
const TOLERANCE: f64 = 1e-11;
/// Numbers of components that climbs start with, at most.
const STARTS: usize = 20;
/// Rounds after which climbs are compared; the highest goes on.
const COMPARED_ROUNDS: usize = 300;

/// Priors on the standardised scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prior {
    /// Greatest number of components.
    pub(super) components: usize,
    /// Precision of the mean of a column.
    pub(super) mean_precision: f64,
    /// Of the precision of the loadings of a component.
    pub(super) loadings: Gamma,
    /// Of the precision of the noise.
    pub(super) noise: Gamma,
}

/// A climb.
#[derive(Clone, Debug)]
pub(super) struct Ascent<'a> {
    scatter: &'a Scatter,
    prior: &'a Prior,
    /// q(μ): mean, and the variance of every entry.
    pub(super) mean: Vec<f64>,
    pub(super) mean_variance: f64,
    /// q(W): columns × components, and the factor of the precision that rows have in common.
    pub(super) loadings: Matrix,
    pub(super) loadings_precision: Cholesky,
    loadings_covariance: Matrix,
    /// q(α), q(τ).
    pub(super) scales: Vec<Precision>,
    pub(super) noise: Precision,
    /// q(z): the mean is G (x - mean), the covariance is common to all rows.
    pub(super) gain: Matrix,
    pub(super) scores: Cholesky,
    scores_covariance: Matrix,
    /// Σ E z zᵀ and Σ (x - mean) E zᵀ.
    second: Matrix,
    cross: Matrix,
    pub(super) bounds: Vec<f64>,
}

/// The best of several climbs, whose number of components at first goes from none to all.
pub(super) fn best<'a>(
    scatter: &'a Scatter,
    prior: &'a Prior,
) -> Result<(Ascent<'a>, usize), NotPositiveDefinite> {
    let eigen =
        SymmetricEigen::new(&scatter.matrix).map_err(|_| NotPositiveDefinite { pivot: 0 })?;
    let most = prior.components.min(STARTS);
    let mut best: Option<Ascent<'a>> = None;
    for start in 0..=most {
        let number = start * prior.components / most;
        let climb =
            Ascent::from_principal(scatter, prior, &eigen, number)?.climb(COMPARED_ROUNDS)?;
        if best.as_ref().is_none_or(|highest| climb.bound() > highest.bound()) {
            best = Some(climb);
        }
    }
    let best = best.expect("at least one climb").climb(MOST_ROUNDS)?;
    Ok((best, most + 1))
}

impl<'a> Ascent<'a> {
    /// Starts from the first `number` principal components, the others at zero.
    fn from_principal(
        scatter: &'a Scatter,
        prior: &'a Prior,
        eigen: &SymmetricEigen,
        number: usize,
    ) -> Result<Self, NotPositiveDefinite> {
        let dim = scatter.dim();
        // In descending order.
        let variance = |k: usize| (eigen.values()[dim - 1 - k] / scatter.count).max(0.0);
        let rest = dim - number;
        let noise = (number..dim).map(variance).sum::<f64>() / rest.max(1) as f64;
        let floor = 1e-6 * (scatter.trace() / (scatter.count * dim as f64)).max(1e-6);
        let noise = noise.max(floor);
        let loadings = Matrix::from_fn(dim, prior.components, |row, k| {
            if k >= number {
                return 0.0;
            }
            (variance(k) - noise).max(floor).sqrt() * eigen.vectors()[(row, dim - 1 - k)]
        });
        Ascent::new(scatter, prior, loadings, noise)
    }

    /// Starts from these loadings and this variance of the noise.
    pub(super) fn new(
        scatter: &'a Scatter,
        prior: &'a Prior,
        loadings: Matrix,
        noise: f64,
    ) -> Result<Self, NotPositiveDefinite> {
        let (dim, q) = (scatter.dim(), prior.components);
        let size = |k: usize| dot(loadings.column(k), loadings.column(k));
        let shape = prior.loadings.shape() + 0.5 * dim as f64;
        let scale = |k: usize| Precision { shape, rate: prior.loadings.rate() + 0.5 * size(k) };
        let shape = prior.noise.shape() + 0.5 * scatter.count * dim as f64;
        let mut ascent = Ascent {
            mean: scatter.mean.clone(),
            mean_variance: 0.0,
            scales: (0..q).map(scale).collect(),
            noise: Precision { shape, rate: shape * noise },
            loadings,
            loadings_precision: Cholesky::identity(q),
            loadings_covariance: Matrix::zeros(q, q),
            gain: Matrix::zeros(q, dim),
            scores: Cholesky::identity(q),
            scores_covariance: Matrix::zeros(q, q),
            second: Matrix::zeros(q, q),
            cross: Matrix::zeros(dim, q),
            bounds: Vec::new(),
            scatter,
            prior,
        };
        ascent.round()?;
        Ok(ascent)
    }

    /// Climbs for so many rounds, or until nothing is gained.
    pub(super) fn climb(mut self, rounds: usize) -> Result<Self, NotPositiveDefinite> {
        for _ in 0..rounds {
            self.round()?;
            if let [.., before, after] = self.bounds[..]
                && after - before <= TOLERANCE * (1.0 + after.abs())
            {
                break;
            }
        }
        Ok(self)
    }

    pub(super) fn bound(&self) -> f64 {
        self.bounds.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Every factor given the others, and the bound.
    fn round(&mut self) -> Result<(), NotPositiveDefinite> {
        self.find_scores()?;
        self.find_mean();
        self.find_loadings()?;
        self.find_scales();
        self.find_noise();
        let bound = self.new_bound();
        // NaN must not look like the end of a climb.
        if !bound.is_finite() {
            return Err(NotPositiveDefinite { pivot: 0 });
        }
        self.bounds.push(bound);
        Ok(())
    }

    /// E WᵀW.
    fn loadings_square(&self) -> Matrix {
        let q = self.prior.components;
        let mut square = Matrix::zeros(q, q);
        transposed_multiply(&self.loadings, &self.loadings, &mut square);
        let dim = self.scatter.dim() as f64;
        for (slot, own) in square.values_mut().iter_mut().zip(self.loadings_covariance.values()) {
            *slot += dim * own;
        }
        square
    }

    /// x̄ - E μ.
    fn off(&self) -> Vec<f64> {
        self.scatter.mean.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect()
    }

    /// q(z): covariance (I + E τ E WᵀW)⁻¹, mean E τ cov E Wᵀ (x - E μ).
    fn find_scores(&mut self) -> Result<(), NotPositiveDefinite> {
        let (tau, count) = (self.noise.mean(), self.scatter.count);
        let mut precision = self.loadings_square();
        let q = self.prior.components;
        for column in 0..q {
            precision.column_mut(column).iter_mut().for_each(|entry| *entry *= tau);
            precision[(column, column)] += 1.0;
        }
        self.scores.factorize(&precision)?;
        self.scores.inverse(&mut self.scores_covariance);
        // G = E τ cov E Wᵀ, column by column of the data.
        for column in 0..self.scatter.dim() {
            for k in 0..q {
                self.gain[(k, column)] = tau * self.loadings[(column, k)];
            }
            self.scores.solve(self.gain.column_mut(column));
        }
        // Σ E z zᵀ = n cov + G (S + n off offᵀ) Gᵀ; Σ (x - x̄) E zᵀ = S Gᵀ.
        let transposed = Matrix::from_fn(self.scatter.dim(), q, |row, k| self.gain[(k, row)]);
        multiply(&self.scatter.matrix, &transposed, &mut self.cross);
        multiply(&self.gain, &self.cross, &mut self.second);
        let mean = self.mean_score();
        for column in 0..q {
            for row in 0..q {
                self.second[(row, column)] +=
                    count * (self.scores_covariance[(row, column)] + mean[row] * mean[column]);
            }
        }
        // The product of a symmetric matrix from both sides is symmetric up to rounding only.
        self.second.mirror_lower();
        self.shift_cross(&mean);
        Ok(())
    }

    /// Mean of E z over the rows, with the mean at which q(z) was found.
    fn mean_score(&self) -> Vec<f64> {
        let off = self.off();
        let row =
            |k: usize| (0..off.len()).map(|column| self.gain[(k, column)] * off[column]).sum();
        (0..self.prior.components).map(row).collect()
    }

    /// Adds n (x̄ - E μ) z̄ᵀ to Σ (x - x̄) E zᵀ.
    fn shift_cross(&mut self, mean_score: &[f64]) {
        let (off, count) = (self.off(), self.scatter.count);
        for (k, score) in mean_score.iter().enumerate() {
            for (slot, off) in self.cross.column_mut(k).iter_mut().zip(&off) {
                *slot += count * off * score;
            }
        }
    }

    /// q(μ): precision β + n E τ, mean E τ Σ (x - E W E z) over it.
    fn find_mean(&mut self) {
        let (tau, count) = (self.noise.mean(), self.scatter.count);
        let scores = self.mean_score();
        self.mean_variance = 1.0 / (self.prior.mean_precision + count * tau);
        let share = count * tau * self.mean_variance;
        for column in 0..self.mean.len() {
            let part: f64 =
                scores.iter().enumerate().map(|(k, z)| self.loadings[(column, k)] * z).sum();
            let moved = share * (self.scatter.mean[column] - part);
            // What was summed about the old mean is now about the new one.
            let shift = count * (self.mean[column] - moved);
            for (k, score) in scores.iter().enumerate() {
                self.cross[(column, k)] += shift * score;
            }
            self.mean[column] = moved;
        }
    }

    /// q(W): rows with precision diag(E α) + E τ Σ E z zᵀ.
    fn find_loadings(&mut self) -> Result<(), NotPositiveDefinite> {
        let tau = self.noise.mean();
        let mut precision = self.second.clone();
        precision.values_mut().iter_mut().for_each(|entry| *entry *= tau);
        for (k, scale) in self.scales.iter().enumerate() {
            precision[(k, k)] += scale.mean();
        }
        self.loadings_precision.factorize(&precision)?;
        self.loadings_precision.inverse(&mut self.loadings_covariance);
        let mut row = vec![0.0; self.prior.components];
        for column in 0..self.scatter.dim() {
            for (k, slot) in row.iter_mut().enumerate() {
                *slot = tau * self.cross[(column, k)];
            }
            self.loadings_precision.solve(&mut row);
            for (k, value) in row.iter().enumerate() {
                self.loadings[(column, k)] = *value;
            }
        }
        Ok(())
    }

    /// E ‖w_k‖².
    fn size(&self, k: usize) -> f64 {
        let column = self.loadings.column(k);
        dot(column, column) + self.scatter.dim() as f64 * self.loadings_covariance[(k, k)]
    }

    fn find_scales(&mut self) {
        for k in 0..self.scales.len() {
            self.scales[k].rate = self.prior.loadings.rate() + 0.5 * self.size(k);
        }
    }

    /// Σ E ‖x - W z - μ‖².
    fn squares(&self) -> f64 {
        let (dim, count) = (self.scatter.dim() as f64, self.scatter.count);
        let off: f64 = self.off().iter().map(|off| off * off).sum();
        let about_mean = self.scatter.trace() + count * (off + dim * self.mean_variance);
        let fitted = dot(self.loadings_square().values(), self.second.values());
        let along = dot(self.loadings.values(), self.cross.values());
        (about_mean + fitted - 2.0 * along).max(0.0)
    }

    fn find_noise(&mut self) {
        self.noise.rate = self.prior.noise.rate() + 0.5 * self.squares();
    }

    fn new_bound(&self) -> f64 {
        let (dim, count) = (self.scatter.dim() as f64, self.scatter.count);
        let q = self.prior.components as f64;
        let rows = count * dim * (0.5 * self.noise.log_mean() - LOG_SQRT_2PI)
            - 0.5 * self.noise.mean() * self.squares();
        let trace: f64 = (0..self.prior.components).map(|k| self.second[(k, k)]).sum();
        let scores = 0.5 * (count * (q - self.scores.log_determinant()) - trace);
        let each = self.scales.iter().enumerate();
        let sizes: f64 =
            each.map(|(k, scale)| dim * scale.log_mean() - scale.mean() * self.size(k)).sum();
        let loadings = 0.5 * (sizes + dim * (q - self.loadings_precision.log_determinant()));
        let square: f64 = self.mean.iter().map(|mean| mean * mean).sum();
        let beta = self.prior.mean_precision;
        let mean = 0.5
            * (dim * (1.0 + (beta * self.mean_variance).ln())
                - beta * (square + dim * self.mean_variance));
        let scales: f64 =
            self.scales.iter().map(|scale| scale.gain_over(self.prior.loadings)).sum();
        rows + scores + loadings + mean + scales + self.noise.gain_over(self.prior.noise)
    }
}
