//! Shift and scale a column to mean 0 and standard deviation 1, and back.

use serde::{Deserialize, Serialize};

/// The affine map of one column: standardised = (value - centre) / scale.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standardization {
    /// What maps to 0.
    pub centre: f64,
    /// What one standardised unit is on the user's scale; positive.
    pub scale: f64,
}

impl Standardization {
    /// The map that changes nothing.
    pub const IDENTITY: Self = Standardization { centre: 0.0, scale: 1.0 };

    /// The map that gives `values` mean 0 and standard deviation 1 (with divisor n - 1). If they
    /// are all the same, their value maps to 0 and the scale is 1. `None` if a value is not
    /// finite, or if the spread cannot be represented with full precision, as for values near
    /// the ends of the range of `f64`.
    ///
    /// The values are first divided by the power of two below the largest of them, which is
    /// exact, so that neither sums nor squares overflow or lose digits: a column times 1e-150
    /// or 1e150 gives the same standardised values. The mean is found in two passes.
    pub fn fit(values: &[f64]) -> Option<Self> {
        let first = *values.first()?;
        let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
        if !values.iter().all(|value| value.is_finite()) {
            return None;
        }
        if values.iter().all(|value| value.total_cmp(&first).is_eq()) || largest.to_bits() == 0 {
            return Some(Standardization { centre: first, scale: 1.0 });
        }
        // The bits of the exponent alone are the power of two, or 0 below the normal numbers.
        let unit = f64::from_bits(largest.to_bits() & (0x7ff << 52));
        if unit.to_bits() == 0 {
            return None;
        }
        let count = values.len() as f64;
        let rough = values.iter().map(|value| value / unit).sum::<f64>() / count;
        let mean = rough + values.iter().map(|value| value / unit - rough).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value / unit - mean).powi(2)).sum();
        let scale = (squares / (count - 1.0)).sqrt() * unit;
        let map = Standardization { centre: mean * unit, scale };
        let exact = scale.is_normal() && values.iter().all(|value| map.apply(*value).is_finite());
        exact.then_some(map)
    }

    /// From the user's scale.
    pub fn apply(&self, value: f64) -> f64 {
        (value - self.centre) / self.scale
    }

    /// Back to the user's scale.
    pub fn invert(&self, standardized: f64) -> f64 {
        self.centre + self.scale * standardized
    }

    /// A row of the user's with every column on its own standardised scale.
    ///
    /// # Panics
    /// If there is not one number per column.
    pub(crate) fn apply_to_row(columns: &[Standardization], row: &[f64]) -> Vec<f64> {
        assert_eq!(row.len(), columns.len(), "one number per column");
        row.iter().zip(columns).map(|(value, column)| column.apply(*value)).collect()
    }

    /// Logarithm of the volume that one standardised unit of every column is on the user's scale:
    /// what a log density of standardised rows has too much.
    pub(crate) fn log_unit(columns: &[Standardization]) -> f64 {
        columns.iter().map(|column| column.scale.ln()).sum()
    }

    /// This map followed by `next`, as one map: `next.apply(self.apply(value))`.
    #[must_use]
    pub fn then(&self, next: &Standardization) -> Self {
        Standardization { centre: self.invert(next.centre), scale: self.scale * next.scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUNDING: f64 = 1e-12;

    #[test]
    fn the_magnitude_of_a_column_does_not_matter() {
        let values = [3.0, -1.5, 0.25, 7.0, 2.0e-3];
        let reference = Standardization::fit(&values).unwrap();
        for magnitude in [1e-300, 1e-150, 1e-8, 1e8, 1e150, 1e300] {
            let scaled: Vec<f64> = values.iter().map(|value| value * magnitude).collect();
            let map = Standardization::fit(&scaled).unwrap();
            for (value, scaled) in values.iter().zip(&scaled) {
                assert!((map.apply(*scaled) - reference.apply(*value)).abs() < ROUNDING);
                let back = map.invert(map.apply(*scaled));
                assert!((back / magnitude - value).abs() < ROUNDING, "{magnitude}: {back}");
            }
        }
    }

    #[test]
    fn a_large_mean_does_not_hide_a_small_spread() {
        let values = [1e9 + 4.0, 1e9 + 7.0, 1e9 + 13.0, 1e9 + 16.0];
        let map = Standardization::fit(&values).unwrap();
        assert!((map.centre - (1e9 + 10.0)).abs() < 1e-6);
        assert!((map.scale - 30f64.sqrt()).abs() < 1e-6);
    }

    #[test]
    fn constant_columns_have_scale_one() {
        for value in [0.0, -0.0, 0.1, -1e308, 5e-324] {
            for rows in [1, 2, 3] {
                let map = Standardization::fit(&vec![value; rows]).unwrap();
                assert_eq!(map.scale.to_bits(), 1.0f64.to_bits());
                assert_eq!(map.apply(value).abs().to_bits(), 0, "{value}");
            }
        }
        assert_eq!(Standardization::fit(&[0.0, -0.0]).unwrap().scale.to_bits(), 1f64.to_bits());
    }

    #[test]
    fn spreads_beyond_the_range_of_numbers_are_refused() {
        for values in [[1.7e308, -1.7e308], [1e-320, 2e-320], [f64::INFINITY, 0.0], [f64::NAN, 0.0]]
        {
            assert_eq!(Standardization::fit(&values), None, "{values:?}");
        }
        assert_eq!(Standardization::fit(&[]), None);
        assert!(Standardization::fit(&[1e308, -1e308]).is_some());
    }

    #[test]
    fn two_maps_make_one() {
        let (first, second) = (
            Standardization { centre: 3.0, scale: 2.0 },
            Standardization { centre: -0.5, scale: 0.25 },
        );
        let both = first.then(&second);
        assert!((both.apply(7.3) - second.apply(first.apply(7.3))).abs() < ROUNDING);
    }
}
