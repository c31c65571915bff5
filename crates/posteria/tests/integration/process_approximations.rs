//! Weighted hyperparameters of processes against chains and fits without single rows.

use posteria::data::TextFormat;
use posteria::fit::{ApproximationFindings, HyperparameterFindings};
use posteria::model::spec::Spec;
use posteria::{Fit, FitOptions, Table, Utility};

fn table(rows: i32) -> Table {
    let row = |i: i32| {
        let x = f64::from(i * i * 7 % 23) / 7.0 - 1.6;
        format!("{x},{}\n", (1.7 * x).sin() + f64::from(i * 11 % 7 - 3) / 8.0)
    };
    let text = format!("x,y\n{}", (1..=rows).map(row).collect::<String>());
    Table::from_text("t.csv", text.as_bytes(), &TextFormat::default()).expect("a table")
}

fn fit(table: &Table, target: &str, text: &str) -> Fit {
    let spec = Spec::from_toml(&format!("[model]\nkind = 'gp'\n{text}")).expect("a specification");
    posteria::fit(table, target, spec, &FitOptions::default()).expect("a fit")
}

fn findings(fit: &Fit) -> &HyperparameterFindings {
    match fit.approximation.as_ref().map(|found| &found.findings) {
        Some(ApproximationFindings::Hyperparameters(findings)) => findings,
        other => panic!("{other:?}"),
    }
}

/// Chains find the same: of two fits with more than 300 effective draws means differ by less than a
/// third of a deviation but with probability 3e-5.
#[test]
fn chains_agree_and_so_do_fits_without_single_rows() {
    let weighted = fit(&table(14), "y", "[sampling]\ninference = 'laplace'\n");
    assert!(findings(&weighted).weights.as_ref().expect("weights").effective_size > 150.0);
    let chains = fit(&table(14), "y", "");
    let moments = |fit: &Fit, name: &str| {
        let summary = fit.summary();
        let found =
            summary.variables.iter().find(|it| it.name == name).expect("the variable").clone();
        (found.median, found.sd)
    };
    for name in ["fitted_mean[0]", "fitted_mean[7]", "residual_scale", "relevance[x]"] {
        let ((one, _), (other, sd)) = (moments(&weighted, name), moments(&chains, name));
        assert!((one - other).abs() < 0.4 * sd, "{name}: {one} {other} ± {sd}");
    }
    let loo = weighted.loo(&[Utility::Elpd]).expect("leave-one-out");
    let folds = weighted.k_fold(14, &[Utility::Elpd]).expect("folds");
    // Every fold is a fit without one row, on the scale of the others.
    let (one, other) = (loo.expected[0].estimate, folds.expected[0].estimate);
    assert!((one - other).abs() < 0.04, "{one} {other}");
}
