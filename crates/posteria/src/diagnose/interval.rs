//! Summarise draws by quantiles and intervals.

use serde::{Deserialize, Serialize};

/// Which interval of a given mass is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum IntervalKind {
    /// The shortest one, `hdi`.
    #[serde(rename = "hdi")]
    HighestDensity,
    /// The one with equal mass on both sides, `eti`.
    #[serde(rename = "eti")]
    EqualTailed,
}

/// An interval to report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    kind: IntervalKind,
    mass: f64,
}

/// The mass of an interval is not a probability between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("an interval cannot hold the mass {mass}; give one between 0 and 1, such as 0.94")]
pub struct MassError {
    /// The mass that was asked for.
    pub mass: f64,
}

impl Default for Interval {
    /// The highest density interval of mass 0.94.
    fn default() -> Self {
        Interval { kind: IntervalKind::HighestDensity, mass: 0.94 }
    }
}

impl Interval {
    /// An interval of `kind` that holds `mass`.
    ///
    /// # Errors
    /// [`MassError`] unless 0 < `mass` < 1.
    pub fn new(kind: IntervalKind, mass: f64) -> Result<Self, MassError> {
        if mass > 0.0 && mass < 1.0 { Ok(Interval { kind, mass }) } else { Err(MassError { mass }) }
    }

    /// Which interval.
    pub fn kind(self) -> IntervalKind {
        self.kind
    }

    /// The probability it holds.
    pub fn mass(self) -> f64 {
        self.mass
    }

    /// Names of its two ends as tables show them, such as `hdi_3%` and `hdi_97%`.
    pub fn names(self) -> [String; 2] {
        let kind = match self.kind {
            IntervalKind::HighestDensity => "hdi",
            IntervalKind::EqualTailed => "eti",
        };
        // Six significant decimals hide the rounding of 100 (1 - mass) / 2.
        let percent = |p: f64| (p * 1e6).round() / 1e6;
        let tail = 50.0 * (1.0 - self.mass);
        [format!("{kind}_{}%", percent(tail)), format!("{kind}_{}%", percent(100.0 - tail))]
    }

    /// Its ends for draws in increasing order; NaN if there is none or one is not finite.
    pub fn of_sorted(self, sorted: &[f64]) -> [f64; 2] {
        match self.kind {
            IntervalKind::HighestDensity => shortest(sorted, self.mass),
            IntervalKind::EqualTailed => {
                let tail = (1.0 - self.mass) / 2.0;
                [quantile_of_sorted(sorted, tail), quantile_of_sorted(sorted, 1.0 - tail)]
            }
        }
    }
}

/// The quantile at `probability` by linear interpolation between order statistics (type 7, the
/// default of NumPy and R). NaN if there is no draw, a draw is not finite, or `probability` is not
/// in [0, 1].
pub fn quantile(values: &[f64], probability: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    quantile_of_sorted(&sorted, probability)
}

/// [`quantile`] of draws that are in increasing order.
pub fn quantile_of_sorted(sorted: &[f64], probability: f64) -> f64 {
    if !is_usable(sorted) || !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    let position = (sorted.len() - 1) as f64 * probability;
    let below = position.floor();
    let index = below as usize;
    let (low, high) = (sorted[index], sorted[(index + 1).min(sorted.len() - 1)]);
    let weight = position - below;
    // From the nearer end, so that the result never passes the other.
    if weight < 0.5 { low + (high - low) * weight } else { high - (high - low) * (1.0 - weight) }
}

/// The highest density interval that holds `mass`: the shortest of all intervals between draws
/// that are ⌊mass S⌋ ranks apart, the first of several. One interval, also if the density has
/// several modes. NaN if there is no draw, a draw is not finite, or `mass` is not in (0, 1).
/// [Chen & Shao 1999; as ArviZ 0.23]
pub fn highest_density_interval(values: &[f64], mass: f64) -> [f64; 2] {
    of(values, IntervalKind::HighestDensity, mass)
}

/// The equal-tailed interval that holds `mass`, from [`quantile`]s. NaN as
/// [`highest_density_interval`].
pub fn equal_tailed_interval(values: &[f64], mass: f64) -> [f64; 2] {
    of(values, IntervalKind::EqualTailed, mass)
}

fn of(values: &[f64], kind: IntervalKind, mass: f64) -> [f64; 2] {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    Interval::new(kind, mass).map_or([f64::NAN; 2], |interval| interval.of_sorted(&sorted))
}

fn shortest(sorted: &[f64], mass: f64) -> [f64; 2] {
    if !is_usable(sorted) {
        return [f64::NAN; 2];
    }
    let ranks = (mass * sorted.len() as f64).floor() as usize;
    let mut best = [sorted[0], sorted[ranks]];
    for (&low, &high) in sorted.iter().zip(&sorted[ranks..]) {
        if high - low < best[1] - best[0] {
            best = [low, high];
        }
    }
    best
}

/// Sorted draws end in +∞ or NaN, or begin with -∞ or NaN, if any is not finite.
fn is_usable(sorted: &[f64]) -> bool {
    let ends = [sorted.first(), sorted.last()];
    ends.iter().all(|end| end.is_some_and(|value| value.is_finite()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_show_the_percentages() {
        assert_eq!(Interval::default().names(), ["hdi_3%", "hdi_97%"]);
        let eti = Interval::new(IntervalKind::EqualTailed, 0.89).unwrap();
        assert_eq!(eti.names(), ["eti_5.5%", "eti_94.5%"]);
    }

    #[test]
    fn masses_outside_are_refused() {
        for mass in [0.0, 1.0, -0.1, 2.0, f64::NAN] {
            assert!(Interval::new(IntervalKind::EqualTailed, mass).is_err());
            assert!(highest_density_interval(&[1.0, 2.0], mass)[0].is_nan());
        }
    }

    #[test]
    fn edges_are_defined() {
        assert!(quantile(&[], 0.5).is_nan());
        assert!(quantile(&[1.0, f64::NAN], 0.5).is_nan());
        assert!(quantile(&[1.0, 2.0], 1.1).is_nan());
        assert!(highest_density_interval(&[f64::NEG_INFINITY, 2.0], 0.5)[0].is_nan());
        let single = highest_density_interval(&[3.0], 0.94);
        assert!(single.iter().all(|end| (end - 3.0).abs() < 1e-15));
        assert!((quantile(&[3.0], 0.3) - 3.0).abs() < 1e-15);
    }

    #[test]
    fn the_shortest_interval_of_a_skewed_density() {
        // Quantiles of the exponential distribution: the shortest interval starts at 0.
        let draws: Vec<f64> =
            (0..1000).map(|i| -(1.0 - (f64::from(i) + 0.5) / 1000.0).ln()).collect();
        let [low, high] = highest_density_interval(&draws, 0.9);
        assert!(low < 0.001 && (high - 10.0_f64.ln()).abs() < 0.02, "{low} {high}");
    }
}
