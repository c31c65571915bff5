//! What targets follow, given normal functions at their rows.

use std::ops::Range;

use posteria_linalg::Matrix;

use super::logistic_normal::log_odds;
use super::observed::Observed;
use super::posterior::GpPosterior;
use super::softmax_normal::SoftmaxNormal;
use crate::data::Standardization;
use crate::draws::{Layout, Role};
use crate::model::outcome::two_classes;
use crate::model::residual::Residual;
use crate::model::spec::{Link, ResidualFamily};
use crate::predict::Family;

/// Adds residuals to functions, or averages the link over them.
pub(super) struct Response<'p> {
    posterior: &'p GpPosterior,
    /// Where scales, common scales and degrees of freedom of residuals are in a draw.
    scales: Range<usize>,
    above: Range<usize>,
    slopes: Range<usize>,
    dof: Range<usize>,
    /// Where σ of counts or durations is, or the cut points of ordered classes.
    given: Range<usize>,
    softmax: SoftmaxNormal,
    contrasts: Vec<f64>,
    classes: Vec<f64>,
}

/// Means and variances of all functions at some rows, f·n + i, on the standardised scale.
pub(super) struct Functions<'a> {
    pub(super) means: &'a [f64],
    pub(super) variances: &'a [f64],
}

impl<'p> Response<'p> {
    pub(super) fn new(posterior: &'p GpPosterior, layout: &Layout) -> Self {
        let functions = posterior.observed.functions();
        Response {
            posterior,
            scales: layout.range_of(Role::ResidualScale),
            above: layout.range_of(Role::ResidualScaleAbove),
            slopes: layout.range_of(Role::ResidualLogSlope),
            dof: layout.range_of(Role::ResidualDof),
            given: match &posterior.observed {
                Observed::Outcomes(outcomes) => outcomes.places(layout),
                _ => 0..0,
            },
            softmax: SoftmaxNormal::default(),
            contrasts: vec![0.0; functions],
            classes: vec![0.0; functions + 1],
        }
    }

    /// Normal residuals with separate scales count as Student's t: the scale of a group that no
    /// training row belongs to has its prior. (Of t and Laplace residuals such a row has the
    /// common scale.)
    pub(super) fn family(&self) -> Family {
        let outputs = self.posterior.observed.functions();
        match &self.posterior.observed {
            Observed::Real(residual) => match residual.family {
                ResidualFamily::Normal if residual.by.is_none() => Family::Normal { outputs },
                ResidualFamily::Laplace => Family::NormalPlusLaplace { outputs },
                _ => Family::NormalPlusStudentT { outputs },
            },
            Observed::Binary { .. } => Family::Bernoulli,
            Observed::Multiclass { .. } => Family::Categorical { classes: outputs + 1 },
            Observed::Outcomes(outcomes) => outcomes.family(),
        }
    }

    /// Writes the parameters of every row of `inputs`.
    pub(super) fn write(
        &mut self,
        draw: &[f64],
        inputs: &Matrix,
        functions: &Functions<'_>,
        parameters: &mut [f64],
    ) {
        let posterior = self.posterior;
        let Functions { means, variances } = *functions;
        match &posterior.observed {
            Observed::Real(residual) => self.real(residual, draw, inputs, functions, parameters),
            Observed::Outcomes(outcomes) => {
                let (given, scaling) = (&draw[self.given.clone()], outcomes.scaling());
                let places = parameters.chunks_exact_mut(self.family().width());
                for ((place, mean), variance) in places.zip(means).zip(variances) {
                    if outcomes.are_ordered() {
                        // The average of P(y ≤ k) over f is that of a logistic, whose log odds are where
                        // the cut is from a known f.
                        let odds = |cut: &f64| log_odds(Link::Logit, cut - mean, *variance);
                        let cuts: Vec<f64> = given.iter().map(odds).collect();
                        outcomes.write_parameters((0.0, 0.0), &cuts, place);
                        continue;
                    }
                    // For an exposure of one.
                    let (location, spread) =
                        (scaling.invert(*mean), scaling.scale * variance.sqrt());
                    outcomes.write_parameters((location, spread), given, place);
                }
            }
            Observed::Binary { link, .. } => {
                for ((slot, mean), variance) in parameters.iter_mut().zip(means).zip(variances) {
                    *slot = log_odds(*link, *mean, *variance);
                }
            }
            Observed::Multiclass { contrasts, .. } => {
                let rows = inputs.rows();
                for (row, slots) in parameters.chunks_mut(contrasts.classes).enumerate() {
                    for (j, value) in self.contrasts.iter_mut().enumerate() {
                        *value = means[j * rows + row];
                    }
                    contrasts.expand(&self.contrasts, &mut self.classes);
                    // Contrasts share one process, hence one variance.
                    self.softmax.log_probabilities(&self.classes, variances[row], slots);
                }
            }
        }
    }

