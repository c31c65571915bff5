//! Judge a mode by classical criteria that count parameters.

use posteria_linalg::Cholesky;
use serde::{Deserialize, Serialize};

use super::penalised::Penalised;
use crate::model::Regularised;

/// Criteria of a mode, from its log likelihood L, the number p of parameters and the effective
/// number γ of them [Vehtari 2001, §3.3.4]. Those on the scale of the log likelihood are greater
/// for better models; prediction errors are smaller.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Criteria {
    /// Number of weights and residual scales p, without weights of a reference class.
    pub parameters: f64,
    /// Number of rows n.
    pub rows: f64,
    /// L - p [Akaike 1973].
    pub aic: f64,
    /// L - ½ p log n [Schwarz 1978].
    pub bic: f64,
    /// L - tr(KJ⁻¹), K the spread of the gradients of rows and J the curvature of the penalised
    /// likelihood [Murata et al. 1994].
    pub nic: f64,
    /// tr(KJ⁻¹), which is the effective number of parameters of an unfaithful model.
    pub nic_parameters: f64,
    /// Final prediction error s²(1 + p/N)/(1 - p/N) of N real targets with mean squared residual
    /// s², in the user's unit [Akaike 1970]; of no meaning with more parameters than targets.
    pub fpe: Option<f64>,
    /// Generalised prediction error s² + 2σ²γ/N with σ² = s²N/(N - γ) [Moody 1992].
    pub gpe: Option<f64>,
}

impl Criteria {
    /// The finite-sample AIC, which takes p(p + 1)/(n - p - 1) more off than AIC does
    /// [Hurvich & Tsai 1989]; none without more rows n than that.
    pub fn aicc(&self) -> Option<f64> {
        let over = self.rows - self.parameters - 1.0;
        (over > 0.0).then(|| self.aic - self.parameters * (self.parameters + 1.0) / over)
    }

    pub(super) fn new(
        model: &dyn Regularised,
        penalised: &mut Penalised<'_>,
        (weights, precision): (&[f64], &Cholesky),
        (log_likelihood, effective): (f64, f64),
    ) -> Self {
        let free = weights.len() - model.reference_weights();
        let parameters = (free + penalised.noises.len()) as f64;
        let rows = penalised.rows() as f64;
        let nic_parameters = penalised.score_trace(weights, precision);
        let residuals = penalised.residuals(weights);
        let count = residuals.len() as f64;
        let units = model.units();
        let squares: f64 = residuals
            .chunks(penalised.rows().max(1))
            .zip(&units)
            .map(|(own, unit)| own.iter().map(|r| (r * unit).powi(2)).sum::<f64>())
            .sum();
        let (mean, of_weights) = (squares / count, weights.len() as f64);
        let real = !residuals.is_empty();
        Criteria {
            parameters,
            rows,
            aic: log_likelihood - parameters,
            bic: log_likelihood - 0.5 * parameters * rows.ln(),
            nic: log_likelihood - nic_parameters,
            nic_parameters,
            fpe: (real && of_weights < count)
                .then(|| mean * (1.0 + of_weights / count) / (1.0 - of_weights / count)),
            gpe: (real && effective < count).then(|| {
                let noise = mean * count / (count - effective);
                mean + 2.0 * noise * effective / count
            }),
        }
    }
}
