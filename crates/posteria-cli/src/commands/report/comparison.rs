//! Put runs of the same rows side by side: by what `compare` kept, by their assessments, or by
//! leave-one-out of what their folders hold.

use std::path::PathBuf;

use posteria::assess::{
    Bootstrap, ComparisonReport, PointwiseUtilities, TargetFacts, Terms, Weighting, compare_elpds,
    parse_utility,
};
use posteria::random::Seed;
use posteria_report::Level;
use posteria_report::sections::{Comparison, Doubt, ElpdForest, ElpdOfModel, Utilities, Utility};

use super::kept::{Assessment, method_words, read};
use crate::commands::compare::{self, Kept};
use crate::failure::Result;
use crate::text;

/// Runs beside each other.
#[derive(Default)]
pub struct Compared {
    /// How rows were predicted, as JSON has it.
    pub method: String,
    /// By their log predictive densities.
    pub forest: ElpdForest,
    /// By utilities.
    pub utilities: Utilities,
}

/// Log predictive densities of all rows of a run, each left out.
pub struct RowDensities {
    /// Row by row.
    pub elpd: Vec<f64>,
    /// Rows whose importance weights cannot be trusted.
    pub unreliable: usize,
}

/// What `posteria compare` kept about exactly these runs, which have these names and so many draws;
/// `None` where it has not compared them, or where it has compared something else or a run has gone
/// on since.
pub fn kept(folders: &[PathBuf], names: &[String], draws: &[usize]) -> Result<Option<Compared>> {
    let mut all: Vec<Kept> = Vec::new();
    for (folder, draws) in folders.iter().zip(draws) {
        let command = format!("compare {} …", folder.display());
        match read::<Kept>(folder, compare::FILE, &command)? {
            Some(kept) if kept.run_draws.get(kept.run) == Some(draws) => all.push(kept),
            _ => return Ok(None),
        }
    }
    let order: Vec<usize> = all.iter().map(|kept| kept.run).collect();
    // As text: a number that is none is not equal to itself.
    let about = |Kept { found, .. }: &Kept| {
        serde_json::to_string(&(&found.models, &found.table, &found.method)).ok()
    };
    let is_one = all.iter().all(|kept| about(kept) == about(&all[0]));
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let is_whole = sorted.iter().copied().eq(0..all[0].found.models.len());
    Ok((is_one && is_whole).then(|| shown(&all[0].found, &order, names)))
}

/// Stacking weights that `posteria compare` kept of exactly these runs, as [`kept`].
pub fn kept_weights(
    folders: &[PathBuf],
    names: &[String],
    draws: &[usize],
) -> Result<Option<Vec<f64>>> {
    let Some(found) = kept(folders, names, draws)? else { return Ok(None) };
    let weight = |name: &String| {
        let own = found.forest.models.iter().find(|model| model.name == *name);
        own.map(|model| model.weight).filter(|weight| weight.is_finite())
    };
    Ok(names.iter().map(weight).collect())
}

/// With the names of this report; folder i holds model `order[i]`.
fn shown(found: &ComparisonReport, order: &[usize], names: &[String]) -> Compared {
    let renamed = |model: &String| {
        let index = found.models.iter().position(|own| own == model);
        let folder = index.and_then(|index| order.iter().position(|own| *own == index));
        folder.map_or_else(|| model.clone(), |folder| names[folder].clone())
    };
    let method = method_words(&found.method, None);
    let models = found.table.iter().map(|it| ElpdOfModel {
        name: renamed(&it.model),
        elpd: it.elpd,
        se: it.se,
        difference: -it.elpd_diff,
        difference_se: it.dse,
        weight: it.weight,
    });
    let utilities = found.utilities.iter().flat_map(|utility| {
        utility.expected.iter().map(|it| Utility {
            name: utility.name.clone(),
            model: renamed(&it.model),
            mean: it.mean,
            sd: it.sd,
            interval: [it.q05, it.q95],
            ..Utility::default()
        })
    });
    let number = |it: &Option<f64>| it.unwrap_or(f64::NAN);
    let comparisons = found.utilities.iter().map(|utility| Comparison {
        utility: utility.name.clone(),
        models: found.models.iter().map(renamed).collect(),
        probability_better: utility
            .p_better
            .iter()
            .map(|row| row.iter().map(number).collect())
            .collect(),
    });
    Compared {
        method: found.method.clone(),
        forest: ElpdForest {
            method: method.clone(),
            models: models.collect(),
            is_rough: false,
            doubts: Vec::new(),
        },
        utilities: Utilities {
            utilities: utilities.collect(),
            comparisons: comparisons.collect(),
            method,
        },
    }
}

