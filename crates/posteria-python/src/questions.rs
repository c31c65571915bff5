//! What is asked of fits: how good they are, which is better, how probable a model.

use std::path::PathBuf;

use posteria::assess::formula::{FormulaError, Statistic};
use posteria::assess::{
    AssessOptions, AssessmentReport, Better, CompareOptions, FitChains, FittedFolds, Method,
    Repair, Smoothing, StackedChains, Subsample, TargetFacts, Utility, compare_fits,
    usual_statistics,
};
use posteria::data::{FoldBy, FoldScheme};
use posteria::evidence::{
    self as log_evidence, EvidenceOptions, NamedEvidence, compare_evidence_from,
};
use posteria::fit::{self as fitted, Workers};
use posteria::random::Seed;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use crate::chains;
use crate::error::{self, SpecificationError};
use crate::fit::{Fit, Working, asked, has_draws};
use crate::table::Table;
use crate::units;
use crate::work::run;

/// How good predictions of new rows will be: the JSON of `posteria assess`, with figures of every
/// row; by the rows of `test` if these are held out. `method` is JSON too.
#[pyfunction]
pub(crate) fn assess(
    py: Python<'_>,
    fit: &Fit,
    method: &str,
    utilities: Vec<String>,
    test: Option<&Table>,
    plan: Option<PathBuf>,
    working: Working<'_>,
) -> PyResult<String> {
    let asked: Asked = serde_json::from_str(method).map_err(error::of::<SpecificationError>)?;
    let test = test.map(Table::get).transpose()?;
    let folds = units::folds(plan)?;
    fit.work(py, working, |fit| {
        let method = asked.method(fit)?;
        let utilities = utilities_of(&utilities, &TargetFacts::of(&fit.prepared.data))?;
        let stack = || fit.stack_chains(asked.seed()).map_err(error::of_assess);
        let chains = asked.stacked.then(stack).transpose()?;
        let (groups, seed) = (asked.labels.clone(), asked.seed());
        let (test, chains) = (test.as_deref(), chains.as_ref());
        let fitted = folds.as_ref().map(|folds| (folds as &dyn FittedFolds, 0));
        let options = AssessOptions { groups, seed, test, chains, fitted };
        let found = fit.assess_with(&method, &utilities, &options).map_err(error::of_assess)?;
        let report = found.report(fit).map_err(error::of_assess)?;
        let of_rows = Some(&report.pointwise[..]);
        let doubt = chains.and_then(FitChains::doubt);
        let stacking = chains.map(FitChains::stacked);
        let whole = Stacked { report: &report, stacking };
        chains::report(&whole, of_rows, doubt.iter().chain(&report.cautions))
    })
}

/// An assessment, with the weights of chains where they do not count alike.
#[derive(Serialize)]
struct Stacked<'r> {
    #[serde(flatten)]
    report: &'r AssessmentReport,
    #[serde(skip_serializing_if = "Option::is_none")]
    stacking: Option<StackedChains>,
}

/// Whether replicated data have these statistics of the data, those that are usual if there is none:
/// the JSON of `posteria check`.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    fit: &Fit,
    statistics: Vec<String>,
    working: Working<'_>,
) -> PyResult<String> {
    fit.work(py, working, |fit| {
        let targets = TargetFacts::of(&fit.prepared.data);
        let asked =
            if statistics.is_empty() { usual_statistics(&targets) } else { statistics.clone() };
        let parse = |text: &String| {
            let fault = |error: FormulaError| format!("{} of {}", error.message(), error.formula);
            Statistic::parse(text, &targets)
                .map_err(|error| error::of::<SpecificationError>(fault(error)))
        };
        let asked = asked.iter().map(parse).collect::<PyResult<Vec<_>>>()?;
        let found = fit.check(&asked).map_err(error::of_assess)?;
        chains::report(&found, None, &found.cautions)
    })
}

/// The log evidence by these methods, the first of which counts, as JSON.
#[pyfunction]
pub(crate) fn evidence(
    py: Python<'_>,
    fit: &Fit,
    methods: Vec<String>,
    plan: Option<PathBuf>,
    working: Working<'_>,
) -> PyResult<String> {
    let (options, known) = (evidence_options(&methods)?, units::ladders(plan)?);
    fit.work(py, working, |fit| {
        let known = known.first().and_then(Option::as_ref);
        let found = fit.evidence_from(&options, known).map_err(error::of_evidence)?;
        let cautions = found.main().cautions.iter().chain(&found.cautions);
        chains::report(&found.report(fit.rows()), None, cautions)
    })
}

