//! Say what is meant by the options of an assessment.

use std::path::Path;

use posteria::assess::decision::ActionCost;
use posteria::assess::utility::{ELPD, UtilityFunction};
use posteria::assess::{
    Better, Bootstrap, Method, Repair, Smoothing, TargetFacts, Utility, UtilityError, Valuation,
};
use posteria::caution::shell_word;
use posteria::data::{FoldBy, FoldScheme};
use posteria::random::Seed;

use super::Subject;
use crate::args::{AssessMethod, How, Smoothed};
use crate::decide::Decide;
use crate::failure::{Classify, Failure, Result};

/// Folds unless it is said otherwise [Vehtari 2001, §3.2.3: between 8 and 16].
const FOLDS: usize = 10;

/// How a run is assessed.
pub struct Plan {
    /// How rows are predicted.
    pub method: Method,
    /// What predictions are worth. The first is always the log predictive density.
    pub utilities: Vec<Box<dyn UtilityFunction>>,
    /// The same for whoever fits folds elsewhere, where it can be told.
    pub valuation: Option<Valuation>,
    /// Whether that was asked for.
    pub shows_first: bool,
    /// How future rows are drawn.
    pub bootstrap: Bootstrap,
}

impl Plan {
    /// What `how` means for `subject`.
    pub fn new(how: &How, subject: &Subject, seed: Seed) -> Result<Self> {
        Plan::beside(how, subject, std::slice::from_ref(subject), seed)
    }

    /// What it means beside others, which may know the order of the same classes.
    pub fn beside(how: &How, subject: &Subject, others: &[Subject], seed: Seed) -> Result<Self> {
        let all: Vec<TargetFacts> =
            others.iter().map(|other| TargetFacts::of(&other.prepared.data)).collect();
        let targets = TargetFacts::of(&subject.prepared.data).beside(&all);
        let formulas = if how.smaller_is_better { Better::Lower } else { Better::Higher };
        let asked: Vec<String> = match how.utility.is_empty() {
            true => Utility::usual(&targets).iter().map(ToString::to_string).collect(),
            false => how.utility.clone(),
        };
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let shows_first = asked.contains(&ELPD);
        let names = std::iter::once(ELPD).chain(asked.into_iter().filter(|name| *name != ELPD));
        let named = names
            .map(|name| Utility::parse(name, &targets, formulas))
            .collect::<std::result::Result<Vec<_>, _>>()
            .map_err(refused)?;
        let functions = named.iter().map(|utility| utility.function(&targets));
        let mut utilities =
            functions.collect::<std::result::Result<Vec<_>, _>>().map_err(refused)?;
        let mut valuation = Some(Valuation::new(&named, &targets, seed));
        if let Some(Decide { costs, rule }) =
            Decide::new(how.cost.as_deref(), &how.choosing, &targets)?
        {
            utilities.push(Box::new(ActionCost::new(costs, rule)));
            // Costs are in a file of their own.
            valuation = None;
        }
        if let Some(folds) = how.nested {
            return Err(nested(&subject.path, folds.get()));
        }
        let method = method(how, seed)?;
        let groups = match &how.group {
            Some(column) => {
                let (table, rows) = subject.table()?;
                let labels = table.labels(column, rows).bad_input()?;
                let groups = labels.iter().max().map_or(0, |last| last + 1);
                if groups == rows.len() && groups > 1 {
                    return Err(Failure::bad_input(format!(
                        "--group {column}: every row has a value of its own there, so that there is \
                         nothing to keep together; name a column whose rows belong together, or omit it"
                    )));
                }
                Some(labels)
            }
            None => subject.groups()?,
        };
        let row_weights = match &how.weights {
            None => None,
            Some(column) => Some(subject.numbers(column)?),
        };
        let bootstrap = Bootstrap { groups, row_weights, ..Bootstrap::new(seed) };
        let replicates = how.replicates.map_or(bootstrap.replicates, |it| it as usize);
        let bootstrap = Bootstrap { replicates, ..bootstrap };
        Ok(Plan { method, utilities, valuation, shows_first, bootstrap })
    }
}

/// Where inputs are chosen anew in every fold.
fn nested(run: &Path, folds: usize) -> Failure {
    let search = match run.parent().filter(|sets| sets.ends_with("sets")).and_then(Path::parent) {
        Some(search) => search,
        None => run,
    };
    let shown = shell_word(&search.display().to_string());
    Failure::bad_input(format!(
        "--nested: folds in which inputs are chosen anew are those of a search over input sets: posteria \
         select {shown} --nested {folds} (or posteria plan select, by units), if {shown} is one; assess \
         tells of one model"
    ))
}

