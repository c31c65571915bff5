//! See a network as weights with normal priors behind outputs that can be differentiated.

use posteria_linalg::Matrix;

use super::hierarchy::{Group, Scale};
use super::network::{Likelihood, Network};
use super::observed::Observed;
use super::posterior::MlpPosterior;
use super::start::dispersed;
use crate::density::special::ln_gamma;
use crate::model::prior::{Above, Levels};
use crate::model::residual::{self, Residual};
use crate::model::spec::{Link, ResidualFamily};
use crate::model::{
    Decay, ModelError, Noise, Outputs, Posterior, Regularised, Response, Scales, Symmetry,
};
use crate::random::{Purpose, Seed, Stream};

/// Standard deviation of the weights that a climb begins with.
const FIRST_WEIGHT: f64 = 0.3;

impl MlpPosterior {
    /// How the probability of the second of two classes depends on the output.
    pub(crate) fn link(&self) -> Link {
        match &self.observed {
            Observed::Outcomes(outcomes) if outcomes.signs().is_some() => Link::Probit,
            _ => Link::Logit,
        }
    }

    /// The network as approximations at a mode see it.
    ///
    /// # Errors
    /// [`ModelError::NotAvailable`] where weights or residuals are not normal given their scales,
    /// or residuals have a covariance matrix.
    pub fn regularised(&self) -> Result<MlpWeights<'_>, ModelError> {
        let refuse = |what: &str| {
            let what = format!("{what} with inference = \"laplace\", \"map\" or \"variational\"");
            Err(ModelError::NotAvailable { what })
        };
        if self.hierarchy.groups.iter().any(|group| group.multipliers.is_some()) {
            return refuse("a prior family of weights other than normal");
        }
        if let Observed::Outcomes(outcomes) = &self.observed
            && outcomes.signs().is_none()
        {
            return refuse("counts, durations or ordered classes");
        }
        if let Observed::Real(residual) = &self.observed {
            if residual.family != ResidualFamily::Normal {
                return refuse("a residual family other than normal");
            }
            if let residual::Noise::Covariance { .. } = residual.noise {
                return refuse("sharing = \"covariance\" in [residual]");
            }
            if residual.slopes.is_some() {
                return refuse("slopes in [residual]");
            }
        }
        Ok(MlpWeights { posterior: self })
    }
}

/// A network with normal weights and normal residuals, or classes.
#[derive(Clone, Copy)]
pub struct MlpWeights<'p> {
    posterior: &'p MlpPosterior,
}

impl MlpWeights<'_> {
    fn residual(&self) -> Option<(&Residual, &Levels, &[u32], &[f64])> {
        let Observed::Real(residual) = &self.posterior.observed else { return None };
        match &residual.noise {
            residual::Noise::Scales { levels, slot_of, counts } => {
                Some((residual, levels, slot_of, counts))
            }
            residual::Noise::Covariance { .. } => None,
        }
    }

    fn part_name(&self, group: &Group, part: usize) -> String {
        let variable = self.posterior.layout().variable(group.name);
        let input = variable.and_then(|v| v.dimensions.first()?.labels.get(part).cloned());
        match input.filter(|_| group.per_input) {
            Some(input) => format!("{}[{input}]", group.name),
            None => group.name.to_string(),
        }
    }
}

