//! Whether the distribution of an expected utility holds what it promises.

use std::error::Error;
use std::num::NonZero;
use std::sync::Arc;

use posteria::assess::utility::UtilityFunction;
use posteria::assess::{
    Better, BiasTerms, Bootstrap, Evaluation, PointwiseUtilities, TargetFacts, Terms,
    bayesian_bootstrap, parse_utility,
};
use posteria::data::recipes::robot_arm;
use posteria::data::{Dataset, Folds, Roles, Targets};
use posteria::fit::{fit, run_jobs};
use posteria::model::Posterior;
use posteria::model::gp::GaussianProcess;
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
const BOUNDS: [f64; 2] = [0.85, 0.95];

/// Data sets of one kind.
#[derive(Clone, Copy, Debug)]
pub struct Design {
    pub name: &'static str,
    rows: usize,
    pub folds: usize,
    source: Source,
    promise: Promise,
}

/// What must be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Promise {
    /// The interval holds the truth as often as it should.
    Coverage,
    /// The correction takes away most of the bias. Of ten folds the bias is small beside its error;
    /// of three it is not.
    LessBias,
    /// Nothing: the interval was seen to be too narrow with few rows per coefficient. A likely
    /// reason is that folds share most of their training rows, so that the errors of rows depend
    /// on each other, which the bootstrap over rows does not see.
    Nothing,
}

impl Design {
    /// Whether what was found for one utility breaks the promise.
    pub fn is_broken(&self, found: &Coverage) -> bool {
        match self.promise {
            Promise::Coverage => !(BOUNDS[0]..=BOUNDS[1]).contains(&found.covered),
            Promise::LessBias => found.bias.0.abs() > 0.5 * found.bias_uncorrected.0.abs(),
            Promise::Nothing => false,
        }
    }
}

/// Where rows come from, and which model predicts them.
#[derive(Clone, Copy, Debug)]
enum Source {
    /// Normal inputs and a linear function of them; a linear model with a conjugate prior.
    Linear { inputs: usize },
    /// The first coordinate of a robot arm; a Gaussian process.
    RobotArm,
}

/// What is simulated.
pub const DESIGNS: [Design; 4] = [
    Design {
        name: "200x5",
        rows: 200,
        folds: 10,
        source: Source::Linear { inputs: 5 },
        promise: Promise::Coverage,
    },
    Design {
        name: "80x10",
        rows: 80,
        folds: 10,
        source: Source::Linear { inputs: 10 },
        promise: Promise::Nothing,
    },
    Design {
        name: "robot-arm",
        rows: 200,
        folds: 10,
        source: Source::RobotArm,
        promise: Promise::Coverage,
    },
    Design {
        name: "robot-arm-of-thirds",
        rows: 200,
        folds: 3,
        source: Source::RobotArm,
        promise: Promise::LessBias,
    },
];

/// Draws of a linear model, which are independent, and of a process, with as many of warm-up.
const DRAWS: usize = 300;
const DRAWS_OF_PROCESS: usize = 80;
/// Rows that tell the truth: its error is less than a fifth of that of the estimate. Those of a
/// process are fewer, each with several targets, since most of the error comes from their noise.
const TEST_ROWS: usize = 6000;
const TEST_ROWS_OF_PROCESS: usize = 500;

/// What was found over all data sets.
pub struct Coverage {
    /// Share of data sets whose true expected utility is inside of the 90 % interval.
    pub covered: f64,
    /// The same without the correction for the smaller training sets.
    pub covered_uncorrected: f64,
    /// Mean error of the estimate, and its standard error, without what the noise of the targets
    /// explains: that is large, has mean 0 and is known here.
    pub bias: (f64, f64),
    /// The same without the correction.
    pub bias_uncorrected: (f64, f64),
    /// Mean of the true expected utility.
    pub truth: f64,
}

type Failure = Box<dyn Error + Send + Sync>;

