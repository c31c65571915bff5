//! Fit a network and a Gaussian process to MacKay's robot arm [Vehtari 2001, §3.4.1].

use posteria::data::recipes::robot_arm::{NOISE_SD, TRAINING_ROWS, draw, position};
use posteria::data::{Table, Task};
use posteria::model::spec::{ModelKind, Priors, Processes, ResidualSharing, ResidualSpec, Spec};
use posteria::predict::PredictiveTable;
use posteria::random::Purpose;

use super::estimate::Estimate;
use super::{Demonstration, Fitted, PREDICTED, Quantity, Settings, Study, numbers, outputs};
use crate::Result;

/// Rows without noise: the expected error of a new row is known from them and the noise.
const TEST_ROWS: usize = 1000;
/// The two coordinates of the hand.
pub const TARGETS: [&str; 2] = ["y1", "y2"];
/// Hidden units of the published network.
const HIDDEN: usize = 8;

const WORDS: &str = "\
Two targets on 200 new rows of the recipe: a 2-8-2 network, and a Gaussian process whose targets share
magnitude and relevances; both with normal residuals of one common scale, as published. The expected
error of a new row is computed from 1000 rows without noise and the known noise; no model can be
below 0.05 in the long run. sd is the standard error over test rows; of the residual its posterior
standard deviation. The thesis draws errors and prints none: just above the noise of 0.05, with no
practical difference between the two models, and most of the uncertainty from not knowing the noise.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let mut stream = settings.seed.stream(Purpose::Data, [27, 0]);
    let training = draw(settings.rows(TRAINING_ROWS), NOISE_SD, &mut stream);
    let test = draw(settings.rows(TEST_ROWS), 0.0, &mut stream);
    let (mut results, mut r_hat) = (Vec::new(), f64::NAN);
    for (label, kind) in [("network", ModelKind::Mlp), ("Gaussian process", ModelKind::Gp)] {
        settings.console.message(label);
        let study = Study { targets: TARGETS.to_vec(), task: Task::Regression, spec: spec(kind) };
        let fitted = study.fit(&training, &settings.plan(400, 1), settings)?;
        let fitted = fitted.predicting_from_one_in(PREDICTED);
        results.extend(figures(label, &fitted, &test)?);
        r_hat = fitted.r_hat().max(r_hat);
    }
    Ok(settings.conclude("robot-arm", results, WORDS.into(), r_hat))
}

/// The published models.
pub fn spec(kind: ModelKind) -> Spec {
    let mut spec = Spec::default();
    spec.model.kind = kind;
    spec.model.priors = Some(Priors::Mcmcstuff);
    match kind {
        ModelKind::Mlp => spec.model.hidden = Some(HIDDEN),
        _ => spec.model.processes = Some(Processes::Shared),
    }
    let sharing = Some(ResidualSharing::Common);
    spec.residual = Some(ResidualSpec { sharing, ..ResidualSpec::default() });
    spec
}

fn figures(label: &str, fitted: &Fitted, test: &Table) -> Result<Vec<Quantity>> {
    let expected = expected_squares(&fitted.predict(test)?, test);
    let squares: Vec<f64> = expected.iter().map(|square| square - NOISE_SD.powi(2)).collect();
    let rows = test.rows();
    Ok(vec![
        Quantity::of(
            format!("{label}: RMSE to the true position, {rows} rows"),
            None,
            Estimate::of_root_mean(&squares),
        ),
        Quantity::of(
            format!("{label}: expected RMSE of a new row"),
            None,
            Estimate::of_root_mean(&expected),
        ),
        Quantity::of(
            format!("{label}: residual standard deviation"),
            Some(NOISE_SD),
            Estimate::of_draws(&fitted.values("residual_scale", 0)),
        ),
    ])
}

/// The expected squared error of new rows at the places of `test`, the mean over both targets: how
/// far the predictions are from the truth, and the noise.
pub fn expected_squares(predictions: &PredictiveTable, test: &Table) -> Vec<f64> {
    let places = numbers(test, "x1").iter().zip(numbers(test, "x2"));
    let truth: Vec<[f64; 2]> = places.map(|(x1, x2)| position(*x1, *x2)).collect();
    let found = [0, 1].map(|target| outputs(predictions, target));
    let square = |row: usize| {
        let of = |target: usize| (found[target][row] - truth[row][target]).powi(2);
        0.5 * (of(0) + of(1)) + NOISE_SD.powi(2)
    };
    (0..test.rows()).map(square).collect()
}
