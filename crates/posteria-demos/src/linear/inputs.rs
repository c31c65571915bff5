//! Ask how many inputs matter [Fabricius 1999, §6.2.4 and table 6.1].

use posteria::data::recipes::linear_inputs::{
    INPUTS, NAMES, NOISE_SD, RELEVANT, TABLES, TEST_ROWS, TRAINING_ROWS, draw, mean,
};
use posteria::data::{Dataset, Roles, Table};
use posteria::density::{InverseGamma, Normal};
use posteria::fit::{run_jobs, usual_kernel};
use posteria::model::linear::{ClosedForm, LeastSquares, Linear, LinearPosterior};
use posteria::model::spec::Spec;
use posteria::random::Purpose;
use posteria_linalg::Matrix;

use super::estimate::Estimate;
use super::{Demonstration, Quantity, Settings, numbers, study};
use crate::Result;

/// Prior of the noise precision, gamma by shape and rate, and of that of the weights.
const NOISE: (f64, f64) = (0.5, 1.0 / 200.0);
const WEIGHTS: (f64, f64) = (0.25, 1.0 / 1600.0);
/// Precision of the weights in units of that of the noise, under the conjugate prior: at noise of
/// standard deviation 0.1, weights of standard deviation 1.
const RHO: f64 = 0.01;

const WORDS: &str = "\
Models with the first 1, 2, … 10 of ten inputs, of which three matter; 20 rows and 200 test rows, and
every figure the mean over tables with its standard error. Published: Fabricius 1999, table 6.1, from
100 tables of its own. Likelihoods are at the noise variance R/(n - k), predictive densities those of
the point estimate with that variance; the penalty is the number of weights and 1 for the noise.
Maximum likelihood takes all ten inputs and pays for it on new rows; the penalty finds three. The
evidence, exact in closed form (conjugate prior) and by quadrature (independent scales; the thesis
estimates it by path sampling on one table), finds three without a penalty, and does so on single
tables too, where the penalty often takes too many: see the shares. Seven inputs that do not matter cost
predictions that are averaged over the posterior about half of what they cost maximum likelihood; the
thesis draws its Bayesian predictions of ten inputs closer to the truth than that. Priors of precisions
are gamma with shape 1/2 and rate 1/200 (noise), 1/4 and 1/1600 (weights): the numbers of the thesis,
read as rates.
";

/// What one table says about the model with so many inputs.
#[derive(Clone, Copy, Debug)]
struct Findings {
    log_likelihood: f64,
    training_variance: f64,
    test_variance: f64,
    log_predictive: f64,
    conjugate: f64,
    conjugate_predictive: f64,
    independent: f64,
}

impl Findings {
    fn penalised(&self, inputs: usize) -> f64 {
        self.log_likelihood - (inputs + 1) as f64
    }
}

