//! What is asked of fits: how good they are, which is better, which inputs matter, how probable a model.

use std::num::NonZero;

use posteria::assess::{
    Better, CompareOptions, Method, Repair, Smoothing, Subsample, TargetFacts, Utility,
    compare_fits,
};
use posteria::data::{FoldBy, FoldScheme};
use posteria::evidence::{self as log_evidence, EvidenceOptions};
use posteria::fit::{self as fitted, FitOptions, Workers};
use posteria::model::spec::{Spec, TimeBudget};
use posteria::select::{SelectOptions, select_inputs};
use pyo3::prelude::*;
use serde_json::Value;

use crate::chains;
use crate::error::{self, SpecificationError};
use crate::fit::{Fit, Working, asked, has_draws};
use crate::table::Table;
use crate::work::run;

/// How good predictions of new rows will be: the JSON of `posteria assess`, with figures of every
/// row. `method` is JSON too.
#[pyfunction]
pub(crate) fn assess(
    py: Python<'_>,
    fit: &Fit,
    method: &str,
    utilities: Vec<String>,
    working: Working<'_>,
) -> PyResult<String> {
    let asked: Value = serde_json::from_str(method).map_err(error::of::<SpecificationError>)?;
    fit.work(py, working, |fit| {
        let (method, groups) = method_of(&asked, fit.prepared.spec.sampling.seed)?;
        let targets = TargetFacts::of(&fit.prepared.data);
        let utilities = utilities_of(&utilities, &targets)?;
        let groups = groups.or_else(|| fit.prepared.data.groups.clone());
        let found = fit.assess_groups(&method, &utilities, groups);
        let found = found.map_err(error::of_assess)?;
        let report = found.report(fit).map_err(error::of_assess)?;
        let of_rows = Some(&report.pointwise[..]);
        chains::report(&report, of_rows, &report.cautions)
    })
}

/// The log evidence by these methods, the first of which counts, as JSON.
#[pyfunction]
pub(crate) fn evidence(
    py: Python<'_>,
    fit: &Fit,
    methods: Vec<String>,
    working: Working<'_>,
) -> PyResult<String> {
    let read = |name: &String| {
        let known = log_evidence::Method::ALL.into_iter().find(|method| method.name() == name);
        known.ok_or_else(|| {
            let names = log_evidence::Method::ALL.map(log_evidence::Method::name).join(", ");
            let words = format!("there is no method {name:?}; use one of {names}");
            error::of::<SpecificationError>(words)
        })
    };
    let methods = methods.iter().map(read).collect::<PyResult<Vec<_>>>()?;
    let options = EvidenceOptions { methods, ..EvidenceOptions::default() };
    fit.work(py, working, |fit| {
        let found = fit.evidence(&options).map_err(error::of_evidence)?;
        let cautions = found.main().cautions.iter().chain(&found.cautions);
        chains::report(&found.report(fit.rows()), None, cautions)
    })
}

/// Which of these fits of the same rows predicts better: the JSON of `posteria compare`.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    fits: Vec<(String, Py<Fit>)>,
    method: &str,
    utilities: Vec<String>,
    difference: Option<f64>,
    working: Working<'_>,
) -> PyResult<String> {
    let asked_for: Value = serde_json::from_str(method).map_err(error::of::<SpecificationError>)?;
    let named: Vec<(&str, &Fit)> = fits.iter().map(|(name, fit)| (&**name, fit.get())).collect();
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
        let Some((_, first)) = fits.first() else {
            return Err(error::of::<SpecificationError>("give at least two fits"));
        };
        let (method, groups) = method_of(&asked_for, first.prepared.spec.sampling.seed)?;
        let utilities = utilities_of(&utilities, &TargetFacts::of(&first.prepared.data))?;
        let options = CompareOptions { difference, groups };
        let report = compare_fits(&fits, &method, &utilities, &options);
        let report = report.map_err(error::of_assess)?;
        held.iter_mut().for_each(|fit| fit.workers = Workers::of(workers.threads));
        chains::report(&report, None, report.cautions.iter().map(|(_, caution)| caution))
    })
}

