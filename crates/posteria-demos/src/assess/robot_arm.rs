//! Assess a network and a Gaussian process on MacKay's robot arm [Vehtari 2001, §3.4.1].

use posteria::assess::utility::Elpd;
use posteria::assess::{
    Bootstrap, ExpectedUtility, Method, PointwiseUtilities, Terms, bayesian_bootstrap, compare,
};
use posteria::data::recipes::robot_arm::{NOISE_SD, TRAINING_ROWS, draw};
use posteria::data::{Folds, Table, Task};
use posteria::model::spec::ModelKind;
use posteria::random::Purpose;
use posteria::sample::Plan;

use super::super::processes::robot_arm::{TARGETS, expected_squares, spec};
use super::hulls::Hulls;
use super::{
    Assessor, Demonstration, Estimate, Fitted, Quantity, Settings, Study, unpublished, utilities,
};
use crate::Result;

/// Rows without noise: the expected error of a new row is known from them and the noise.
const TEST_ROWS: usize = 1000;
const FOLDS: usize = 10;
const MODELS: [(&str, ModelKind); 2] =
    [("network", ModelKind::Mlp), ("Gaussian process", ModelKind::Gp)];

const WORDS: &str = "\
The same 2-8-2 network and Gaussian process as in robot-arm, and one training table of 200 rows (--full: three).
The expected RMSE of a new row (both targets) by Pareto-smoothed leave-one-out from the one fit and by ten
folds with Burman's correction for their size, with its 90 % interval, beside the true one from 1000 rows
without noise and the known noise. Leave-one-out and folds agree here; most of the uncertainty is that of
the data, which noise the future brings, and next to nothing is from the Markov chains or the correction.
m_eff is the effective number of draws that carry the estimate of a row. Nobody can know from the rows how
well a model extrapolates: beside all new rows stand those within the convex hulls of the training
inputs, one for each side of x1, where the estimate belongs (figure 3.5). The effective number of
parameters (figure 3.9) is what all rows lose when they are left out; that of DIC is of the outputs of the
network, of the Gaussian process of its hyperparameters alone, which the thesis puts at about 2. The thesis
draws the rest and prints no numbers: no practical difference between the two models.
";

/// Training tables of the study as published.
const FULL_TABLES: usize = 3;

/// What one model has been found to be worth.
struct Found {
    by_loo: PointwiseUtilities,
    by_folds: PointwiseUtilities,
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let tables = if settings.full { FULL_TABLES } else { 1 };
    let (mut results, mut r_hat) = (Vec::new(), f64::NAN);
    for table in 0..tables {
        let (found, of_table) = on_table(table, settings)?;
        r_hat = of_table.max(r_hat);
        results.extend(found.into_iter().map(|one| match tables {
            1 => one,
            _ => Quantity { quantity: format!("table {}, {}", table + 1, one.quantity), ..one },
        }));
    }
    Ok(settings.conclude("robot-arm-assess", results, WORDS.into(), r_hat))
}

/// What both models are worth given one training table, and the largest R-hat of any fit.
fn on_table(table: usize, settings: &Settings) -> Result<(Vec<Quantity>, f64)> {
    let seed = settings.seed;
    let mut stream = seed.stream(Purpose::Data, [27, 2 * table as u64]);
    let training = draw(settings.rows(TRAINING_ROWS), NOISE_SD, &mut stream);
    let test = draw(settings.rows(TEST_ROWS), 0.0, &mut stream);
    let count = if settings.quick { 2 } else { FOLDS };
    let mut of_folds = seed.stream(Purpose::Data, [27, 2 * table as u64 + 1]);
    let folds = Folds::random(training.rows(), count, &mut of_folds)?;
    let (mut results, mut r_hat, mut found) = (Vec::new(), f64::NAN, Vec::new());
    let inside = Hulls::of(&training).hold(&test);
    let share = Estimate::of_share(inside.iter().copied());
    results.push(Quantity::of("share of new rows within the hulls", None, share));
    for (label, kind) in MODELS {
        settings.console.message(&format!("{label}, table {}", table + 1));
        let study = Study { targets: TARGETS.to_vec(), task: Task::Regression, spec: spec(kind) };
        let fitted = study.fit(&training, &plan(kind, settings), settings)?;
        let utilities = utilities(&["rmse", "elpd"], &fitted)?;
        let assessor =
            Assessor { study: &study, table: &training, utilities: &utilities, settings };
        let known = assessor.training(&fitted)?;
        let (mut by_loo, loo) = assessor.leave_one_out(&fitted)?;
        settings.console.message(&format!("{label}: {count} folds"));
        let (mut by_folds, of_folds) =
            assessor.folds(&fitted, &folds, &fold_plan(kind, settings))?;
        r_hat = fitted.r_hat().max(of_folds).max(r_hat);
        results.extend(truth(label, &fitted, (&test, &inside))?);
        for (how, left_out) in [("leave-one-out", &by_loo[1]), ("folds", &by_folds[1])] {
            let name = format!("{label}: effective parameters, {how}");
            results.push(Quantity::of(name, None, lost(&known[1], left_out, settings)?));
        }
        results.push(by_deviance(label, kind, &fitted)?);
        found.push(Found { by_loo: by_loo.remove(0), by_folds: by_folds.remove(0) });
        let sizes =
            [("least", loo.effective_sizes.min), ("10 % quantile of", loo.effective_sizes.q10)];
        for (which, size) in sizes {
            let of = fitted.draws().chains * fitted.draws().draws;
            results.push(unpublished(format!("{label}: {which} m_eff, of {of} draws"), size, None));
        }
        let bad = format!("{label}: rows whose Pareto k is bad, above {:.2}", loo.shapes.limit);
        results.push(unpublished(bad, loo.shapes.bad as f64, None));
    }
    for (how, of) in [
        ("leave-one-out", (|it| &it.by_loo) as fn(&Found) -> &PointwiseUtilities),
        ("folds", |it| &it.by_folds),
    ] {
        let models: Vec<_> =
            MODELS.iter().zip(&found).map(|((name, _), it)| (*name, of(it))).collect();
        let compared = compare(&models, &Bootstrap::new(seed))?;
        for (label, expected) in compared.models.iter().zip(&compared.expected) {
            results.extend(figures(&format!("{label}, {how}"), expected));
        }
        let better = compared.probability_better[1][0];
        let name = format!("probability that the Gaussian process is better, {how}");
        results.push(unpublished(name, better, None));
    }
    Ok((results, r_hat))
}