    fn real(
        &self,
        residual: &Residual,
        draw: &[f64],
        inputs: &Matrix,
        functions: &Functions<'_>,
        parameters: &mut [f64],
    ) {
        let (rows, family) = (inputs.rows(), self.family());
        let each = family.width() / residual.outputs;
        let dofs = &draw[self.dof.clone()];
        let groups = residual.by.as_ref().map_or(1, |by| by.labels.len());
        for (row, parameters) in parameters.chunks_mut(family.width()).enumerate() {
            let group = residual.by.as_ref().map(|by| by.group(|k| inputs[(row, k)]));
            for (target, slot) in parameters.chunks_mut(each).enumerate() {
                let scaling = &self.posterior.target_scaling[target];
                let (scale, group_dof) = match group {
                    None => (draw[self.scales.start + target], f64::INFINITY),
                    Some(Some(group)) => {
                        (draw[self.scales.start + target * groups + group], f64::INFINITY)
                    }
                    // Values that no training row had: the scale is not known, its prior is.
                    Some(None) => (draw[self.above.start + target], residual.group_dof()),
                };
                let slopes = &draw[self.slopes.clone()];
                let scale = scale * residual.factor(slopes, target, |k| inputs[(row, k)]);
                let spread = functions.variances[target * rows + row].sqrt() * scaling.scale;
                slot[0] = scaling.invert(functions.means[target * rows + row]);
                if let Family::Normal { .. } = family {
                    slot[1] = spread.hypot(scale);
                    continue;
                }
                slot[1] = spread;
                slot[2] = scale;
                if each == 4 {
                    slot[3] = match residual.family {
                        ResidualFamily::Normal => group_dof,
                        _ => residual.dof_at(dofs, |k| inputs[(row, k)]),
                    };
                }
            }
        }
    }

    /// Turns functions f·n + i at `rows` rows into what is shown of them: real ones in the
    /// target's unit, log odds, the outputs of a softmax, log rates of counts, log probabilities of ordered classes; those of a row next to each other.
    pub(super) fn show(
        &mut self,
        draw: &[f64],
        rows: usize,
        functions: &[f64],
        outputs: &mut [f64],
    ) {
        let posterior = self.posterior;
        let count = self.family().functions();
        for (row, outputs) in outputs.chunks_mut(count).enumerate() {
            match &posterior.observed {
                Observed::Outcomes(outcomes) => {
                    let location = outcomes.scaling().invert(functions[row]);
                    outcomes.show(location, &draw[self.given.clone()], outputs);
                }
                Observed::Real(_) => {
                    let scalings = posterior.target_scaling.iter().enumerate();
                    for (slot, (target, scaling)) in outputs.iter_mut().zip(scalings) {
                        *slot = scaling.invert(functions[target * rows + row]);
                    }
                }
                Observed::Binary { link, .. } => {
                    outputs[0] = two_classes::log_odds(*link, functions[row]);
                }
                Observed::Multiclass { contrasts, .. } => {
                    for (j, value) in self.contrasts.iter_mut().enumerate() {
                        *value = functions[j * rows + row];
                    }
                    contrasts.expand(&self.contrasts, outputs);
                }
            }
        }
    }

    /// Means and variances of weighted sums of functions as those of what is shown of them;
    /// `None` for the log odds of a probit link and for log probabilities of ordered classes, which are not normal.
    pub(super) fn show_sums(
        &mut self,
        sums: &[(f64, f64)],
        weight: f64,
    ) -> Option<Vec<(f64, f64)>> {
        match &self.posterior.observed {
            Observed::Outcomes(outcomes) if outcomes.are_ordered() => None,
            Observed::Real(_) | Observed::Outcomes(_) => {
                let pairs = sums.iter().zip(&self.posterior.target_scaling);
                let show = |((mean, variance), scaling): (&(f64, f64), &Standardization)| {
                    let level = weight * scaling.invert(0.0);
                    (level + scaling.scale * mean, scaling.scale.powi(2) * variance)
                };
                Some(pairs.map(show).collect())
            }
            Observed::Binary { link: Link::Logit, .. } => Some(sums.to_vec()),
            Observed::Binary { link: Link::Probit, .. } => None,
            Observed::Multiclass { contrasts, .. } => {
                let means: Vec<f64> = sums.iter().map(|sum| sum.0).collect();
                let mut shown = vec![0.0; contrasts.classes];
                contrasts.expand(&means, &mut shown);
                // Independent contrasts of one process: the squares of what each adds.
                let mut variances = vec![0.0; contrasts.classes];
                let mut alone = vec![0.0; means.len()];
                let mut added = vec![0.0; contrasts.classes];
                for (index, (_, variance)) in sums.iter().enumerate() {
                    alone.fill(0.0);
                    alone[index] = 1.0;
                    contrasts.expand(&alone, &mut added);
                    let pairs = variances.iter_mut().zip(&added);
                    pairs.for_each(|(sum, by)| *sum += by * by * variance);
                }
                Some(shown.into_iter().zip(variances).collect())
            }
        }
    }

    /// Turns slopes of functions f·n + i, with the functions themselves, into slopes of what is
    /// shown of them; those of a row next to each other.
    pub(super) fn show_slopes(
        &mut self,
        draw: &[f64],
        rows: usize,
        (functions, slopes): (&[f64], &[f64]),
        outputs: &mut [f64],
    ) {
        let count = self.family().functions();
        match &self.posterior.observed {
            Observed::Outcomes(outcomes) => {
                let scaling = outcomes.scaling();
                for ((outputs, f), slope) in outputs.chunks_mut(count).zip(functions).zip(slopes) {
                    let shown = (scaling.invert(*f), scaling.scale * slope);
                    outcomes.show_slope(shown, &draw[self.given.clone()], outputs);
                }
            }
            Observed::Real(_) => {
                for (row, outputs) in outputs.chunks_mut(count).enumerate() {
                    let scalings = self.posterior.target_scaling.iter().enumerate();
                    for (slot, (target, scaling)) in outputs.iter_mut().zip(scalings) {
                        *slot = scaling.scale * slopes[target * rows + row];
                    }
                }
            }
            Observed::Binary { link, .. } => {
                for ((slot, f), slope) in outputs.iter_mut().zip(functions).zip(slopes) {
                    *slot = two_classes::log_odds_slope(*link, *f) * slope;
                }
            }
            // Linear in the functions.
            _ => self.show(draw, rows, slopes, outputs),
        }
    }
}
