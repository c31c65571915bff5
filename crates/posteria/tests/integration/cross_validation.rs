//! Leaving rows out by weights is leaving them out, and folds can be corrected for their size.

use std::num::NonZero;

use posteria::assess::utility::{AbsoluteError, SquaredError, UtilityFunction};
use posteria::assess::{
    BiasTerms, Bootstrap, LeaveOneOut, LeaveOneOutOptions, LogLikelihoods, PointwiseUtilities,
    RelativeEfficiency, Terms, bayesian_bootstrap, leave_one_out,
};
use posteria::data::{Dataset, Folds, Targets};
use posteria::diagnose::mean_effective_size;
use posteria::draws::Draws;
use posteria::fit::fit;
use posteria::model::Posterior;
use posteria::model::gp::GaussianProcess;
use posteria::model::linear::LeastSquares;
use posteria::model::mlp::Mlp;
use posteria::model::spec::{ModelKind, Spec};
use posteria::predict::PredictiveTable;
use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::Plan;
use posteria_linalg::Matrix;

use crate::kernels;
use crate::tables::{inputs, linear, real};

/// Of a standard normal variable; exceeded with probability 7e-6. All tests together look at some
/// 40 of them: a false alarm in 3e-4 of all sets of seeds, and the seeds are fixed.
const LIMIT: f64 = 4.5;

type Condition = fn(&Dataset) -> Box<dyn Posterior>;

fn sampled(posterior: &dyn Posterior, plan: &Plan, seed: u64) -> Draws {
    fit(posterior, plan, Seed(seed), NonZero::new(2).expect("not zero")).expect("a fit")
}

/// log p(y_i given x_i, all other rows) by a fit without row i, and its Monte Carlo error.
fn refitted(condition: Condition, data: &Dataset, row: usize, plan: &Plan) -> (f64, f64) {
    let others: Vec<usize> = (0..data.rows()).filter(|other| *other != row).collect();
    let posterior = condition(&data.select(&others));
    let draws = sampled(&*posterior, plan, 100 + row as u64);
    let mut predictor = posterior.predictor().expect("these models predict");
    let alone = data.select(&[row]);
    let all = 0..draws.chains * draws.draws;
    let table = PredictiveTable::new(&mut *predictor, &draws, all, &alone.inputs);
    let Targets::Real { values, .. } = &alone.targets else { panic!("numbers") };
    let width = table.family().width();
    let one = |parameters| {
        posteria::predict::Predictive::new(table.family(), parameters)
            .log_density(&[values[(0, 0)]])
    };
    let densities: Vec<f64> =
        table.parameters(0).chunks_exact(width).map(|draw| f64::exp(one(draw))).collect();
    let chains: Vec<&[f64]> = densities.chunks_exact(draws.draws).collect();
    let count = densities.len() as f64;
    let mean = densities.iter().sum::<f64>() / count;
    let variance = densities.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean.ln(), (variance / mean_effective_size(&chains)).sqrt() / mean)
}

