//! Find what maximum likelihood, weight decay and their criteria make of networks with 1 to 19
//! hidden units [Fabricius 1999, §6.3.2, figures 6.12 to 6.15].

use posteria::approximate::{Estimation, Evidence, EvidenceError};
use posteria::data::Table;
use posteria::data::recipes::robot_arm::{draw, position};
use posteria::fit::run_jobs;
use posteria::model::mlp::MlpPosterior;
use posteria::model::{Posterior, Regularised, Scales};
use posteria::random::Purpose;
use posteria_linalg::Matrix;
use posteria_report::figure::{Figure, Span};
use posteria_report::plain;

use super::robot_arm::network;
use super::{Quantity, Settings};
use crate::figures::Lines;
use crate::study::numbers;
use crate::{Listing, Result, Shown, mean_and_sd};

/// Hidden units of the quick form and of the study as published.
const HIDDEN: [usize; 7] = [1, 2, 4, 8, 11, 15, 19];
const MOST_HIDDEN: usize = 19;
/// Starting points whose modes are averaged, as published.
const STARTS: usize = 4;
const FULL_STARTS: usize = 10;
/// Precision of the weights in units of that of the noise: none but what keeps the search from going
/// on for ever, and the least of the others that were published.
const DECAYS: [f64; 2] = [1e-6, 0.1111];
/// What was found to be 0 is written as 0.
const NAMES: [&str; 2] = ["0", "0.1111"];
/// Rows without noise: the expected error of a new row is known from them and the noise.
const TEST_ROWS: usize = 1000;
/// Mean squared test errors of the thesis: at the FPE's choice, at the largest, the least of all.
const PUBLISHED: [f64; 3] = [0.002_54, 0.002_56, 0.002_52];

/// Mean squared errors of one target of the modes from one start, or means of them.
#[derive(Clone, Copy, Debug)]
pub struct Errors {
    training: f64,
    fpe: f64,
    gpe: f64,
    test: f64,
}

/// The errors of a network with one weight decay, of every start.
pub struct OfNetwork {
    hidden: usize,
    decay: usize,
    starts: Vec<Errors>,
}

impl OfNetwork {
    fn over_starts(&self, of: fn(&Errors) -> f64) -> (f64, f64) {
        mean_and_sd(&self.starts.iter().map(of).collect::<Vec<_>>())
    }
}

/// What all networks make of these rows, with every weight decay.
pub fn of_networks(training: &Table, noise: f64, settings: &Settings) -> Result<Vec<OfNetwork>> {
    let hidden: Vec<usize> = match (settings.quick, settings.full) {
        (true, _) => HIDDEN[..2].to_vec(),
        (false, true) => (1..=MOST_HIDDEN).collect(),
        (false, false) => HIDDEN.to_vec(),
    };
    let starts = if settings.full && !settings.quick { FULL_STARTS } else { STARTS };
    let test = draw(TEST_ROWS, 0.0, &mut settings.seed.stream(Purpose::Data, [27, 3]));
    let cases: Vec<(usize, usize)> =
        hidden.iter().flat_map(|hidden| [0, 1].map(|decay| (*hidden, decay))).collect();
    settings.console.message("maximum likelihood and weight decay");
    let found = run_jobs(cases.len(), settings.threads, |case| {
        let (hidden, decay) = cases[case];
        let posterior = network(hidden, training)?;
        let of = |start| from_start(&posterior, start, (DECAYS[decay], noise), &test, settings);
        let starts = (0..starts).map(of).collect::<Result<Vec<Errors>>>()?;
        Ok(OfNetwork { hidden, decay, starts })
    });
    found.into_iter().collect()
}

/// The errors of the mode that is reached from one start.
fn from_start(
    posterior: &MlpPosterior,
    start: usize,
    (decay, noise): (f64, f64),
    test: &Table,
    settings: &Settings,
) -> Result<Errors> {
    let model = posterior.regularised()?;
    let weights = model.start(&mut settings.seed.stream(Purpose::Start, [start as u64, 3]));
    // The mode depends on the ratio of the precisions alone.
    let beta = noise.powi(-2);
    let alphas = vec![decay * beta; model.decays().len()];
    let scales = Scales { alphas, betas: vec![beta; model.noises().len()] };
    let mode = Evidence::search(&model, Estimation::Held, weights, scales)?;
    let criteria = &mode.criteria;
    let places = [numbers(test, "x1"), numbers(test, "x2")];
    let inputs = Matrix::from_fn(test.rows(), 2, |row, k| places[k][row]);
    let known = outputs(posterior, &mode.state, &inputs)?;
    let truth = (0..test.rows()).flat_map(|row| position(places[0][row], places[1][row]));
    let squares = known.iter().zip(truth).map(|(f, truth)| (f - truth).powi(2));
    let test_error = squares.sum::<f64>() / known.len() as f64 + noise.powi(2);
    let fpe = criteria.fpe.unwrap_or(f64::NAN);
    // FPE is s²(1 + p/N)/(1 - p/N) of N residuals and p weights.
    let share = mode.weights.len() as f64 / (2.0 * criteria.rows);
    Ok(Errors {
        training: fpe * (1.0 - share) / (1.0 + share),
        fpe,
        gpe: criteria.gpe.unwrap_or(f64::NAN),
        test: test_error,
    })
}