/// The effective number of parameters: what all rows lose when they are left out, and the standard
/// deviation of that over rows that might have been [Vehtari 2001, eq. 3.50].
fn lost(
    known: &PointwiseUtilities,
    left_out: &PointwiseUtilities,
    settings: &Settings,
) -> Result<Estimate> {
    let (known, left_out) = (known.corrected(), left_out.corrected());
    let lost: Vec<f64> = known.iter().zip(&left_out).map(|(known, out)| known - out).collect();
    let rows = lost.len() as f64;
    let lost = PointwiseUtilities::new(&Elpd, Terms::from(lost));
    let per_row = bayesian_bootstrap(&lost, &Bootstrap::new(settings.seed))?;
    Ok(Estimate { value: rows * per_row.estimate, sd: rows * per_row.sd() })
}

/// The effective number of parameters by the deviance.
fn by_deviance(label: &str, kind: ModelKind, fitted: &Fitted) -> Result<Quantity> {
    let report = fitted.fit.assess(&Method::Posterior, &[])?.report(&fitted.fit)?;
    let here = report.criteria.map_or(f64::NAN, |criteria| criteria.p_dic);
    let (of, published) = match kind {
        ModelKind::Gp => ("hyperparameters", Some(2.0)),
        _ => ("parameters", None),
    };
    let quantity = format!("{label}: effective {of}, DIC");
    Ok(Quantity { quantity, published, here, sd: None })
}

/// What one way says about one model.
fn figures(label: &str, expected: &ExpectedUtility) -> Vec<Quantity> {
    let mut all =
        vec![unpublished(format!("{label}: expected RMSE"), expected.mean(), Some(expected.sd()))];
    for (end, probability) in [("lower", 0.05), ("upper", 0.95)] {
        let value = expected.quantile(probability);
        all.push(unpublished(format!("{label}: {end} end of the 90 % interval"), value, None));
    }
    let components = expected.components;
    let parts = [
        ("the data", Some(components.data)),
        ("the Markov chains", components.monte_carlo),
        ("the correction for bias", components.bias),
    ];
    for (what, sd) in parts {
        let name = format!("{label}: sd by {what}, × 1000");
        all.extend(sd.map(|sd| unpublished(name, 1000.0 * sd, None)));
    }
    let correction = expected.bias_correction;
    let name = format!("{label}: correction for bias, × 1000");
    all.extend(correction.map(|it| unpublished(name, 1000.0 * it, None)));
    all
}

/// The expected error of a new row in truth, wherever it is and where training rows are around it.
fn truth(label: &str, fitted: &Fitted, (test, inside): (&Table, &[bool])) -> Result<Vec<Quantity>> {
    let squares = expected_squares(&fitted.predict(test)?, test);
    let within = squares.iter().zip(inside).filter(|(_, inside)| **inside);
    let within: Vec<f64> = within.map(|(square, _)| *square).collect();
    let name = |what: &str| format!("{label}: true {what}");
    Ok(vec![
        Quantity::of(name("expected RMSE"), None, Estimate::of_root_mean(&squares)),
        Quantity::of(name("RMSE within the hulls"), None, Estimate::of_root_mean(&within)),
    ])
}

fn plan(kind: ModelKind, settings: &Settings) -> Plan {
    match (kind, settings.quick) {
        (ModelKind::Gp, false) => Plan::new(4, 100, 150),
        _ => settings.plan(400, 2),
    }
}

fn fold_plan(kind: ModelKind, settings: &Settings) -> Plan {
    match (kind, settings.quick) {
        (_, true) => settings.plan(0, 1),
        // Begun where the fit to all rows ended: a part of the warm-up is left out.
        (ModelKind::Gp, _) => Plan::new(2, 100, 500),
        _ => Plan { thin: 2, ..Plan::new(2, 300, 300) },
    }
}
