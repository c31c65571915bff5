//! Targets that are not about f itself: counts, whose mean is exp f times an exposure, and durations,
//! whose logarithm is about f and which may be censored.
//!
//! A family has a log probability or density and its first two derivatives in f, and perhaps one
//! positive number beside f, whose logarithm is in the state. Linear models, networks and Gaussian
//! processes share everything here.

mod response;
#[cfg(test)]
mod tests;

use self::response::Response;
use crate::data::{Dataset, Standardization, Targets};
use crate::density::LocationTerms;
use crate::draws::{Layout, Role};
use crate::model::prior::{LOG_SCALE_LIMIT, ScaleDensity};
use crate::model::residual::ResidualPrior;
use crate::model::spec::ResidualFamily;
use crate::predict::Family;
use crate::random::Stream;
use crate::sample::{Step, Update, slice_sample};

/// Width of a slice of log σ.
const WIDTH: f64 = 1.0;
/// Steps out of it at most.
const STEPS_OUT: usize = 20;
/// Events that are added to those of all rows, so that rows without any have a rate.
const HALF_AN_EVENT: f64 = 0.5;

/// The outcomes of all rows, and what they follow given f, about η = centre + scale · f.
///
/// A count of exposure e has the mean μ = e exp η, Poisson or, with the overdispersion σ, negative
/// binomial of the variance μ + σ²μ², whose shape is 1/σ². The centre is the logarithm of the mean rate of
/// all rows, Σy / Σe, unless the data say another, and the scale is 1.
///
/// A duration has log T = η + σ ε ([`crate::density::Duration`]), where the logarithms are standardised as
/// real targets are ([`Dataset::target_scaling`]): f, σ and their priors are in that unit. The shape is
/// 1/σ.
#[derive(Clone, Debug)]
pub struct Outcomes {
    response: Response,
    /// Centre plus log exposure.
    offsets: Vec<f64>,
    scaling: Standardization,
    /// Where log σ is in the state, and its prior.
    sampled: Option<(usize, ScaleDensity)>,
    /// Where this part of the state ends.
    pub(in crate::model) end: usize,
}

impl Outcomes {
    /// The counts or durations of `data`, in the state from entry `first` on.
    pub(in crate::model) fn new(prior: &ResidualPrior, data: &Dataset, first: usize) -> Self {
        let rows = data.rows();
        let exposures = data.offsets.clone().unwrap_or_else(|| vec![0.0; rows]);
        let known = data.target_scaling.first().copied();
        let scaling = match &data.targets {
            Targets::Counts { values, .. } => known.unwrap_or_else(|| {
                let total: f64 = exposures.iter().map(|offset| offset.exp()).sum();
                let centre = ((values.iter().sum::<f64>() + HALF_AN_EVENT) / total).ln();
                Standardization { centre, scale: 1.0 }
            }),
            _ => known.unwrap_or(Standardization::IDENTITY),
        };
        let is_sampled = prior.family != ResidualFamily::Poisson;
        Outcomes {
            response: Response::new(prior.family, &data.targets, scaling),
            offsets: exposures.iter().map(|offset| scaling.centre + offset).collect(),
            scaling,
            sampled: is_sampled.then_some((first, prior.scale)),
            end: first + usize::from(is_sampled),
        }
    }

    /// Those of these rows, about the same centre.
    pub(in crate::model) fn subset(&self, rows: &[usize]) -> Self {
        Outcomes {
            response: self.response.subset(rows),
            offsets: rows.iter().map(|row| self.offsets[*row]).collect(),
            ..*self
        }
    }

    /// From f to the logarithm of the rate per unit of exposure, or to where that of a duration is.
    pub(in crate::model) fn scaling(&self) -> Standardization {
        self.scaling
    }

    /// Centre plus log exposure of every row.
    pub(in crate::model) fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// What f = 0 stands for where the exposure is one.
    pub(in crate::model) fn centre(&self) -> f64 {
        self.scaling.centre
    }

    /// The shape: 1/σ² of counts, infinite of Poisson ones; 1/σ of durations.
    pub(in crate::model) fn shape(&self, state: &[f64]) -> f64 {
        self.sampled.map_or(f64::INFINITY, |(slot, _)| self.response.shape_of(state[slot]))
    }

    /// The shape in the middle of its prior, as if counts were Poisson.
    pub(in crate::model) fn usual_shape(&self) -> f64 {
        match (&self.response, self.sampled) {
            (Response::Durations(_), Some((_, prior))) => {
                self.response.shape_of(prior.conjugate().scale().ln())
            }
            _ => f64::INFINITY,
        }
    }

    /// What a row follows given a draw.
    pub(in crate::model) fn family(&self) -> Family {
        match &self.response {
            Response::Counts { .. } => Family::Count,
            Response::Durations(durations) => Family::Duration(durations.family),
        }
    }

    /// Where σ is in a draw.
    pub(in crate::model) fn place(&self, layout: &Layout) -> Option<usize> {
        layout.place_of(self.role())
    }

    /// The parameters of [`Outcomes::family`] for an exposure of one: about η, of which the deviation
    /// `spread` is open, with the σ of a draw.
    pub(in crate::model) fn parameters(
        &self,
        location: f64,
        spread: f64,
        sigma: Option<f64>,
    ) -> [f64; 3] {
        let last = match &self.response {
            Response::Counts { .. } => sigma.map_or(f64::INFINITY, |sigma| (sigma * sigma).recip()),
            Response::Durations(_) => sigma.unwrap_or(f64::NAN),
        };
        [location, spread, last]
    }

    /// The log probability or density of the outcome of a row at f, with its derivatives by f.
    pub(in crate::model) fn terms(&self, row: usize, f: f64, shape: f64) -> LocationTerms {
        self.response.terms(row, self.offsets[row], f, shape)
    }

