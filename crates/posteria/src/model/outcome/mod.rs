//! Targets that are not about f itself: counts, whose mean is exp f times an exposure.
//!
//! A family has a log probability and its first two derivatives in f, and perhaps one positive
//! number beside f, whose logarithm is in the state. Linear models, networks and Gaussian processes
//! share everything here.

#[cfg(test)]
mod tests;

use crate::data::{Dataset, Standardization, Targets};
use crate::density::special::ln_gamma;
use crate::density::{CountTerms, NegativeBinomial};
use crate::draws::{Layout, Role};
use crate::model::prior::{LOG_SCALE_LIMIT, ScaleDensity};
use crate::model::residual::ResidualPrior;
use crate::model::spec::ResidualFamily;
use crate::random::Stream;
use crate::sample::{Step, Update, slice_sample};

/// Width of a slice of the log overdispersion.
const WIDTH: f64 = 1.0;
/// Steps out of it at most.
const STEPS_OUT: usize = 20;
/// Events that are added to those of all rows, so that rows without any have a rate.
const HALF_AN_EVENT: f64 = 0.5;

/// The counts of all rows, and what they follow given f: of exposure e a mean
/// μ = e exp(centre + f), Poisson or, with the overdispersion σ, negative binomial of the variance
/// μ + σ²μ², whose shape is 1/σ². The centre is the logarithm of the mean rate of all rows,
/// Σy / Σe, unless the data say another: f and its priors are about it, as they are about the mean of
/// standardised targets.
#[derive(Clone, Debug)]
pub struct Outcomes {
    counts: Vec<f64>,
    /// Centre plus log exposure.
    offsets: Vec<f64>,
    /// -log y!
    constants: Vec<f64>,
    centre: f64,
    /// Where log σ is in the state, and its prior.
    overdispersion: Option<(usize, ScaleDensity)>,
    /// Where this part of the state ends.
    pub(in crate::model) end: usize,
}

impl Outcomes {
    /// The counts of `data`, in the state from entry `first` on.
    pub(in crate::model) fn new(prior: &ResidualPrior, data: &Dataset, first: usize) -> Self {
        let Targets::Counts { values, .. } = &data.targets else {
            unreachable!("only counts are such outcomes")
        };
        let exposures = data.offsets.clone().unwrap_or_else(|| vec![0.0; values.len()]);
        let total: f64 = exposures.iter().map(|offset| offset.exp()).sum();
        let of_all = || ((values.iter().sum::<f64>() + HALF_AN_EVENT) / total).ln();
        let centre = data.target_scaling.first().map_or_else(of_all, |known| known.centre);
        let sampled = prior.family == ResidualFamily::NegativeBinomial;
        Outcomes {
            counts: values.clone(),
            offsets: exposures.iter().map(|offset| centre + offset).collect(),
            constants: values.iter().map(|y| -ln_gamma(y + 1.0)).collect(),
            centre,
            overdispersion: sampled.then_some((first, prior.scale)),
            end: first + usize::from(sampled),
        }
    }

    /// Those of these rows, about the same centre.
    pub(in crate::model) fn subset(&self, rows: &[usize]) -> Self {
        let of = |values: &[f64]| rows.iter().map(|row| values[*row]).collect();
        Outcomes {
            counts: of(&self.counts),
            offsets: of(&self.offsets),
            constants: of(&self.constants),
            ..*self
        }
    }

    /// From f to the logarithm of the rate per unit of exposure.
    pub(in crate::model) fn scaling(&self) -> Standardization {
        Standardization { centre: self.centre, scale: 1.0 }
    }

    /// Centre plus log exposure of every row.
    pub(in crate::model) fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// The logarithm of the mean rate of all rows, that f is about.
    pub(in crate::model) fn centre(&self) -> f64 {
        self.centre
    }

    /// The shape 1/σ²; infinite of Poisson counts.
    pub(in crate::model) fn shape(&self, state: &[f64]) -> f64 {
        self.overdispersion.map_or(f64::INFINITY, |(slot, _)| shape_of(state[slot]))
    }

    /// The same of a draw with this σ, if it has one.
    pub(in crate::model) fn shape_of(overdispersion: Option<f64>) -> f64 {
        overdispersion.map_or(f64::INFINITY, |sigma| (sigma * sigma).recip())
    }

    /// The log probability of the count of a row at f, with its derivatives by f.
    pub(in crate::model) fn terms(&self, row: usize, f: f64, shape: f64) -> CountTerms {
        let log_mean = self.offsets[row] + f;
        let terms = NegativeBinomial::of_log_mean(log_mean, shape).terms(self.counts[row]);
        CountTerms { value: terms.value + self.constants[row], ..terms }
    }

    /// The mean of the count of a row at f.
    pub(in crate::model) fn mean(&self, row: usize, f: f64) -> f64 {
        (self.offsets[row] + f).exp()
    }