/// Checks that weights and refits agree, by row and in sum, for the first `count` rows whose weights
/// are said to be trustworthy.
fn assert_rows_are_left_out(condition: Condition, data: &Dataset, count: usize, plan: &Plan) {
    let posterior = condition(data);
    let long = Plan { draws: 2 * plan.draws, ..plan.clone() };
    let draws = sampled(&*posterior, &long, 7);
    let likelihoods = LogLikelihoods::of(&draws).expect("log likelihoods are kept");
    let options = LeaveOneOutOptions {
        relative_efficiency: RelativeEfficiency::PerRow,
        ..LeaveOneOutOptions::default()
    };
    let threads = NonZero::new(2).expect("not zero");
    let LeaveOneOut { pointwise, shapes, .. } =
        leave_one_out(&likelihoods, &options, threads).expect("weights");
    let (mut apart, mut weighted_error, mut refit_variance, mut optimism) = (0.0, 0.0, 0.0, 0.0);
    let trusted = pointwise.iter().enumerate();
    let trusted = trusted.filter(|(_, found)| found.pareto_shape < shapes.limit).take(count);
    let trusted: Vec<_> = trusted.collect();
    assert_eq!(trusted.len(), count, "{shapes:?}");
    for (row, found) in trusted {
        let (exact, error) = refitted(condition, data, row, plan);
        let z = (found.elpd - exact) / found.mcse.hypot(error);
        assert!(z.abs() < LIMIT, "row {row}: {} for {exact}, z {z}", found.elpd);
        apart += found.elpd - exact;
        // Rows share the draws of one fit, so that their errors may all have the same sign.
        weighted_error += found.mcse;
        refit_variance += error * error;
        optimism += found.lppd - found.elpd;
    }
    let error = weighted_error.hypot(refit_variance.sqrt());
    assert!((apart / error).abs() < LIMIT, "sum: apart by {apart}, error {error}");
    // Rows that were not left out at all would be seen.
    assert!(optimism > 2.0 * LIMIT * error, "optimism {optimism}, error {error}");
}

/// A curve with noise, at `rows` places.
fn curve(rows: usize) -> Dataset {
    let mut stream = Seed(61).stream(Purpose::Data, [0, 0]);
    let place = |row: usize| -1.6 + 3.2 * row as f64 / (rows - 1) as f64;
    let inputs = Matrix::from_fn(rows, 1, |row, _| place(row));
    let targets: Vec<f64> =
        (0..rows).map(|row| (2.0 * place(row)).sin() + 0.5 * stream.normal()).collect();
    real(inputs, &targets)
}

#[test]
fn weights_leave_rows_of_a_linear_model_out() {
    let mut stream = Seed(60).stream(Purpose::Data, [0, 0]);
    let inputs = inputs(14, 2, &mut stream);
    let targets: Vec<f64> = (0..14)
        .map(|row| 0.4 + inputs[(row, 0)] - 0.5 * inputs[(row, 1)] + 0.5 * stream.normal())
        .collect();
    let data = real(inputs, &targets);
    let condition: Condition = |data| {
        let spec = "[prior.weights]\nfamily = 'independent'\nshape = 0.5\nrate_scale = 1.0\n\
                    [residual]\nprecision = { shape = 0.5, scale = 1.0 }";
        Box::new(linear(spec, data, kernels::ALL[0].1))
    };
    assert_rows_are_left_out(condition, &data, 13, &Plan::new(4, 200, 600));
}

#[test]
fn weights_leave_rows_of_a_process_out() {
    let condition: Condition = |data| {
        let mut spec = Spec::default();
        spec.model.kind = ModelKind::Gp;
        let model = GaussianProcess::new(&spec).expect("a valid specification");
        Box::new(model.condition(data, None).expect("data that fit the model"))
    };
    assert_rows_are_left_out(condition, &curve(20), 6, &Plan::new(4, 200, 3000));
}

#[test]
fn weights_leave_rows_of_a_network_out() {
    let condition: Condition = |data| {
        let short = "[sampling]\nkernel = 'hmc'\nleapfrog_steps = 20";
        let mut spec = Spec::from_toml(short).expect("a valid file");
        spec.model.kind = ModelKind::Mlp;
        spec.model.hidden = Some(2);
        let model = Mlp::new(&spec).expect("a valid specification");
        Box::new(model.condition(data, None).expect("data that fit the model"))
    };
    assert_rows_are_left_out(condition, &curve(15), 4, &Plan::new(4, 300, 5000));
}