impl Regularised for MlpWeights<'_> {
    fn decays(&self) -> Vec<Decay> {
        let mut decays = Vec::new();
        for group in &self.posterior.hierarchy.groups {
            let (scale, fixed) = match &group.scale {
                Scale::Fixed(scale) => (*scale, true),
                Scale::Sampled(levels) => (telling_scale(levels), false),
            };
            for part in 0..group.parts() {
                let (name, members) = (self.part_name(group, part), group.part_range(part));
                decays.push(Decay { name, members, scale, fixed });
            }
        }
        decays
    }

    fn noises(&self) -> Vec<Noise> {
        let Some((residual, levels, _, counts)) = self.residual() else { return Vec::new() };
        let (scale, dof) = conjugate(levels);
        let known = residual.known_scales.is_some();
        let noise = |(index, count): (usize, &f64)| Noise {
            name: format!("residual[{index}]"),
            count: *count,
            scale,
            // Known scales are as if infinitely many residuals had been seen before.
            dof: if known { f64::INFINITY } else { dof },
        };
        counts.iter().enumerate().map(noise).collect()
    }

    fn response(&self) -> Response<'_> {
        match &self.posterior.observed {
            Observed::Real(residual) => {
                let group_of = self.residual().map_or(&[][..], |(_, _, slot_of, _)| slot_of);
                Response::Real { targets: &residual.targets, group_of }
            }
            Observed::Binary { signs } => Response::Binary { signs, link: Link::Logit },
            Observed::Multiclass { codes } => Response::Classes { codes },
            Observed::Outcomes(outcomes) => match outcomes.signs() {
                Some(signs) => Response::Binary { signs, link: Link::Probit },
                None => unreachable!("counts and durations were refused"),
            },
        }
    }

    fn outputs<'p>(&'p self) -> Box<dyn Outputs + 'p> {
        let MlpPosterior { shape, rows, .. } = self.posterior;
        Box::new(MlpOutputs {
            posterior: self.posterior,
            network: Network::new(*shape, rows),
            scratch: vec![0.0; shape.outputs * rows.len()],
        })
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        let mut weights = vec![0.0; self.posterior.shape.len()];
        stream.fill_normal(&mut weights);
        weights.iter_mut().for_each(|weight| *weight *= FIRST_WEIGHT);
        weights
    }

    fn state(&self, weights: &[f64], scales: &Scales) -> Vec<f64> {
        // Degrees of freedom have no place here; any that are sampled stand where a start has them.
        let mut state = dispersed(self.posterior, &mut Seed(0).stream(Purpose::Start, [0, 0]));
        state[..weights.len()].copy_from_slice(weights);
        let mut next = 0;
        for group in &self.posterior.hierarchy.groups {
            let count = group.parts();
            if let Scale::Sampled(levels) = &group.scale {
                set(levels, &scales.alphas[next..next + count], &mut state);
            }
            next += count;
        }
        if let Some((_, levels, ..)) = self.residual() {
            set(levels, &scales.betas, &mut state);
        }
        state
    }

    /// 2^H H!: hidden units may change signs and places [MacKay 1992b].
    fn log_symmetries(&self) -> f64 {
        let hidden = self.posterior.shape.hidden as f64;
        hidden * std::f64::consts::LN_2 + ln_gamma(hidden + 1.0)
    }

    fn canonical(&self, weights: &[f64]) -> Option<Symmetry> {
        Some(self.posterior.shape.canonical(weights))
    }

    fn log_unit(&self) -> f64 {
        let rows = self.posterior.rows.len() as f64;
        self.units().iter().map(|unit| -rows * unit.ln()).sum()
    }

    fn units(&self) -> Vec<f64> {
        match &self.posterior.observed {
            Observed::Real(_) => self.posterior.target_scaling.iter().map(|s| s.scale).collect(),
            _ => Vec::new(),
        }
    }
}

/// Scale and degrees of freedom of the inverse gamma squares about the top of a hierarchy, or of
/// those that are most like log-normal ones; degrees of freedom that are sampled count as 1.
fn conjugate(levels: &Levels) -> (f64, f64) {
    let top = match &levels.above {
        Above::Fixed(scale) => *scale,
        Above::Sampled { prior, .. } => prior.conjugate().scale(),
    };
    match levels.spread.sampled_dof() {
        Some(_) => (top, 1.0),
        None => levels.spread.about(top, &[]).map_or((top, 1.0), |below| {
            let below = below.conjugate();
            (below.scale(), below.dof())
        }),
    }
}

/// The scale at the top, or 1, the order of standardised data, where degrees of freedom below 1
/// leave the size of the scales below it as good as open.
fn telling_scale(levels: &Levels) -> f64 {
    let (scale, own) = conjugate(levels);
    let above = match &levels.above {
        Above::Fixed(_) => own,
        Above::Sampled { prior, .. } => prior.conjugate().dof(),
    };
    if own.min(above) < 1.0 { 1.0 } else { scale }
}

fn set(levels: &Levels, precisions: &[f64], state: &mut [f64]) {
    for (slot, precision) in levels.slots.clone().zip(precisions) {
        state[slot] = -0.5 * precision.ln();
    }
    if let Above::Sampled { slot, .. } = levels.above {
        let logs = &state[levels.slots.clone()];
        state[slot] = logs.iter().sum::<f64>() / logs.len() as f64;
    }
}

struct MlpOutputs<'p> {
    posterior: &'p MlpPosterior,
    network: Network<'p>,
    /// Outputs beside derivatives that are asked for.
    scratch: Vec<f64>,
}

impl Outputs for MlpOutputs<'_> {
    fn len(&self) -> usize {
        self.scratch.len()
    }

    fn rows(&self) -> usize {
        self.posterior.rows.len()
    }

    fn outputs(&mut self, weights: &[f64], outputs: &mut [f64]) {
        self.network.outputs(weights, outputs);
    }

    fn log_likelihood(&mut self, weights: &[f64], precisions: &[f64], gradient: &mut [f64]) -> f64 {
        let likelihood = match &self.posterior.observed {
            Observed::Real(residual) => {
                Likelihood::Squares { targets: &residual.targets, precisions }
            }
            Observed::Binary { signs } => Likelihood::Logistic { signs },
            Observed::Multiclass { codes } => Likelihood::Softmax { codes },
            // Two classes by the probit, which have nothing beside f.
            Observed::Outcomes(outcomes) => Likelihood::Outcomes { outcomes, given: &[] },
        };
        self.network.log_likelihood_gradient(weights, &likelihood, gradient)
    }

    fn jacobian(&mut self, weights: &[f64], jacobian: &mut Matrix) {
        let MlpOutputs { posterior, scratch, .. } = self;
        posterior.linearize(weights, &posterior.rows, scratch, jacobian);
    }
}
