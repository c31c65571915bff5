//! See a linear model as weights with normal priors behind outputs that can be differentiated.

use posteria_linalg::{Matrix, transposed_matrix_vector};

use super::coefficients::{Coefficients, GroupScale};
use super::posterior::{Likelihood, LinearPosterior};
use crate::density::special::log_sum_exp;
use crate::draws::Role;
use crate::model::outcome::two_classes;
use crate::model::spec::Link;
use crate::model::{Decay, ModelError, Noise, Outputs, Posterior, Regularised, Response, Scales};
use crate::random::Stream;

impl LinearPosterior {
    /// The model as approximations at a mode see it.
    ///
    /// # Errors
    /// [`ModelError::NotAvailable`] for the conjugate prior, whose posterior is known exactly, for
    /// residuals that are not normal with one scale, and for counts, durations and ordered classes.
    pub fn regularised(&self) -> Result<LinearWeights<'_>, ModelError> {
        let refuse = |what: &str| Err(ModelError::NotAvailable { what: what.into() });
        let mut group_of = Vec::new();
        let noise = match &self.likelihood {
            Likelihood::Real(regression) if regression.conjugate.is_some() => {
                return refuse(
                    "family = \"conjugate\" with inference = \"laplace\", \"map\" or \"ml\" (its \
                     posterior is exact with inference = \"mcmc\")",
                );
            }
            Likelihood::Real(regression) if regression.is_homogeneous() => {
                let prior = self.model.residual.scale.conjugate();
                let (scale, dof) = match self.has_prior() {
                    // Without priors the residual scale is the most likely one.
                    false => (0.0, 0.0),
                    true => (prior.scale(), prior.dof()),
                };
                let (counts, slot_of) = regression.residual.groups();
                group_of = slot_of.to_vec();
                let name = |k: usize| match regression.targets.get(k) {
                    Some(target) if counts.len() > 1 => format!("residual[{target}]"),
                    _ => "residual".into(),
                };
                let noise =
                    |(k, count): (usize, &f64)| Noise { name: name(k), count: *count, scale, dof };
                counts.iter().enumerate().map(noise).collect()
            }
            Likelihood::Real(_) => {
                return refuse(
                    "inference = \"laplace\", \"map\" or \"ml\" with residuals other than normal ones \
                     of one scale for each target (leave out by, slopes and family of [residual], or \
                     use inference = \"mcmc\")",
                );
            }
            Likelihood::Logistic(_) | Likelihood::Softmax { .. } => Vec::new(),
            Likelihood::Outcomes(outcomes) if outcomes.signs().is_some() => Vec::new(),
            Likelihood::Outcomes(_) => {
                return refuse(
                    "inference = \"laplace\", \"map\" or \"ml\" for counts, durations or ordered \
                     classes",
                );
            }
        };
        Ok(LinearWeights { posterior: self, noise, group_of })
    }
}

/// A linear, logistic or softmax regression with normal weights.
pub struct LinearWeights<'p> {
    posterior: &'p LinearPosterior,
    noise: Vec<Noise>,
    /// The group of every residual, o·n + i; none of classes.
    group_of: Vec<u32>,
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
        if !self.posterior.has_prior() {
            return self.without_prior();
        }
        decays.sort_by_key(|decay| decay.members.start);
        decays
    }

    fn noises(&self) -> Vec<Noise> {
        self.noise.clone()
    }

    fn response(&self) -> Response<'_> {
        match &self.posterior.likelihood {
            Likelihood::Real(regression) => {
                Response::Real { targets: &regression.residual.targets, group_of: &self.group_of }
            }
            Likelihood::Logistic(signs) => Response::Binary { signs, link: Link::Logit },
            Likelihood::Softmax { codes, .. } => Response::Classes { codes },
            Likelihood::Outcomes(outcomes) => match outcomes.signs() {
                Some(signs) => Response::Binary { signs, link: Link::Probit },
                None => unreachable!("counts and durations were refused"),
            },
        }
    }

    fn outputs<'p>(&'p self) -> Box<dyn Outputs + 'p> {
        let coefficients = &self.posterior.coefficients;
        Box::new(LinearOutputs {
            x: &self.posterior.x,
            coefficients,
            response: self.response(),
            slopes: vec![0.0; self.posterior.x.rows() * coefficients.outputs],
            room: vec![0.0; coefficients.columns()],
            of_row: vec![0.0; coefficients.outputs],
        })
    }

    fn reference_weights(&self) -> usize {
        match self.posterior.likelihood {
            Likelihood::Softmax { .. } if !self.posterior.has_prior() => {
                self.posterior.coefficients.columns()
            }
            _ => 0,
        }
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
        for (slot, beta) in
            state[self.posterior.coefficients.state_len..].iter_mut().zip(&scales.betas)
        {
            *slot = -0.5 * beta.ln();
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
            false => self.posterior.user.targets.iter().map(|target| target.scale).collect(),
        }
    }
}

