//! Read what earlier commands found about a run: its assessment, its evidence.

use std::fs;
use std::path::Path;

use anyhow::anyhow;
use posteria::assess::{Better, PointwiseLoo};
use posteria_report::sections::{
    CheckedStatistic, Checks, Evidence, MassOfLargest, PathPoint, Utilities, Utility,
    WeightReliability,
};
use serde::Deserialize;
use serde_json::Value;

use crate::commands::check;
use crate::failure::{Classify, Result};

/// What `posteria assess` kept.
#[derive(Debug, Deserialize)]
pub struct Assessment {
    method: String,
    folds: Option<usize>,
    utilities: Vec<KeptUtility>,
    #[serde(default)]
    pointwise: Vec<KeptRow>,
    /// Rows that were left out by fits of their own, from 1.
    #[serde(default)]
    refitted: Vec<usize>,
}

#[derive(Debug, Deserialize)]
struct KeptUtility {
    name: String,
    better: String,
    mean: Option<f64>,
    sd: Option<f64>,
    q05: Option<f64>,
    q95: Option<f64>,
    #[serde(default)]
    replicates: Vec<Option<f64>>,
}

#[derive(Debug, Deserialize)]
struct KeptRow {
    /// Its number, where not every row is here.
    row: Option<usize>,
    pareto_k: Option<f64>,
    m_eff: Option<f64>,
    #[serde(default)]
    mass_of_largest: Option<[Option<f64>; 7]>,
    values: Vec<Option<f64>>,
}

/// What `posteria evidence` kept.
#[derive(Debug, Deserialize)]
struct KeptEvidence {
    method: String,
    log_evidence: Option<f64>,
    mcse: Option<f64>,
    usable: bool,
    #[serde(default)]
    warnings: Vec<Value>,
    #[serde(default)]
    curve: Vec<KeptRung>,
}

#[derive(Debug, Deserialize)]
struct KeptRung {
    inverse_temperature: f64,
    mean: Option<f64>,
    sd: Option<f64>,
    effective_size: Option<f64>,
    forward_mean: Option<f64>,
    backward_mean: Option<f64>,
}

/// Reads a file of a run folder, if it is there.
pub fn read<T: for<'de> Deserialize<'de>>(
    folder: &Path,
    name: &str,
    command: &str,
) -> Result<Option<T>> {
    let path = folder.join(name);
    if !path.exists() {
        return Ok(None);
    }
    let text = fs::read_to_string(&path);
    let text = text.map_err(|error| anyhow!("{}: cannot be read: {error}", path.display()));
    let found = serde_json::from_str(&text.bad_input()?).map_err(|error| {
        anyhow!("{}: is damaged ({error}); write it anew with posteria {command}", path.display())
    });
    Ok(Some(found.bad_input()?))
}

/// What is not finite is kept as null.
pub fn number(value: Option<f64>) -> f64 {
    value.unwrap_or(f64::NAN)
}

/// Warnings as they are kept: texts, or objects with a message.
pub fn texts(warnings: &[Value]) -> Vec<String> {
    let text = |warning: &Value| match warning {
        Value::String(text) => Some(text.clone()),
        other => other["message"].as_str().map(String::from),
    };
    warnings.iter().filter_map(text).collect()
}

