//! Name what a target follows given one draw, and lay out its parameters.

use super::count::CountComponent;
use super::duration::DurationComponent;
use super::normal_plus_laplace::NormalPlusLaplace;
use super::normal_plus_student_t::NormalPlusStudentT;
use crate::density::special::{LOG_SQRT_2PI, log_sum_exp, log1p_exp, logistic};
use crate::density::{DurationFamily, Laplace, StudentT};

/// What the target of one row follows given one draw; a flat slice of [`Family::width`] numbers
/// holds the parameters. All are on the user's scale.
///
/// | family | parameters, in order |
/// |---|---|
/// | `Normal` | location and scale (standard deviation) of every output in turn |
/// | `StudentT` | location, scale and degrees of freedom (infinite: normal) of every output in turn |
/// | `Laplace` | location and scale (mean absolute deviation) of every output in turn |
/// | `NormalPlusStudentT` | location, standard deviation of the function, scale and degrees of freedom (infinite: normal) of the residual, of every output in turn |
/// | `NormalPlusLaplace` | location, standard deviation of the function, scale (mean absolute deviation) of the residual, of every output in turn |
/// | `MultivariateNormal` | all means, then the lower Cholesky factor of the covariance row by row: L₀₀, L₁₀, L₁₁, L₂₀, … |
/// | `Count` | log mean of a count, standard deviation of the log mean that the draw leaves open, shape of a negative binomial distribution (infinite: Poisson) |
/// | `Duration` | location of the logarithm of a duration, its standard deviation that the draw leaves open, scale of the logarithm |
/// | `Bernoulli` | log odds of the second class |
/// | `Categorical` | log probability of every class, up to a common constant (the outputs of a softmax) |
/// | `Density` | log density of the row itself together with every component it may belong to |
///
/// Outputs of all but the multivariate normal are independent given the draw. The sums stand for
/// a function that a draw leaves uncertain, as that of a Gaussian process, plus a residual; of
/// normal residuals such a sum is normal. Classes are held as log odds and
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
    /// Independent sums of a normal and a Student-t variable.
    NormalPlusStudentT {
        /// Number of outputs.
        outputs: usize,
    },
    /// Independent sums of a normal and a Laplace variable.
    NormalPlusLaplace {
        /// Number of outputs.
        outputs: usize,
    },
    /// Normal outputs with a full covariance.
    MultivariateNormal {
        /// Number of outputs.
        outputs: usize,
    },
    /// One number of events, 0, 1, 2, …: Poisson or negative binomial about a normal log mean.
    Count,
    /// One duration, whose logarithm is about a normal location; known durations are positive, and
    /// negative ones stand for those that are censored: known to be longer than the number without its sign.
    Duration(DurationFamily),
    /// One of two classes.
    Bernoulli,
    /// One of several classes.
    Categorical {
        /// Number of classes.
        classes: usize,
    },
    /// No target: the density of the row. Of several components, the classes are those that a
    /// row belongs to.
    Density {
        /// Number of components.
        components: usize,
    },
}

/// One output given one draw, whatever the other outputs are. Of a count the location is that of its
/// log mean, and its shape stands in for the degrees of freedom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Component {
    pub(super) location: f64,
    pub(super) scale: f64,
    /// Standard deviation of a normal variable that is added; 0 unless the family is a sum.
    pub(super) spread: f64,
    /// Degrees of freedom; infinite unless the family is Student's.
    pub(super) dof: f64,
}

impl Component {
    /// Whether there is a normal part beside the residual; also if it is not a number, to show that.
    pub(super) fn is_sum(&self) -> bool {
        self.spread > 0.0 || self.spread.is_nan()
    }
}

impl Family {
    /// Number of parameters per row and draw.
    pub fn width(self) -> usize {
        match self {
            Family::Normal { outputs } | Family::Laplace { outputs } => 2 * outputs,
            Family::StudentT { outputs } | Family::NormalPlusLaplace { outputs } => 3 * outputs,
            Family::NormalPlusStudentT { outputs } => 4 * outputs,
            Family::MultivariateNormal { outputs } => outputs + outputs * (outputs + 1) / 2,
            Family::Count | Family::Duration(_) => 3,
            Family::Bernoulli => 1,
            Family::Categorical { classes } => classes,
            Family::Density { components } => components,
        }
    }

    /// Number of outputs that are numbers, reals, a count or a duration; 0 for classes and densities.
    pub fn outputs(self) -> usize {
        match self {
            Family::Normal { outputs }
            | Family::StudentT { outputs }
            | Family::Laplace { outputs }
            | Family::NormalPlusStudentT { outputs }
            | Family::NormalPlusLaplace { outputs }
            | Family::MultivariateNormal { outputs } => outputs,
            Family::Count | Family::Duration(_) => 1,
            Family::Bernoulli | Family::Categorical { .. } | Family::Density { .. } => 0,
        }
    }

    /// Whether the output has probabilities and no density.
    pub fn is_count(self) -> bool {
        self == Family::Count
    }

    /// What a duration follows about its location; `None` of other outputs.
    pub fn duration(self) -> Option<DurationFamily> {
        match self {
            Family::Duration(family) => Some(family),
            _ => None,
        }
    }

    /// Number of targets of a row: its real outputs, or the index of its class; 0 for densities.
    pub fn targets(self) -> usize {
        self.outputs().max(usize::from(self.classes() > 0 && !self.is_density()))
    }

    /// Whether a row is what has a density, and not its target.
    pub fn is_density(self) -> bool {
        matches!(self, Family::Density { .. })
    }

