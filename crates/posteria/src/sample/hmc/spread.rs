//! Learn a diagonal metric from how far positions and gradients spread.

use crate::sample::memory::{ForeignMemory, MemoryReader};

/// Fewest positions from which a metric is learned.
const FEWEST_POSITIONS: f64 = 10.0;
/// Weight of the previous metric, in positions, when a new one is learned.
const PREVIOUS_WEIGHT: f64 = 5.0;

/// Running sums of squares of positions and gradients about their means [Welford 1962].
pub(super) struct Spread {
    groups: Option<Vec<usize>>,
    count: f64,
    position_mean: Vec<f64>,
    position_squares: Vec<f64>,
    gradient_mean: Vec<f64>,
    gradient_squares: Vec<f64>,
}

impl Spread {
    /// Nothing observed yet; parameters of one group share one scale.
    pub(super) fn new(dim: usize, groups: Option<Vec<usize>>) -> Self {
        let zeros = || vec![0.0; dim];
        Spread {
            groups,
            count: 0.0,
            position_mean: zeros(),
            position_squares: zeros(),
            gradient_mean: zeros(),
            gradient_squares: zeros(),
        }
    }

    pub(super) fn clear(&mut self) {
        self.count = 0.0;
        self.sums().into_iter().for_each(|values| values.fill(0.0));
    }

    pub(super) fn add(&mut self, position: &[f64], gradient: &[f64]) {
        self.count += 1.0;
        let count = self.count;
        let add = |values: &[f64], means: &mut [f64], squares: &mut [f64]| {
            for ((value, mean), square) in values.iter().zip(means).zip(squares) {
                let deviation = value - *mean;
                *mean += deviation / count;
                *square += deviation * (value - *mean);
            }
        };
        add(position, &mut self.position_mean, &mut self.position_squares);
        add(gradient, &mut self.gradient_mean, &mut self.gradient_squares);
    }

    /// Moves `scales` to what was observed; returns whether there was enough.
    pub(super) fn update(&mut self, scales: &mut [f64]) -> bool {
        if self.count < FEWEST_POSITIONS {
            return false;
        }
        if let Some(groups) = &self.groups {
            pool(groups, &mut self.position_squares);
            pool(groups, &mut self.gradient_squares);
        }
        let weight = self.count / (self.count + PREVIOUS_WEIGHT);
        let squares = self.position_squares.iter().zip(&self.gradient_squares);
        for (scale, (position, gradient)) in scales.iter_mut().zip(squares) {
            // The scale for which positions and gradients vary alike, s⁴ = Var(q) / Var(∇):
            // exact for a normal after a handful of positions, and robust to the
            // autocorrelation of the chain [Seyboldt et al.].
            let learned = (position / gradient).sqrt().sqrt();
            if learned > 0.0 && learned.is_finite() {
                // Geometric shrinkage towards the previous scale keeps the result independent
                // of the unit of measurement.
                *scale = (weight * learned.ln() + (1.0 - weight) * scale.ln()).exp();
            }
        }
        true
    }

    fn sums(&mut self) -> [&mut Vec<f64>; 4] {
        [
            &mut self.position_mean,
            &mut self.position_squares,
            &mut self.gradient_mean,
            &mut self.gradient_squares,
        ]
    }

    pub(super) fn write(&self, memory: &mut Vec<f64>) {
        memory.push(self.count);
        memory.extend(&self.position_mean);
        memory.extend(&self.position_squares);
        memory.extend(&self.gradient_mean);
        memory.extend(&self.gradient_squares);
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), ForeignMemory> {
        self.count = memory.number()?;
        self.sums().into_iter().try_for_each(|values| memory.fill(values))
    }
}

/// Replaces every value by the mean over its group.
fn pool(groups: &[usize], values: &mut [f64]) {
    let count = groups.iter().max().map_or(0, |last| last + 1);
    let mut sums = vec![(0.0, 0.0); count];
    for (group, value) in groups.iter().zip(&*values) {
        sums[*group].0 += value;
        sums[*group].1 += 1.0;
    }
    for (group, value) in groups.iter().zip(values) {
        *value = sums[*group].0 / sums[*group].1;
    }
}
