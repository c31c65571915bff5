//! Scale the momentum to the shape of the density, and learn that shape in warm-up.
//!
//! All Hamiltonian kernels use whitened momenta r ~ N(0, I). A metric is a linear map S with
//! S Sᵀ ≈ covariance of the position: positions drift by ε S r and momenta are kicked by
//! ε Sᵀ ∇. This is the usual dynamics with mass matrix (S Sᵀ)⁻¹; a diagonal S is Neal's
//! per-parameter step sizes [Neal 1996, A.4], and a persistent r stays valid when S changes.

use posteria_linalg::{Cholesky, Matrix};

use crate::sample::memory::Recollection;

/// What shape a kernel learns in stages with [`Adapt::Metric`](crate::sample::Adapt).
#[derive(Clone, Debug, PartialEq)]
pub enum MetricKind {
    /// S = I, never changed.
    Unit,
    /// A fixed diagonal S: one step scale per parameter.
    Given(Vec<f64>),
    /// The diagonal S that the target itself knows
    /// ([`LogDensity::step_scale`](crate::target::LogDensity::step_scale)), read anew at every
    /// step: step scales that follow hyperparameters.
    Target,
    /// A learned diagonal S.
    Diagonal,
    /// A learned diagonal S with one common entry per group of exchangeable parameters (the
    /// weights of one layer, say); entry `i` is the group of parameter `i`.
    Pooled(Vec<usize>),
    /// A learned lower triangular S: for few, strongly correlated parameters.
    Dense,
}

/// Fewest positions from which a metric is learned.
const FEWEST_POSITIONS: f64 = 10.0;
/// Weight of the previous metric, in positions, when a new one is learned.
const PREVIOUS_WEIGHT: f64 = 5.0;

enum Map {
    Diagonal(Vec<f64>),
    Dense { factor: Cholesky, scratch: Vec<f64> },
}

/// A metric and what is being learned for the next one.
pub struct Metric {
    kind: MetricKind,
    map: Map,
    moments: Moments,
}

impl Metric {
    /// The metric that `kind` starts from.
    ///
    /// # Panics
    /// If given scales or groups are not of length `dim`, or a scale is not positive.
    pub fn new(kind: MetricKind, dim: usize) -> Self {
        let map = match &kind {
            MetricKind::Given(scales) => {
                assert_eq!(scales.len(), dim, "one step scale per parameter");
                assert!(scales.iter().all(|s| *s > 0.0 && s.is_finite()), "positive step scales");
                Map::Diagonal(scales.clone())
            }
            MetricKind::Dense => {
                Map::Dense { factor: Cholesky::identity(dim), scratch: vec![0.0; dim] }
            }
            MetricKind::Pooled(groups) => {
                assert_eq!(groups.len(), dim, "one group per parameter");
                Map::Diagonal(vec![1.0; dim])
            }
            MetricKind::Unit | MetricKind::Target | MetricKind::Diagonal => {
                Map::Diagonal(vec![1.0; dim])
            }
        };
        let moments = Moments::new(&kind, dim);
        Metric { kind, map, moments }
    }

    /// Takes the step scales of the target, where the kind asks for them.
    pub fn follow(&mut self, step_scale: Option<&[f64]>) {
        if let (MetricKind::Target, Some(scales), Map::Diagonal(own)) =
            (&self.kind, step_scale, &mut self.map)
        {
            own.copy_from_slice(scales);
        }
    }

    /// r ← r + ε Sᵀ g.
    #[inline]
    pub fn kick(&mut self, momentum: &mut [f64], step: f64, gradient: &[f64]) {
        match &mut self.map {
            Map::Diagonal(scales) => {
                for ((r, s), g) in momentum.iter_mut().zip(scales).zip(gradient) {
                    *r += step * *s * g;
                }
            }
            Map::Dense { factor, scratch } => {
                scratch.copy_from_slice(gradient);
                factor.multiply_lower_transposed(scratch);
                for (r, g) in momentum.iter_mut().zip(scratch) {
                    *r += step * *g;
                }
            }
        }
    }

    /// q ← q + ε S r.
    #[inline]
    pub fn drift(&mut self, position: &mut [f64], step: f64, momentum: &[f64]) {
        match &mut self.map {
            Map::Diagonal(scales) => {
                for ((q, s), r) in position.iter_mut().zip(scales).zip(momentum) {
                    *q += step * *s * r;
                }
            }
            Map::Dense { factor, scratch } => {
                scratch.copy_from_slice(momentum);
                factor.multiply_lower(scratch);
                for (q, r) in position.iter_mut().zip(scratch) {
                    *q += step * *r;
                }
            }
        }
    }

    /// Whether stages with `Adapt::Metric` change this metric.
    pub fn learns(&self) -> bool {
        matches!(self.kind, MetricKind::Diagonal | MetricKind::Pooled(_) | MetricKind::Dense)
    }

    /// Takes one visited position, with the gradient there, into the next metric.
    pub fn observe(&mut self, position: &[f64], gradient: &[f64]) {
        if self.learns() {
            self.moments.observe(position, gradient);
        }
    }

    /// Forgets the observed positions.
    pub fn forget(&mut self) {
        self.moments.clear();
    }

    /// Makes the metric anew from the observed positions and forgets them. Returns whether
    /// it changed; too few positions change nothing.
    pub fn conclude(&mut self) -> bool {
        let count = self.moments.count;
        let changed = self.learns() && count >= FEWEST_POSITIONS && self.adopt(count);
        self.moments.clear();
        changed
    }