/// What cross-validation in two folds says about least squares, plain and corrected, less what
/// a new row costs in truth. The rows and the truth behind them are drawn.
fn errors_of_two_folds(utility: &dyn UtilityFunction, stream: &mut Stream) -> (f64, f64) {
    const ROWS: usize = 24;
    const INPUTS: usize = 4;
    const NOISE: f64 = 0.7;
    let weights: Vec<f64> = (0..INPUTS).map(|_| stream.normal()).collect();
    let x = inputs(ROWS, INPUTS, stream);
    let output = |row: usize| (0..INPUTS).map(|k| weights[k] * x[(row, k)]).sum::<f64>();
    let y: Vec<f64> = (0..ROWS).map(|row| output(row) + NOISE * stream.normal()).collect();
    let fitted = |rows: &[usize]| {
        let part = Matrix::from_fn(rows.len(), INPUTS, |row, k| x[(rows[row], k)]);
        let targets: Vec<f64> = rows.iter().map(|row| y[*row]).collect();
        LeastSquares::new(&part, &targets, false, 0.0).expect("a fit").weights().to_vec()
    };
    let squared = utility.name() == "rmse";
    let values = |found: &[f64]| -> Vec<f64> {
        let residual =
            |row: usize| y[row] - (0..INPUTS).map(|k| found[k] * x[(row, k)]).sum::<f64>();
        let value = |row| if squared { residual(row).powi(2) } else { residual(row).abs() };
        (0..ROWS).map(value).collect()
    };
    let all = fitted(&(0..ROWS).collect::<Vec<_>>());
    let folds = Folds::random(ROWS, 2, stream).expect("folds");
    let by_fold: Vec<Vec<f64>> =
        (0..2).map(|fold| values(&fitted(&folds.training(fold)))).collect();
    let mut held_out = vec![0.0; ROWS];
    for (fold, of_fold) in by_fold.iter().enumerate() {
        folds.held_out(fold).iter().for_each(|row| held_out[*row] = of_fold[*row]);
    }
    let sizes = by_fold.into_iter().enumerate();
    let sizes = sizes.map(|(fold, values)| (folds.held_out(fold).len(), values)).collect();
    let bias = BiasTerms::new(utility.summary(), values(&all), sizes);
    let estimate = |bias| {
        let pointwise = PointwiseUtilities::new(utility, Terms { values: held_out.clone(), bias });
        let few = Bootstrap { replicates: 2, ..Bootstrap::new(Seed(1)) };
        bayesian_bootstrap(&pointwise, &few).expect("a distribution").estimate
    };
    // New inputs are standard normal: the residual of a new row is normal with this variance.
    let off: f64 = all.iter().zip(&weights).map(|(a, b)| (a - b).powi(2)).sum();
    let deviation = off.sqrt().hypot(NOISE);
    let truth = if squared { deviation } else { deviation * (2.0 / std::f64::consts::PI).sqrt() };
    (estimate(None) - truth, estimate(Some(bias)) - truth)
}

fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

#[test]
fn corrected_folds_are_closer_to_the_truth() {
    let utilities: [Box<dyn UtilityFunction>; 2] =
        [Box::new(SquaredError::rmse()), Box::new(AbsoluteError::mean())];
    for (index, utility) in utilities.iter().enumerate() {
        let mut stream = Seed(62).stream(Purpose::Data, [index as u64, 0]);
        let (mut plain, mut corrected, mut gain) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..600 {
            let (one, other) = errors_of_two_folds(&**utility, &mut stream);
            plain.push(one);
            corrected.push(other);
            gain.push(one.abs() - other.abs());
        }
        let name = utility.name();
        let [(plain, plain_error), (corrected, _), (gain, gain_error)] =
            [plain, corrected, gain].map(|values| mean_and_error(&values));
        assert!(plain > LIMIT * plain_error, "{name}: half of the rows learn less: {plain}");
        assert!(gain > LIMIT * gain_error, "{name}: gain {gain}, error {gain_error}");
        // Of first order: what is left of the bias is a small part of it.
        assert!(corrected.abs() < 0.3 * plain, "{name}: {corrected} of {plain}");
    }
}
