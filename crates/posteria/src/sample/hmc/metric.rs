//! Scale the momentum to the shape of the density, and learn that shape in warm-up.
//!
//! All Hamiltonian kernels use whitened momenta r ~ N(0, I). A metric is a linear map S with
//! S Sᵀ ≈ covariance of the position: positions drift by ε S r and momenta are kicked by
//! ε Sᵀ ∇. This is the usual dynamics with mass matrix (S Sᵀ)⁻¹; a diagonal S is Neal's
//! per-parameter step sizes [Neal 1996, A.4], and a persistent r stays valid when S changes.

use posteria_linalg::{Cholesky, Matrix, add_scaled, add_weighted};

use super::spread::Spread;
use crate::sample::memory::{ForeignMemory, MemoryReader};
use crate::sample::moments::Moments;

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
    /// Such an S for so many parameters that come first; those after them have unit scale, and
    /// nothing is learned of them.
    DenseFirst(usize),
}

enum Map {
    Diagonal(Vec<f64>),
    Dense { factor: Cholesky, scratch: Vec<f64> },
}

/// A metric and what is being learned for the next one.
pub struct Metric {
    kind: MetricKind,
    map: Map,
    learning: Learning,
    /// A covariance that is known from the density itself, which what is learned is added to.
    reference: Option<Matrix>,
}

/// What is being learned for the next metric.
enum Learning {
    Nothing,
    Diagonal(Spread),
    /// Until the chain has moved often enough for a covariance, a diagonal stands in.
    Dense(Moments, Spread),
}

