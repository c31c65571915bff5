//! Read what earlier commands found about a run: its assessment, its evidence.

use std::fs;
use std::path::Path;

use anyhow::anyhow;
use posteria::assess::{
    Better, Bootstrap, PointwiseUtilities, TargetFacts, Terms, compare, parse_utility,
};
use posteria::random::Seed;
use posteria_report::sections::{
    Comparison, Evidence, PathPoint, Utilities, Utility, WeightReliability,
};
use serde::Deserialize;

use crate::failure::{Classify, Result};
use crate::warning::Warning;

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
    pareto_k: Option<f64>,
    m_eff: Option<f64>,
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
    warnings: Vec<Warning>,
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

impl Assessment {
    /// That of the run in `folder`, if it has been assessed.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        read(folder, "assess.json", &format!("assess {}", folder.display()))
    }

    /// Expected utilities with their distributions.
    pub fn utilities(&self) -> Utilities {
        let method = match (self.method.as_str(), self.folds) {
            ("loo", _) => "Every row was predicted without itself, by weighting the draws.".into(),
            ("kfold", Some(folds)) => format!(
                "Every row was predicted by a fit without its fold, one of {folds}; corrected for the \
                 smaller training sets."
            ),
            ("holdout", _) => "Rows that the fit has not seen were predicted.".into(),
            ("prior", _) => "Every row was predicted by the prior alone.".into(),
            _ => "Every row was predicted by a fit that knows it: too good.".to_string(),
        };
        let utility = |kept: &KeptUtility| Utility {
            name: kept.name.clone(),
            model: String::new(),
            mean: number(kept.mean),
            sd: number(kept.sd),
            interval: [number(kept.q05), number(kept.q95)],
            draws: kept.replicates.iter().map(|value| number(*value)).collect(),
            is_cost: kept.better == "lower",
        };
        let utilities = self.utilities.iter().map(utility).collect();
        Utilities { method, utilities, comparisons: Vec::new() }
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
        any.then_some(WeightReliability { pareto_shapes, effective_sizes, draws })
    }

    /// The utility with this name, row by row.
    fn values(&self, name: &str) -> Option<Vec<f64>> {
        let index = self.utilities.iter().position(|utility| utility.name == name)?;
        let value = |row: &KeptRow| number(row.values.get(index).copied().flatten());
        Some(self.pointwise.iter().map(value).collect())
    }
}

/// Compares runs that were assessed alike, by every utility that all of them have.
pub fn comparisons(runs: &[(String, &Assessment)], targets: &TargetFacts, seed: Seed) -> Utilities {
    let none = Utilities::default();
    let [(_, first), others @ ..] = runs else { return none };
    let alike = |other: &Assessment| {
        (&other.method, other.folds, other.pointwise.len())
            == (&first.method, first.folds, first.pointwise.len())
    };
    if others.is_empty() || !others.iter().all(|(_, other)| alike(other)) {
        return none;
    }
    let mut found = Utilities {
        method: "Paired comparisons: both models of a pair meet the same future rows.".into(),
        ..none
    };
    for utility in &first.utilities {
        let better = if utility.better == "lower" { Better::Lower } else { Better::Higher };
        let Ok(parsed) = parse_utility(&utility.name, targets, better) else { continue };
        let values = runs.iter().map(|(name, run)| Some((name, run.values(&utility.name)?)));
        let Some(values) = values.collect::<Option<Vec<_>>>() else { continue };
        let pointwise: Vec<(&str, PointwiseUtilities)> = values
            .into_iter()
            .map(|(name, values)| {
                (name.as_str(), PointwiseUtilities::new(&*parsed, Terms::from(values)))
            })
            .collect();
        let views: Vec<(&str, &PointwiseUtilities)> =
            pointwise.iter().map(|(name, it)| (*name, it)).collect();
        if let Ok(compared) = compare(&views, &Bootstrap::new(seed)) {
            found.comparisons.push(Comparison {
                utility: utility.name.clone(),
                models: compared.models,
                probability_better: compared.probability_better,
            });
        }
    }
    found
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
        refusal: if kept.usable { String::new() } else { words(&kept.warnings) },
        path: kept.curve.iter().map(point).collect(),
        models: Vec::new(),
    }))
}

/// Warnings on one line.
fn words(warnings: &[Warning]) -> String {
    warnings.iter().map(Warning::to_string).collect::<Vec<_>>().join("; ")
}