/// The outputs of the network in a state, row by row.
fn outputs(posterior: &MlpPosterior, state: &[f64], inputs: &Matrix) -> Result<Vec<f64>> {
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut of_rows = vec![0.0; posterior.rows()];
    let found = posterior.evaluator().evaluate(state, &mut draw, &mut of_rows);
    found.map_err(|reason| EvidenceError::Start { reason })?;
    let mut predictor = posterior.predictor().expect("a network predicts");
    let mut outputs = vec![0.0; inputs.rows() * predictor.family().functions()];
    predictor.functions(&draw, inputs, &mut outputs);
    Ok(outputs)
}

/// The networks with one weight decay.
fn of_decay(found: &[OfNetwork], decay: usize) -> Vec<&OfNetwork> {
    found.iter().filter(|it| it.decay == decay).collect()
}

/// The network with the least mean over starts.
fn least<'n>(found: &[&'n OfNetwork], of: fn(&Errors) -> f64) -> &'n OfNetwork {
    let by = |one: &&OfNetwork, other: &&OfNetwork| {
        one.over_starts(of).0.total_cmp(&other.over_starts(of).0)
    };
    found.iter().copied().min_by(by).expect("a network")
}

/// The figures that were published, and what criteria choose.
pub fn quantities(found: &[OfNetwork], published: bool) -> Vec<Quantity> {
    let free = of_decay(found, 0);
    let largest = free[free.len() - 1];
    let [by_fpe, by_gpe] =
        [(|it| it.fpe) as fn(&Errors) -> f64, |it| it.gpe].map(|of| least(&free, of));
    let best = least(&free, |it| it.test);
    let units = |name: &str, published: Option<f64>, of: &OfNetwork| Quantity {
        quantity: format!("maximum likelihood: hidden units of the least {name}"),
        published,
        here: of.hidden as f64,
        sd: None,
    };
    let test = |name: &str, published: Option<f64>, of: &OfNetwork| {
        let (here, sd) = of.over_starts(|it| it.test);
        let quantity = format!("maximum likelihood: 1000 × test error {name}");
        let published = published.map(|it| 1000.0 * it);
        Quantity { quantity, published, here: 1000.0 * here, sd: Some(1000.0 * sd) }
    };
    let given = |value: f64| published.then_some(value);
    vec![
        units("FPE", given(11.0), by_fpe),
        units("GPE", None, by_gpe),
        units("test error", given(13.0), best),
        test("where FPE is least", given(PUBLISHED[0]), by_fpe),
        test("where GPE is least", None, by_gpe),
        test("of the most hidden units", given(PUBLISHED[1]), largest),
        test("of the best", given(PUBLISHED[2]), best),
    ]
}

/// Means over starts of all networks.
pub fn listing(found: &[OfNetwork], noise: f64) -> Shown {
    let mut table = Listing::new(&[
        "hidden units",
        "weight decay",
        "training error",
        "FPE",
        "GPE",
        "test error",
    ]);
    let unit = noise.powi(2);
    for one in found {
        let cell = |of: fn(&Errors) -> f64| plain::fixed(one.over_starts(of).0 / unit, 3);
        table.row([
            one.hidden.to_string(),
            NAMES[one.decay].to_string(),
            cell(|it| it.training),
            cell(|it| it.fpe),
            cell(|it| it.gpe),
            cell(|it| it.test),
        ]);
    }
    table.into()
}

/// The curves of figures 6.12 to 6.15.
pub fn figures(found: &[OfNetwork], noise: f64) -> Vec<Figure> {
    let unit = noise.powi(2);
    [0, 1]
        .into_iter()
        .map(|decay| {
            let networks = of_decay(found, decay);
            let x: Vec<f64> = networks.iter().map(|it| it.hidden as f64).collect();
            let line = |of: fn(&Errors) -> f64| -> Vec<f64> {
                networks.iter().map(|it| (it.over_starts(of).0 / unit).ln()).collect()
            };
            let title = format!("Weight decay {}, noise {noise}", NAMES[decay]);
            Lines {
                title: &title,
                caption: "Mean squared errors in units of the variance of the noise, means over \
                          starts: of the training rows, as FPE and GPE expect them of new rows, and \
                          of new rows.",
                input: "hidden units",
                output: "log error",
                x: &x,
                lines: vec![
                    ("training", line(|it| it.training)),
                    ("FPE", line(|it| it.fpe)),
                    ("GPE", line(|it| it.gpe)),
                    ("test", line(|it| it.test)),
                ],
                points: None,
                span: Span::Half,
            }
            .figure()
        })
        .collect()
}
