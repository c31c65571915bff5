//! Tell log evidences and probabilities of models, as values with the names that JSON has.

use serde::{Deserialize, Serialize};

use super::{EvidenceFindings, LogEvidence, Method, ModelEvidence, model_probabilities};
use crate::caution::Caution;
use crate::random::Seed;

/// The log evidence of a model, as `posteria evidence --json` has it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct EvidenceReport {
    /// The log evidence by the method that counts.
    #[serde(deserialize_with = "crate::json::nan")]
    pub log_evidence: f64,
    /// Its standard error.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mcse: f64,
    /// Whether value and error can be relied on.
    pub usable: bool,
    /// The method that counts.
    pub method: Method,
    /// Path sampling by single chains from the prior to the posterior.
    pub forward: Option<f64>,
    /// The same from the posterior to the prior.
    pub backward: Option<f64>,
    /// Standard error of the former.
    pub forward_mcse: Option<f64>,
    /// Standard error of the latter.
    pub backward_mcse: Option<f64>,
    /// The part of the error that is due to steps of the temperature.
    #[serde(deserialize_with = "crate::json::nan")]
    pub discretization: f64,
    /// Number of temperatures.
    pub rungs: usize,
    /// Journeys to the prior and back.
    pub round_trips: u64,
    /// Number of rows of the data.
    pub rows: usize,
    /// What every method found, the one that counts first.
    pub methods: Vec<MethodReport>,
    /// How it depends on the scale of a prior, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Vec<SensitivityPoint>>,
    /// What to be careful about, with the method where it is about one that does not count; whoever
    /// shows the report shows these too.
    #[serde(skip)]
    pub cautions: Vec<(Option<Method>, Caution)>,
}

/// What one method found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct MethodReport {
    /// The method.
    pub method: Method,
    /// The log evidence.
    #[serde(deserialize_with = "crate::json::nan")]
    pub log_evidence: f64,
    /// Its standard error.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mcse: f64,
    /// Whether they can be relied on.
    pub usable: bool,
    /// What to be careful about; `warnings` in JSON, which are texts and not read back.
    #[serde(rename = "warnings", skip_deserializing)]
    pub cautions: Vec<Caution>,
}

/// The log evidence with the scale of a prior multiplied.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SensitivityPoint {
    /// The group of the prior.
    pub group: String,
    /// What its scale was multiplied by.
    #[serde(deserialize_with = "crate::json::nan")]
    pub factor: f64,
    /// The log evidence.
    #[serde(deserialize_with = "crate::json::nan")]
    pub log_evidence: f64,
    /// Its standard error.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mcse: f64,
    /// Whether it can be used.
    pub usable: bool,
}

impl EvidenceFindings {
    /// All that is to be told about it, of data of so many rows.
    pub fn report(&self, rows: usize) -> EvidenceReport {
        let main = self.main();
        let both = self.directions.as_ref();
        EvidenceReport {
            log_evidence: main.value,
            mcse: main.standard_error,
            usable: main.usable,
            method: main.method,
            forward: both.map(|both| both.forward.value),
            backward: both.map(|both| both.backward.value),
            forward_mcse: both.map(|both| both.forward.standard_error),
            backward_mcse: both.map(|both| both.backward.standard_error),
            discretization: main.discretization,
            rungs: self.rungs.len(),
            round_trips: self.round_trips,
            rows,
            methods: self.estimates.iter().map(MethodReport::new).collect(),
            sensitivity: None,
            cautions: self.all_cautions(),
        }
    }

    /// Every caution once: of the method that counts, of others, and that they disagree.
    fn all_cautions(&self) -> Vec<(Option<Method>, Caution)> {
        let main = self.main();
        let mut all: Vec<(Option<Method>, Caution)> = Vec::new();
        // By their words: facts that are no number are not equal to themselves.
        let mut push = |method: Option<Method>, caution: &Caution| {
            let words = caution.to_string();
            if !all.iter().any(|(of, it)| *of == method && it.to_string() == words) {
                all.push((method, caution.clone()));
            }
        };
        main.cautions.iter().for_each(|caution| push(None, caution));
        for other in self.estimates.iter().skip(1) {
            for caution in &other.cautions {
                // What the ladder says is the same for all methods that use it.
                let words = caution.to_string();
                if !main.cautions.iter().any(|it| it.to_string() == words) {
                    push(Some(other.method), caution);
                }
            }
        }
        if self.estimates.len() > 1 {
            self.cautions.iter().for_each(|caution| push(None, caution));
        }
        all
    }
}

impl MethodReport {
    fn new(found: &LogEvidence) -> Self {
        MethodReport {
            method: found.method,
            log_evidence: found.value,
            mcse: found.standard_error,
            usable: found.usable,
            cautions: found.cautions.clone(),
        }
    }
}

/// The log evidence of a model that has a name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NamedEvidence {
    /// The name; of the command line, the run or the specification.
    pub run: String,
    /// What was found.
    #[serde(flatten)]
    pub found: EvidenceReport,
}

/// One of several models of the same targets.
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    /// Its evidence.
    #[serde(flatten)]
    pub evidence: NamedEvidence,
    /// Its prior weight, in any unit.
    pub prior_weight: f64,
    /// Its posterior probability.
    pub probability: f64,
    /// Standard deviation that the errors of the log evidences give the latter.
    pub sd: f64,
}

/// Several models of the same targets, as `posteria evidence --json` has them.
#[derive(Clone, Debug, Serialize)]
pub struct EvidenceComparison {
    /// The models, as they were given.
    pub models: Vec<ModelReport>,
    /// p(D | row) / p(D | column); null in JSON where that is no number.
    pub bayes_factors: Vec<Vec<f64>>,
    /// Their logarithms.
    pub log_bayes_factors: Vec<Vec<f64>>,
    /// Standard errors of these.
    pub log_bayes_factor_mcse: Vec<Vec<f64>>,
    /// Whether all log evidences can be relied on.
    pub usable: bool,
}

impl EvidenceComparison {
    /// Compares models with these prior weights, in any unit; those that are not given are 1.
    pub fn new(models: Vec<NamedEvidence>, prior_weights: &[f64], seed: Seed) -> Self {
        let weight = |index: usize| prior_weights.get(index).copied().unwrap_or(1.0);
        let weighed = models.iter().enumerate().map(|(index, model)| ModelEvidence {
            log_evidence: model.found.log_evidence,
            standard_error: model.found.mcse,
            prior_weight: weight(index),
        });
        let found = model_probabilities(&weighed.collect::<Vec<_>>(), seed);
        let exp = |row: &Vec<f64>| row.iter().map(|log| log.exp()).collect();
        let usable = models.iter().all(|model| model.found.usable);
        let models = models.into_iter().enumerate().map(|(index, evidence)| ModelReport {
            evidence,
            prior_weight: weight(index),
            probability: found.probabilities[index],
            sd: found.sds[index],
        });
        EvidenceComparison {
            models: models.collect(),
            bayes_factors: found.log_bayes_factors.iter().map(exp).collect(),
            log_bayes_factors: found.log_bayes_factors,
            log_bayes_factor_mcse: found.errors,
            usable,
        }
    }
}