    /// What is expected of a row at f: the mean of a count, the median of a duration.
    pub(in crate::model) fn expected(&self, row: usize, f: f64, shape: f64) -> f64 {
        self.at(self.offsets[row], f, shape)
    }

    fn at(&self, offset: f64, f: f64, shape: f64) -> f64 {
        let scale = self.scaling.scale;
        self.response.expected(offset + scale * f, scale / shape)
    }

    /// Root mean square error of what is expected at these f, of the rows of the fit or of others
    /// with these log exposures, if they are told. The error of a censored duration is how far the
    /// median falls short of it.
    pub(in crate::model) fn error(
        &self,
        functions: &[f64],
        (observed, shape): (&[f64], f64),
        others: Option<Option<&[f64]>>,
    ) -> f64 {
        let expected = |row: usize, f: f64| match others {
            None => self.expected(row, f, shape),
            Some(offsets) => {
                let offset = self.scaling.centre + offsets.map_or(0.0, |offsets| offsets[row]);
                self.at(offset, f, shape)
            }
        };
        let rows = functions.iter().zip(observed).enumerate();
        let squares: f64 = rows
            .map(|(row, (f, y))| match *y < 0.0 {
                true => (-y - expected(row, *f)).max(0.0).powi(2),
                false => (y - expected(row, *f)).powi(2),
            })
            .sum();
        (squares / observed.len() as f64).sqrt()
    }

    /// Minus the second derivative of the log probability of a row by f where f is 0 for all, on
    /// average.
    pub(in crate::model) fn curvature(&self, shape: f64) -> f64 {
        let rows = self.offsets.len() as f64;
        self.offsets
            .iter()
            .map(|offset| self.response.expected_curvature(*offset, shape))
            .sum::<f64>()
            / rows
    }

    /// The log prior density of log σ.
    pub(in crate::model) fn log_prior(&self, state: &[f64]) -> f64 {
        self.sampled.map_or(0.0, |(slot, prior)| prior.log_density_of_log_scale(state[slot]))
    }

    /// Entries of the state that any map may move.
    pub(in crate::model) fn slots(&self) -> Option<usize> {
        self.sampled.map(|(slot, _)| slot)
    }

    /// Draws σ from its prior.
    pub(in crate::model) fn draw_prior(&self, state: &mut [f64], stream: &mut Stream) {
        if let Some((slot, prior)) = self.sampled {
            state[slot] = prior.draw_log_scale(stream).clamp(-LOG_SCALE_LIMIT, LOG_SCALE_LIMIT);
        }
    }

    /// Puts σ where chains start, about the middle of its prior.
    pub(in crate::model) fn start(&self, state: &mut [f64], stream: &mut Stream) {
        if let Some((slot, prior)) = self.sampled {
            state[slot] = prior.conjugate().scale().ln() + 0.5 * stream.normal();
        }
    }

    /// Names what a draw holds of them.
    pub(in crate::model) fn push_layout(&self, layout: &mut Layout) {
        if self.sampled.is_some() {
            layout.push_role(self.role(), Vec::new());
        }
    }

    /// What σ is to those who read draws.
    fn role(&self) -> Role {
        match &self.response {
            Response::Counts { .. } => Role::Overdispersion,
            Response::Durations(_) => Role::ResidualScale,
        }
    }

    /// The unit of σ.
    fn unit(&self) -> f64 {
        match &self.response {
            Response::Counts { .. } => 1.0,
            Response::Durations(_) => self.scaling.scale,
        }
    }

    /// Writes it.
    pub(in crate::model) fn write(&self, state: &[f64], mut push: impl FnMut(f64)) {
        if let Some((slot, _)) = self.sampled {
            push(state[slot].exp() * self.unit());
        }
    }

    /// Reads what [`Outcomes::write`] wrote.
    pub(in crate::model) fn restore(&self, mut take: impl FnMut() -> f64, state: &mut [f64]) {
        if let Some((slot, _)) = self.sampled {
            state[slot] = (take() / self.unit()).ln();
        }
    }

    /// The update of σ given f, which `functions` writes for all rows of a state; `None` of Poisson
    /// counts.
    pub(in crate::model) fn update<'p>(
        &'p self,
        inverse_temperature: f64,
        functions: impl FnMut(&[f64], &mut [f64]) + Send + 'p,
    ) -> Option<Box<dyn Update + 'p>> {
        let (slot, prior) = self.sampled?;
        let values = vec![0.0; self.offsets.len()];
        let functions = Box::new(functions);
        Some(Box::new(SigmaUpdate {
            outcomes: self,
            slot,
            prior,
            inverse_temperature,
            functions,
            values,
        }))
    }
}

/// A slice of log σ given the functions at all rows.
struct SigmaUpdate<'p, F> {
    outcomes: &'p Outcomes,
    slot: usize,
    prior: ScaleDensity,
    inverse_temperature: f64,
    functions: Box<F>,
    values: Vec<f64>,
}

impl<F: FnMut(&[f64], &mut [f64]) + Send> Update for SigmaUpdate<'_, F> {
    fn name(&self) -> &str {
        match &self.outcomes.response {
            Response::Counts { .. } => "overdispersion",
            Response::Durations(_) => "residual_scale",
        }
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
            let shape = outcomes.response.shape_of(log_sigma);
            let each = values.iter().enumerate();
            let likelihood: f64 = each.map(|(row, f)| outcomes.terms(row, *f, shape).value).sum();
            prior.log_density_of_log_scale(log_sigma) + beta * likelihood
        };
        let step = slice_sample(state[self.slot], log_density, WIDTH, STEPS_OUT, stream);
        state[self.slot] = step.value;
        Step { evaluations: step.evaluations, ..Step::default() }
    }
}