/// Fits the model of the design to `count` data sets, and compares what k-fold cross-validation
/// says about its predictions with what they are worth at other rows. One result per utility.
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
        // Luck has mean 0; the coefficient of this control variate is that of least squares.
        let bias = |of: &dyn Fn(&One) -> f64| {
            let mean = each().map(of).sum::<f64>() / count as f64;
            let luck: f64 = each().map(|one| one.luck).sum::<f64>() / count as f64;
            let with: f64 = each().map(|one| (of(one) - mean) * (one.luck - luck)).sum();
            let slope = with / each().map(|one| (one.luck - luck).powi(2)).sum::<f64>();
            let squares: f64 =
                each().map(|one| (of(one) - mean - slope * (one.luck - luck)).powi(2)).sum();
            (mean - slope * luck, (squares / (count - 2) as f64 / count as f64).sqrt())
        };
        Coverage {
            covered: share(&|one| one.corrected.holds(one.truth)),
            covered_uncorrected: share(&|one| one.plain.holds(one.truth)),
            bias: bias(&|one| one.corrected.estimate - one.truth),
            bias_uncorrected: bias(&|one| one.plain.estimate - one.truth),
            truth: each().map(|one| one.truth).sum::<f64>() / count as f64,
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
    /// How much larger the mean square of the noise is in its rows than in those of the truth.
    luck: f64,
    corrected: Interval,
    plain: Interval,
}

fn one(Design { rows, folds: parts, source, .. }: Design, index: u64) -> Result<Vec<One>, Failure> {
    let mut stream = Seed(2001).stream(Purpose::Data, [index, 0]);
    let truth = Truth::new(source, &mut stream);
    let data = truth.draw(rows, &mut stream)?;
    let test = truth.draw(truth.test_rows(), &mut stream)?;
    // Other targets of the same test rows.
    let judged =
        (0..TEST_ROWS).map(|index| truth.target(&test.inputs, index % test.rows(), &mut stream));
    let judged: Vec<f64> = judged.collect();
    let noise = |inputs: &Matrix, targets: &[f64]| {
        let off = |(i, y): (usize, &f64)| (y - truth.mean(inputs, i % inputs.rows())).powi(2);
        targets.iter().enumerate().map(off).sum::<f64>() / targets.len() as f64
    };
    let luck = noise(&data.inputs, observed(&data)) - noise(&test.inputs, &judged);
    let facts = TargetFacts::of(&data);
    let utilities = UTILITIES.map(|name| parse_utility(name, &facts, Better::Higher));
    let utilities = utilities.into_iter().collect::<Result<Vec<_>, _>>()?;
    let folds = Folds::random(rows, parts, &mut stream)?;
    let whole = predictions(source, &data, index, &[&data, &test])?;
    let by_fold = (0..parts).map(|fold| {
        let part = data.select(&folds.training(fold));
        let seed = index + 1_000_000 * (fold as u64 + 1);
        Ok(predictions(source, &part, seed, &[&data])?.remove(0))
    });
    let by_fold = by_fold.collect::<Result<Vec<_>, Failure>>()?;
    let mut fold_of = vec![0; rows];
    (0..parts).for_each(|fold| folds.held_out(fold).iter().for_each(|row| fold_of[*row] = fold));
    let of = |utility: &dyn UtilityFunction| {
        // Target i belongs to row i modulo the number of rows.
        let values = |table: &PredictiveTable, rows: usize, observed: &[f64]| -> Vec<f64> {
            let targets = observed.iter().enumerate();
            targets.map(|(i, y)| utility.evaluate(&table.predictive(i % rows), &[*y])).collect()
        };
        let own = |table: &PredictiveTable| values(table, rows, observed(&data));
        let each: Vec<Vec<f64>> = by_fold.iter().map(own).collect();
        let held_out: Vec<f64> = (0..rows).map(|row| each[fold_of[row]][row]).collect();
        let sizes = (0..parts).map(|fold| folds.held_out(fold).len());
        let training = own(&whole[0]);
        let bias = BiasTerms::new(utility.summary(), training, sizes.zip(each).collect());
        let estimate = |bias| {
            let terms = Terms { values: held_out.clone(), bias };
            PointwiseUtilities::new(utility, Evaluation::from(terms))
        };
        let truth =
            PointwiseUtilities::new(utility, Terms::from(values(&whole[1], test.rows(), &judged)));
        Ok(One {
            truth: Interval::new(&truth, index)?.estimate,
            luck,
            corrected: Interval::new(&estimate(Some(bias)), index)?,
            plain: Interval::new(&estimate(None), index)?,
        })
    };
    utilities.iter().map(|utility| of(&**utility)).collect()
}