/// How many parameters a learned triangular S is for.
fn shaped(kind: &MetricKind, dim: usize) -> usize {
    match kind {
        MetricKind::DenseFirst(count) => *count,
        _ => dim,
    }
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
            MetricKind::Dense | MetricKind::DenseFirst(_) => {
                let shaped = shaped(&kind, dim);
                Map::Dense { factor: Cholesky::identity(shaped), scratch: vec![0.0; shaped] }
            }
            MetricKind::Pooled(groups) => {
                assert_eq!(groups.len(), dim, "one group per parameter");
                Map::Diagonal(vec![1.0; dim])
            }
            MetricKind::Unit | MetricKind::Target | MetricKind::Diagonal => {
                Map::Diagonal(vec![1.0; dim])
            }
        };
        let learning = match &kind {
            MetricKind::Unit | MetricKind::Given(_) | MetricKind::Target => Learning::Nothing,
            MetricKind::Diagonal => Learning::Diagonal(Spread::new(dim, None)),
            MetricKind::Pooled(groups) => {
                Learning::Diagonal(Spread::new(dim, Some(groups.clone())))
            }
            MetricKind::Dense | MetricKind::DenseFirst(_) => {
                let shaped = shaped(&kind, dim);
                Learning::Dense(Moments::new(shaped), Spread::new(shaped, None))
            }
        };
        Metric { kind, map, learning, reference: None }
    }

    /// Takes the step scales of the target, where the kind asks for them.
    pub fn follow(&mut self, step_scale: Option<&[f64]>) {
        if let (MetricKind::Target, Some(scales), Map::Diagonal(own)) =
            (&self.kind, step_scale, &mut self.map)
        {
            own.copy_from_slice(scales);
        }
    }

    /// Takes a covariance that is known from the density into use, where the metric is a learned
    /// dense one: what is learned from now on is added to it. Returns whether it did.
    pub fn refer_to(&mut self, covariance: &Matrix) -> bool {
        let Map::Dense { factor, .. } = &mut self.map else { return false };
        let Ok(known) = Cholesky::new(covariance) else { return false };
        *factor = known;
        self.reference = Some(covariance.clone());
        true
    }

    /// Whether there is a covariance known from the density.
    pub fn is_referred(&self) -> bool {
        self.reference.is_some()
    }

    /// r ← r + ε Sᵀ g.
    #[inline]
    pub fn kick(&mut self, momentum: &mut [f64], step: f64, gradient: &[f64]) {
        match &mut self.map {
            Map::Diagonal(scales) => {
                add_weighted(momentum, step, scales, gradient);
            }
            Map::Dense { factor, scratch } => {
                let (shaped, plain) = gradient.split_at(scratch.len());
                scratch.copy_from_slice(shaped);
                factor.multiply_lower_transposed(scratch);
                let (first, rest) = momentum.split_at_mut(scratch.len());
                add_scaled(first, step, scratch);
                add_scaled(rest, step, plain);
            }
        }
    }

    /// q ← q + ε S r.
    #[inline]
    pub fn drift(&mut self, position: &mut [f64], step: f64, momentum: &[f64]) {
        match &mut self.map {
            Map::Diagonal(scales) => {
                add_weighted(position, step, scales, momentum);
            }
            Map::Dense { factor, scratch } => {
                let (shaped, plain) = momentum.split_at(scratch.len());
                scratch.copy_from_slice(shaped);
                factor.multiply_lower(scratch);
                let (first, rest) = position.split_at_mut(scratch.len());
                add_scaled(first, step, scratch);
                add_scaled(rest, step, plain);
            }
        }
    }

    /// |S⁻¹ (a - b)|²: the squared distance in coordinates where the density has unit scale.
    pub(super) fn squared_distance(&mut self, a: &[f64], b: &[f64]) -> f64 {
        let mut differences = a.iter().zip(b).map(|(a, b)| a - b);
        match &mut self.map {
            Map::Diagonal(scales) => {
                differences.zip(scales).map(|(d, scale)| (d / *scale).powi(2)).sum()
            }
            Map::Dense { factor, scratch } => {
                scratch.iter_mut().zip(&mut differences).for_each(|(entry, d)| *entry = d);
                factor.solve_lower(scratch);
                let plain: f64 = differences.map(|d| d * d).sum();
                scratch.iter().map(|entry| entry * entry).sum::<f64>() + plain
            }
        }
    }

    /// Takes one visited position, with the gradient there, into the next metric. `moved` says
    /// whether it differs from the previous one.
    pub fn observe(&mut self, position: &[f64], gradient: &[f64], moved: bool) {
        match &mut self.learning {
            Learning::Nothing => {}
            Learning::Diagonal(spread) => spread.add(position, gradient),
            Learning::Dense(moments, spread) => {
                let shaped = moments.mean().len();
                moments.add(&position[..shaped], moved);
                spread.add(&position[..shaped], &gradient[..shaped]);
            }
        }
    }

    /// Forgets the observed positions.
    pub fn forget(&mut self) {
        match &mut self.learning {
            Learning::Nothing => {}
            Learning::Diagonal(spread) => spread.clear(),
            Learning::Dense(moments, spread) => {
                moments.clear();
                spread.clear();
            }
        }
    }

    /// Makes the metric anew from the observed positions and forgets them. Returns whether
    /// it changed; too few positions, or a coordinate that never moved, change nothing.
    pub fn conclude(&mut self) -> bool {
        let changed = match (&mut self.learning, &mut self.map) {
            (Learning::Diagonal(spread), Map::Diagonal(scales)) => spread.update(scales),
            (Learning::Dense(moments, _), Map::Dense { factor, .. })
                if self.reference.is_some() =>
            {
                let reference = self.reference.as_ref().expect("it was looked at");
                let learned = Cholesky::new(&moments.covariance_with(reference));
                learned.map(|learned| *factor = learned).is_ok()
            }
            (Learning::Dense(moments, spread), Map::Dense { factor, scratch }) => {
                match moments.covariance().map(|covariance| Cholesky::new(&covariance)) {
                    Some(Ok(learned)) => {
                        *factor = learned;
                        true
                    }
                    _ => {
                        for (i, scale) in scratch.iter_mut().enumerate() {
                            let row = (0..=i).map(|column| factor.factor()[(i, column)]);
                            *scale = row.map(|entry| entry * entry).sum::<f64>().sqrt();
                        }
                        let learned = spread.update(scratch);
                        if learned {
                            *factor = Cholesky::from_factor(Matrix::from_fn(
                                scratch.len(),
                                scratch.len(),
                                |row, column| if row == column { scratch[row] } else { 0.0 },
                            ));
                        }
                        learned
                    }
                }
            }
            _ => false,
        };
        self.forget();
        changed
    }

    pub(in crate::sample) fn write(&self, memory: &mut Vec<f64>) {
        match &self.map {
            Map::Diagonal(scales) => memory.extend(scales),
            Map::Dense { factor, .. } => {
                memory.extend(factor.factor().values());
                memory.push(f64::from(u8::from(self.reference.is_some())));
                memory.extend(self.reference.iter().flat_map(|reference| reference.values()));
            }
        }
        match &self.learning {
            Learning::Nothing => {}
            Learning::Diagonal(spread) => spread.write(memory),
            Learning::Dense(moments, spread) => {
                moments.write(memory);
                spread.write(memory);
            }
        }
    }

    pub(in crate::sample) fn read(
        &mut self,
        memory: &mut MemoryReader<'_>,
    ) -> Result<(), ForeignMemory> {
        match &mut self.map {
            Map::Diagonal(scales) => memory.fill(scales)?,
            Map::Dense { factor, scratch } => {
                let dim = scratch.len();
                let mut lower = Matrix::zeros(dim, dim);
                memory.fill(lower.values_mut())?;
                *factor = Cholesky::from_factor(lower);
                self.reference = None;
                if memory.flag()? {
                    let reference = self.reference.insert(Matrix::zeros(dim, dim));
                    memory.fill(reference.values_mut())?;
                }
            }
        }
        match &mut self.learning {
            Learning::Nothing => Ok(()),
            Learning::Diagonal(spread) => spread.read(memory),
            Learning::Dense(moments, spread) => {
                moments.read(memory)?;
                spread.read(memory)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn the_first_parameters_are_shaped_and_the_others_keep_unit_scale() {
        let mut metric = Metric::new(MetricKind::DenseFirst(2), 4);
        let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
        for _ in 0..400 {
            let a = stream.normal();
            let position = [10.0 * a, 10.0 * a + stream.normal(), stream.normal(), 5.0];
            metric.observe(&position, &[0.0; 4], true);
        }
        assert!(metric.conclude());
        // S Sᵀ is the covariance of the first two, to the error of 400 draws.
        let mut images = [[0.0; 4]; 4];
        for (index, image) in images.iter_mut().enumerate() {
            let mut momentum = [0.0; 4];
            momentum[index] = 1.0;
            metric.drift(image, 0.5, &momentum);
        }
        let covariance = |i: usize, j: usize| -> f64 {
            images.iter().map(|image| 4.0 * image[i] * image[j]).sum()
        };
        for (i, j, expected) in [(0, 0, 100.0), (0, 1, 100.0), (1, 1, 101.0)] {
            let found = covariance(i, j);
            assert!((found / expected - 1.0).abs() < 0.3, "{i} {j}: {found}");
        }
        assert_eq!((images[2], images[3]), ([0.0, 0.0, 0.5, 0.0], [0.0, 0.0, 0.0, 0.5]));
        // Kicks are by the transpose of what drifts are by, and distances by the inverse.
        let gradient = [0.3, -1.1, 0.7, 2.0];
        let mut kicked = [0.0; 4];
        metric.kick(&mut kicked, 0.5, &gradient);
        for (image, kick) in images.iter().zip(kicked) {
            let expected: f64 = image.iter().zip(gradient).map(|(s, g)| s * g).sum();
            assert!((kick - expected).abs() < 1e-12, "{kick} {expected}");
        }
        for image in &images {
            let distance = metric.squared_distance(image, &[0.0; 4]);
            assert!((distance - 0.25).abs() < 1e-12, "{distance}");
        }
    }
}
