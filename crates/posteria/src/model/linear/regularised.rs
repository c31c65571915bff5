//! See a linear model as weights with normal priors behind outputs that can be differentiated.

use posteria_linalg::{Matrix, matrix_vector, transposed_matrix_vector};

use super::coefficients::GroupScale;
use super::posterior::{Likelihood, LinearPosterior};
use crate::density::special::{log1p_exp, logistic};
use crate::draws::Role;
use crate::model::{Decay, ModelError, Noise, Outputs, Posterior, Regularised, Response, Scales};
use crate::random::Stream;

impl LinearPosterior {
    /// The model as approximations at a mode see it.
    ///
    /// # Errors
    /// [`ModelError::NotAvailable`] for the conjugate prior, whose posterior is known exactly, for
    /// residuals that are not normal with one scale, for several targets, and for more than two
    /// classes.
    pub fn regularised(&self) -> Result<LinearWeights<'_>, ModelError> {
        let refuse = |what: &str| Err(ModelError::NotAvailable { what: what.into() });
        let noise = match &self.likelihood {
            Likelihood::Real(regression) if regression.conjugate.is_some() => {
                return refuse(
                    "family = \"conjugate\" with inference = \"laplace\" or \"map\" (its posterior \
                     is exact with inference = \"mcmc\")",
                );
            }
            Likelihood::Real(regression) if regression.residual.outputs > 1 => {
                return refuse(
                    "inference = \"laplace\" or \"map\" for several targets of a linear model \
                     (kind = \"mlp\" with hidden = 0 is one that has it)",
                );
            }
            Likelihood::Real(regression) if regression.is_homogeneous() => {
                let prior = self.model.residual.scale.conjugate();
                let count = self.x.rows() as f64;
                let (scale, dof) = (prior.scale(), prior.dof());
                vec![Noise { name: "residual".into(), count, scale, dof }]
            }
            Likelihood::Real(_) => {
                return refuse("these residuals with inference = \"laplace\" or \"map\"");
            }
            Likelihood::Logistic(_) => Vec::new(),
            Likelihood::Outcomes(_) => {
                return refuse(
                    "inference = \"laplace\" or \"map\" for counts, durations or ordered classes",
                );
            }
            Likelihood::Softmax { .. } => {
                return refuse(
                    "inference = \"laplace\" or \"map\" for several classes of a linear model \
                     (kind = \"mlp\" with hidden = 0 is one that has it)",
                );
            }
        };
        let all_one = vec![0; self.x.rows()];
        Ok(LinearWeights { posterior: self, noise, all_one })
    }
}

/// A linear or logistic regression with normal weights.
pub struct LinearWeights<'p> {
    posterior: &'p LinearPosterior,
    noise: Vec<Noise>,
    /// Every residual is of the same group.
    all_one: Vec<u32>,
}

impl Regularised for LinearWeights<'_> {
    fn decays(&self) -> Vec<Decay> {
        let groups = self.posterior.coefficients.groups.iter();
        let mut decays: Vec<Decay> = groups
            .map(|group| {
                let (scale, fixed) = match group.scale {
                    GroupScale::Fixed(scale) => (scale, true),
                    GroupScale::Sampled(_, prior) => {
                        let prior = prior.conjugate();
                        (if prior.dof() < 1.0 { 1.0 } else { prior.scale() }, false)
                    }
                };
                let members = group.members.clone();
                Decay { name: self.name(members.start, members.len()), members, scale, fixed }
            })
            .collect();
        decays.sort_by_key(|decay| decay.members.start);
        decays
    }

    fn noises(&self) -> Vec<Noise> {
        self.noise.clone()
    }

    fn response(&self) -> Response<'_> {
        match &self.posterior.likelihood {
            Likelihood::Real(regression) => {
                Response::Real { targets: &regression.residual.targets, group_of: &self.all_one }
            }
            Likelihood::Logistic(signs) => Response::Binary { signs },
            Likelihood::Softmax { .. } | Likelihood::Outcomes(_) => {
                unreachable!("several classes, counts and durations were refused")
            }
        }
    }

    fn outputs<'p>(&'p self) -> Box<dyn Outputs + 'p> {
        let slopes = vec![0.0; self.posterior.x.rows()];
        Box::new(LinearOutputs { x: &self.posterior.x, response: self.response(), slopes })
    }

    /// Zero: there is one mode.
    fn start(&self, _stream: &mut Stream) -> Vec<f64> {
        vec![0.0; self.posterior.coefficients.count]
    }

    fn state(&self, weights: &[f64], scales: &Scales) -> Vec<f64> {
        let mut state = vec![0.0; self.posterior.state_len()];
        state[..weights.len()].copy_from_slice(weights);
        for (decay, alpha) in self.decays().iter().zip(&scales.alphas) {
            let groups = &self.posterior.coefficients.groups;
            let own = groups.iter().find(|group| group.members == decay.members);
            if let Some(GroupScale::Sampled(slot, _)) = own.map(|group| group.scale) {
                state[slot] = -0.5 * alpha.ln();
            }
        }
        if let Some(beta) = scales.betas.first() {
            state[self.posterior.coefficients.state_len] = -0.5 * beta.ln();
        }
        state
    }

    fn log_unit(&self) -> f64 {
        let rows = self.posterior.x.rows() as f64;
        self.units().iter().map(|unit| -rows * unit.ln()).sum()
    }

    fn units(&self) -> Vec<f64> {
        match self.noise.is_empty() {
            true => Vec::new(),
            false => vec![self.posterior.user.targets[0].scale],
        }
    }
}

impl LinearWeights<'_> {
    fn name(&self, start: usize, count: usize) -> String {
        let Some(column) = start.checked_sub(usize::from(self.posterior.model.intercept)) else {
            return "intercept".into();
        };
        let columns = column..column + count;
        let input = self.posterior.columns.spans.iter().position(|span| *span == columns);
        let relevance = self.posterior.layout().of_role(Role::Relevance);
        match input.and_then(|k| relevance?.dimensions.first()?.labels.get(k)) {
            Some(label) => format!("weights[{label}]"),
            None => "weights".into(),
        }
    }
}

struct LinearOutputs<'p> {
    x: &'p Matrix,
    response: Response<'p>,
    slopes: Vec<f64>,
}

impl Outputs for LinearOutputs<'_> {
    fn len(&self) -> usize {
        self.x.rows()
    }

    fn rows(&self) -> usize {
        self.x.rows()
    }

    fn outputs(&mut self, weights: &[f64], outputs: &mut [f64]) {
        matrix_vector(self.x, weights, outputs);
    }

    fn log_likelihood(&mut self, weights: &[f64], precisions: &[f64], gradient: &mut [f64]) -> f64 {
        matrix_vector(self.x, weights, &mut self.slopes);
        let mut value = 0.0;
        match self.response {
            Response::Real { targets, .. } => {
                for ((slot, target), beta) in self.slopes.iter_mut().zip(targets).zip(precisions) {
                    let residual = target - *slot;
                    value -= 0.5 * beta * residual * residual;
                    *slot = beta * residual;
                }
            }
            Response::Binary { signs } => {
                for (slot, sign) in self.slopes.iter_mut().zip(signs) {
                    let margin = sign * *slot;
                    value -= log1p_exp(-margin);
                    *slot = sign * logistic(-margin);
                }
            }
            Response::Classes { .. } => unreachable!("a linear model has one output"),
        }
        transposed_matrix_vector(self.x, &self.slopes, gradient);
        value
    }

    fn jacobian(&mut self, _weights: &[f64], jacobian: &mut Matrix) {
        jacobian.values_mut().copy_from_slice(self.x.values());
    }
}