/// Predictions at the rows of every table, by a fit to `data`.
fn predictions(
    source: Source,
    data: &Dataset,
    seed: u64,
    tables: &[&Dataset],
) -> Result<Vec<PredictiveTable>, Failure> {
    match source {
        Source::Linear { .. } => {
            let spec = Spec::from_toml(
                "[model]\nkind = 'linear'\n[prior.weights]\nfamily = 'conjugate'\nrho = 0.5\n",
            )?;
            // The posterior is known: its draws are independent, and no kernel moves anything.
            let kernel =
                |dim| -> Box<dyn Kernel> { Box::new(Nuts::new(dim, NutsOptions::default())) };
            let posterior = Linear::new(&spec)?.condition(data, Arc::new(kernel))?;
            predictions_of(&posterior, &Plan::new(1, 1, DRAWS), seed, tables)
        }
        Source::RobotArm => {
            let spec = Spec::from_toml("[model]\nkind = 'gp'\n")?;
            let posterior = GaussianProcess::new(&spec)?.condition(data, None)?;
            let plan = Plan::new(1, DRAWS_OF_PROCESS, DRAWS_OF_PROCESS);
            predictions_of(&posterior, &plan, seed, tables)
        }
    }
}

fn predictions_of<P: Posterior>(
    posterior: &P,
    plan: &Plan,
    seed: u64,
    tables: &[&Dataset],
) -> Result<Vec<PredictiveTable>, Failure> {
    let draws = fit(posterior, plan, Seed(seed), NonZero::<usize>::MIN)?;
    let mut predictor = posterior.predictor().ok_or("a model that predicts")?;
    let of = |table: &&Dataset| {
        PredictiveTable::new(&mut *predictor, &draws, 0..plan.draws, &table.inputs)
    };
    Ok(tables.iter().map(of).collect())
}

fn observed(data: &Dataset) -> &[f64] {
    match &data.targets {
        Targets::Real { values, .. } => values.column(0),
        Targets::Classes { .. } | Targets::Counts { .. } | Targets::Durations { .. } => &[],
    }
}

/// What is behind the rows of a data set.
enum Truth {
    /// Coefficients; the noise has deviation 1.
    Linear(Vec<f64>),
    RobotArm,
}

impl Truth {
    fn new(source: Source, stream: &mut Stream) -> Self {
        match source {
            Source::Linear { inputs } => {
                Truth::Linear((0..inputs).map(|_| 0.5 * stream.normal()).collect())
            }
            Source::RobotArm => Truth::RobotArm,
        }
    }

    fn test_rows(&self) -> usize {
        match self {
            Truth::Linear(_) => TEST_ROWS,
            Truth::RobotArm => TEST_ROWS_OF_PROCESS,
        }
    }

    /// Mean of the targets with the inputs of a row.
    fn mean(&self, inputs: &Matrix, row: usize) -> f64 {
        match self {
            Truth::Linear(weights) => {
                weights.iter().enumerate().map(|(k, weight)| weight * inputs[(row, k)]).sum()
            }
            Truth::RobotArm => {
                let [x1, x2] = [0, 1].map(|k| inputs[(row, k)]);
                robot_arm::position(x1, x2)[0]
            }
        }
    }

    /// A target for the inputs of a row.
    fn target(&self, inputs: &Matrix, row: usize, stream: &mut Stream) -> f64 {
        let noise = match self {
            Truth::Linear(_) => 1.0,
            Truth::RobotArm => robot_arm::NOISE_SD,
        };
        self.mean(inputs, row) + noise * stream.normal()
    }

    fn draw(&self, rows: usize, stream: &mut Stream) -> Result<Dataset, Failure> {
        let Truth::Linear(weights) = self else {
            let table = robot_arm::draw(rows, robot_arm::NOISE_SD, stream);
            let roles = Roles {
                inputs: Some(vec!["x1".into(), "x2".into()]),
                targets: vec!["y1".into()],
                standardize: false,
                ..Roles::default()
            };
            return Ok(Dataset::new(&table, &roles)?.0);
        };
        let inputs = Matrix::from_fn(rows, weights.len(), |_, _| stream.normal());
        let mut values = Matrix::zeros(rows, 1);
        for row in 0..rows {
            values[(row, 0)] = self.target(&inputs, row, stream);
        }
        Ok(Dataset::unscaled(inputs, Targets::Real { names: vec!["y".into()], values }))
    }
}
