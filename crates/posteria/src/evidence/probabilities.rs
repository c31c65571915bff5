//! Turn log evidences into probabilities of models and Bayes factors, with their errors.

use serde::{Deserialize, Serialize};

use crate::random::{Purpose, Seed};

/// Simulations of the log evidences.
const SIMULATIONS: u64 = 4000;
/// What their streams are for.
const PHASE: u64 = 12;

/// The log evidence of one of several models of the same targets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelEvidence {
    /// Log evidence.
    pub log_evidence: f64,
    /// Its standard error.
    pub standard_error: f64,
    /// Prior weight of the model, in any unit.
    pub prior_weight: f64,
}

/// Posterior probabilities of models [Fabricius 1999, eq. 5.1].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelProbabilities {
    /// P(M | D) ∝ P(M) p(D | M).
    pub probabilities: Vec<f64>,
    /// Standard deviation that the errors of the log evidences give them.
    pub sds: Vec<f64>,
    /// log p(D | M_row) - log p(D | M_column).
    pub log_bayes_factors: Vec<Vec<f64>>,
    /// Standard errors of those.
    pub errors: Vec<Vec<f64>>,
}

/// Probabilities of `models`, their standard deviations from simulated log evidences: normal about
/// the values with their standard errors.
pub fn model_probabilities(models: &[ModelEvidence], seed: Seed) -> ModelProbabilities {
    let softmax = |log_evidences: &[f64]| -> Vec<f64> {
        let logs: Vec<f64> = log_evidences
            .iter()
            .zip(models)
            .map(|(log_evidence, model)| log_evidence + model.prior_weight.ln())
            .collect();
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|log| (log - top).exp()).sum();
        logs.iter().map(|log| (log - top).exp() / sum).collect()
    };
    let values: Vec<f64> = models.iter().map(|model| model.log_evidence).collect();
    let probabilities = softmax(&values);
    let mut stream = seed.stream(Purpose::Evidence, [0, PHASE]);
    let mut squares = vec![0.0; models.len()];
    for _ in 0..SIMULATIONS {
        let simulated: Vec<f64> = models
            .iter()
            .map(|model| {
                let error = if model.standard_error.is_nan() { 0.0 } else { model.standard_error };
                model.log_evidence + error * stream.normal()
            })
            .collect();
        for ((square, simulated), value) in
            squares.iter_mut().zip(softmax(&simulated)).zip(&probabilities)
        {
            *square += (simulated - value).powi(2);
        }
    }
    let pairs = |of: fn(&ModelEvidence, &ModelEvidence) -> f64| -> Vec<Vec<f64>> {
        models.iter().map(|row| models.iter().map(|column| of(row, column)).collect()).collect()
    };
    let mut errors = pairs(|row, column| row.standard_error.hypot(column.standard_error));
    errors.iter_mut().enumerate().for_each(|(index, row)| row[index] = 0.0);
    ModelProbabilities {
        probabilities,
        sds: squares.iter().map(|square| (square / SIMULATIONS as f64).sqrt()).collect(),
        log_bayes_factors: pairs(|row, column| row.log_evidence - column.log_evidence),
        errors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_have_prior_weights_and_errors() {
        let model = |log_evidence: f64, prior_weight: f64| ModelEvidence {
            log_evidence: 1000.0 + log_evidence,
            standard_error: 0.1,
            prior_weight,
        };
        let found = model_probabilities(&[model(0.0, 3.0), model(3f64.ln(), 1.0)], Seed(1));
        assert!((found.probabilities[0] - 0.5).abs() < 1e-12);
        // dp = p(1-p) √2 0.1 = 0.0354; the simulation is off by 1 % of it.
        assert!((found.sds[0] - 0.0353).abs() < 0.002, "{:?}", found.sds);
        assert!((found.log_bayes_factors[1][0] - 3f64.ln()).abs() < 1e-12);
        assert!((found.errors[1][0] - 0.1414).abs() < 1e-3 && found.errors[0][0].abs() < 1e-300);
    }
}