/// How probable each of these models of the same data is: the JSON of `posteria evidence` of several.
#[pyfunction]
pub(crate) fn evidence_of_several(
    py: Python<'_>,
    fits: Vec<(String, Py<Fit>)>,
    methods: Vec<String>,
    prior_weights: Vec<f64>,
    plan: Option<PathBuf>,
    working: Working<'_>,
) -> PyResult<String> {
    let (options, known) = (evidence_options(&methods)?, units::ladders(plan)?);
    of_several(py, &fits, (working, 2), |fits| {
        let found = compare_evidence_from(fits, &known, &options, &prior_weights);
        let found = found.map_err(error::of_evidence_comparison)?;
        let named = found.models.iter().map(|it| &it.evidence);
        let cautions = named.flat_map(|NamedEvidence { run, found }| {
            found.cautions.iter().map(|(_, caution)| (Some(run.as_str()), caution))
        });
        chains::report_of_several(&found, cautions)
    })
}

pub(crate) fn evidence_options(methods: &[String]) -> PyResult<EvidenceOptions> {
    let read = |name: &String| {
        let known = log_evidence::Method::ALL.into_iter().find(|method| method.name() == name);
        known.ok_or_else(|| {
            let names = log_evidence::Method::ALL.map(log_evidence::Method::name).join(", ");
            let words = format!("there is no method {name:?}; use one of {names}");
            error::of::<SpecificationError>(words)
        })
    };
    let methods = methods.iter().map(read).collect::<PyResult<Vec<_>>>()?;
    Ok(EvidenceOptions { methods, ..EvidenceOptions::default() })
}

/// Which of these fits of the same rows predicts better: the JSON of `posteria compare`.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of a function of Python")]
pub(crate) fn compare(
    py: Python<'_>,
    fits: Vec<(String, Py<Fit>)>,
    method: &str,
    utilities: Vec<String>,
    test: Option<&Table>,
    difference: Option<f64>,
    plan: Option<PathBuf>,
    working: Working<'_>,
) -> PyResult<String> {
    let asked: Asked = serde_json::from_str(method).map_err(error::of::<SpecificationError>)?;
    let test = test.map(Table::get).transpose()?;
    let folds = units::folds(plan)?;
    of_several(py, &fits, (working, 2), |fits| {
        let (_, first) = fits[0];
        let method = asked.method(first)?;
        let utilities = utilities_of(&utilities, &facts_of(fits)[0])?;
        let (groups, seed) = (asked.labels.clone(), asked.seed());
        let fitted = folds.as_ref().map(|folds| folds as &dyn FittedFolds);
        let test = test.as_deref();
        let options = CompareOptions { difference, groups, seed, test, fitted };
        let report = compare_fits(fits, &method, &utilities, &options);
        let report = report.map_err(error::of_assess)?;
        let name = |model: &Option<usize>| model.map(|it| report.models[it].as_str());
        let cautions = report.cautions.iter().map(|(model, caution)| (name(model), caution));
        chains::report_of_several(&report, cautions)
    })
}

