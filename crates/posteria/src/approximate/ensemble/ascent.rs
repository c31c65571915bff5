//! Find weights, precisions and levels by turns.

use posteria_linalg::{Cholesky, Matrix, NotPositiveDefinite, dot, symmetric_rank_k};

use super::EnsembleOptions;
use super::level::{Level, LevelTerms};
use crate::density::Precision;
use crate::density::special::{LOG_SQRT_2PI, ln_gamma};
use crate::model::mlp::{GaussianNetwork, ScaleAbove, WeightPrecision};
use crate::random::Stream;

/// Ratio of successive temperatures, and rounds at each.
const RATIO: f64 = 2.0;
const ROUNDS_EACH: usize = 5;
/// The climb ends when a round changes the bound by less than this part of it, twice.
const TOLERANCE: f64 = 1e-10;
/// Standard deviation of starting weights, and precisions at the start.
const FIRST_WEIGHT: f64 = 0.3;
const FIRST_SCALE: f64 = 0.5;
/// Halvings of a step of the weights before they stay.
const HALVINGS: usize = 30;

/// A climb.
pub(super) struct Ascent {
    pub(super) weights: Vec<f64>,
    /// Factor of the precision of the weights.
    pub(super) factor: Cholesky,
    covariance: Matrix,
    /// Residuals y - f and derivatives of f at the mean weights.
    residuals: Vec<f64>,
    jacobian: Matrix,
    /// E (y - f)² of every residual.
    squares: Vec<f64>,
    pub(super) precisions: Vec<Precision>,
    pub(super) levels: Vec<Level>,
    pub(super) bounds: Vec<f64>,
}

impl GaussianNetwork<'_> {
    /// What a log density of standardised targets has too much.
    pub(super) fn log_unit(&self) -> f64 {
        let rows = (self.residuals.len() / self.posterior.target_scaling().len().max(1)) as f64;
        self.posterior.target_scaling().iter().map(|scaling| rows * scaling.scale.ln()).sum()
    }
}

impl Ascent {
    /// Begins at small random weights.
    pub(super) fn new(network: &GaussianNetwork<'_>, stream: &mut Stream) -> Self {
        let mut weights = vec![0.0; network.weights.len()];
        stream.fill_normal(&mut weights);
        weights.iter_mut().for_each(|weight| *weight *= FIRST_WEIGHT);
        Ascent::with(network, weights)
    }

    fn with(network: &GaussianNetwork<'_>, weights: Vec<f64>) -> Self {
        let (count, residuals) = (network.weights.len(), network.residuals.len());
        let about = 1.0 / (FIRST_SCALE * FIRST_SCALE);
        let mut ascent = Ascent {
            weights,
            factor: Cholesky::identity(count),
            covariance: Matrix::zeros(count, count),
            residuals: vec![0.0; residuals],
            jacobian: Matrix::zeros(residuals, count),
            squares: vec![0.0; residuals],
            precisions: vec![Precision { shape: 1.0, rate: 1.0 / about }; network.precisions.len()],
            levels: network.levels.iter().map(|level| Level::at(level.prior.scale())).collect(),
            bounds: Vec::new(),
        };
        ascent.linearize(network);
        ascent
    }

    /// Begins at these weights, with precisions that fit their size and that of the residuals.
    pub(super) fn at(network: &GaussianNetwork<'_>, weights: &[f64]) -> Self {
        let mut ascent = Ascent::with(network, weights.to_vec());
        let count = network.precisions.len();
        let (mut counts, mut squares) = (vec![0.0; count], vec![0.0; count]);
        let mut add = |index: usize, value: f64| {
            counts[index] += 1.0;
            squares[index] += value * value;
        };
        for (weight, which) in ascent.weights.iter().zip(&network.weights) {
            if let WeightPrecision::Sampled(index) = which {
                add(*index, *weight);
            }
        }
        for (residual, at) in ascent.residuals.iter().zip(&network.residuals) {
            add(*at, *residual);
        }
        for ((own, count), square) in ascent.precisions.iter_mut().zip(counts).zip(squares) {
            if count > 0.0 && square > 0.0 {
                *own = Precision { shape: 0.5 * count, rate: 0.5 * square };
            }
        }
        ascent
    }

    pub(super) fn bound(&self) -> f64 {
        self.bounds.last().copied().unwrap_or(f64::NEG_INFINITY)
    }

