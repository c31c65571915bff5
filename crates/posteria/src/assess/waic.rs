//! Approximate leave-one-out by the variance of the log likelihoods.

use super::leave_one_out::standard_error;
use super::log_likelihoods::LogLikelihoods;
use crate::caution::Caution;
use crate::density::special::log_sum_exp;

/// Above this posterior variance of its log density a row makes the criterion unreliable.
/// [Vehtari, Gelman & Gabry 2017]
pub const VARIANCE_LIMIT: f64 = 0.4;

/// The widely applicable information criterion, on the log scale: higher is better.
#[derive(Clone, Debug, PartialEq)]
pub struct Waic {
    /// Σ_i (log mean_s p_is - Var_s log p_is).
    pub elpd: f64,
    /// Its standard error over rows, √(n Var) with division by n as in ArviZ 0.23; NaN for one
    /// row.
    pub se: f64,
    /// Effective number of parameters, the sum of the variances.
    pub p_waic: f64,
    /// One entry per row.
    pub pointwise: Vec<PointwiseWaic>,
    /// Reasons for doubt.
    pub cautions: Vec<Caution>,
}

/// What one row adds to a [`Waic`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointwiseWaic {
    /// The log predictive density less the variance.
    pub elpd: f64,
    /// The posterior variance of the log density, with division by S as in ArviZ.
    pub p_waic: f64,
}

/// The widely applicable information criterion [Watanabe 2010; Gelman, Hwang &
/// Vehtari 2014]. Prefer [`leave_one_out`](super::leave_one_out()), which fails later and says so.
///
/// A row that is impossible under a draw (-∞) has infinite variance, and the criterion is -∞.
pub fn waic(log_likelihoods: &LogLikelihoods<'_>) -> Waic {
    let rows = 0..log_likelihoods.rows();
    Waic::of_rows(rows.map(|row| PointwiseWaic::of_row(&log_likelihoods.row(row))).collect())
}

impl Waic {
    /// Adds up what rows add to the criterion.
    pub fn of_rows(pointwise: Vec<PointwiseWaic>) -> Self {
        let elpds: Vec<f64> = pointwise.iter().map(|row| row.elpd).collect();
        let excess = pointwise.iter().enumerate().filter(|(_, row)| row.p_waic > VARIANCE_LIMIT);
        let count = excess.clone().count();
        let worst = excess.max_by(|a, b| a.1.p_waic.total_cmp(&b.1.p_waic));
        let caution = |(row, found): (usize, &PointwiseWaic)| Caution::WaicVariance {
            row,
            variance: found.p_waic,
            limit: VARIANCE_LIMIT,
            count,
        };
        Waic {
            elpd: elpds.iter().sum(),
            se: standard_error(&elpds),
            p_waic: pointwise.iter().map(|row| row.p_waic).sum(),
            cautions: worst.map(caution).into_iter().collect(),
            pointwise,
        }
    }
}

impl PointwiseWaic {
    /// What a row with these log likelihoods under every draw adds.
    pub fn of_row(values: &[f64]) -> Self {
        let size = values.len() as f64;
        if values.contains(&f64::NEG_INFINITY) {
            return PointwiseWaic { elpd: f64::NEG_INFINITY, p_waic: f64::INFINITY };
        }
        // About the first value, so that equal values have no variance at all.
        let centre = values[0] + values.iter().map(|value| value - values[0]).sum::<f64>() / size;
        let p_waic = values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / size;
        PointwiseWaic { elpd: log_sum_exp(values) - size.ln() - p_waic, p_waic }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_row_makes_the_criterion_infinite_and_doubtful() {
        let values = [-1.0, -1.0, -2.0, f64::NEG_INFINITY, -1.0, -1.5];
        let matrix = LogLikelihoods::new(&values, 1, 3, 2).expect("usable");
        let found = waic(&matrix);
        assert!(found.elpd == f64::NEG_INFINITY && found.se.is_nan());
        assert!(found.pointwise[0].elpd.is_finite());
        assert!(matches!(found.cautions[..], [Caution::WaicVariance { row: 1, count: 1, .. }]));
    }

    #[test]
    fn a_constant_row_counts_no_parameter() {
        let found = waic(&LogLikelihoods::new(&[-0.3; 50], 1, 50, 1).expect("usable"));
        assert!((found.elpd + 0.3).abs() < 1e-14 && found.p_waic.abs() < 1e-30);
        assert!(found.se.is_nan() && found.cautions.is_empty());
    }
}
