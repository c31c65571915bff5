//! Read what earlier commands found about a run: its assessment, its evidence.

use std::fs;
use std::path::Path;

use anyhow::anyhow;
use posteria::assess::{
    AssessmentReport, Better, PointwiseLoo, PointwiseRow, PredictiveCheck, StatisticCheck,
    UtilityReport,
};
use posteria::evidence::{CurveRung, EvidenceReport};
use posteria_report::sections::{
    CheckedStatistic, Checks, Evidence, MassOfLargest, PathPoint, Utilities, Utility,
    WeightReliability,
};
use serde::Deserialize;

use crate::commands::evidence::{self, KeptEvidence};
use crate::commands::{assess, check};
use crate::failure::{Classify, Result};
use crate::warning::Warning;

/// What `posteria assess` kept.
#[derive(Debug, Deserialize)]
pub struct Assessment(AssessmentReport);

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

impl Assessment {
    /// That of the run in `folder`, if it has been assessed.
    pub fn read(folder: &Path) -> Result<Option<Self>> {
        read(folder, assess::FILE, &format!("assess {}", folder.display()))
    }

    /// How every row was predicted, as JSON has it.
    pub fn method_name(&self) -> &str {
        &self.0.method
    }

    /// How every row was predicted, in a sentence.
    pub fn method(&self) -> String {
        method_words(&self.0.method, self.0.folds)
    }

    /// Expected utilities with their distributions, of a model with this name.
    pub fn utilities(&self, model: &str) -> Utilities {
        let utility = |found: &UtilityReport| Utility {
            name: found.name.clone(),
            model: model.into(),
            mean: found.mean,
            sd: found.sd,
            interval: [found.q05, found.q95],
            draws: found.replicates.clone(),
            is_cost: found.better == Better::Lower,
        };
        let utilities = self.0.utilities.iter().map(utility).collect();
        Utilities { method: self.method(), utilities, comparisons: Vec::new() }
    }

    /// Whether another run was assessed in the same way and by the same rows.
    pub fn is_like(&self, other: &Assessment) -> bool {
        let how = |it: &Assessment| {
            let rows: Vec<_> = it.0.pointwise.iter().map(|row| row.row).collect();
            (it.0.method.clone(), it.0.folds, rows)
        };
        how(self) == how(other)
    }

    /// The utilities that were asked for, and what is better.
    pub fn names(&self) -> impl Iterator<Item = (&str, Better)> {
        self.0.utilities.iter().map(|utility| (&utility.name[..], utility.better))
    }

    /// How far importance weights can be trusted, if there were any; of so many draws.
    pub fn weights(&self, draws: usize) -> Option<WeightReliability> {
        let AssessmentReport { pointwise, refitted, .. } = &self.0;
        let shapes: Option<Vec<f64>> = pointwise.iter().map(|row| row.pareto_k).collect();
        let sizes: Option<Vec<f64>> = pointwise.iter().map(|row| row.m_eff).collect();
        let (mut pareto_shapes, mut effective_sizes) = (shapes?, sizes?);
        // The weights of these rows were not used: nothing is to be feared from them.
        for row in refitted.iter().filter(|row| (1..=pointwise.len()).contains(row)) {
            (pareto_shapes[row - 1], effective_sizes[row - 1]) = (f64::NAN, f64::NAN);
        }
        let any = !pareto_shapes.is_empty();
        let mass = pointwise.iter().filter_map(|row| row.mass_of_largest);
        let mass_of_largest = MassOfLargest {
            counts: PointwiseLoo::LARGEST.to_vec(),
            rows: mass.map(|row| row.to_vec()).collect(),
        };
        any.then_some(WeightReliability { pareto_shapes, effective_sizes, mass_of_largest, draws })
    }

    /// The utility with this name, row by row.
    pub fn values(&self, name: &str) -> Option<Vec<f64>> {
        let index = self.0.utilities.iter().position(|utility| utility.name == name)?;
        let value = |row: &PointwiseRow| row.values.get(index).copied().unwrap_or(f64::NAN);
        Some(self.0.pointwise.iter().map(value).collect())
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

/// Statistics of the data of the run in `folder` beside those of replicated data, if they have been
/// looked at.
pub fn checks(folder: &Path) -> Result<Option<Checks>> {
    let command = format!("check {}", folder.display());
    let found = read::<PredictiveCheck>(folder, check::FILE, &command)?;
    let statistic = |it: StatisticCheck| CheckedStatistic {
        statistic: it.statistic,
        observed: it.observed,
        posterior: it.posterior.values,
        posterior_p: it.posterior.p,
        loo: it.loo.values,
        loo_p: it.loo.p,
    };
    Ok(found.map(|PredictiveCheck { rows, failing, statistics, .. }| Checks {
        rows,
        failing,
        statistics: statistics.into_iter().map(statistic).collect(),
    }))
}

/// The log evidence of the run in `folder`, if it has been found.
pub fn evidence(folder: &Path) -> Result<Option<Evidence>> {
    let command = format!("evidence {}", folder.display());
    let Some(kept) = read::<KeptEvidence>(folder, evidence::FILE, &command)? else {
        return Ok(None);
    };
    let point = |it: &CurveRung| {
        let error = it.rung.sd / it.rung.effective_size.sqrt();
        PathPoint {
            inverse_temperature: it.rung.inverse_temperature,
            forward: [it.forward_mean.unwrap_or(it.rung.mean), error],
            backward: [it.backward_mean.unwrap_or(f64::NAN), error],
        }
    };
    let EvidenceReport { method, log_evidence, mcse, usable, .. } = kept.report.found;
    let doubts: Vec<&str> = kept.warnings.iter().map(Warning::message).collect();
    Ok(Some(Evidence {
        method: method.name().into(),
        log_evidence,
        mcse,
        refusal: if usable { String::new() } else { doubts.join("; ") },
        path: kept.curve.iter().map(point).collect(),
        models: Vec::new(),
    }))
}
