//! Hold the targets of a network, and their likelihood given a state.

use super::network::Likelihood;
use crate::density::special::{LOG_SQRT_2PI, ln_gamma_half_step};
use crate::model::outcome::Outcomes;
use crate::model::residual::{Noise, Residual};
use crate::model::spec::ResidualFamily;

/// What was observed.
#[derive(Clone, Debug)]
pub(super) enum Observed {
    /// Real targets with their residual model.
    Real(Box<Residual>),
    /// +1 for rows of the second class, -1 for the first.
    Binary { signs: Vec<f64> },
    /// Index of the class of every row.
    Multiclass { codes: Vec<u32> },
    /// Counts, durations or ordered classes about the output.
    Outcomes(Box<Outcomes>),
}

impl Observed {
    /// The class of each of `rows` rows; one for all where targets are numbers.
    pub(super) fn classes(&self, rows: usize) -> Vec<usize> {
        match self {
            Observed::Real(_) => vec![0; rows],
            Observed::Outcomes(outcomes) => outcomes.signs().map_or(vec![0; rows], of_signs),
            Observed::Binary { signs } => of_signs(signs),
            Observed::Multiclass { codes } => codes.iter().map(|code| *code as usize).collect(),
        }
    }
}

fn of_signs(signs: &[f64]) -> Vec<usize> {
    signs.iter().map(|sign| usize::from(*sign > 0.0)).collect()
}

/// The likelihood of the outputs given everything else in a state: its kind and parameters.
pub(super) struct Conditioned {
    kind: Kind,
    /// Precisions, or inverse scales.
    parameters: Vec<f64>,
    dof: f64,
    /// The shape of counts or durations, or the cut points of ordered classes.
    given: Vec<f64>,
    log_constant: f64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Squares,
    StudentT,
    Absolute,
    Classes,
    Outcomes,
}

impl Conditioned {
    pub(super) fn new(observed: &Observed) -> Self {
        let (kind, len) = match observed {
            Observed::Real(residual) => {
                let kind = match residual.family {
                    ResidualFamily::Normal => Kind::Squares,
                    ResidualFamily::StudentT | ResidualFamily::PerCase => Kind::StudentT,
                    ResidualFamily::Laplace => Kind::Absolute,
                    ResidualFamily::Poisson
                    | ResidualFamily::NegativeBinomial
                    | ResidualFamily::Weibull
                    | ResidualFamily::LogNormal => {
                        unreachable!("families of counts and durations have no residuals")
                    }
                };
                (kind, residual.targets.len())
            }
            Observed::Outcomes(_) => (Kind::Outcomes, 0),
            _ => (Kind::Classes, 0),
        };
        let parameters = vec![f64::NAN; len];
        Conditioned { kind, parameters, dof: f64::NAN, given: Vec::new(), log_constant: 0.0 }
    }

    /// Takes scales and degrees of freedom from `state`; whether they changed.
    pub(super) fn condition(&mut self, observed: &Observed, state: &[f64]) -> bool {
        if let Observed::Outcomes(outcomes) = observed {
            return outcomes.condition(state, &mut self.given);
        }
        let Observed::Real(residual) = observed else { return false };
        let Noise::Scales { levels, slot_of, counts } = &residual.noise else { return false };
        let dof = residual.dof.value(state);
        let power = if self.kind == Kind::Squares { -2.0 } else { -1.0 };
        let mut changed = dof.to_bits() != self.dof.to_bits();
        self.dof = dof;
        let scales = &state[levels.slots.clone()];
        for (index, (parameter, slot)) in self.parameters.iter_mut().zip(slot_of).enumerate() {
            let log_scale = scales[*slot as usize] + residual.offset(state, index);
            let value = (power * log_scale).exp();
            changed |= value.to_bits() != parameter.to_bits();
            *parameter = value;
        }
        let constant = match self.kind {
            Kind::Squares => -LOG_SQRT_2PI,
            Kind::StudentT => {
                ln_gamma_half_step(0.5 * dof) - 0.5 * (std::f64::consts::PI * dof).ln()
            }
            Kind::Absolute => -std::f64::consts::LN_2,
            Kind::Classes | Kind::Outcomes => 0.0,
        };
        let groups = scales.iter().zip(counts).map(|(scale, count)| count * (constant - scale));
        self.log_constant = groups.sum::<f64>() - residual.sum_of_offsets(state);
        changed
    }

    /// The terms that do not depend on the outputs.
    pub(super) fn log_constant(&self) -> f64 {
        self.log_constant
    }

    pub(super) fn likelihood<'a>(&'a self, observed: &'a Observed) -> Likelihood<'a> {
        match observed {
            Observed::Binary { signs } => Likelihood::Logistic { signs },
            Observed::Multiclass { codes } => Likelihood::Softmax { codes },
            Observed::Outcomes(outcomes) => Likelihood::Outcomes { outcomes, given: &self.given },
            Observed::Real(residual) => {
                let targets = &residual.targets[..];
                match self.kind {
                    Kind::Squares => Likelihood::Squares { targets, precisions: &self.parameters },
                    Kind::StudentT => Likelihood::StudentT {
                        targets,
                        inverse_scales: &self.parameters,
                        dof: self.dof,
                    },
                    _ => Likelihood::Absolute { targets, inverse_scales: &self.parameters },
                }
            }
        }
    }

    /// Minus the second derivative of the log likelihood of one row with respect to output
    /// `output`, roughly [Neal 1996, A.4; MCMCstuff manual eq. 52 and 55].
    pub(super) fn curvature(&self, observed: &Observed, output: usize) -> f64 {
        if let Observed::Outcomes(outcomes) = observed {
            return outcomes.curvature(&self.given);
        }
        let Observed::Real(residual) = observed else { return 0.25 };
        let these = &self.parameters[output * residual.rows..(output + 1) * residual.rows];
        let sum: f64 = match self.kind {
            Kind::Squares => these.iter().sum(),
            _ => these.iter().map(|inverse| inverse * inverse).sum(),
        };
        sum / residual.rows as f64
    }
}
