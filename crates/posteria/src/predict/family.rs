//! Name what a target follows given one draw, and lay out its parameters.

use crate::density::special::{LOG_SQRT_2PI, log_sum_exp, log1p_exp, logistic};
use crate::density::{Laplace, StudentT};

/// What the target of one row follows given one draw; a flat slice of [`Family::width`] numbers
/// holds the parameters. All are on the user's scale.
///
/// | family | parameters, in order |
/// |---|---|
/// | `Normal` | location and scale (standard deviation) of every output in turn |
/// | `StudentT` | location, scale and degrees of freedom (infinite: normal) of every output in turn |
/// | `Laplace` | location and scale (mean absolute deviation) of every output in turn |
/// | `MultivariateNormal` | all means, then the lower Cholesky factor of the covariance row by row: L₀₀, L₁₀, L₁₁, L₂₀, … |
/// | `Bernoulli` | log odds of the second class |
/// | `Categorical` | log probability of every class, up to a common constant (the outputs of a softmax) |
///
/// Outputs of the first three are independent given the draw. Classes are held as log odds and
/// not as probabilities: log p = -log(1 + exp(-f)) keeps all digits of a probability near 0 *and*
/// of one near 1, where p itself has rounded to 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Independent normal outputs.
    Normal {
        /// Number of outputs.
        outputs: usize,
    },
    /// Independent Student-t outputs.
    StudentT {
        /// Number of outputs.
        outputs: usize,
    },
    /// Independent Laplace outputs.
    Laplace {
        /// Number of outputs.
        outputs: usize,
    },
    /// Normal outputs with a full covariance.
    MultivariateNormal {
        /// Number of outputs.
        outputs: usize,
    },
    /// One of two classes.
    Bernoulli,
    /// One of several classes.
    Categorical {
        /// Number of classes.
        classes: usize,
    },
}

/// One output given one draw, whatever the other outputs are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Component {
    pub(super) location: f64,
    pub(super) scale: f64,
    /// Degrees of freedom; infinite unless the family is Student's.
    pub(super) dof: f64,
}

impl Family {
    /// Number of parameters per row and draw.
    pub fn width(self) -> usize {
        match self {
            Family::Normal { outputs } | Family::Laplace { outputs } => 2 * outputs,
            Family::StudentT { outputs } => 3 * outputs,
            Family::MultivariateNormal { outputs } => outputs + outputs * (outputs + 1) / 2,
            Family::Bernoulli => 1,
            Family::Categorical { classes } => classes,
        }
    }

    /// Number of real outputs; 0 for classes.
    pub fn outputs(self) -> usize {
        match self {
            Family::Normal { outputs }
            | Family::StudentT { outputs }
            | Family::Laplace { outputs }
            | Family::MultivariateNormal { outputs } => outputs,
            Family::Bernoulli | Family::Categorical { .. } => 0,
        }
    }

    /// Number of classes; 0 for real outputs.
    pub fn classes(self) -> usize {
        match self {
            Family::Bernoulli => 2,
            Family::Categorical { classes } => classes,
            _ => 0,
        }
    }

    /// Number of functions behind a row: one per real output, one (the log odds) for two
    /// classes, one per class for more.
    pub fn functions(self) -> usize {
        match self {
            Family::Bernoulli => 1,
            Family::Categorical { classes } => classes,
            real => real.outputs(),
        }
    }

    /// What the outcome is on average: the locations of real outputs, the probability of the
    /// second of two classes, the probability of every class of more. One number per function.
    pub(super) fn expect(self, parameters: &[f64], expected: &mut [f64]) {
        match self {
            Family::Bernoulli => expected[0] = logistic(parameters[0]),
            Family::Categorical { .. } => {
                let total = log_sum_exp(parameters);
                for (slot, value) in expected.iter_mut().zip(parameters) {
                    *slot = (value - total).exp();
                }
            }
            Family::Normal { .. } | Family::Laplace { .. } => {
                pick(parameters.chunks_exact(2), expected);
            }
            Family::StudentT { .. } => pick(parameters.chunks_exact(3), expected),
            Family::MultivariateNormal { outputs } => {
                expected.copy_from_slice(&parameters[..outputs]);
            }
        }
    }

    /// One output alone.
    pub(super) fn component(self, parameters: &[f64], output: usize) -> Component {
        match self {
            Family::Normal { .. } | Family::Laplace { .. } => Component {
                location: parameters[2 * output],
                scale: parameters[2 * output + 1],
                dof: f64::INFINITY,
            },
            Family::StudentT { .. } => Component {
                location: parameters[3 * output],
                scale: parameters[3 * output + 1],
                dof: parameters[3 * output + 2],
            },
            Family::MultivariateNormal { outputs } => {
                let start = outputs + output * (output + 1) / 2;
                // Var(y_o) = Σ_j L_oj².
                let scale = norm(&parameters[start..=start + output]);
                Component { location: parameters[output], scale, dof: f64::INFINITY }
            }
            Family::Bernoulli | Family::Categorical { .. } => unreachable!("classes have none"),
        }
    }

    /// Log density at `y` of one output alone.
    pub(super) fn log_density_of(self, component: Component, y: f64) -> f64 {
        let Component { location, scale, dof } = component;
        match self {
            Family::StudentT { .. } if dof != f64::INFINITY => {
                StudentT::new(location, scale, dof).map_or(f64::NAN, |t| t.log_density(y))
            }
            Family::Laplace { .. } => {
                Laplace::new(location, scale).map_or(f64::NAN, |it| it.log_density(y))
            }
            _ => log_normal((y - location) / scale, scale),
        }
    }

    /// Joint log density of all outputs at `observed`; `workspace` has one number per output.
    pub(super) fn log_density(
        self,
        parameters: &[f64],
        observed: &[f64],
        workspace: &mut [f64],
    ) -> f64 {
        if let Family::MultivariateNormal { outputs } = self {
            let (means, mut factor) = parameters.split_at(outputs);
            let mut sum = 0.0;
            for output in 0..outputs {
                let (row, rest) = factor.split_at(output + 1);
                factor = rest;
                // Forward substitution: z = L⁻¹(y - mean).
                let known: f64 = row.iter().zip(&workspace[..output]).map(|(l, z)| l * z).sum();
                let z = (observed[output] - means[output] - known) / row[output];
                workspace[output] = z;
                sum += log_normal(z, row[output]);
            }
            return sum;
        }
        let each = observed.iter().enumerate();
        each.map(|(output, y)| self.log_density_of(self.component(parameters, output), *y)).sum()
    }

    /// Log probability of a class.
    pub(super) fn log_probability(self, parameters: &[f64], class: usize) -> f64 {
        match self {
            Family::Bernoulli if class == 1 => -log1p_exp(-parameters[0]),
            Family::Bernoulli => -log1p_exp(parameters[0]),
            _ => parameters[class] - log_sum_exp(parameters),
        }
    }
}

/// log N(z; 0, 1) in units of `scale`.
fn log_normal(z: f64, scale: f64) -> f64 {
    -0.5 * z * z - scale.ln() - LOG_SQRT_2PI
}

/// The first number of every chunk.
fn pick<'a>(chunks: impl Iterator<Item = &'a [f64]>, out: &mut [f64]) {
    for (slot, chunk) in out.iter_mut().zip(chunks) {
        *slot = chunk[0];
    }
}

/// Root of the sum of squares, without overflow or underflow of the squares.
pub(super) fn norm(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return values.iter().map(|value| value.abs()).sum();
    }
    largest * values.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}
