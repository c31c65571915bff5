//! Whether the distribution of an expected utility holds what it promises.

use std::error::Error;
use std::num::NonZero;
use std::sync::Arc;

use posteria::assess::utility::Utility;
use posteria::assess::{
    Better, BiasTerms, Bootstrap, Evaluation, PointwiseUtilities, TargetFacts, Terms,
    bayesian_bootstrap, parse_utility,
};
use posteria::data::{Dataset, Folds, Standardization, Targets, Task};
use posteria::fit::{fit, run_jobs};
use posteria::model::Posterior;
use posteria::model::linear::Linear;
use posteria::model::spec::Spec;
use posteria::predict::PredictiveTable;
use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::hmc::{Nuts, NutsOptions};
use posteria::sample::{Kernel, Plan};
use posteria_linalg::Matrix;

/// Utilities whose intervals are judged.
pub const UTILITIES: [&str; 2] = ["elpd", "rmse"];
/// Data sets, as the interval from 85 to 95 % was agreed for.
pub const DATA_SETS: usize = 200;
/// Shares of data sets between which the 90 % interval must hold the truth: where it holds 90 % in
/// fact, 200 data sets are outside of them once in fifty times.
pub const BOUNDS: [f64; 2] = [0.85, 0.95];

/// Data sets of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    pub name: &'static str,
    rows: usize,
    inputs: usize,
    /// Whether the interval is promised to hold: it was seen to be too narrow with few rows per
    /// coefficient. A likely reason is that folds share most of their training rows, so that the
    /// errors of rows depend on each other, which the bootstrap over rows does not see.
    pub promised: bool,
}

/// What is simulated.
pub const DESIGNS: [Design; 2] = [
    Design { name: "200x5", rows: 200, inputs: 5, promised: true },
    Design { name: "80x10", rows: 80, inputs: 10, promised: false },
];

const FOLDS: usize = 10;
const DRAWS: usize = 300;
/// Rows that tell the truth: its error is less than a fifth of that of the estimate.
const TEST_ROWS: usize = 6000;

/// What was found over all data sets.
pub struct Coverage {
    /// Share of data sets whose true expected utility is inside of the 90 % interval.
    pub covered: f64,
    /// The same without the correction for the smaller training sets.
    pub covered_uncorrected: f64,
    /// Mean error of the estimate, and its standard error.
    pub bias: (f64, f64),
    /// The same without the correction.
    pub bias_uncorrected: (f64, f64),
    /// Mean of the true expected utility.
    pub truth: f64,
}

type Failure = Box<dyn Error + Send + Sync>;

/// Fits a linear model to `count` data sets, and compares what k-fold cross-validation says about
/// its predictions with what they are worth at other rows. One result per utility.
pub fn coverage(
    design: Design,
    count: usize,
    threads: NonZero<usize>,
) -> Result<Vec<Coverage>, Failure> {
    let results = run_jobs(count, threads, |index| one(design, index as u64));
    let results = results.into_iter().collect::<Result<Vec<_>, _>>()?;
    let of = |utility: usize| {
        let each = || results.iter().map(move |result| &result[utility]);
        let share =
            |is: &dyn Fn(&One) -> bool| each().filter(|one| is(one)).count() as f64 / count as f64;
        let mean_of = |of: &dyn Fn(&One) -> f64| {
            let mean = each().map(of).sum::<f64>() / count as f64;
            let squares: f64 = each().map(|one| (of(one) - mean).powi(2)).sum();
            (mean, (squares / (count - 1) as f64 / count as f64).sqrt())
        };
        Coverage {
            covered: share(&|one| one.corrected.holds(one.truth)),
            covered_uncorrected: share(&|one| one.plain.holds(one.truth)),
            bias: mean_of(&|one| one.corrected.estimate - one.truth),
            bias_uncorrected: mean_of(&|one| one.plain.estimate - one.truth),
            truth: mean_of(&|one| one.truth).0,
        }
    };
    Ok((0..UTILITIES.len()).map(of).collect())
}

struct Interval {
    estimate: f64,
    ends: [f64; 2],
}

impl Interval {
    fn new(pointwise: &PointwiseUtilities, seed: u64) -> Result<Self, Failure> {
        let expected = bayesian_bootstrap(pointwise, &Bootstrap::new(Seed(seed)))?;
        let ends = [0.05, 0.95].map(|probability| expected.quantile(probability));
        Ok(Interval { estimate: expected.estimate, ends })
    }

    fn holds(&self, truth: f64) -> bool {
        (self.ends[0]..=self.ends[1]).contains(&truth)
    }
}

/// What one data set tells about one utility.
struct One {
    truth: f64,
    corrected: Interval,
    plain: Interval,
}

