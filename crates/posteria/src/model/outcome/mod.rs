//! Targets that are not about f itself: counts, whose mean is exp f times an exposure, durations,
//! whose logarithm is about f and which may be censored, ordered classes, and two classes by the probit.
//!
//! A family has a log probability or density and its first two derivatives in f, and perhaps numbers
//! beside f: one that is positive, whose logarithm is in the state, or the cut points between classes. Linear
//! models, networks and Gaussian processes share everything here.

mod ordered;
mod response;
mod state;
#[cfg(test)]
mod tests;
pub(crate) mod two_classes;
mod updates;

pub(in crate::model) use self::updates::{Level, LevelUpdate};

use std::ops::Range;

use self::ordered::CUT_POINTS;
use self::response::Response;
use self::updates::{CutUpdate, SigmaUpdate};
use crate::data::{Dataset, Standardization, Targets};
use crate::density::LocationTerms;
use crate::draws::Layout;
use crate::model::judged_rows::wrong_share;
use crate::model::prior::ScaleDensity;
use crate::model::residual::ResidualPrior;
use crate::model::spec::{Link, ResidualFamily};
use crate::predict::Family;
use crate::sample::Update;

/// Events that are added to those of all rows, so that rows without any have a rate.
const HALF_AN_EVENT: f64 = 0.5;