fn method(how: &How, seed: Seed) -> Result<Method> {
    let asked = how.method.unwrap_or(match (&how.test, how.of_folds()) {
        (Some(_), _) => AssessMethod::Holdout,
        (None, Some(_)) => AssessMethod::Kfold,
        (None, None) => AssessMethod::Loo,
    });
    let divides = match asked {
        AssessMethod::Kfold => None,
        // Rows of one group come together, whoever predicts them.
        AssessMethod::Holdout => how.of_folds().filter(|flag| *flag != "--group"),
        _ => how.of_folds(),
    };
    if let Some(flag) = divides {
        return Err(Failure::bad_input(format!(
            "{flag} divides rows into folds: it needs --method kfold"
        )));
    }
    if asked != AssessMethod::Loo
        && let Some(flag) = how.of_weights()
    {
        return Err(Failure::bad_input(format!(
            "{flag} is about importance weights: it needs --method loo"
        )));
    }
    match (asked, &how.test) {
        (AssessMethod::Holdout, None) => {
            return Err(Failure::bad_input(
                "--method holdout needs rows that the run has not seen: --test FILE",
            ));
        }
        (AssessMethod::Holdout, Some(_)) | (_, None) => {}
        (_, Some(_)) => {
            return Err(Failure::bad_input("--test is for --method holdout; omit one of them"));
        }
    }
    Ok(match asked {
        AssessMethod::Loo => Method::LeaveOneOut {
            smoothing: match how.smoothing.unwrap_or(Smoothed::Pareto) {
                Smoothed::Pareto => Smoothing::Pareto,
                Smoothed::Truncated => Smoothing::Truncated,
                Smoothed::None => Smoothing::Plain,
            },
            repair: Repair {
                matching: !how.no_matching,
                refits: how.refit.unwrap_or(Repair::default().refits),
            },
            subsample: how.subsample.unwrap_or_default(),
        },
        AssessMethod::Kfold => {
            let count = how.folds.map_or(FOLDS, |it| it.get());
            let scheme = FoldScheme::new(count, seed.0);
            let scheme = match (&how.group, how.block, &how.fold_column) {
                (Some(column), ..) => {
                    FoldScheme { by: Some(FoldBy::Group), column: Some(column.clone()), ..scheme }
                }
                _ if !how.spatial.is_empty() => FoldScheme {
                    by: Some(FoldBy::Space),
                    space: how.spatial.clone(),
                    buffer: how.buffer.unwrap_or(0.0),
                    ..scheme
                },
                (_, Some(gap), _) => FoldScheme { by: Some(FoldBy::Block), gap, ..scheme },
                (.., Some(column)) => {
                    FoldScheme { by: Some(FoldBy::Column), column: Some(column.clone()), ..scheme }
                }
                _ => scheme,
            };
            let repeats = how.repeats.map_or(1, |it| u64::from(it.get()));
            let fixed = how.block.is_some() || how.fold_column.is_some() || !how.spatial.is_empty();
            if fixed && repeats > 1 {
                return Err(Failure::bad_input(
                    "these folds are always the same; --repeats is for rows that are divided at random",
                ));
            }
            let each = (0..repeats).map(|repetition| FoldScheme { repetition, ..scheme.clone() });
            Method::KFold { schemes: each.collect(), draws: how.fold_draws.map(|it| it.get()) }
        }
        AssessMethod::Posterior => Method::Posterior,
        AssessMethod::Prior => Method::Prior,
        AssessMethod::Holdout => Method::HoldOut,
    })
}

/// An error of a formula goes on one line.
fn refused(error: UtilityError) -> Failure {
    Failure::bad_input(match error {
        UtilityError::Formula(error) => {
            format!("--utility expr: {} of {}", error.message(), error.formula)
        }
        error => format!("--utility: {error}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_folds_are_those_of_the_search_that_a_set_is_of() {
        for (run, search) in [("runs/all", "runs/all"), ("runs/all/sets/a-b", "runs/all")] {
            let said = nested(Path::new(run), 3).message().unwrap_or_default();
            assert!(said.contains(&format!("posteria select {search} --nested 3 ")), "{said}");
        }
    }
}