fn one(Design { rows, inputs, .. }: Design, index: u64) -> Result<Vec<One>, Failure> {
    let mut stream = Seed(2001).stream(Purpose::Data, [index, 0]);
    let weights: Vec<f64> = (0..inputs).map(|_| 0.5 * stream.normal()).collect();
    let data = draw(rows, &weights, &mut stream);
    let test = draw(TEST_ROWS, &weights, &mut stream);
    let facts = TargetFacts::of(&data);
    let utilities = UTILITIES.map(|name| parse_utility(name, &facts, Better::Higher));
    let utilities = utilities.into_iter().collect::<Result<Vec<_>, _>>()?;
    let folds = Folds::random(rows, FOLDS, &mut stream)?;
    let whole = predictions(&data, index, &[&data, &test])?;
    let by_fold = (0..FOLDS).map(|fold| {
        let part = data.select(&folds.training(fold));
        Ok(predictions(&part, index + 1_000_000 * (fold as u64 + 1), &[&data])?.remove(0))
    });
    let by_fold = by_fold.collect::<Result<Vec<_>, Failure>>()?;
    let mut fold_of = vec![0; rows];
    (0..FOLDS).for_each(|fold| folds.held_out(fold).iter().for_each(|row| fold_of[*row] = fold));
    let of = |utility: &dyn Utility| {
        let values = |table: &PredictiveTable, data: &Dataset| -> Vec<f64> {
            let observed = observed(data);
            let value = |row: usize| utility.evaluate(&table.predictive(row), &[observed[row]]);
            (0..data.rows()).map(value).collect()
        };
        let each: Vec<Vec<f64>> = by_fold.iter().map(|table| values(table, &data)).collect();
        let held_out: Vec<f64> = (0..rows).map(|row| each[fold_of[row]][row]).collect();
        let sizes = (0..FOLDS).map(|fold| folds.held_out(fold).len());
        let training = values(&whole[0], &data);
        let bias = BiasTerms::new(utility.summary(), training, sizes.zip(each).collect());
        let judged = |bias| {
            let terms = Terms { values: held_out.clone(), bias };
            PointwiseUtilities::new(utility, Evaluation { terms, draw_replicates: Vec::new() })
        };
        let truth = PointwiseUtilities::new(utility, Terms::from(values(&whole[1], &test)));
        Ok(One {
            truth: Interval::new(&truth, index)?.estimate,
            corrected: Interval::new(&judged(Some(bias)), index)?,
            plain: Interval::new(&judged(None), index)?,
        })
    };
    utilities.iter().map(|utility| of(&**utility)).collect()
}

/// Predictions at the rows of every table, by a fit to `data`.
fn predictions(
    data: &Dataset,
    seed: u64,
    tables: &[&Dataset],
) -> Result<Vec<PredictiveTable>, Failure> {
    let spec = Spec::from_toml(
        "[model]\nkind = 'linear'\n[prior.weights]\nfamily = 'conjugate'\nrho = 0.5\n",
    )?;
    // The posterior is known: its draws are independent, and no kernel moves anything.
    let kernel = |dim| -> Box<dyn Kernel> { Box::new(Nuts::new(dim, NutsOptions::default())) };
    let posterior = Linear::new(&spec)?.condition(data, Arc::new(kernel))?;
    let one = NonZero::new(1).ok_or("one")?;
    let draws = fit(&posterior, &Plan::new(1, 1, DRAWS), Seed(seed), one)?;
    let mut predictor = posterior.predictor().ok_or("a linear model predicts")?;
    let of =
        |table: &&Dataset| PredictiveTable::new(&mut *predictor, &draws, 0..DRAWS, &table.inputs);
    Ok(tables.iter().map(of).collect())
}

fn observed(data: &Dataset) -> &[f64] {
    match &data.targets {
        Targets::Real { values, .. } => values.column(0),
        Targets::Classes { .. } => &[],
    }
}

/// Normal inputs, and a target that is linear in them with noise of deviation 1.
fn draw(rows: usize, weights: &[f64], stream: &mut Stream) -> Dataset {
    let inputs = Matrix::from_fn(rows, weights.len(), |_, _| stream.normal());
    let mut values = Matrix::zeros(rows, 1);
    for row in 0..rows {
        let mean: f64 = weights.iter().enumerate().map(|(k, w)| w * inputs[(row, k)]).sum();
        values[(row, 0)] = mean + stream.normal();
    }
    Dataset {
        inputs,
        input_names: (0..weights.len()).map(|k| format!("x{k}")).collect(),
        input_scaling: vec![Standardization::IDENTITY; weights.len()],
        target_scaling: vec![Standardization::IDENTITY],
        targets: Targets::Real { names: vec!["y".into()], values },
        groups: None,
        task: Task::Regression,
    }
}
