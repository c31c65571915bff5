//! Climb the bound of a normal distribution in the place of a log density, by natural steps.

use posteria_linalg::{
    Cholesky, Matrix, add_scaled, dot, matrix_vector, multiply, symmetric_rank_k,
    transposed_multiply,
};

use super::points::Points;
use crate::density::special::LOG_SQRT_2PI;
use crate::random::Stream;
use crate::target::{Infeasible, LogDensity};

/// Bounds of so many rounds are compared with those of as many before; they have settled where they
/// rise by less than so many nats, or so many standard errors.
const COMPARED: usize = 10;
const TOLERANCE: f64 = 0.2;
const CHANCE: f64 = 3.0;
/// Products that tell the largest eigenvalue of a matrix well enough to limit a step.
const POWERS: usize = 12;
/// Longest step, in units of the distribution.
const LONGEST: f64 = 2.0;

/// q = N(μ, P⁻¹) by μ and the factor L of P.
#[derive(Clone, Debug)]
pub(super) struct Normal {
    pub(super) mean: Vec<f64>,
    factor: Cholesky,
}

impl Normal {
    /// About `mean`, with a standard deviation of `width` in every direction.
    pub(super) fn about(mean: Vec<f64>, width: f64) -> Self {
        let mut factor = Matrix::identity(mean.len());
        factor.values_mut().iter_mut().for_each(|entry| *entry /= width);
        Normal { mean, factor: Cholesky::from_factor(factor) }
    }

    /// With the mean and covariance of these positions. `None` if they do not vary in every direction.
    pub(super) fn of(positions: &[Vec<f64>]) -> Option<Self> {
        let (count, dim) = (positions.len(), positions.first()?.len());
        let share = 1.0 / count as f64;
        let mut mean = vec![0.0; dim];
        positions.iter().for_each(|position| add_scaled(&mut mean, share, position));
        let off = Matrix::from_fn(count, dim, |at, place| positions[at][place] - mean[place]);
        let mut covariance = Matrix::zeros(dim, dim);
        symmetric_rank_k(&off, &mut covariance);
        covariance.values_mut().iter_mut().for_each(|entry| *entry *= share);
        let mut precision = Matrix::zeros(dim, dim);
        Cholesky::new(&covariance).ok()?.inverse(&mut precision);
        Some(Normal { mean, factor: Cholesky::new(&precision).ok()? })
    }

    /// Writes a draw.
    pub(super) fn draw(&self, position: &mut [f64], stream: &mut Stream) {
        stream.fill_normal(position);
        self.place(position);
    }

    /// Writes μ + L⁻ᵀε over ε.
    fn place(&self, position: &mut [f64]) {
        if !position.is_empty() {
            self.factor.solve_lower_transposed(position);
        }
        position.iter_mut().zip(&self.mean).for_each(|(slot, mean)| *slot += mean);
    }

    pub(super) fn log_density(&self, position: &[f64]) -> f64 {
        let mut off: Vec<f64> = position.iter().zip(&self.mean).map(|(x, mean)| x - mean).collect();
        if !off.is_empty() {
            self.factor.multiply_lower_transposed(&mut off);
        }
        0.5 * (self.log_determinant() - dot(&off, &off)) - off.len() as f64 * LOG_SQRT_2PI
    }

    pub(super) fn covariance(&self) -> Matrix {
        let mut covariance = Matrix::zeros(self.mean.len(), self.mean.len());
        if !self.mean.is_empty() {
            self.factor.inverse(&mut covariance);
        }
        covariance
    }

    /// log |P|.
    fn log_determinant(&self) -> f64 {
        if self.mean.is_empty() { 0.0 } else { self.factor.log_determinant() }
    }

    /// The distribution after a step of this size: P moves towards the mean of minus the second
    /// derivatives, along a curve that leaves it positive definite, and μ by P⁻¹ times that of the
    /// first ones. `None` if numbers leave their range.
    fn moved(&self, means: &Means, size: f64) -> Option<Self> {
        let dim = self.mean.len();
        let off =
            Matrix::from_fn(dim, dim, |i, j| means.curvature[(i, j)] - f64::from(u8::from(i == j)));
        let mut inner = Matrix::zeros(dim, dim);
        symmetric_rank_k(&off, &mut inner);
        let size = size.min(LONGEST / largest(&inner).sqrt());
        for j in 0..dim {
            for i in 0..dim {
                let own = if i == j { 1.0 } else { 0.0 };
                inner[(i, j)] = own + size * off[(i, j)] + 0.5 * size * size * inner[(i, j)];
            }
        }
        let inner = Cholesky::new(&inner).ok()?;
        let mut factor = Matrix::zeros(dim, dim);
        multiply(self.factor.factor(), inner.factor(), &mut factor);
        let factor = Cholesky::from_factor(factor);
        let mut step = means.gradient.clone();
        inner.solve_lower(&mut step);
        let length = dot(&step, &step).sqrt();
        let part = size.min(LONGEST / length);
        factor.solve_lower_transposed(&mut step);
        let mean = self.mean.iter().zip(&step).map(|(mean, step)| mean + part * step).collect();
        Some(Normal { mean, factor })
    }
}