/// Everything one table says: findings for 1, …, 10 inputs, and the truth on its test rows.
struct OnTable {
    models: Vec<Findings>,
    true_log_predictive: f64,
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let tables = if settings.quick { 4 } else { TABLES };
    let found = run_jobs(tables, settings.threads, |index| on_table(index, settings));
    let found = found.into_iter().collect::<Result<Vec<OnTable>>>()?;
    let of = |inputs: usize, value: &dyn Fn(&Findings) -> f64| -> Vec<f64> {
        found.iter().map(|table| value(&table.models[inputs - 1])).collect()
    };
    let mut results = Vec::new();
    let mut push = |name: String, published: Option<f64>, values: Vec<f64>| {
        results.push(Quantity::of(name, published, Estimate::of_mean(&values)));
    };
    push(
        "true distribution: log predictive density".into(),
        Some(0.8836),
        found.iter().map(|table| table.true_log_predictive).collect(),
    );
    for (what, inputs, published) in [
        ("maximum likelihood", INPUTS, [23.7301, 12.7301, 0.0098, 0.0219, 0.2764]),
        ("penalised likelihood", RELEVANT, [19.8886, 15.8886, 0.0098, 0.0118, 0.7917]),
    ] {
        let name = |quantity: &str| format!("{what}, {inputs} inputs: {quantity}");
        let [likelihood, penalised, training, test, predictive] = published.map(Some);
        push(name("log likelihood"), likelihood, of(inputs, &|f| f.log_likelihood));
        push(name("less the penalty"), penalised, of(inputs, &|f| f.penalised(inputs)));
        push(name("residual variance"), training, of(inputs, &|f| f.training_variance));
        push(name("test variance"), test, of(inputs, &|f| f.test_variance));
        push(name("log predictive density"), predictive, of(inputs, &|f| f.log_predictive));
    }
    for inputs in [RELEVANT, INPUTS] {
        let name = format!("exact Bayes, conjugate prior, {inputs} inputs: log predictive density");
        push(name, None, of(inputs, &|f| f.conjugate_predictive));
    }
    type Score = fn(usize, &Findings) -> f64;
    let criteria: [(&str, f64, Score); 4] = [
        ("likelihood", 10.0, |_, f| f.log_likelihood),
        ("penalised likelihood", 3.0, |k, f| f.penalised(k)),
        ("evidence, conjugate prior", 3.0, |_, f| f.conjugate),
        ("evidence, independent scales", 3.0, |_, f| f.independent),
    ];
    for (name, published, score) in criteria {
        let averages: Vec<f64> = (1..=INPUTS)
            .map(|k| of(k, &|f| score(k, f)).iter().sum::<f64>() / tables as f64)
            .collect();
        results.push(Quantity {
            quantity: format!("inputs of the greatest {name}"),
            published: Some(published),
            here: best(&averages) as f64,
            sd: None,
        });
        let right = found.iter().map(|table| {
            let scores: Vec<f64> = (1..).zip(&table.models).map(|(k, f)| score(k, f)).collect();
            best(&scores) == RELEVANT
        });
        let share = Estimate::of_share(right);
        let name = format!("share of tables where three inputs have the greatest {name}");
        results.push(Quantity::of(name, None, share));
    }
    let r_hat = by_chain(settings, &mut results)?;
    Ok(settings.conclude("linear-inputs", results, WORDS.into(), r_hat))
}

/// The number of inputs with the greatest value.
fn best(values: &[f64]) -> usize {
    let greatest = values.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1));
    greatest.map_or(0, |(index, _)| index + 1)
}

/// Training and test rows of one table.
fn tables(index: usize, settings: &Settings) -> [Table; 2] {
    let mut stream = settings.seed.stream(Purpose::Data, [42, index as u64]);
    [TRAINING_ROWS, TEST_ROWS].map(|rows| draw(rows, &mut stream))
}

/// The first inputs of a table.
fn columns(table: &Table, inputs: usize) -> Matrix {
    let columns: Vec<&[f64]> = NAMES[..inputs].iter().map(|name| numbers(table, name)).collect();
    Matrix::from_fn(table.rows(), inputs, |row, k| columns[k][row])
}

fn on_table(index: usize, settings: &Settings) -> Result<OnTable> {
    let [training, test] = tables(index, settings);
    let (y, new) = (numbers(&training, "y"), numbers(&test, "y"));
    let mut models = Vec::new();
    for inputs in 1..=INPUTS {
        let (x, at) = (columns(&training, inputs), columns(&test, inputs));
        models.push(judge((&x, y), (&at, new), independent(&training, inputs)?)?);
    }
    let truth = |row: usize| {
        let inputs: Vec<f64> = NAMES.iter().map(|name| numbers(&test, name)[row]).collect();
        Normal::new(mean(&inputs), NOISE_SD).map_or(f64::NAN, |normal| normal.log_density(new[row]))
    };
    let true_log_predictive = average((0..test.rows()).map(truth));
    Ok(OnTable { models, true_log_predictive })
}

