//! The density of the targets as a function of the inputs that are in.

use posteria_linalg::{Cholesky, Matrix, dot, matrix_vector};

use super::classified::ClassLikelihood;
use super::coefficients::Coefficients;
use super::posterior::{Conjugate, Regression};
use super::weights::{WeightsUpdate, exclude};
use crate::density::InverseGamma;
use crate::density::special::{LOG_SQRT_2PI, ln_gamma};
use crate::model::selection::Masked;
use crate::random::Stream;
use crate::sample::{Step, Update};
use crate::target::Infeasible;

/// Real targets given scales and the precision of every row, all coefficients integrated out.
pub(super) struct RegressionSet<'p> {
    pub(super) weights: WeightsUpdate<'p>,
}

impl Masked for RegressionSet<'_> {
    fn begin(&mut self, state: &[f64], _stream: &mut Stream) -> Result<(), Infeasible> {
        self.weights.moments(state)
    }

    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        self.weights.condition(state)
    }

    fn draw(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.weights.coefficients().draw_input(input, state, stream);
    }

    fn has_own(&self) -> bool {
        self.weights.coefficients().has_own_scales()
    }

    fn conclude(&mut self, state: &mut [f64], stream: &mut Stream) {
        if self.weights.condition(state).is_ok() {
            self.weights.draw(state, stream);
        }
    }
}

/// The conjugate prior, coefficients and residual scale integrated out: see
/// [`ClosedForm`](super::ClosedForm) for the formulas.
pub(super) struct ConjugateSet<'p> {
    x: &'p Matrix,
    regression: &'p Regression,
    conjugate: &'p Conjugate,
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
    precision: Matrix,
    cholesky: Cholesky,
    targets: Vec<ConjugateTarget>,
    fits: Vec<f64>,
}

/// One target in the present set.
struct ConjugateTarget {
    /// Where its coefficients are.
    members: Vec<usize>,
    mean: Vec<f64>,
    /// Posterior of the residual variance.
    variance: InverseGamma,
}

impl<'p> ConjugateSet<'p> {
    pub(super) fn new(
        (x, regression): (&'p Matrix, &'p Regression),
        conjugate: &'p Conjugate,
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let dim = coefficients.columns();
        let target = |output| ConjugateTarget {
            members: coefficients.of_output(output).collect(),
            mean: vec![0.0; dim],
            variance: conjugate.variance,
        };
        ConjugateSet {
            x,
            regression,
            conjugate,
            coefficients,
            inverse_temperature,
            precision: Matrix::zeros(dim, dim),
            cholesky: Cholesky::identity(dim),
            targets: (0..coefficients.outputs).map(target).collect(),
            fits: vec![0.0; x.rows()],
        }
    }

