//! The likelihood of classes, ordered or not, counts or durations given latent values, with slopes and curvatures.

use super::super::observed::Observed;
use crate::model::outcome::two_classes;

/// The log likelihood Σ log p(y_i | f_i) of classes, counts or durations, f at j·n + i.
pub(in crate::model::gp) struct Likelihood<'p> {
    observed: &'p Observed,
    rows: usize,
    functions: usize,
    /// Q_cj of the contrasts at c·F + j.
    weights: Vec<f64>,
    /// Room for one row: class functions or probabilities, and their mean of Q.
    classes: Vec<f64>,
    means: Vec<f64>,
    /// The shape of counts or durations, or cut points, of the state at hand.
    given: Vec<f64>,
}

impl<'p> Likelihood<'p> {
    pub(in crate::model::gp) fn new(observed: &'p Observed, rows: usize) -> Self {
        let functions = observed.functions();
        let weights = match observed {
            Observed::Multiclass { contrasts, .. } => (0..contrasts.classes)
                .flat_map(|class| (0..functions).map(move |j| contrasts.weight(class, j)))
                .collect(),
            _ => Vec::new(),
        };
        let (classes, means) = (vec![0.0; functions + 1], vec![0.0; functions]);
        Likelihood { observed, rows, functions, weights, classes, means, given: Vec::new() }
    }

    /// Takes what else than latents it depends on from a state; whether that changed.
    pub(in crate::model::gp) fn condition(&mut self, state: &[f64]) -> bool {
        let Observed::Outcomes(outcomes) = self.observed else { return false };
        outcomes.condition(state, &mut self.given)
    }

    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn functions(&self) -> usize {
        self.functions
    }

    /// The log likelihood.
    pub(in crate::model::gp) fn value(&mut self, latents: &[f64]) -> f64 {
        match self.observed {
            Observed::Binary { signs, link } => {
                let rows = signs.iter().zip(latents);
                rows.map(|(sign, latent)| two_classes::log_probability(*link, *sign, *latent)).sum()
            }
            Observed::Multiclass { codes, .. } => {
                let rows = codes.iter().enumerate();
                rows.map(|(row, code)| self.softmax(latents, row, *code as usize)).sum()
            }
            Observed::Outcomes(outcomes) => {
                let rows = latents.iter().enumerate();
                rows.map(|(row, f)| outcomes.terms(row, *f, &self.given).value).sum()
            }
            Observed::Real(_) => unreachable!("real targets have no likelihood here"),
        }
    }

    /// The log likelihood; its derivatives go into `gradient`.
    pub(in crate::model::gp) fn gradient(&mut self, latents: &[f64], gradient: &mut [f64]) -> f64 {
        self.evaluate(latents, gradient, None)
    }

    /// The log likelihood, its derivatives and minus its second derivatives: entry j, k of the
    /// block of row i is at (j·F + k)·n + i.
    pub(in crate::model::gp) fn curvature(
        &mut self,
        latents: &[f64],
        gradient: &mut [f64],
        curvature: &mut [f64],
    ) -> f64 {
        self.evaluate(latents, gradient, Some(curvature))
    }

    fn evaluate(
        &mut self,
        latents: &[f64],
        gradient: &mut [f64],
        mut curvature: Option<&mut [f64]>,
    ) -> f64 {
        let mut value = 0.0;
        match self.observed {
            Observed::Binary { signs, link } => {
                for (row, (sign, latent)) in signs.iter().zip(latents).enumerate() {
                    let terms = two_classes::terms(*link, *sign, *latent);
                    value += terms.value;
                    gradient[row] = terms.slope;
                    if let Some(curvature) = curvature.as_deref_mut() {
                        curvature[row] = terms.curvature;
                    }
                }
            }
            Observed::Multiclass { codes, .. } => {
                for (row, code) in codes.iter().enumerate() {
                    let code = *code as usize;
                    let log_probability = self.softmax(latents, row, code);
                    value += log_probability;
                    self.slopes(row, code, gradient);
                    if let Some(curvature) = curvature.as_deref_mut() {
                        self.blocks(row, curvature);
                    }
                }
            }
            Observed::Outcomes(outcomes) => {
                for (row, latent) in latents.iter().enumerate() {
                    let terms = outcomes.terms(row, *latent, &self.given);
                    value += terms.value;
                    gradient[row] = terms.slope;
                    if let Some(curvature) = curvature.as_deref_mut() {
                        curvature[row] = terms.curvature;
                    }
                }
            }
            Observed::Real(_) => unreachable!("real targets have no likelihood here"),
        }
        value
    }

    /// The log probability of class `code`; `classes` has all probabilities.
    fn softmax(&mut self, latents: &[f64], row: usize, code: usize) -> f64 {
        let mut largest = f64::NEG_INFINITY;
        for (class, weights) in self.weights.chunks_exact(self.functions).enumerate() {
            let terms = weights.iter().enumerate();
            let value = terms.map(|(j, weight)| weight * latents[j * self.rows + row]).sum();
            self.classes[class] = value;
            largest = value.max(largest);
        }
        let observed = self.classes[code] - largest;
        let mut total = 0.0;
        for class in &mut self.classes {
            *class = (*class - largest).exp();
            total += *class;
        }
        self.classes.iter_mut().for_each(|class| *class /= total);
        observed - total.ln()
    }

    /// Q_yj - Σ_c π_c Q_cj, from the probabilities in `classes`; `means` keeps the sums.
    fn slopes(&mut self, row: usize, code: usize, gradient: &mut [f64]) {
        let functions = self.functions;
        for j in 0..functions {
            let terms = self.classes.iter().enumerate();
            let mean: f64 = terms.map(|(c, p)| p * self.weights[c * functions + j]).sum();
            self.means[j] = mean;
            // Of the difference to every class, lest a sure row's slope be lost in rounding.
            let own = self.weights[code * functions + j];
            let terms = self.classes.iter().enumerate();
            gradient[j * self.rows + row] =
                terms.map(|(c, p)| p * (own - self.weights[c * functions + j])).sum();
        }
    }

    /// Σ_c π_c (Q_cj - mean_j)(Q_ck - mean_k).
    fn blocks(&mut self, row: usize, curvature: &mut [f64]) {
        let functions = self.functions;
        for j in 0..functions {
            for k in 0..=j {
                let terms = self.classes.iter().enumerate();
                let entry = terms
                    .map(|(c, p)| {
                        let weights = &self.weights[c * functions..(c + 1) * functions];
                        p * (weights[j] - self.means[j]) * (weights[k] - self.means[k])
                    })
                    .sum();
                curvature[(j * functions + k) * self.rows + row] = entry;
                curvature[(k * functions + j) * self.rows + row] = entry;
            }
        }
    }
}