/// Compares runs that were assessed alike, by every utility that all of them have.
pub fn of_assessments(
    runs: &[(String, &Assessment)],
    targets: &TargetFacts,
    seed: Seed,
) -> Option<Compared> {
    let [(_, first), others @ ..] = runs else { return None };
    if others.is_empty() || !others.iter().all(|(_, other)| first.is_like(other)) {
        return None;
    }
    let mut utilities = Utilities { method: first.method(), ..Utilities::default() };
    for (name, run) in runs {
        utilities.utilities.extend(run.utilities(name).utilities);
    }
    for (utility, better) in first.names() {
        let Ok(parsed) = parse_utility(utility, targets, better) else { continue };
        // Kept are the values of rows, not their targets.
        if parsed.summary().takes_targets() {
            continue;
        }
        let values = runs.iter().map(|(name, run)| Some((name, run.values(utility)?)));
        let Some(values) = values.collect::<Option<Vec<_>>>() else { continue };
        let pointwise: Vec<(&str, PointwiseUtilities)> = values
            .into_iter()
            .map(|(name, values)| {
                (name.as_str(), PointwiseUtilities::new(&*parsed, Terms::from(values)))
            })
            .collect();
        let views: Vec<(&str, &PointwiseUtilities)> =
            pointwise.iter().map(|(name, it)| (*name, it)).collect();
        if let Ok(compared) = posteria::assess::compare(&views, &Bootstrap::new(seed)) {
            utilities.comparisons.push(Comparison {
                utility: utility.into(),
                models: compared.models,
                probability_better: compared.probability_better,
            });
        }
    }
    let elpds = runs.iter().map(|(name, run)| Some((name.clone(), run.values("elpd")?)));
    let forest = match elpds.collect::<Option<Vec<_>>>() {
        Some(elpds) => forest(&elpds, first.method()),
        None => None,
    };
    let method = first.method_name().to_string();
    Some(Compared { method, forest: forest.unwrap_or_default(), utilities })
}

/// Compares runs by leave-one-out of the log likelihoods that their folders hold.
pub fn of_densities(runs: &[(String, &RowDensities)]) -> Option<Compared> {
    let elpds: Vec<(String, Vec<f64>)> =
        runs.iter().map(|(name, it)| (name.clone(), it.elpd.clone())).collect();
    let mut forest = forest(&elpds, method_words("loo", None))?;
    forest.is_rough = runs.iter().any(|(_, found)| found.unreliable > 0);
    for (name, found) in runs.iter().filter(|(_, found)| found.unreliable > 0) {
        forest.doubts.push(Doubt {
            level: Level::Doubtful,
            text: format!(
                "{name}: the importance weights of {} of {} cannot be trusted (Pareto k too high), so \
                 its elpd is too high; posteria compare repairs such rows",
                found.unreliable,
                text::count(found.elpd.len(), "row")
            ),
        });
    }
    Some(Compared { method: "loo".into(), forest, utilities: Utilities::default() })
}

fn forest(elpds: &[(String, Vec<f64>)], method: String) -> Option<ElpdForest> {
    let views: Vec<&[f64]> = elpds.iter().map(|(_, values)| &values[..]).collect();
    let found = compare_elpds(&views, Weighting::Stacking).ok()?;
    let model = |it: &posteria::assess::ComparedModel| ElpdOfModel {
        name: elpds[it.model].0.clone(),
        elpd: it.elpd,
        se: it.se,
        difference: -it.elpd_difference,
        difference_se: it.difference_se,
        weight: it.weight,
    };
    let doubts = found
        .cautions
        .iter()
        .map(|caution| Doubt { level: Level::Doubtful, text: caution.to_string() });
    Some(ElpdForest {
        method,
        models: found.models.iter().map(model).collect(),
        is_rough: false,
        doubts: doubts.collect(),
    })
}
