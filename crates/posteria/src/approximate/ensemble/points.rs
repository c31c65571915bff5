//! Choose the points at which expectations over normal coordinates are taken.

use posteria_linalg::dot;

use crate::random::Stream;

/// Points ε that stand for N(0, I) of some dimension: they come in pairs ±ε along directions that
/// are at right angles to each other, in whole bases turned at random. Means of odd functions are
/// exact so, and those of squares are too: what is left to chance in the expectation of a log density
/// is how it differs from a parabola.
pub(super) struct Points {
    dim: usize,
    values: Vec<f64>,
}

impl Points {
    /// Along at least so many directions; one point, at 0, in no dimension.
    pub(super) fn new(dim: usize, directions: usize, stream: &mut Stream) -> Self {
        let bases = if dim == 0 { 0 } else { directions.div_ceil(dim) };
        let mut all: Vec<Vec<f64>> = Vec::new();
        let mut lengths = Vec::new();
        for _ in 0..bases {
            let mut basis: Vec<Vec<f64>> = Vec::new();
            let mut normal = vec![0.0; dim];
            stream.fill_normal(&mut normal);
            lengths.push(dot(&normal, &normal).sqrt());
            while basis.len() < dim {
                let mut next = vec![0.0; dim];
                stream.fill_normal(&mut next);
                // Twice is enough for right angles to rounding.
                for _ in 0..2 {
                    for other in &basis {
                        let along = dot(&next, other);
                        next.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
                    }
                }
                let length = dot(&next, &next).sqrt();
                if length > 1e-6 {
                    next.iter_mut().for_each(|x| *x /= length);
                    basis.push(next);
                }
            }
            all.extend(basis);
        }
        // Bases have lengths like those of normal vectors, scaled so that the mean square is 1.
        let squares: f64 = lengths.iter().map(|length| length * length).sum();
        let scale = (dim as f64 * bases as f64 / squares).sqrt();
        let mut values = Vec::with_capacity(2 * all.len() * dim);
        for (index, direction) in all.iter().enumerate() {
            let length = scale * lengths[index / dim];
            for sign in [length, -length] {
                values.extend(direction.iter().map(|x| sign * x));
            }
        }
        Points { dim, values }
    }

    pub(super) fn len(&self) -> usize {
        self.values.len().checked_div(self.dim).unwrap_or(1)
    }

    pub(super) fn point(&self, index: usize) -> &[f64] {
        &self.values[index * self.dim..][..self.dim]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn moments_are_those_of_a_normal_distribution() {
        for dim in [0, 1, 3, 40] {
            let points = Points::new(dim, 16, &mut Seed(1).stream(Purpose::Start, [0, 0]));
            let count = points.len();
            assert!(dim == 0 || count >= 2 * dim.max(16), "{dim}: {count}");
            let mean = |of: &dyn Fn(&[f64]) -> f64| {
                (0..count).map(|point| of(points.point(point))).sum::<f64>() / count as f64
            };
            for i in 0..dim {
                assert!(mean(&|e| e[i]).abs() < 1e-12);
                for j in 0..dim {
                    let expected = if i == j { 1.0 } else { 0.0 };
                    assert!((mean(&|e| e[i] * e[j]) - expected).abs() < 1e-10, "{dim}: {i} {j}");
                }
            }
        }
    }
}