/// Utilities by their names; those that are usual for the targets if there are none.
fn utilities_of(names: &[String], targets: &TargetFacts) -> PyResult<Vec<Utility>> {
    if names.is_empty() {
        return Ok(Utility::usual(targets));
    }
    let read = |text: &String| Utility::parse(text, targets, Better::Higher);
    names.iter().map(read).collect::<Result<_, _>>().map_err(error::of::<SpecificationError>)
}

/// The method that JSON asks for, and groups of rows that come together.
fn method_of(asked: &Value, seed: u64) -> PyResult<(Method, Option<Vec<usize>>)> {
    if asked["method"] == "loo" {
        let usual = Repair::default();
        let repair = Repair {
            matching: asked["matching"].as_bool().unwrap_or(usual.matching),
            refits: asked["refit"].as_u64().map_or(usual.refits, |it| it as usize),
        };
        let (smoothing, subsample) = (Smoothing::Pareto, Subsample::default());
        return Ok((Method::LeaveOneOut { smoothing, repair, subsample }, None));
    }
    let number = |key: &str| asked[key].as_u64().map(|it| it as usize);
    let scheme = FoldScheme::new(number("folds").unwrap_or(10), seed);
    let groups: Option<Vec<usize>> =
        serde_json::from_value(asked["labels"].clone()).map_err(error::of::<SpecificationError>)?;
    let scheme = match (&groups, number("block")) {
        (Some(_), _) => {
            FoldScheme { by: Some(FoldBy::Group), column: Some("groups".into()), ..scheme }
        }
        (None, Some(gap)) => FoldScheme { by: Some(FoldBy::Block), gap, ..scheme },
        (None, None) => scheme,
    };
    let repeats = number("repeats").unwrap_or(1) as u64;
    if scheme.by == Some(FoldBy::Block) && repeats > 1 {
        let words = "these folds are always the same; repeats are for rows divided at random";
        return Err(error::of::<SpecificationError>(words));
    }
    let each = (0..repeats).map(|repetition| FoldScheme { repetition, ..scheme.clone() });
    Ok((Method::KFold { schemes: each.collect(), draws: None }, groups))
}

/// Which inputs matter for a target: the JSON of `posteria select`. `how` is JSON too.
#[pyfunction]
pub(crate) fn select(
    py: Python<'_>,
    table: &Table,
    target: &str,
    spec: &str,
    how: &str,
    working: Working<'_>,
) -> PyResult<String> {
    let spec = Spec::from_json(spec).map_err(error::of::<SpecificationError>)?;
    let how: Value = serde_json::from_str(how).map_err(error::of::<SpecificationError>)?;
    let number = |key: &str| how[key].as_u64().map(|it| it as usize);
    let time = how["time"].as_str().map(str::parse::<TimeBudget>).transpose();
    let time = time.map_err(error::of::<SpecificationError>)?;
    let table = table.get()?;
    run(py, asked(working, false), |workers| {
        let options = FitOptions {
            chains: number("chains").and_then(NonZero::new),
            warmup: number("warmup"),
            draws: number("draws").and_then(NonZero::new),
            ess: how["ess"].as_f64(),
            time,
            seed: how["seed"].as_u64(),
            workers: workers.clone(),
        };
        let utility = how["utility"].as_str().map(|name| {
            // What the targets are is known when the table is encoded, which refuses it then.
            let real = TargetFacts::Real { names: vec![target.into()], deviations: vec![1.0] };
            let classes = TargetFacts::Classes { labels: vec!["a".into(), "b".into()] };
            let read = |targets| Utility::parse(name, targets, Better::Higher);
            read(&real).or_else(|error| read(&classes).map_err(|_| error))
        });
        let utility = utility.transpose().map_err(error::of::<SpecificationError>)?;
        let asked = SelectOptions { utility, folds: number("folds"), ..SelectOptions::default() };
        let found = select_inputs(&table, target, spec, (&options, &asked));
        let found = found.map_err(error::of_selection)?;
        let report = found.report().map_err(error::of_selection)?;
        chains::report(&report, None, &found.search.summary().cautions)
    })
}