    /// Conditions everything on the targets in the set of `state`; returns their log evidence,
    /// likelihood to the power β.
    fn condition(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        let (beta, rho, prior) =
            (self.inverse_temperature, self.conjugate.rho, self.conjugate.variance);
        let rows = self.x.rows();
        let mut value = 0.0;
        let targets = self.regression.residual.targets.chunks_exact(rows);
        for (output, (target, y)) in self.targets.iter_mut().zip(targets).enumerate() {
            let ConjugateTarget { members, mean, variance } = target;
            // That of all targets, for which inputs are in or out together.
            let pairs = self.precision.values_mut().iter_mut().zip(self.regression.gram.values());
            pairs.for_each(|(slot, gram)| *slot = beta * gram);
            let pairs = mean.iter_mut().zip(self.regression.moments.column(output));
            pairs.for_each(|(slot, moment)| *slot = beta * moment);
            exclude(self.coefficients, state, members, &mut self.precision, mean);
            let dim = mean.len();
            (0..dim).for_each(|i| self.precision[(i, i)] += rho);
            self.cholesky
                .factorize(&self.precision)
                .map_err(|error| Infeasible::NotPositiveDefinite { pivot: error.pivot })?;
            // Coefficients of inputs that are out have mean 0: the fits do not see them.
            self.cholesky.solve(mean);
            matrix_vector(self.x, mean, &mut self.fits);
            let misfit: f64 = y.iter().zip(&self.fits).map(|(y, f)| (y - f).powi(2)).sum();
            let squares = beta * misfit + rho * dot(mean, mean);
            let rows = beta * rows as f64;
            let (shape, rate) = (prior.shape() + 0.5 * rows, prior.rate() + 0.5 * squares);
            *variance =
                InverseGamma::from_shape_rate(shape, rate).map_err(|_| Infeasible::NotFinite)?;
            value += 0.5 * (dim as f64 * rho.ln() - self.cholesky.log_determinant())
                + prior.shape() * prior.rate().ln()
                - shape * rate.ln()
                + ln_gamma(shape)
                - ln_gamma(prior.shape())
                - rows * LOG_SQRT_2PI;
        }
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    /// Draws residual scales and coefficients, after [`ConjugateSet::condition`].
    fn draw(&mut self, state: &mut [f64], stream: &mut Stream) {
        let first = self.coefficients.state_len;
        let mut weights = vec![0.0; self.coefficients.columns()];
        for (output, target) in self.targets.iter().enumerate() {
            let log_scale = target.variance.draw_log_scale(stream);
            state[first + output] = log_scale;
            weights.iter_mut().for_each(|w| *w = log_scale.exp() * stream.normal());
            self.cholesky.solve_lower_transposed(&mut weights);
            for ((at, w), mean) in target.members.iter().zip(&weights).zip(&target.mean) {
                state[*at] = w + mean;
            }
        }
    }
}

impl Masked for ConjugateSet<'_> {
    fn begin(&mut self, _state: &[f64], _stream: &mut Stream) -> Result<(), Infeasible> {
        Ok(())
    }

    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        self.condition(state)
    }

    fn draw(&mut self, _input: usize, _state: &mut [f64], _stream: &mut Stream) {}

    fn has_own(&self) -> bool {
        false
    }

    fn conclude(&mut self, state: &mut [f64], stream: &mut Stream) {
        if self.condition(state).is_ok() {
            ConjugateSet::draw(self, state, stream);
        }
    }
}

impl Update for ConjugateSet<'_> {
    fn name(&self) -> &str {
        "weights"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        match self.condition(state) {
            Ok(_) => {
                ConjugateSet::draw(self, state, stream);
                Step::default()
            }
            Err(infeasible) => Step::stayed(infeasible),
        }
    }
}

/// Classes given the coefficients.
pub(super) struct ClassSet<'p, L> {
    likelihood: L,
    coefficients: &'p Coefficients,
    inverse_temperature: f64,
    seen: Vec<f64>,
}

impl<'p, L: ClassLikelihood> ClassSet<'p, L> {
    pub(super) fn new(
        likelihood: L,
        coefficients: &'p Coefficients,
        inverse_temperature: f64,
    ) -> Self {
        let seen = vec![0.0; coefficients.count];
        ClassSet { likelihood, coefficients, inverse_temperature, seen }
    }
}

impl<L: ClassLikelihood> Masked for ClassSet<'_, L> {
    fn begin(&mut self, _state: &[f64], _stream: &mut Stream) -> Result<(), Infeasible> {
        Ok(())
    }

    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        if self.inverse_temperature <= 0.0 {
            return Ok(0.0);
        }
        self.coefficients.write_seen(state, &mut self.seen);
        self.likelihood.condition(state);
        let value = self.inverse_temperature * self.likelihood.value(&self.seen);
        if value.is_finite() { Ok(value) } else { Err(Infeasible::NotFinite) }
    }

    fn draw(&mut self, input: usize, state: &mut [f64], stream: &mut Stream) {
        self.coefficients.draw_input(input, state, stream);
    }

    fn has_own(&self) -> bool {
        true
    }

    fn conclude(&mut self, _state: &mut [f64], _stream: &mut Stream) {}
}