    fn adopt(&mut self, count: f64) -> bool {
        let weight = count / (count + PREVIOUS_WEIGHT);
        match &mut self.map {
            Map::Diagonal(scales) => {
                self.moments.pool(&self.kind);
                for (i, scale) in scales.iter_mut().enumerate() {
                    // The scale for which positions and gradients vary alike,
                    // s⁴ = Var(q) / Var(∇): exact for a normal after a handful of positions,
                    // and robust to the autocorrelation of the chain
                    // [Seyboldt et al.].
                    let learned = (self.moments.position_squares[i]
                        / self.moments.gradient_squares[i])
                        .sqrt()
                        .sqrt();
                    if learned > 0.0 && learned.is_finite() {
                        // Geometric shrinkage towards the previous scale keeps the result
                        // independent of the unit of measurement.
                        *scale = (weight * learned.ln() + (1.0 - weight) * scale.ln()).exp();
                    }
                }
                true
            }
            Map::Dense { factor, .. } => {
                let dim = self.moments.mean.len();
                let products = &self.moments.products;
                let covariance = Matrix::from_fn(dim, dim, |row, column| {
                    let (low, high) = (row.max(column), row.min(column));
                    let entry = products[(low, high)] / (count - 1.0);
                    // Shrinking the correlations keeps few positions positive definite.
                    if row == column { entry } else { weight * entry }
                });
                // A coordinate that never moved leaves the old metric in place.
                match Cholesky::new(&covariance) {
                    Ok(learned) => {
                        *factor = learned;
                        true
                    }
                    Err(_) => false,
                }
            }
        }
    }

    pub(in crate::sample) fn write(&self, memory: &mut Vec<f64>) {
        match &self.map {
            Map::Diagonal(scales) => memory.extend(scales),
            Map::Dense { factor, .. } => memory.extend(factor.factor().values()),
        }
        self.moments.write(memory);
    }

    pub(in crate::sample) fn read(&mut self, memory: &mut Recollection<'_>) {
        match &mut self.map {
            Map::Diagonal(scales) => memory.fill(scales),
            Map::Dense { factor, scratch } => {
                let dim = scratch.len();
                let mut lower = Matrix::zeros(dim, dim);
                memory.fill(lower.values_mut());
                *factor = Cholesky::from_factor(lower);
            }
        }
        self.moments.read(memory);
    }
}

/// Running moments of visited positions and gradients [Welford 1962].
struct Moments {
    count: f64,
    mean: Vec<f64>,
    position_squares: Vec<f64>,
    gradient_mean: Vec<f64>,
    gradient_squares: Vec<f64>,
    /// Lower half of Σ (q - q̄)(q - q̄)ᵀ; empty unless the metric is dense.
    products: Matrix,
    deviation: Vec<f64>,
}

impl Moments {
    fn new(kind: &MetricKind, dim: usize) -> Self {
        let dense = if matches!(kind, MetricKind::Dense) { dim } else { 0 };
        Moments {
            count: 0.0,
            mean: vec![0.0; dim],
            position_squares: vec![0.0; dim],
            gradient_mean: vec![0.0; dim],
            gradient_squares: vec![0.0; dim],
            products: Matrix::zeros(dense, dense),
            deviation: vec![0.0; dim],
        }
    }

    fn clear(&mut self) {
        self.count = 0.0;
        for values in [
            &mut self.mean,
            &mut self.position_squares,
            &mut self.gradient_mean,
            &mut self.gradient_squares,
        ] {
            values.fill(0.0);
        }
        self.products.values_mut().fill(0.0);
    }

    fn observe(&mut self, position: &[f64], gradient: &[f64]) {
        self.count += 1.0;
        let dense = self.products.rows() > 0;
        for (i, (q, g)) in position.iter().zip(gradient).enumerate() {
            let before = q - self.mean[i];
            self.mean[i] += before / self.count;
            self.position_squares[i] += before * (q - self.mean[i]);
            let gradient_before = g - self.gradient_mean[i];
            self.gradient_mean[i] += gradient_before / self.count;
            self.gradient_squares[i] += gradient_before * (g - self.gradient_mean[i]);
            self.deviation[i] = before;
        }
        if dense {
            let gain = (self.count - 1.0) / self.count;
            for column in 0..self.deviation.len() {
                let scaled = gain * self.deviation[column];
                let entries = &mut self.products.column_mut(column)[column..];
                for (entry, deviation) in entries.iter_mut().zip(&self.deviation[column..]) {
                    *entry += scaled * deviation;
                }
            }
        }
    }

    /// Replaces each sum of squares by the mean over its group.
    fn pool(&mut self, kind: &MetricKind) {
        let MetricKind::Pooled(groups) = kind else { return };
        for squares in [&mut self.position_squares, &mut self.gradient_squares] {
            let group_count = groups.iter().max().map_or(0, |last| last + 1);
            let mut sums = vec![(0.0, 0.0); group_count];
            for (group, square) in groups.iter().zip(&*squares) {
                sums[*group].0 += square;
                sums[*group].1 += 1.0;
            }
            for (group, square) in groups.iter().zip(squares) {
                *square = sums[*group].0 / sums[*group].1;
            }
        }
    }

    fn write(&self, memory: &mut Vec<f64>) {
        memory.push(self.count);
        for values in
            [&self.mean, &self.position_squares, &self.gradient_mean, &self.gradient_squares]
        {
            memory.extend(values);
        }
        memory.extend(self.products.values());
    }

    fn read(&mut self, memory: &mut Recollection<'_>) {
        self.count = memory.value();
        memory.fill(&mut self.mean);
        memory.fill(&mut self.position_squares);
        memory.fill(&mut self.gradient_mean);
        memory.fill(&mut self.gradient_squares);
        memory.fill(self.products.values_mut());
    }
}