    /// Climbs with a likelihood that grows to its full power, then until nothing changes.
    pub(super) fn climb(
        &mut self,
        network: &GaussianNetwork<'_>,
        options: &EnsembleOptions,
    ) -> Result<(), NotPositiveDefinite> {
        let mut power = options.first_temperature;
        while power < 1.0 {
            for _ in 0..ROUNDS_EACH {
                self.round(network, power)?;
            }
            power *= RATIO;
        }
        let mut still = 0;
        for _ in 0..options.rounds.max(1) {
            self.round(network, 1.0)?;
            let bound = self.new_bound(network);
            if !bound.is_finite() {
                return Err(NotPositiveDefinite { pivot: 0 });
            }
            let change = bound - self.bound();
            self.bounds.push(bound);
            still = if change.abs() <= TOLERANCE * (1.0 + bound.abs()) { still + 1 } else { 0 };
            if still == 2 {
                break;
            }
        }
        Ok(())
    }

    fn round(
        &mut self,
        network: &GaussianNetwork<'_>,
        power: f64,
    ) -> Result<(), NotPositiveDefinite> {
        self.find_weights(network, power)?;
        self.find_precisions(network, power);
        self.find_levels(network);
        Ok(())
    }

    fn linearize(&mut self, network: &GaussianNetwork<'_>) {
        let outputs = &mut self.residuals;
        let rows = network.rows();
        network.posterior.linearize(&self.weights, rows, outputs, &mut self.jacobian);
        for (slot, target) in outputs.iter_mut().zip(network.targets()) {
            *slot = target - *slot;
        }
    }

    fn weight_precision(&self, which: WeightPrecision) -> f64 {
        match which {
            WeightPrecision::Known(precision) => precision,
            WeightPrecision::Sampled(index) => self.precisions[index].mean(),
        }
    }

    /// ½ Σ θ E τ (y - f)² + ½ Σ E α w², what the mean weights minimise.
    fn energy(&self, network: &GaussianNetwork<'_>, power: f64) -> f64 {
        let residuals = self.residuals.iter().zip(&network.residuals);
        let data: f64 = residuals.map(|(r, at)| self.precisions[*at].mean() * r * r).sum();
        let each = self.weights.iter().zip(&network.weights);
        let prior: f64 = each.map(|(w, which)| self.weight_precision(*which) * w * w).sum();
        0.5 * (power * data + prior)
    }

    /// Σ⁻¹ = θ Jᵀ diag(E τ) J + diag(E α) at the present weights.
    fn find_covariance(
        &mut self,
        network: &GaussianNetwork<'_>,
        power: f64,
    ) -> Result<(), NotPositiveDefinite> {
        let count = self.weights.len();
        let roots: Vec<f64> = network
            .residuals
            .iter()
            .map(|at| (power * self.precisions[*at].mean()).sqrt())
            .collect();
        let scaled = Matrix::from_fn(roots.len(), count, |row, column| {
            roots[row] * self.jacobian[(row, column)]
        });
        let mut precision = Matrix::zeros(count, count);
        symmetric_rank_k(&scaled, &mut precision);
        for (weight, which) in network.weights.iter().enumerate() {
            precision[(weight, weight)] += self.weight_precision(*which);
        }
        self.factor.factorize(&precision)
    }

    /// One Gauss-Newton step, halved until the energy does not rise, then q(w) about it
    /// [Fabricius 1999, eq. 6.54-6.55 with the second derivatives of f left out, so that the
    /// precision is positive definite].
    fn find_weights(
        &mut self,
        network: &GaussianNetwork<'_>,
        power: f64,
    ) -> Result<(), NotPositiveDefinite> {
        self.find_covariance(network, power)?;
        let weighted: Vec<f64> = self
            .residuals
            .iter()
            .zip(&network.residuals)
            .map(|(residual, at)| power * self.precisions[*at].mean() * residual)
            .collect();
        let mut step: Vec<f64> = (0..self.weights.len())
            .map(|weight| {
                let own = self.weight_precision(network.weights[weight]);
                dot(self.jacobian.column(weight), &weighted) - own * self.weights[weight]
            })
            .collect();
        self.factor.solve(&mut step);
        let (before, first) = (self.energy(network, power), self.weights.clone());
        let mut factor = 1.0;
        for _ in 0..HALVINGS {
            for ((slot, from), step) in self.weights.iter_mut().zip(&first).zip(&step) {
                *slot = from + factor * step;
            }
            self.linearize(network);
            // Rounding of the energy must not undo the last steps.
            if self.energy(network, power) <= before + 1e-13 * before.abs() {
                break;
            }
            factor *= 0.5;
        }
        if self.energy(network, power) > before + 1e-13 * before.abs() {
            self.weights = first;
            self.linearize(network);
        }
        self.find_covariance(network, power)?;
        self.factor.inverse(&mut self.covariance);
        self.find_squares();
        Ok(())
    }