/// The outcomes of all rows, and what they follow given f, about η = centre + scale · f.
///
/// A count of exposure e has the mean μ = e exp η, Poisson or, with the overdispersion σ, negative
/// binomial of the variance μ + σ²μ², whose shape is 1/σ². The centre is the logarithm of the mean rate of
/// all rows, Σy / Σe, unless the data say another, and the scale is 1.
///
/// A duration has log T = η + σ ε ([`crate::density::Duration`]), where the logarithms are standardised as real
/// targets are ([`Dataset::target_scaling`]): f, σ and their priors are in that unit. The shape is 1/σ.
///
/// An ordered class is about η = f, below or above cut points that are in the state in place of a shape
/// ([`ordered::Ordered`]). Of two classes P(second) = Φ(f), and there is nothing beside f.
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
    /// The counts, durations or ordered classes of `data`, or its two classes by the probit, in the state from entry `first` on.
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
        let response = Response::new(prior.family, data, scaling, first);
        let (sampled, end) = match &response {
            Response::Ordered(it) => (None, it.slots.end),
            Response::TwoClasses { .. } => (None, first),
            _ if prior.family == ResidualFamily::Poisson => (None, first),
            _ => (Some((first, prior.scale)), first + 1),
        };
        Outcomes {
            response,
            offsets: exposures.iter().map(|offset| scaling.centre + offset).collect(),
            scaling,
            sampled,
            end,
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

    /// Appends what a state has beside f: the shape, 1/σ² of counts, infinite of Poisson ones, 1/σ of
    /// durations; or the cut points of ordered classes.
    pub(in crate::model) fn write_given(&self, state: &[f64], given: &mut Vec<f64>) {
        match (&self.response, self.sampled) {
            (Response::Ordered(it), _) => it.write_cuts(state, given),
            (response, Some((slot, _))) => given.push(response.shape_of(state[slot])),
            (_, None) => given.push(f64::INFINITY),
        }
    }

    /// The same by itself.
    pub(in crate::model) fn given(&self, state: &[f64]) -> Vec<f64> {
        let mut given = Vec::new();
        self.write_given(state, &mut given);
        given
    }

    /// Takes it from a state; whether it changed.
    pub(in crate::model) fn condition(&self, state: &[f64], given: &mut Vec<f64>) -> bool {
        let known = given.len();
        self.write_given(state, given);
        let (old, new) = given.split_at(known);
        let same = |(a, b): (&f64, &f64)| a.to_bits() == b.to_bits();
        let changed = new.len() != known || !new.iter().zip(old).all(same);
        given.drain(..known);
        changed
    }

    /// The shape in the middle of its prior, as if counts were Poisson; cut points by the shares of classes.
    pub(in crate::model) fn usual(&self) -> Vec<f64> {
        match (&self.response, self.sampled) {
            (Response::Ordered(it), _) => it.usual_cuts(),
            (Response::Durations(_), Some((_, prior))) => {
                vec![self.response.shape_of(prior.conjugate().scale().ln())]
            }
            _ => vec![f64::INFINITY],
        }
    }

    /// Whether they are ordered classes, which have cut points.
    pub(in crate::model) fn are_ordered(&self) -> bool {
        matches!(self.response, Response::Ordered(_))
    }

    /// Of two classes +1 for rows of the second one and -1 for the first; `None` of other outcomes.
    pub(in crate::model) fn signs(&self) -> Option<&[f64]> {
        match &self.response {
            Response::TwoClasses { signs } => Some(signs),
            _ => None,
        }
    }

    /// What a row follows given a draw.
    pub(in crate::model) fn family(&self) -> Family {
        match &self.response {
            Response::Counts { .. } => Family::Count,
            Response::Durations(durations) => Family::Duration(durations.family),
            Response::Ordered(it) => Family::Categorical { classes: it.classes() },
            Response::TwoClasses { .. } => Family::Bernoulli,
        }
    }

    /// Where σ or the cut points are in a draw.
    pub(in crate::model) fn places(&self, layout: &Layout) -> Range<usize> {
        match &self.response {
            Response::Ordered(_) => {
                layout.variable(CUT_POINTS).map_or(0..0, |variable| variable.range())
            }
            Response::TwoClasses { .. } => 0..0,
            _ => layout.range_of(self.role()),
        }
    }

    /// Writes the parameters of [`Outcomes::family`] for an exposure of one: about η, of which the deviation
    /// `spread` is open, with what a draw has at [`Outcomes::places`]. Of ordered classes nothing may be
    /// open, other than in the cut points.
    pub(in crate::model) fn write_parameters(
        &self,
        (location, spread): (f64, f64),
        of_draw: &[f64],
        parameters: &mut [f64],
    ) {
        let sigma = of_draw.first();
        let last = match &self.response {
            Response::Counts { .. } => sigma.map_or(f64::INFINITY, |sigma| (sigma * sigma).recip()),
            Response::Durations(_) => sigma.copied().unwrap_or(f64::NAN),
            Response::Ordered(_) => {
                return ordered::write_log_probabilities(location, of_draw, parameters);
            }
            Response::TwoClasses { .. } => {
                parameters[0] = two_classes::average_probit(location, spread * spread);
                return;
            }
        };
        parameters.copy_from_slice(&[location, spread, last]);
    }

    /// Writes what is shown of η beside what a draw has at [`Outcomes::places`]: η itself, the log
    /// probabilities of ordered classes, or the log odds of the second of two.
    pub(in crate::model) fn show(&self, location: f64, of_draw: &[f64], shown: &mut [f64]) {
        match &self.response {
            Response::Ordered(_) => ordered::write_log_probabilities(location, of_draw, shown),
            Response::TwoClasses { .. } => shown[0] = two_classes::log_odds(Link::Probit, location),
            _ => shown[0] = location,
        }
    }

    /// The slopes of [`Outcomes::show`] where η has this one.
    pub(in crate::model) fn show_slope(
        &self,
        (location, slope): (f64, f64),
        of_draw: &[f64],
        shown: &mut [f64],
    ) {
        match &self.response {
            Response::Ordered(_) => {
                for (class, slot) in shown.iter_mut().enumerate() {
                    *slot = ordered::terms(class, location, of_draw).slope * slope;
                }
            }
            Response::TwoClasses { .. } => {
                shown[0] = two_classes::log_odds_slope(Link::Probit, location) * slope;
            }
            _ => shown[0] = slope,
        }
    }

    /// The log probability or density of the outcome of a row at f, with its derivatives by f.
    pub(in crate::model) fn terms(&self, row: usize, f: f64, given: &[f64]) -> LocationTerms {
        self.response.terms(row, self.offsets[row], f, given)
    }

    /// What is expected of a row at f: mean of a count, median of a duration, probability of every ordered class or of the second of two.
    pub(in crate::model) fn expected(
        &self,
        (row, f): (usize, f64),
        given: &[f64],
        push: impl FnMut(f64),
    ) {
        self.at(self.offsets[row], f, given, push);
    }

    fn at(&self, offset: f64, f: f64, given: &[f64], push: impl FnMut(f64)) {
        let scale = self.scaling.scale;
        self.response.expected(offset + scale * f, scale, given, push);
    }

    /// Root mean square error of what is expected at these f, of the rows of the fit or of others
    /// with these log exposures, if they are told. The error of a censored duration is how far the
    /// median falls short of it. Of classes the share of rows whose most probable class is wrong.
    pub(in crate::model) fn error(
        &self,
        functions: &[f64],
        (observed, given): (&[f64], &[f64]),
        others: Option<Option<&[f64]>>,
    ) -> f64 {
        if let Response::Ordered(_) = &self.response {
            return wrong_share(observed, |row| ordered::most_probable(functions[row], given));
        }
        if let Response::TwoClasses { .. } = &self.response {
            return wrong_share(observed, |row| usize::from(functions[row] > 0.0));
        }
        let expected = |row: usize, f: f64| {
            let offset = match others {
                None => self.offsets[row],
                Some(offsets) => self.scaling.centre + offsets.map_or(0.0, |offsets| offsets[row]),
            };
            let mut expected = f64::NAN;
            self.at(offset, f, given, |value| expected = value);
            expected
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

    /// Minus the second derivative of the log probability of a row by f where f is 0 for all, on average.
    pub(in crate::model) fn curvature(&self, given: &[f64]) -> f64 {
        let rows = self.offsets.len() as f64;
        self.offsets
            .iter()
            .map(|offset| self.response.expected_curvature(*offset, given))
            .sum::<f64>()
            / rows
    }

    /// The update of σ or cut points given f, which `functions` writes for all rows of a state; `None` of
    /// Poisson counts and of two classes.
    pub(in crate::model) fn update<'p>(
        &'p self,
        inverse_temperature: f64,
        functions: impl FnMut(&[f64], &mut [f64]) + Send + 'p,
    ) -> Option<Box<dyn Update + 'p>> {
        let values = vec![0.0; self.offsets.len()];
        let functions = Box::new(functions);
        if let Response::Ordered(ordered) = &self.response {
            return Some(Box::new(CutUpdate { ordered, inverse_temperature, functions, values }));
        }
        let (slot, prior) = self.sampled?;
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
