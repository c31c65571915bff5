//! Read durations that may be censored, and put their logarithms on a common scale.

use serde::{Deserialize, Serialize};

use super::rows::{CompleteRows, label};
use super::{CellFault, DataError, Standardization, Targets};
use crate::density::special::inverse_mills;

/// Steps of the ascent to the moments of censored logarithms. What is left after them matters little: it is
/// a scale for priors.
const STEPS: usize = 200;

/// Which column says that durations are censored: known only to be longer than they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Censoring {
    /// The column, of 0 and 1 or of no and yes.
    pub column: String,
    /// What its 1 means.
    pub one_is: Ending,
}

/// What a 1 says of a duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// That it is censored.
    Censored,
    /// That it has ended, and 0 that it is censored.
    Event,
}

impl Censoring {
    /// The option that names the column.
    pub(super) fn option(&self) -> &'static str {
        match self.one_is {
            Ending::Censored => "censored",
            Ending::Event => "event",
        }
    }

    /// The cell of a row of this kind.
    pub(super) fn cell(&self, is_censored: bool) -> f64 {
        f64::from(is_censored == (self.one_is == Ending::Censored))
    }
}

impl CompleteRows<'_> {
    /// Whether the duration of every row is censored.
    pub(super) fn censored(
        &self,
        index: usize,
        censoring: &Censoring,
    ) -> Result<Vec<bool>, DataError> {
        let fault = match censoring.one_is {
            Ending::Censored => CellFault::NotCensored,
            Ending::Event => CellFault::NotEvent,
        };
        let texts = match self.is_text(index) {
            true => self.texts(index),
            false => self.numbers(index, fault.clone())?.into_iter().map(label).collect(),
        };
        let mut found = Vec::with_capacity(texts.len());
        for (text, row) in texts.into_iter().zip(&self.rows) {
            let is_one = match text.trim().to_ascii_lowercase().as_str() {
                "1" | "yes" | "true" => true,
                "0" | "no" | "false" => false,
                _ => return Err(self.fault(*row, index, text, fault)),
            };
            found.push(is_one == (censoring.one_is == Ending::Censored));
        }
        Ok(found)
    }
}

impl Targets {
    /// Durations as one number each: those that are censored are negative.
    pub(crate) fn signed_durations(&self) -> Vec<f64> {
        let Targets::Durations { times, censored, .. } = self else { return Vec::new() };
        let is_censored = |row: usize| censored.as_ref().is_some_and(|censored| censored[row]);
        let sign = |(row, time): (usize, &f64)| if is_censored(row) { -time } else { *time };
        times.iter().enumerate().map(sign).collect()
    }
}

/// Centre and scale of the logarithms of durations: their mean and standard deviation, and where some are
/// censored the estimates of greatest likelihood as if they were normal, by expectation and
/// maximisation [Dempster, Laird & Rubin 1977, §4.2]; `None` where numbers are out of range.
///
/// With E(x | x > c) = m + s r(z), r the ratio of density and upper tail at z = (c - m)/s, and
/// Var(x | x > c) = s² (1 - r(z)(r(z) - z)).
pub(super) fn scaling_of_durations(
    times: &[f64],
    censored: Option<&[bool]>,
) -> Option<Standardization> {
    let logs: Vec<f64> = times.iter().map(|time| time.ln()).collect();
    let mut found = Standardization::fit(&logs)?;
    let Some(censored) = censored.filter(|all| all.contains(&true)) else { return Some(found) };
    let count = logs.len() as f64;
    for _ in 0..STEPS {
        let Standardization { centre, scale } = found;
        let moments = |(log, is_censored): (&f64, &bool)| match is_censored {
            false => (*log, 0.0),
            true => {
                let z = (log - centre) / scale;
                let (ratio, excess) = inverse_mills(-z);
                (centre + scale * ratio, scale * scale * (1.0 - ratio * excess))
            }
        };
        let each = || logs.iter().zip(censored).map(moments);
        let mean = each().map(|(mean, _)| mean / count).sum::<f64>();
        let square = each().map(|(own, variance)| (own - mean).powi(2) + variance).sum::<f64>();
        let scale = (square / (count - 1.0)).sqrt();
        if !(mean.is_finite() && scale.is_normal()) {
            return None;
        }
        let moved = (mean - centre).abs() + (scale - found.scale).abs();
        found = Standardization { centre: mean, scale };
        if moved < 1e-6 * scale {
            break;
        }
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without censoring mean and standard deviation; with it the likelihood has no slope there but for
    /// the divisor n - 1.
    #[test]
    fn the_scale_of_censored_logarithms_is_that_of_greatest_likelihood() {
        let times: Vec<f64> = (1..=12).map(|k| (0.37 * f64::from(k * k % 13)).exp()).collect();
        let logs: Vec<f64> = times.iter().map(|time| time.ln()).collect();
        let plain = scaling_of_durations(&times, Some(&[false; 12])).unwrap();
        assert_eq!(plain, Standardization::fit(&logs).unwrap());
        let censored: Vec<bool> = (0..12).map(|row| row % 3 == 0).collect();
        let Standardization { centre, scale } =
            scaling_of_durations(&times, Some(&censored)).unwrap();
        assert!(centre > plain.centre && scale > plain.scale, "{centre} {scale}");
        let (mut slope, mut slope_of_scale) = (0.0, 0.0);
        for (log, is_censored) in logs.iter().zip(&censored) {
            let z = (log - centre) / scale;
            let by_centre = if *is_censored { inverse_mills(-z).0 } else { z };
            slope += by_centre;
            slope_of_scale += z * by_centre - f64::from(!is_censored);
        }
        // n s² is what n - 1 stands for: s² is 12/11 of its estimate.
        assert!(slope.abs() < 1e-4, "{slope}");
        assert!((slope_of_scale + 1.0).abs() < 0.2, "{slope_of_scale}");
    }
}
