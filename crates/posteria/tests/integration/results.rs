//! Results are read back from JSON by the types that wrote them.

use std::num::NonZero;

use posteria::assess::formula::Statistic;
use posteria::assess::{
    AssessmentReport, CompareOptions, ComparisonReport, Method, PointwiseRow, PredictiveCheck,
    TargetFacts, Utility, compare_fits, usual_statistics,
};
use posteria::data::{Column, Table};
use posteria::evidence::{self, EvidenceOptions, EvidenceReport};
use posteria::fit::{Fit, FitOptions};
use posteria::model::spec::Spec;
use posteria::model::{Gp, Linear};
use posteria::random::{Purpose, Seed};
use posteria::select::{SelectOptions, SelectionReport, select_inputs};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, from_value, to_value};

/// Two inputs and a real target, or whether it is positive.
fn table(target: &str) -> Table {
    let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
    let [a, b, noise] = [(); 3].map(|()| (0..30).map(|_| stream.normal()).collect::<Vec<_>>());
    let y: Vec<f64> = a.iter().zip(&noise).map(|(a, e)| 2.0 * a + 0.5 * e).collect();
    let class = y.iter().map(|y| f64::from(u8::from(*y > 0.0))).collect();
    let target = (target, if target == "y" { y } else { class });
    let columns = [("a", a), ("b", b), target];
    let named = columns.map(|(name, values)| (name.into(), Column::numbers(values)));
    Table::new("memory", named.into()).expect("a table")
}

fn options() -> FitOptions {
    let (chains, draws) = (NonZero::new(2), NonZero::new(50));
    FitOptions { chains, draws, warmup: Some(50), ..FitOptions::default() }
}

/// Of the real target.
fn fit() -> Fit {
    posteria::fit(&table("y"), "y", Linear::default(), &options()).expect("a fit")
}

/// Without what is null, and with null in place of all numbers that are not whole if `nulls`.
fn pruned(value: Value, nulls: bool) -> Value {
    match value {
        Value::Number(number) if nulls && number.is_f64() => Value::Null,
        Value::Array(all) => all.into_iter().map(|it| pruned(it, nulls)).collect(),
        Value::Object(all) => {
            let each = all.into_iter().map(|(key, it)| (key, pruned(it, nulls)));
            each.filter(|(_, it)| nulls || !it.is_null()).collect()
        }
        other => other,
    }
}

/// What is written again is what was read: of the result itself, and of one that no number is known of.
fn is_read_back<T: Serialize + DeserializeOwned>(found: &T) {
    let written = to_value(found).expect("JSON");
    for given in [written.clone(), pruned(written, true)] {
        let read: T = from_value(given.clone()).expect("what was written, or null");
        let again = to_value(&read).expect("JSON");
        assert_eq!(pruned(again, false), pruned(given, false));
    }
}

#[test]
fn an_assessment_is_read_back() {
    let fit = fit();
    let utilities = [Utility::Elpd, Utility::Rmse];
    let loo = fit.loo(&utilities).expect("leave-one-out").report(&fit).expect("a report");
    assert!(loo.criteria.is_some() && loo.pareto_k.is_some() && loo.calibration.is_some());
    is_read_back::<AssessmentReport>(&loo);
    loo.pointwise.iter().for_each(is_read_back::<PointwiseRow>);
    let binary = Spec::from_toml("[model]\ntask = 'binary'").expect("a specification");
    let classes = posteria::fit(&table("class"), "class", binary, &options()).expect("a fit");
    let loo = classes.loo(&[Utility::Accuracy]).expect("leave-one-out").report(&classes);
    is_read_back::<AssessmentReport>(&loo.expect("a report"));
}

#[test]
fn a_comparison_is_read_back() {
    let other = posteria::fit(&table("y"), "y", Gp::default(), &options()).expect("a fit");
    let (method, fits) = (Method::leave_one_out(), [("linear", &fit()), ("gp", &other)]);
    let asked = CompareOptions { difference: Some(0.1), ..CompareOptions::default() };
    let found = compare_fits(&fits, &method, &[Utility::Elpd], &asked).expect("a comparison");
    assert!(found.stacked.is_some());
    is_read_back::<ComparisonReport>(&found);
}

#[test]
fn statistics_are_read_back() {
    let fit = fit();
    let targets = TargetFacts::of(&fit.prepared.data);
    let usual = usual_statistics(&targets);
    let parsed = usual.iter().map(|text| Statistic::parse(text, &targets).expect("a statistic"));
    let found = fit.check(&parsed.collect::<Vec<_>>()).expect("a check");
    is_read_back::<PredictiveCheck>(&found);
}

#[test]
fn an_evidence_is_read_back() {
    let methods = vec![evidence::Method::Laplace];
    let asked = EvidenceOptions { methods, ..EvidenceOptions::default() };
    let found = fit().evidence(&asked).expect("an evidence");
    assert_eq!(found.report(30).method.name(), "laplace");
    // Cautions are texts that are not read.
    let mut report = found.report(30);
    report.methods.iter_mut().for_each(|method| method.cautions.clear());
    is_read_back::<EvidenceReport>(&report);
    // The names of methods in JSON are those on the command line.
    for method in evidence::Method::ALL {
        assert_eq!(to_value(method).expect("JSON"), method.name());
    }
}

#[test]
fn a_selection_is_read_back() {
    let (options, asked) = (options(), SelectOptions::default());
    let with = (&options, &asked);
    let found = select_inputs(&table("y"), "y", Linear::default(), with).expect("a selection");
    let report = found.report().expect("a report");
    assert!(report.choice.is_some());
    is_read_back::<SelectionReport>(&report);
}