impl LinearWeights<'_> {
    /// No weight has a prior: that of no precision. What all classes have in common leaves their
    /// probabilities as they are: a prior of any precision settles it for the first class, whose
    /// weights are then 0 at the maximum, wherever that is.
    fn without_prior(&self) -> Vec<Decay> {
        let Coefficients { count, outputs, .. } = self.posterior.coefficients;
        let free =
            |members| Decay { name: "weights".into(), members, scale: f64::INFINITY, fixed: true };
        if self.reference_weights() == 0 {
            return vec![free(0..count)];
        }
        let of_column = |first: usize| {
            let name = "weights of the reference class".into();
            let reference = Decay { name, members: first..first + 1, scale: 1.0, fixed: true };
            [reference, free(first + 1..first + outputs)]
        };
        (0..count).step_by(outputs).flat_map(of_column).collect()
    }

    fn name(&self, start: usize, count: usize) -> String {
        let outputs = self.posterior.coefficients.outputs;
        let first = usize::from(self.posterior.model.intercept);
        let Some(column) = (start / outputs).checked_sub(first) else {
            return "intercept".into();
        };
        let columns = column..column + count / outputs;
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
    coefficients: &'p Coefficients,
    response: Response<'p>,
    /// o·n + i.
    slopes: Vec<f64>,
    /// Coefficients of one output.
    room: Vec<f64>,
    /// Outputs of one row.
    of_row: Vec<f64>,
}

impl Outputs for LinearOutputs<'_> {
    fn len(&self) -> usize {
        self.slopes.len()
    }

    fn rows(&self) -> usize {
        self.x.rows()
    }

    fn outputs(&mut self, weights: &[f64], outputs: &mut [f64]) {
        self.coefficients.write_outputs(self.x, weights, &mut self.room, outputs);
    }

    fn log_likelihood(&mut self, weights: &[f64], precisions: &[f64], gradient: &mut [f64]) -> f64 {
        self.coefficients.write_outputs(self.x, weights, &mut self.room, &mut self.slopes);
        let mut value = 0.0;
        match self.response {
            Response::Real { targets, .. } => {
                for ((slot, target), beta) in self.slopes.iter_mut().zip(targets).zip(precisions) {
                    let residual = target - *slot;
                    value -= 0.5 * beta * residual * residual;
                    *slot = beta * residual;
                }
            }
            Response::Binary { signs, link } => {
                for (slot, sign) in self.slopes.iter_mut().zip(signs) {
                    let terms = two_classes::terms(link, *sign, *slot);
                    value += terms.value;
                    *slot = terms.slope;
                }
            }
            Response::Classes { codes } => {
                let rows = codes.len();
                for (row, code) in codes.iter().enumerate() {
                    let own = *code as usize * rows + row;
                    let outputs = self.slopes.iter().skip(row).step_by(rows);
                    self.of_row.iter_mut().zip(outputs).for_each(|(f, output)| *f = *output);
                    let log_sum = log_sum_exp(&self.of_row);
                    value += self.slopes[own] - log_sum;
                    for slot in self.slopes.iter_mut().skip(row).step_by(rows) {
                        *slot = -(*slot - log_sum).exp();
                    }
                    self.slopes[own] += 1.0;
                }
            }
        }
        for (output, slopes) in self.slopes.chunks_exact(self.x.rows()).enumerate() {
            transposed_matrix_vector(self.x, slopes, &mut self.room);
            for (at, slope) in self.coefficients.of_output(output).zip(&self.room) {
                gradient[at] = *slope;
            }
        }
        value
    }

    fn jacobian(&mut self, _weights: &[f64], jacobian: &mut Matrix) {
        let (rows, outputs) = (self.x.rows(), self.coefficients.outputs);
        for column in 0..jacobian.columns() {
            let output = column % outputs;
            let values = jacobian.column_mut(column);
            values.fill(0.0);
            let own = &mut values[output * rows..(output + 1) * rows];
            own.copy_from_slice(self.x.column(column / outputs));
        }
    }
}
