//! Show log evidences as text and JSON.

use posteria::evidence::{
    EvidenceFindings, LogEvidence, Method, ModelEvidence, ModelProbabilities,
};
use serde::Serialize;

use super::sensitivity::SensitivityPoint;
use super::subject::Subject;
use crate::output::{Table, heading};
use crate::text::{decimals_for, fixed, printable, significant};
use crate::warning::Warning;

/// What one method found.
#[derive(Clone, Debug, Serialize)]
pub struct MethodReport {
    method: Method,
    log_evidence: f64,
    mcse: f64,
    usable: bool,
    warnings: Vec<Warning>,
}

/// What was found about one model.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    pub run: String,
    pub log_evidence: f64,
    pub mcse: f64,
    pub usable: bool,
    pub method: Method,
    /// Path sampling by single chains from the prior to the posterior, and back.
    pub forward: Option<f64>,
    pub backward: Option<f64>,
    pub forward_mcse: Option<f64>,
    pub backward_mcse: Option<f64>,
    /// The part of the error that is due to steps of the temperature.
    pub discretization: f64,
    pub rungs: usize,
    pub round_trips: u64,
    pub rows: usize,
    pub methods: Vec<MethodReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensitivity: Option<Vec<SensitivityPoint>>,
    #[serde(skip)]
    pub warnings: Vec<Warning>,
}

impl Report {
    /// The report about one model.
    pub fn new(subject: &Subject, findings: &EvidenceFindings) -> Self {
        let main = findings.main();
        let texts = |found: &LogEvidence| -> Vec<Warning> {
            found.cautions.iter().map(Warning::from).collect()
        };
        let methods: Vec<MethodReport> = findings
            .estimates
            .iter()
            .map(|found| MethodReport {
                method: found.method,
                log_evidence: found.value,
                mcse: found.standard_error,
                usable: found.usable,
                warnings: texts(found),
            })
            .collect();
        let several = methods.len() > 1;
        let mut warnings: Vec<Warning> = Vec::new();
        let mut push = |warning: Warning| {
            if !warnings.contains(&warning) {
                warnings.push(warning);
            }
        };
        texts(main).into_iter().for_each(&mut push);
        for method in methods.iter().skip(1) {
            for warning in &method.warnings {
                // What the ladder says is the same for all methods that use it.
                if !texts(main).contains(warning) {
                    push(warning.clone().by(method.method.name()));
                }
            }
        }
        if several {
            findings.cautions.iter().map(Warning::from).for_each(&mut push);
        }
        let both = findings.directions.as_ref();
        Report {
            run: subject.name.clone(),
            log_evidence: main.value,
            mcse: main.standard_error,
            usable: main.usable,
            method: main.method,
            forward: both.map(|both| both.forward.value),
            backward: both.map(|both| both.backward.value),
            forward_mcse: both.map(|both| both.forward.standard_error),
            backward_mcse: both.map(|both| both.backward.standard_error),
            discretization: main.discretization,
            rungs: findings.rungs.len(),
            round_trips: findings.round_trips,
            rows: subject.data.rows(),
            methods,
            sensitivity: None,
            warnings,
        }
    }

    /// As text.
    pub fn render(&self) -> String {
        let mut text =
            heading(&format!("log evidence of {} ({} rows)", printable(&self.run), self.rows));
        let mut table = Table::new(&["method", "log evidence", "mcse", ""]);
        let note = |usable: bool| if usable { String::new() } else { "not usable".into() };
        for found in &self.methods {
            let (value, error) = shown(found.log_evidence, found.mcse);
            table.row([found.method.name().into(), value, error, note(found.usable)]);
        }
        let directions = [
            ("  prior to posterior", self.forward, self.forward_mcse),
            ("  posterior to prior", self.backward, self.backward_mcse),
        ];
        for (name, value, error) in directions {
            if let (Some(value), Some(error)) = (value, error) {
                let (value, error) = shown(value, error);
                table.row([name.into(), value, error]);
            }
        }
        text.push_str(&table.render());
        if self.rungs > 0 {
            text.push_str(&format!(
                "{} temperatures, {} journeys to the prior and back\n",
                self.rungs, self.round_trips
            ));
        }
        if let Some(points) = &self.sensitivity {
            let mut table = Table::new(&["scale of", "factor", "log evidence", "mcse", ""]);
            for point in points {
                let (value, error) = shown(point.log_evidence, point.mcse);
                let factor = significant(point.factor, 3);
                table.row([point.group.clone(), factor, value, error, note(point.usable)]);
            }
            text.push_str(&format!("\n{}", table.render()));
        }
        text
    }
}

/// A value with as many digits as its error allows, and the error.
fn shown(value: f64, error: f64) -> (String, String) {
    if error > 0.0 {
        let decimals = decimals_for(error, 2);
        (fixed(value, decimals), fixed(error, decimals))
    } else {
        (fixed(value, 4), if error.is_nan() { "-".into() } else { "0".into() })
    }
}

/// One of several models.
#[derive(Clone, Debug, Serialize)]
pub struct ModelReport {
    #[serde(flatten)]
    report: Report,
    prior_weight: f64,
    probability: f64,
    sd: f64,
}

/// Several models of the same targets.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    models: Vec<ModelReport>,
    /// p(D | row) / p(D | column); null where that is no number.
    bayes_factors: Vec<Vec<f64>>,
    log_bayes_factors: Vec<Vec<f64>>,
    log_bayes_factor_mcse: Vec<Vec<f64>>,
    usable: bool,
}

impl Comparison {
    /// The comparison of these models.
    pub fn new(reports: Vec<Report>, models: &[ModelEvidence], found: ModelProbabilities) -> Self {
        let exp = |row: &Vec<f64>| row.iter().map(|log| log.exp()).collect();
        let usable = reports.iter().all(|report| report.usable);
        let models =
            reports.into_iter().zip(models).enumerate().map(|(i, (report, model))| ModelReport {
                report,
                prior_weight: model.prior_weight,
                probability: found.probabilities[i],
                sd: found.sds[i],
            });
        Comparison {
            models: models.collect(),
            bayes_factors: found.log_bayes_factors.iter().map(exp).collect(),
            log_bayes_factors: found.log_bayes_factors,
            log_bayes_factor_mcse: found.errors,
            usable,
        }
    }

    /// As text.
    pub fn render(&self) -> String {
        let best = self
            .models
            .iter()
            .map(|model| model.report.log_evidence)
            .fold(f64::NEG_INFINITY, f64::max);
        let mut text = heading("probabilities of the models given the data");
        let header =
            ["", "method", "log evidence", "mcse", "less the best", "probability", "sd", ""];
        let mut table = Table::new(&header);
        for model in &self.models {
            let report = &model.report;
            let (value, error) = shown(report.log_evidence, report.mcse);
            table.row([
                report.run.clone(),
                report.method.name().into(),
                value,
                error,
                fixed(report.log_evidence - best, 2),
                fixed(model.probability, 4),
                fixed(model.sd, 4),
                if report.usable { String::new() } else { "not usable".into() },
            ]);
        }
        text.push_str(&table.render());
        text
    }
}