    /// E (y - f)² = (y - f̄)² + J Σ Jᵀ = (y - f̄)² + ‖L⁻¹ Jᵀ‖².
    fn find_squares(&mut self) {
        let mut row = vec![0.0; self.weights.len()];
        for (at, slot) in self.squares.iter_mut().enumerate() {
            for (weight, value) in row.iter_mut().enumerate() {
                *value = self.jacobian[(at, weight)];
            }
            self.factor.solve_lower(&mut row);
            *slot = self.residuals[at] * self.residuals[at] + dot(&row, &row);
        }
    }

    /// Mean and mean logarithm of the rate ν a²/2 of the prior of a precision.
    fn prior_rate(&self, network: &GaussianNetwork<'_>, index: usize) -> (f64, f64) {
        let half = 0.5 * network.precisions[index].dof;
        match network.precisions[index].above {
            ScaleAbove::Known(scale) => {
                let rate = half * scale * scale;
                (rate, rate.ln())
            }
            ScaleAbove::Sampled(level) => {
                let level = self.levels[level];
                (half * level.square(), half.ln() + level.log_square())
            }
        }
    }

    /// E w².
    fn weight_square(&self, weight: usize) -> f64 {
        self.weights[weight] * self.weights[weight] + self.covariance[(weight, weight)]
    }

    fn find_precisions(&mut self, network: &GaussianNetwork<'_>, power: f64) {
        let found: Vec<Precision> = (0..self.precisions.len())
            .map(|index| Precision {
                shape: 0.5 * network.precisions[index].dof,
                rate: self.prior_rate(network, index).0,
            })
            .collect();
        self.precisions = found;
        for (weight, which) in network.weights.iter().enumerate() {
            if let WeightPrecision::Sampled(index) = which {
                let square = self.weight_square(weight);
                self.precisions[*index].shape += 0.5;
                self.precisions[*index].rate += 0.5 * square;
            }
        }
        for (at, square) in network.residuals.iter().zip(&self.squares) {
            self.precisions[*at].shape += 0.5 * power;
            self.precisions[*at].rate += 0.5 * power * square;
        }
    }

    fn level_terms(&self, network: &GaussianNetwork<'_>, level: usize) -> LevelTerms {
        let prior = &network.levels[level].prior;
        let (dof, scale) = (prior.dof(), prior.scale());
        let mut terms = LevelTerms { power: -0.5 * dof, up: 0.0, down: 0.5 * dof * scale * scale };
        for (at, own) in network.precisions.iter().zip(&self.precisions) {
            if matches!(at.above, ScaleAbove::Sampled(index) if index == level) {
                terms.power += 0.5 * at.dof;
                terms.up += 0.5 * at.dof * own.mean();
            }
        }
        terms
    }

    fn find_levels(&mut self, network: &GaussianNetwork<'_>) {
        for level in 0..self.levels.len() {
            self.levels[level] = self.levels[level].improved(self.level_terms(network, level));
        }
    }

    /// E log p - E log q with all of the likelihood.
    fn new_bound(&self, network: &GaussianNetwork<'_>) -> f64 {
        let mut bound = 0.0;
        for (at, square) in network.residuals.iter().zip(&self.squares) {
            let own = self.precisions[*at];
            bound += 0.5 * (own.log_mean() - own.mean() * square) - LOG_SQRT_2PI;
        }
        for (weight, which) in network.weights.iter().enumerate() {
            let (mean, log) = match which {
                WeightPrecision::Known(precision) => (*precision, precision.ln()),
                WeightPrecision::Sampled(index) => {
                    (self.precisions[*index].mean(), self.precisions[*index].log_mean())
                }
            };
            // The entropy of a weight has ½ + log √2π that its prior density takes away.
            bound += 0.5 * (log - mean * self.weight_square(weight) + 1.0);
        }
        bound -= 0.5 * self.factor.log_determinant();
        for (index, own) in self.precisions.iter().enumerate() {
            let shape = 0.5 * network.precisions[index].dof;
            bound += own.gain(shape, self.prior_rate(network, index));
        }
        for (level, at) in self.levels.iter().zip(&network.levels) {
            let (half, scale) = (0.5 * at.prior.dof(), at.prior.scale());
            let rate = half * scale * scale;
            let terms = LevelTerms { power: -half, up: 0.0, down: rate };
            bound += half * rate.ln() - ln_gamma(half) + level.value(terms);
        }
        bound
    }

    /// Σ (1 - E α Σ_ii).
    pub(super) fn effective_parameters(&self, network: &GaussianNetwork<'_>) -> f64 {
        let each = network.weights.iter().enumerate();
        each.map(|(i, which)| 1.0 - self.weight_precision(*which) * self.covariance[(i, i)]).sum()
    }
}
