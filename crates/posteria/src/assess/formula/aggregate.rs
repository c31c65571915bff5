//! Functions of all rows.

use super::program::Program;

/// A function of the values that a formula has in all rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Aggregate {
    Mean,
    Sum,
    /// Standard deviation, division by n - 1.
    Sd,
    Min,
    Max,
    Median,
    /// Third central moment over the cube of the root of the second.
    Skewness,
    /// Of successive rows.
    Autocorrelation,
    /// Of this probability, between two values in proportion.
    Quantile(f64),
}

/// By their names.
pub(super) const AGGREGATES: [(&str, Aggregate); 9] = [
    ("mean", Aggregate::Mean),
    ("sum", Aggregate::Sum),
    ("sd", Aggregate::Sd),
    ("min", Aggregate::Min),
    ("max", Aggregate::Max),
    ("median", Aggregate::Median),
    ("skewness", Aggregate::Skewness),
    ("autocorrelation", Aggregate::Autocorrelation),
    ("quantile", Aggregate::Quantile(0.5)),
];

/// A function of all rows, and of what.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Aggregation {
    pub(super) how: Aggregate,
    pub(super) of: Program,
}

impl Aggregate {
    /// Of these values, which may be put in another order; NaN where it does not exist.
    pub(super) fn of(self, values: &mut [f64]) -> f64 {
        let count = values.len() as f64;
        if values.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        let mean = || values.iter().map(|value| value / count).sum::<f64>();
        let moment = |power: i32| {
            let mean = mean();
            values.iter().map(|value| (value - mean).powi(power)).sum::<f64>() / count
        };
        match self {
            Aggregate::Mean => mean(),
            Aggregate::Sum => values.iter().sum(),
            Aggregate::Sd => (moment(2) * count / (count - 1.0)).sqrt(),
            Aggregate::Min => values.iter().copied().fold(f64::INFINITY, f64::min),
            Aggregate::Max => values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Aggregate::Median => quantile(values, 0.5),
            Aggregate::Quantile(probability) => quantile(values, probability),
            Aggregate::Skewness => moment(3) / moment(2).powf(1.5),
            Aggregate::Autocorrelation => {
                let mean = mean();
                let pairs = values.windows(2).map(|pair| (pair[0] - mean) * (pair[1] - mean));
                pairs.sum::<f64>() / (count * moment(2))
            }
        }
    }
}

fn quantile(values: &mut [f64], probability: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else { return f64::NAN };
    values.sort_unstable_by(f64::total_cmp);
    let place = probability * last as f64;
    let below = place.floor() as usize;
    let (lower, upper) = (values[below], values[last.min(below + 1)]);
    lower + (place - below as f64) * (upper - lower)
}
