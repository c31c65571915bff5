//! Read numbers back from JSON, which has none that are not finite: they are written as null.

use serde::{Deserialize, Deserializer};

/// For `deserialize_with`: what was written of these numbers, with NaN where null stands.
pub(crate) fn nan<'de, D: Deserializer<'de>, T: OrNan>(deserializer: D) -> Result<T, D::Error> {
    T::Written::deserialize(deserializer).map(T::of)
}

/// Numbers that may be null in JSON.
pub(crate) trait OrNan: Sized {
    /// As JSON has them.
    type Written: for<'de> Deserialize<'de>;

    /// With NaN in place of null.
    fn of(written: Self::Written) -> Self;
}

impl OrNan for f64 {
    type Written = Option<f64>;

    fn of(written: Option<f64>) -> Self {
        written.unwrap_or(f64::NAN)
    }
}

impl<T: OrNan> OrNan for Vec<T> {
    type Written = Vec<T::Written>;

    fn of(written: Self::Written) -> Self {
        written.into_iter().map(T::of).collect()
    }
}

impl<T: OrNan> OrNan for Option<Vec<T>> {
    type Written = Option<Vec<T::Written>>;

    fn of(written: Self::Written) -> Self {
        written.map(Vec::of)
    }
}

impl OrNan for Option<[f64; 7]> {
    type Written = Option<[Option<f64>; 7]>;

    fn of(written: Self::Written) -> Self {
        written.map(|all| all.map(f64::of))
    }
}