/// Does long work with several fits at once, each of which is there once.
pub(crate) fn of_several<T: Send>(
    py: Python<'_>,
    fits: &[(String, Py<Fit>)],
    (working, least): (Working<'_>, usize),
    work: impl FnOnce(&[(&str, &fitted::Fit)]) -> PyResult<T> + Send,
) -> PyResult<T> {
    let named: Vec<(&str, &Fit)> = fits.iter().map(|(name, fit)| (&**name, fit.get())).collect();
    if named.len() < least {
        return Err(error::of::<SpecificationError>("give at least two fits"));
    }
    for (index, (name, fit)) in named.iter().enumerate() {
        // Each is held while it is looked at.
        if let Some((other, _)) = named[..index].iter().find(|it| std::ptr::eq(it.1, *fit)) {
            let words = format!("{other} and {name} are the same fit; give it once");
            return Err(error::of::<SpecificationError>(words));
        }
    }
    run(py, asked(working, false), |workers| {
        // All in one order, so that two comparisons do not wait for each other.
        let mut order: Vec<usize> = (0..named.len()).collect();
        order.sort_by_key(|index| std::ptr::from_ref(named[*index].1).addr());
        let mut held: Vec<_> = named.iter().map(|_| None).collect();
        order.into_iter().for_each(|index| held[index] = Some(named[index].1.lock()));
        let mut held: Vec<_> = held.into_iter().flatten().collect();
        held.iter().try_for_each(|fit| has_draws(fit))?;
        held.iter_mut().for_each(|fit| fit.workers = workers.clone());
        let fits: Vec<(&str, &fitted::Fit)> =
            named.iter().zip(&held).map(|((name, _), fit)| (*name, &**fit)).collect();
        let done = work(&fits);
        held.iter_mut().for_each(|fit| fit.workers = Workers::of(workers.threads));
        done
    })
}

/// The targets of these fits, each beside the others.
pub(crate) fn facts_of(fits: &[(&str, &fitted::Fit)]) -> Vec<TargetFacts> {
    let facts: Vec<TargetFacts> =
        fits.iter().map(|(_, fit)| TargetFacts::of(&fit.prepared.data)).collect();
    facts.iter().map(|own| own.clone().beside(&facts)).collect()
}

/// Utilities by their names; those that are usual for the targets if there are none.
pub(crate) fn utilities_of(names: &[String], targets: &TargetFacts) -> PyResult<Vec<Utility>> {
    if names.is_empty() {
        return Ok(Utility::usual(targets));
    }
    let read = |text: &String| Utility::parse(text, targets, Better::Higher);
    names.iter().map(read).collect::<Result<_, _>>().map_err(error::of::<SpecificationError>)
}

/// What is asked of an assessment, as JSON.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Asked {
    method: String,
    /// Leave-one-out: what repairs rows whose weights fail.
    matching: Option<bool>,
    refit: Option<usize>,
    /// Folds, and how rows are divided.
    folds: Option<usize>,
    repeats: Option<u64>,
    block: Option<usize>,
    /// Rows of a group come together: a number for every row.
    pub(crate) labels: Option<Vec<usize>>,
    /// Whether every chain of a fold is a unit of its own, for whoever does units elsewhere.
    pub(crate) each_chain: bool,
    /// Names the streams, in place of that of the fit.
    seed: Option<u64>,
    /// Whether chains are weighed by stacking.
    stacked: bool,
}

impl Asked {
    pub(crate) fn seed(&self) -> Option<Seed> {
        self.seed.map(Seed)
    }

    /// How rows of a fit are predicted.
    pub(crate) fn method(&self, fit: &fitted::Fit) -> PyResult<Method> {
        match &*self.method {
            "holdout" => return Ok(Method::HoldOut),
            "loo" => {
                let usual = Repair::default();
                let repair = Repair {
                    matching: self.matching.unwrap_or(usual.matching),
                    refits: self.refit.unwrap_or(usual.refits),
                };
                let (smoothing, subsample) = (Smoothing::Pareto, Subsample::default());
                return Ok(Method::LeaveOneOut { smoothing, repair, subsample });
            }
            _ => {}
        }
        let seed = self.seed.unwrap_or(fit.prepared.spec.sampling.seed);
        let scheme = FoldScheme::new(self.folds.unwrap_or(10), seed);
        let scheme = match (&self.labels, self.block) {
            (Some(_), _) => {
                FoldScheme { by: Some(FoldBy::Group), column: Some("groups".into()), ..scheme }
            }
            (None, Some(gap)) => FoldScheme { by: Some(FoldBy::Block), gap, ..scheme },
            (None, None) => scheme,
        };
        let repeats = self.repeats.unwrap_or(1);
        if scheme.by == Some(FoldBy::Block) && repeats > 1 {
            let words = "these folds are always the same; repeats are for rows divided at random";
            return Err(error::of::<SpecificationError>(words));
        }
        let each = (0..repeats).map(|repetition| FoldScheme { repetition, ..scheme.clone() });
        Ok(Method::KFold { schemes: each.collect(), draws: None })
    }
}