    /// Root mean square error of the mean counts at these f, of the rows of the fit or of others
    /// with these log exposures, if they are told.
    pub(in crate::model) fn error(
        &self,
        functions: &[f64],
        counts: &[f64],
        others: Option<Option<&[f64]>>,
    ) -> f64 {
        let mean = |row: usize, f: f64| match others {
            None => self.mean(row, f),
            Some(offsets) => (self.centre + offsets.map_or(0.0, |offsets| offsets[row]) + f).exp(),
        };
        let rows = functions.iter().zip(counts).enumerate();
        let squares: f64 = rows.map(|(row, (f, y))| (y - mean(row, *f)).powi(2)).sum();
        (squares / counts.len() as f64).sqrt()
    }

    /// Minus the second derivative of the log probability of a row by f where f is 0 for all, on
    /// average.
    pub(in crate::model) fn curvature(&self, shape: f64) -> f64 {
        let rows = self.counts.len() as f64;
        let each = (0..self.counts.len()).map(|row| {
            // Of the mean in place of the count: the expected curvature.
            let mean = self.mean(row, 0.0);
            mean / (1.0 + mean / shape)
        });
        each.sum::<f64>() / rows
    }

    /// The log prior density of log σ.
    pub(in crate::model) fn log_prior(&self, state: &[f64]) -> f64 {
        self.overdispersion.map_or(0.0, |(slot, prior)| prior.log_density_of_log_scale(state[slot]))
    }

    /// Entries of the state that any map may move.
    pub(in crate::model) fn slots(&self) -> Option<usize> {
        self.overdispersion.map(|(slot, _)| slot)
    }

    /// Draws σ from its prior.
    pub(in crate::model) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        if let Some((slot, prior)) = self.overdispersion {
            state[slot] = prior.draw_log_scale(stream).clamp(-LOG_SCALE_LIMIT, LOG_SCALE_LIMIT);
        }
    }

    /// Puts σ where chains start, about the middle of its prior.
    pub(in crate::model) fn start(&self, state: &mut [f64], stream: &mut Stream) {
        if let Some((slot, prior)) = self.overdispersion {
            state[slot] = prior.conjugate().scale().ln() + 0.5 * stream.normal();
        }
    }

    /// Names what a draw holds of them.
    pub(in crate::model) fn push_layout(&self, layout: &mut Layout) {
        if self.overdispersion.is_some() {
            layout.push_role(Role::Overdispersion, Vec::new());
        }
    }

    /// Writes it.
    pub(in crate::model) fn write(&self, state: &[f64], mut push: impl FnMut(f64)) {
        if let Some((slot, _)) = self.overdispersion {
            push(state[slot].exp());
        }
    }

    /// Reads what [`Outcomes::write`] wrote.
    pub(in crate::model) fn restore(&self, mut take: impl FnMut() -> f64, state: &mut [f64]) {
        if let Some((slot, _)) = self.overdispersion {
            state[slot] = take().ln();
        }
    }

    /// The update of σ given f, which `functions` writes for all rows of a state; `None` of Poisson
    /// counts.
    pub(in crate::model) fn update<'p>(
        &'p self,
        inverse_temperature: f64,
        functions: impl FnMut(&[f64], &mut [f64]) + Send + 'p,
    ) -> Option<Box<dyn Update + 'p>> {
        let (slot, prior) = self.overdispersion?;
        let values = vec![0.0; self.counts.len()];
        let functions = Box::new(functions);
        Some(Box::new(OverdispersionUpdate {
            outcomes: self,
            slot,
            prior,
            inverse_temperature,
            functions,
            values,
        }))
    }
}

/// 1/σ² of log σ.
fn shape_of(log_sigma: f64) -> f64 {
    (-2.0 * log_sigma).exp()
}

/// A slice of log σ given the functions at all rows.
struct OverdispersionUpdate<'p, F> {
    outcomes: &'p Outcomes,
    slot: usize,
    prior: ScaleDensity,
    inverse_temperature: f64,
    functions: Box<F>,
    values: Vec<f64>,
}

impl<F: FnMut(&[f64], &mut [f64]) + Send> Update for OverdispersionUpdate<'_, F> {
    fn name(&self) -> &str {
        "overdispersion"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let (outcomes, beta) = (self.outcomes, self.inverse_temperature);
        if beta <= 0.0 {
            outcomes.draw_prior(state, stream);
            return Step::default();
        }
        (self.functions)(state, &mut self.values);
        let (prior, values) = (self.prior, &self.values);
        let log_density = |log_sigma: f64| {
            if log_sigma.abs() > LOG_SCALE_LIMIT {
                return f64::NEG_INFINITY;
            }
            let shape = shape_of(log_sigma);
            let each = values.iter().enumerate();
            let likelihood: f64 = each.map(|(row, f)| outcomes.terms(row, *f, shape).value).sum();
            prior.log_density_of_log_scale(log_sigma) + beta * likelihood
        };
        let step = slice_sample(state[self.slot], log_density, WIDTH, STEPS_OUT, stream);
        state[self.slot] = step.value;
        Step { evaluations: step.evaluations, ..Step::default() }
    }
}