    /// Number of classes; 0 for real outputs and for a density without components.
    pub fn classes(self) -> usize {
        match self {
            Family::Bernoulli => 2,
            Family::Categorical { classes } => classes,
            Family::Density { components } if components > 1 => components,
            _ => 0,
        }
    }

    /// Number of functions behind a row: one per real output, one (the log odds) for two
    /// classes, one per class for more, the log densities themselves for a row without target.
    pub fn functions(self) -> usize {
        match self {
            Family::Bernoulli => 1,
            Family::Categorical { classes } => classes,
            Family::Density { components } => components,
            real => real.outputs(),
        }
    }

    /// What the outcome is on average: the locations of real outputs and of the logarithms of durations, the probability of the
    /// second of two classes, the probability of every class of more, the mean of a count. One number per function.
    pub(super) fn expect(self, parameters: &[f64], expected: &mut [f64]) {
        match self {
            Family::Bernoulli => expected[0] = logistic(parameters[0]),
            Family::Count => {
                let component = self.component(parameters, 0);
                expected[0] = CountComponent::new(&component).mean();
            }
            Family::Categorical { .. } | Family::Density { .. } => {
                let total = log_sum_exp(parameters);
                for (slot, value) in expected.iter_mut().zip(parameters) {
                    *slot = (value - total).exp();
                }
            }
            Family::MultivariateNormal { outputs } => {
                expected.copy_from_slice(&parameters[..outputs]);
            }
            // The location of an output comes first.
            _ => {
                let each = self.width() / expected.len();
                for (slot, own) in expected.iter_mut().zip(parameters.chunks_exact(each)) {
                    *slot = own[0];
                }
            }
        }
    }

    /// The same by what is shown of the functions, where these are known; real outputs are these.
    pub(super) fn expect_given(self, functions: &[f64], expected: &mut [f64]) {
        match self {
            Family::Count => expected[0] = functions[0].exp(),
            _ => self.expect(functions, expected),
        }
    }

    /// Adds these numbers less `centre` to the log mean of the count of every row.
    pub(crate) fn add_offsets(self, offsets: &[f64], centre: f64, parameters: &mut [f64]) {
        for (own, offset) in parameters.chunks_exact_mut(self.width()).zip(offsets) {
            own[0] += offset - centre;
        }
    }

    /// One output alone.
    pub(super) fn component(self, parameters: &[f64], output: usize) -> Component {
        let (spread, dof) = (0.0, f64::INFINITY);
        match self {
            Family::Normal { .. } | Family::Laplace { .. } => {
                let [location, scale] = [0, 1].map(|k| parameters[2 * output + k]);
                Component { location, scale, spread, dof }
            }
            Family::StudentT { .. } => {
                let [location, scale, dof] = [0, 1, 2].map(|k| parameters[3 * output + k]);
                Component { location, scale, spread, dof }
            }
            Family::NormalPlusLaplace { .. } => {
                let [location, spread, scale] = [0, 1, 2].map(|k| parameters[3 * output + k]);
                Component { location, scale, spread, dof }
            }
            Family::NormalPlusStudentT { .. } => {
                let [location, spread, scale, dof] =
                    [0, 1, 2, 3].map(|k| parameters[4 * output + k]);
                if dof < f64::INFINITY {
                    return Component { location, scale, spread, dof };
                }
                // Two normal variables are one.
                Component { location, scale: scale.hypot(spread), spread: 0.0, dof }
            }
            Family::MultivariateNormal { outputs } => {
                let start = outputs + output * (output + 1) / 2;
                // Var(y_o) = Σ_j L_oj².
                let scale = norm(&parameters[start..=start + output]);
                Component { location: parameters[output], scale, spread, dof }
            }
            Family::Count => {
                let [location, spread, dof] = [0, 1, 2].map(|k| parameters[k]);
                Component { location, scale: 1.0, spread, dof }
            }
            Family::Duration(family) => {
                let [location, spread, scale] = [0, 1, 2].map(|k| parameters[k]);
                match family {
                    DurationFamily::Weibull => Component { location, scale, spread, dof },
                    // Two normal variables are one.
                    DurationFamily::LogNormal => {
                        Component { location, scale: scale.hypot(spread), spread: 0.0, dof }
                    }
                }
            }
            Family::Bernoulli | Family::Categorical { .. } | Family::Density { .. } => {
                unreachable!("classes and densities have none")
            }
        }
    }

    /// Log density at `y` of one output alone.
    pub(super) fn log_density_of(self, component: Component, y: f64) -> f64 {
        let Component { location, scale, spread, dof } = component;
        match self {
            Family::Count => CountComponent::new(&component).log_probability(y),
            Family::Duration(family) => {
                DurationComponent::new(family, &component).log_likelihood(y)
            }
            Family::NormalPlusStudentT { .. } if component.is_sum() => NormalPlusStudentT::new(dof)
                .map_or(f64::NAN, |sum| sum.log_density(spread, scale, y - location)),
            Family::NormalPlusLaplace { .. } if component.is_sum() => {
                NormalPlusLaplace::new(spread, scale).log_density(y - location)
            }
            Family::StudentT { .. } | Family::NormalPlusStudentT { .. } if dof != f64::INFINITY => {
                StudentT::new(location, scale, dof).map_or(f64::NAN, |t| t.log_density(y))
            }
            Family::Laplace { .. } | Family::NormalPlusLaplace { .. } => {
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

/// Root of the sum of squares, without overflow or underflow of the squares.
pub(super) fn norm(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return values.iter().map(|value| value.abs()).sum();
    }
    largest * values.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
}
