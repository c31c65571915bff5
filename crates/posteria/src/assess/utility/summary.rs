//! Summarise the utilities of weighted rows: mean, root mean square, quantile, concordance.

use super::concordance::Pairs;

/// What the expected utility is of the distribution of utilities over future rows
/// [Vehtari 2001, eq. 3.3 and 3.4].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Summary {
    /// Σ w_i u_i.
    Mean,
    /// √(Σ w_i u_i), of squares.
    RootMean,
    /// The α-quantile. Half the weight of a row lies on either side of its value, and between
    /// the middles the distribution function is a straight line: with equal weights
    /// the quantile of Hazen (type 5 of R).
    Quantile(f64),
    /// Of values that are predictions, beside the targets of the rows: the share of pairs that they put
    /// in order, of those whose order is known ([`Concordance`](super::Concordance)).
    Concordance {
        /// Whether targets are durations that are negative where they are censored.
        signed: bool,
    },
}

impl Summary {
    /// The summary under `weights`, which need not sum to 1; NaN if it takes targets
    /// ([`Summary::takes_targets`]).
    ///
    /// # Panics
    /// If there are not as many weights as values, or none.
    pub fn of(self, values: &[f64], weights: &[f64]) -> f64 {
        Prepared::new(self, values, (&[], &[])).at(weights)
    }

    /// Whether it looks at the targets of the rows, too.
    pub fn takes_targets(self) -> bool {
        matches!(self, Summary::Concordance { .. })
    }
}

/// Values whose summary is wanted under many weightings.
#[derive(Clone, Debug)]
pub(in super::super) struct Prepared<'a> {
    summary: Summary,
    values: &'a [f64],
    /// Rows by increasing value, for a quantile.
    order: Vec<usize>,
    /// Of predictions and targets.
    pairs: Option<Pairs>,
}

impl<'a> Prepared<'a> {
    /// `targets` are those of the rows, where the summary takes them, and `folds` says which rows were
    /// predicted by the same fit, unless all were.
    pub(in super::super) fn new(
        summary: Summary,
        values: &'a [f64],
        (targets, folds): (&[f64], &[usize]),
    ) -> Self {
        let pairs = match summary {
            Summary::Concordance { signed } => Pairs::new(values, (targets, folds), signed),
            _ => None,
        };
        let mut order = Vec::new();
        if let Summary::Quantile(_) = summary {
            order.extend(0..values.len());
            order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        }
        Prepared { summary, values, order, pairs }
    }

    pub(in super::super) fn at(&self, weights: &[f64]) -> f64 {
        assert!(!weights.is_empty() && weights.len() == self.values.len(), "one weight per row");
        match self.summary {
            Summary::Mean => mean(self.values, weights),
            Summary::RootMean => mean(self.values, weights).sqrt(),
            Summary::Quantile(probability) => self.quantile(probability, weights),
            Summary::Concordance { .. } => {
                self.pairs.as_ref().map_or(f64::NAN, |pairs| pairs.concordance(weights))
            }
        }
    }

    /// What a little more weight of each row adds to a concordance; `None` of other summaries.
    pub(in super::super) fn influences(&self, weights: &[f64]) -> Option<Vec<f64>> {
        self.pairs.as_ref().map(|pairs| pairs.influences(weights))
    }

    fn quantile(&self, probability: f64, weights: &[f64]) -> f64 {
        if self.values.iter().any(|value| value.is_nan()) {
            return f64::NAN;
        }
        let wanted = probability * weights.iter().sum::<f64>();
        let mut before = 0.0;
        // Middle of the last row that counts, and its value.
        let mut last: Option<(f64, f64)> = None;
        for row in &self.order {
            let (weight, value) = (weights[*row], self.values[*row]);
            if weight.abs() <= 0.0 {
                continue;
            }
            let middle = before + 0.5 * weight;
            if middle >= wanted {
                return match last {
                    None => value,
                    Some((place, low)) => between(low, value, (wanted - place) / (middle - place)),
                };
            }
            before += weight;
            last = Some((middle, value));
        }
        last.map_or(f64::NAN, |(_, value)| value)
    }
}

/// Σ w u / Σ w. Rows of weight 0 do not count, whatever their value is.
fn mean(values: &[f64], weights: &[f64]) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (value, weight) in values.iter().zip(weights) {
        if weight.abs() > 0.0 {
            sum += weight * value;
            total += weight;
        }
    }
    sum / total
}

/// A point of the line from `low` to `high`, which may be infinite.
fn between(low: f64, high: f64, part: f64) -> f64 {
    if high - low > 0.0 && part > 0.0 { low + (high - low) * part } else { low }
}