fn judge(
    (x, y): (&Matrix, &[f64]),
    (at, new): (&Matrix, &[f64]),
    independent: f64,
) -> Result<Findings> {
    let rows = y.len() as f64;
    let row = |i: usize| -> Vec<f64> { (0..at.columns()).map(|k| at[(i, k)]).collect() };
    let fit = LeastSquares::new(x, y, false, 0.0)?;
    let variance = fit.residual_variance().unwrap_or(f64::NAN);
    let constant = (2.0 * std::f64::consts::PI * variance).ln();
    let test_variance = average((0..new.len()).map(|i| (new[i] - fit.predict(&row(i))).powi(2)));
    let (shape, rate) = NOISE;
    let noise = InverseGamma::from_shape_rate(shape, rate)?;
    let exact = ClosedForm::new(x, y, RHO, noise, 1.0)?;
    let predictive = (0..new.len()).map(|i| exact.predictive(&row(i)).log_density(new[i]));
    Ok(Findings {
        log_likelihood: -0.5 * (rows * constant + fit.residual_squares() / variance),
        training_variance: variance,
        test_variance,
        log_predictive: -0.5 * (constant + test_variance / variance),
        conjugate: exact.log_evidence(),
        conjugate_predictive: average(predictive),
        independent,
    })
}

fn average(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// The specification with independent scales of noise and weights.
fn text() -> String {
    let ((shape, rate), (weight_shape, weight_rate)) = (NOISE, WEIGHTS);
    format!(
        "[model]\nintercept = false\n[prior.weights]\nfamily = 'independent'\n\
         shape = {weight_shape}\nrate_scale = {}\n\
         [residual]\nprecision = {{ shape = {shape}, scale = {} }}",
        1.0 / weight_rate,
        1.0 / rate
    )
}

/// The model that a text specifies, given the first inputs of `table` as they are.
pub fn posterior(text: &str, table: &Table, inputs: usize) -> Result<LinearPosterior> {
    let spec = Spec::from_toml(text)?;
    let roles = Roles {
        targets: vec!["y".into()],
        inputs: Some(NAMES[..inputs].iter().map(ToString::to_string).collect()),
        standardize: false,
        ..Roles::default()
    };
    let (data, _) = Dataset::new(table, &roles)?;
    Ok(Linear::new(&spec)?.condition(&data, usual_kernel())?)
}

/// Log evidence with independent scales.
fn independent(table: &Table, inputs: usize) -> Result<f64> {
    Ok(posterior(&text(), table, inputs)?.log_evidence().unwrap_or(f64::NAN))
}

/// Compares chains on the first table, with all inputs, with the exact answer; gives the R-hat.
fn by_chain(settings: &Settings, results: &mut Vec<Quantity>) -> Result<f64> {
    let [training, test] = tables(0, settings);
    let new = numbers(&test, "y");
    let fitted = study(&text()).fit(&training, &settings.plan(500, 2), settings)?;
    let predictions = fitted.predict(&test)?;
    let sampled =
        average((0..test.rows()).map(|row| predictions.predictive(row).log_density(&[new[row]])));
    let exact = posterior(&text(), &training, INPUTS)?.by_quadrature();
    let at = columns(&test, INPUTS);
    let density = |row: usize| {
        let row_of: Vec<f64> = (0..INPUTS).map(|k| at[(row, k)]).collect();
        exact.as_ref().map_or(f64::NAN, |exact| exact.predictive(&row_of).log_density(new[row]))
    };
    let exact = average((0..test.rows()).map(density));
    for (how, here) in [("Monte Carlo", sampled), ("quadrature", exact)] {
        results.push(Quantity {
            quantity: format!(
                "independent scales, 10 inputs, first table: log predictive by {how}"
            ),
            published: None,
            here,
            sd: None,
        });
    }
    Ok(fitted.r_hat())
}