/// About the largest eigenvalue of a matrix that has no negative ones, by powers of it.
fn largest(matrix: &Matrix) -> f64 {
    let dim = matrix.rows();
    let mut vector = vec![1.0; dim];
    let mut next = vec![0.0; dim];
    let mut value = 0.0;
    for _ in 0..POWERS {
        matrix_vector(matrix, &vector, &mut next);
        value = dot(&next, &next).sqrt();
        next.iter_mut().for_each(|entry| *entry /= value.max(f64::MIN_POSITIVE));
        std::mem::swap(&mut vector, &mut next);
    }
    value
}

/// Means over the points of a log density f(μ + L⁻ᵀε), and of its derivatives by ε.
struct Means {
    value: f64,
    gradient: Vec<f64>,
    /// -L⁻¹ E f'' L⁻ᵀ as the mean of -f' εᵀ, by parts, made symmetric.
    curvature: Matrix,
}

impl Means {
    fn new(
        target: &mut dyn LogDensity,
        normal: &Normal,
        points: &Points,
    ) -> Result<Self, Infeasible> {
        let (dim, count) = (normal.mean.len(), points.len());
        let share = 1.0 / count as f64;
        let mut value = 0.0;
        let (mut position, mut slope) = (vec![0.0; dim], vec![0.0; dim]);
        let mut gradient = vec![0.0; dim];
        let mut slopes = Matrix::zeros(count, dim);
        for point in 0..count {
            position.copy_from_slice(points.point(point));
            normal.place(&mut position);
            value += share * target.log_density_gradient(&position, &mut slope)?;
            if dim > 0 {
                normal.factor.solve_lower(&mut slope);
            }
            for (weight, slope) in slope.iter().enumerate() {
                gradient[weight] += share * slope;
                slopes[(point, weight)] = *slope;
            }
        }
        let mut products = Matrix::zeros(dim, dim);
        if dim > 0 {
            let all = Matrix::from_fn(count, dim, |point, weight| points.point(point)[weight]);
            transposed_multiply(&slopes, &all, &mut products);
        }
        let curvature =
            Matrix::from_fn(dim, dim, |i, j| -0.5 * share * (products[(i, j)] + products[(j, i)]));
        if !value.is_finite() {
            return Err(Infeasible::NotFinite);
        }
        Ok(Means { value, gradient, curvature })
    }
}

/// A climb of the bound E log p - E log q.
pub(super) struct Climb {
    pub(super) normal: Normal,
    /// The bound before every round, by the points of the round.
    pub(super) bounds: Vec<f64>,
}

impl Climb {
    pub(super) fn new(normal: Normal) -> Self {
        Climb { normal, bounds: Vec::new() }
    }

    /// The mean of the last bounds.
    pub(super) fn bound(&self) -> f64 {
        let last = &self.bounds[self.bounds.len().saturating_sub(COMPARED)..];
        mean_and_error(last)[0]
    }

    /// Whether the last bounds are above those before by no more than chance, or little.
    pub(super) fn has_settled(&self) -> bool {
        let change = change(&self.bounds);
        change.is_some_and(|[change, error]| change <= TOLERANCE + CHANCE * error)
    }

    /// A round with new points along so many directions, and a step of this size [Opper & Archambeau
    /// 2009, eq. 11; Khan & Rue 2023, eq. 28; Lin, Schmidt & Khan 2020].
    ///
    /// # Errors
    /// [`Infeasible`] if there is no density about q.
    pub(super) fn round(
        &mut self,
        target: &mut dyn LogDensity,
        (size, directions): (f64, usize),
        stream: &mut Stream,
    ) -> Result<(), Infeasible> {
        let dim = self.normal.mean.len();
        let points = Points::new(dim, directions, stream);
        let means = Means::new(target, &self.normal, &points)?;
        let entropy = dim as f64 * (0.5 + LOG_SQRT_2PI);
        self.bounds.push(means.value + entropy - 0.5 * self.normal.log_determinant());
        if dim > 0 {
            self.normal = self.normal.moved(&means, size).ok_or(Infeasible::NotFinite)?;
        }
        Ok(())
    }
}

/// The mean of the last bounds less that of as many before, with its standard error.
pub(super) fn change(bounds: &[f64]) -> Option<[f64; 2]> {
    let (before, last) = bounds.last_chunk::<{ 2 * COMPARED }>()?.split_at(COMPARED);
    let ([before, one], [last, other]) = (mean_and_error(before), mean_and_error(last));
    Some([last - before, one.hypot(other)])
}

fn mean_and_error(values: &[f64]) -> [f64; 2] {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    [mean, (squares / count).sqrt() / (count - 1.0).max(1.0).sqrt()]
}