impl Assessment {
    /// That of the run in `folder`, if it has been assessed.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        read(folder, "assess.json", &format!("assess {}", folder.display()))
    }

    /// How every row was predicted, as JSON has it.
    pub fn method_name(&self) -> &str {
        &self.method
    }

    /// How every row was predicted, in a sentence.
    pub fn method(&self) -> String {
        method_words(&self.method, self.folds)
    }

    /// Expected utilities with their distributions, of a model with this name.
    pub fn utilities(&self, model: &str) -> Utilities {
        let utility = |kept: &KeptUtility| Utility {
            name: kept.name.clone(),
            model: model.into(),
            mean: number(kept.mean),
            sd: number(kept.sd),
            interval: [number(kept.q05), number(kept.q95)],
            draws: kept.replicates.iter().map(|value| number(*value)).collect(),
            is_cost: kept.better == "lower",
        };
        let utilities = self.utilities.iter().map(utility).collect();
        Utilities { method: self.method(), utilities, comparisons: Vec::new() }
    }

    /// Whether another run was assessed in the same way and by the same rows.
    pub fn is_like(&self, other: &Assessment) -> bool {
        let rows = |it: &Assessment| it.pointwise.iter().map(|row| row.row).collect::<Vec<_>>();
        (&other.method, other.folds, rows(other)) == (&self.method, self.folds, rows(self))
    }

    /// The utilities that were asked for, and what is better.
    pub fn names(&self) -> impl Iterator<Item = (&str, Better)> {
        self.utilities.iter().map(|utility| {
            let is_cost = utility.better == "lower";
            (&utility.name[..], if is_cost { Better::Lower } else { Better::Higher })
        })
    }

    /// How far importance weights can be trusted, if there were any; of so many draws.
    pub fn weights(&self, draws: usize) -> Option<WeightReliability> {
        let shapes: Option<Vec<f64>> = self.pointwise.iter().map(|row| row.pareto_k).collect();
        let sizes: Option<Vec<f64>> = self.pointwise.iter().map(|row| row.m_eff).collect();
        let (mut pareto_shapes, mut effective_sizes) = (shapes?, sizes?);
        // The weights of these rows were not used: nothing is to be feared from them.
        for row in self.refitted.iter().filter(|row| (1..=self.pointwise.len()).contains(row)) {
            (pareto_shapes[row - 1], effective_sizes[row - 1]) = (f64::NAN, f64::NAN);
        }
        let any = !pareto_shapes.is_empty();
        let mass = self.pointwise.iter().filter_map(|row| row.mass_of_largest);
        let mass_of_largest = MassOfLargest {
            counts: PointwiseLoo::LARGEST.to_vec(),
            rows: mass.map(|row| row.map(number).to_vec()).collect(),
        };
        any.then_some(WeightReliability { pareto_shapes, effective_sizes, mass_of_largest, draws })
    }

    /// The utility with this name, row by row.
    pub fn values(&self, name: &str) -> Option<Vec<f64>> {
        let index = self.utilities.iter().position(|utility| utility.name == name)?;
        let value = |row: &KeptRow| number(row.values.get(index).copied().flatten());
        Some(self.pointwise.iter().map(value).collect())
    }
}

/// How every row was predicted, in a sentence.
pub fn method_words(method: &str, folds: Option<usize>) -> String {
    match (method, folds) {
        ("loo", _) => "Leave-one-out: every row is predicted without itself, by \
                       importance weights."
            .into(),
        ("kfold", Some(folds)) => format!(
            "{folds}-fold cross-validation: every row is predicted by a fit without its fold; corrected \
             for the smaller training sets."
        ),
        ("kfold", None) => {
            "Cross-validation: every row is predicted by a fit without its fold.".into()
        }
        ("holdout", _) => "Hold-out: rows that the fit has not seen are predicted.".into(),
        ("prior", _) => "Every row is predicted by prior draws alone.".into(),
        _ => "Of the rows of the fit: every row is predicted by a fit that has seen it, which \
              flatters."
            .to_string(),
    }
}

/// What `posteria check` kept.
#[derive(Debug, Deserialize)]
struct KeptCheck {
    rows: usize,
    failing: usize,
    statistics: Vec<KeptStatistic>,
}

#[derive(Debug, Deserialize)]
struct KeptStatistic {
    statistic: String,
    observed: Option<f64>,
    posterior: KeptReplicated,
    loo: KeptReplicated,
}

#[derive(Debug, Deserialize)]
struct KeptReplicated {
    p: Option<f64>,
    values: Vec<Option<f64>>,
}

/// Statistics of the data of the run in `folder` beside those of replicated data, if they have been
/// looked at.
pub fn checks(folder: &Path) -> Result<Option<Checks>> {
    let command = format!("check {}", folder.display());
    let Some(kept) = read::<KeptCheck>(folder, check::FILE, &command)? else { return Ok(None) };
    let values = |of: &KeptReplicated| of.values.iter().map(|value| number(*value)).collect();
    let statistic = |it: KeptStatistic| CheckedStatistic {
        observed: number(it.observed),
        posterior: values(&it.posterior),
        posterior_p: number(it.posterior.p),
        loo: values(&it.loo),
        loo_p: number(it.loo.p),
        statistic: it.statistic,
    };
    let KeptCheck { rows, failing, statistics } = kept;
    Ok(Some(Checks { rows, failing, statistics: statistics.into_iter().map(statistic).collect() }))
}

/// The log evidence of the run in `folder`, if it has been found.
pub fn evidence(folder: &Path) -> Result<Option<Evidence>> {
    let command = format!("evidence {}", folder.display());
    let Some(kept) = read::<KeptEvidence>(folder, "evidence.json", &command)? else {
        return Ok(None);
    };
    let point = |rung: &KeptRung| {
        let error = number(rung.sd) / number(rung.effective_size).sqrt();
        PathPoint {
            inverse_temperature: rung.inverse_temperature,
            forward: [number(rung.forward_mean.or(rung.mean)), error],
            backward: [number(rung.backward_mean), error],
        }
    };
    Ok(Some(Evidence {
        method: kept.method,
        log_evidence: number(kept.log_evidence),
        mcse: number(kept.mcse),
        refusal: if kept.usable { String::new() } else { texts(&kept.warnings).join("; ") },
        path: kept.curve.iter().map(point).collect(),
        models: Vec::new(),
    }))
}
