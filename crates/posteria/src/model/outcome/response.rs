//! What is observed of rows whose outcome is not about f itself.

use super::ordered::{self, Ordered};
use super::two_classes;
use crate::data::{Dataset, Standardization, Targets, Task};
use crate::density::special::ln_gamma;
use crate::density::{Duration, DurationFamily, LocationTerms, NegativeBinomial};
use crate::model::spec::{Link, ResidualFamily};

/// The outcomes of all rows.
#[derive(Clone, Debug)]
pub(super) enum Response {
    Counts {
        counts: Vec<f64>,
        /// -log y!
        constants: Vec<f64>,
    },
    Durations(Durations),
    Ordered(Ordered),
    /// By the probit.
    TwoClasses {
        /// +1 for rows of the second class, -1 for the first.
        signs: Vec<f64>,
    },
}

/// Durations on the scale of f.
#[derive(Clone, Debug)]
pub(super) struct Durations {
    pub(super) family: DurationFamily,
    /// Standardised logarithms.
    log_times: Vec<f64>,
    /// Whether all that is known is that the duration is longer.
    censored: Vec<bool>,
    /// Of the density of a duration: the logarithm of 1/t in the unit of the standardised logarithm, less
    /// that logarithm itself.
    constants: Vec<f64>,
}

impl Response {
    /// Of classes, whose cut points are in the state from entry `first` on.
    pub(super) fn new(
        family: ResidualFamily,
        data: &Dataset,
        scaling: Standardization,
        first: usize,
    ) -> Self {
        match &data.targets {
            Targets::Classes { codes, .. } if data.task == Task::Binary => Response::TwoClasses {
                signs: codes.iter().map(|code| if *code == 1 { 1.0 } else { -1.0 }).collect(),
            },
            Targets::Classes { codes, labels, .. } => {
                Response::Ordered(Ordered::new(codes, labels, first))
            }
            Targets::Counts { values, .. } => Response::Counts {
                counts: values.clone(),
                constants: values.iter().map(|y| -ln_gamma(y + 1.0)).collect(),
            },
            Targets::Durations { times, censored, .. } => {
                let censored = censored.clone().unwrap_or_else(|| vec![false; times.len()]);
                let log_times: Vec<f64> = times.iter().map(|t| scaling.apply(t.ln())).collect();
                let constant = |((t, log), is_censored): ((&f64, &f64), &bool)| match is_censored {
                    true => 0.0,
                    // From the density of exp of the standardised logarithm to that of t.
                    false => log - scaling.scale.ln() - t.ln(),
                };
                let each = times.iter().zip(&log_times).zip(&censored);
                let constants = each.map(constant).collect();
                let family = match family {
                    ResidualFamily::LogNormal => DurationFamily::LogNormal,
                    _ => DurationFamily::Weibull,
                };
                Response::Durations(Durations { family, log_times, censored, constants })
            }
            Targets::Real { .. } => unreachable!("real targets are about f itself"),
        }
    }

    pub(super) fn subset(&self, rows: &[usize]) -> Self {
        let of = |values: &[f64]| rows.iter().map(|row| values[*row]).collect();
        match self {
            Response::Counts { counts, constants } => {
                Response::Counts { counts: of(counts), constants: of(constants) }
            }
            Response::Durations(it) => Response::Durations(Durations {
                family: it.family,
                log_times: of(&it.log_times),
                censored: rows.iter().map(|row| it.censored[*row]).collect(),
                constants: of(&it.constants),
            }),
            Response::Ordered(it) => Response::Ordered(it.subset(rows)),
            Response::TwoClasses { signs } => Response::TwoClasses { signs: of(signs) },
        }
    }

    /// 1/σ² of counts, 1/σ of durations.
    pub(super) fn shape_of(&self, log_sigma: f64) -> f64 {
        let power = if let Response::Counts { .. } = self { -2.0 } else { -1.0 };
        (power * log_sigma).exp()
    }

    /// The log probability or density of a row, with its derivatives by f.
    pub(super) fn terms(&self, row: usize, offset: f64, f: f64, given: &[f64]) -> LocationTerms {
        let (terms, constant) = match self {
            Response::Counts { counts, constants } => {
                let counted = NegativeBinomial::of_log_mean(offset + f, given[0]);
                (counted.terms(counts[row]), constants[row])
            }
            Response::Durations(it) => {
                let duration = Duration::new(it.family, f, given[0].recip());
                (duration.terms(it.log_times[row], it.censored[row]), it.constants[row])
            }
            Response::Ordered(it) => return it.terms(row, f, given),
            Response::TwoClasses { signs } => {
                return two_classes::terms(Link::Probit, signs[row], f);
            }
        };
        LocationTerms { value: terms.value + constant, ..terms }
    }

    /// What is expected at η: the mean of a count, the median of a duration, the probability of every
    /// ordered class, or of the second of two.
    pub(super) fn expected(
        &self,
        location: f64,
        unit: f64,
        given: &[f64],
        mut push: impl FnMut(f64),
    ) {
        match self {
            Response::Counts { .. } => push(location.exp()),
            Response::Durations(it) => {
                push(Duration::new(it.family, location, unit / given[0]).median());
            }
            Response::Ordered(_) => {
                (0..=given.len())
                    .for_each(|k| push(ordered::terms(k, location, given).value.exp()));
            }
            Response::TwoClasses { .. } => push(two_classes::probability(Link::Probit, location)),
        }
    }

    /// The expectation of minus the second derivative by f of the log probability of a row where f is 0.
    pub(super) fn expected_curvature(&self, offset: f64, given: &[f64]) -> f64 {
        match self {
            Response::Counts { .. } => {
                let mean = offset.exp();
                mean / (1.0 + mean / given[0])
            }
            Response::Durations(_) => given[0] * given[0],
            Response::Ordered(_) => ordered::expected_curvature(given),
            // φ(0)² / (½ · ½).
            Response::TwoClasses { .. } => std::f64::consts::FRAC_2_PI,
        }
    }
}
