//! Simulation-based calibration of one model.

use std::cmp::Ordering;
use std::error::Error;
use std::num::NonZero;

use posteria::data::{Dataset, Standardization, Targets};
use posteria::density::special::regularized_gamma_upper;
use posteria::fit::{fit, run_jobs};
use posteria::model::Posterior;
use posteria::model::mlp::{Mlp, MlpPosterior};
use posteria::model::spec::{ModelKind, Spec, StartChoice};
use posteria::predict::Predictive;
use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::Plan;
use posteria_linalg::Matrix;

use crate::models::{Kind, Model};

const ROWS: usize = 30;
const INPUTS: usize = 3;
const WARMUP: usize = 500;
const DRAWS: usize = 63;
const THIN: usize = 10;
/// Ranks 0, …, 63 in bins of equal probability.
const BINS: usize = 8;
/// Fitted values that are ranked.
const FITTED: usize = 3;

/// How far from uniform the ranks are.
pub struct Calibration {
    pub quantities: usize,
    /// Smallest p-value times the number of quantities.
    pub p: f64,
    pub worst: String,
    pub counts: [f64; BINS],
}

type Failure = Box<dyn Error + Send + Sync>;

/// Calibrates `model` by `replications` fits.
pub fn calibrate(
    model: &Model,
    replications: usize,
    threads: NonZero<usize>,
) -> Result<Calibration, Failure> {
    let mut spec = Spec::from_toml(&model.spec)?;
    spec.model.kind = ModelKind::Mlp;
    let network = Mlp::new(&spec)?;
    spec.sampling.start = Some(StartChoice::Prior);
    let from_prior = Mlp::new(&spec)?;
    let results = run_jobs(replications, threads, |index| {
        ranks(model.kind, &network, &from_prior, index as u64)
    });
    let mut names = Vec::new();
    let mut counts: Vec<[f64; BINS]> = Vec::new();
    for result in results {
        let ranks = result?;
        counts.resize(ranks.len(), [0.0; BINS]);
        names.clear();
        for (counts, (name, rank)) in counts.iter_mut().zip(ranks) {
            counts[rank * BINS / (DRAWS + 1)] += 1.0;
            names.push(name);
        }
    }
    let expected = replications as f64 / BINS as f64;
    let p_value = |counts: &[f64; BINS]| {
        let chi_square: f64 = counts.iter().map(|n| (n - expected).powi(2) / expected).sum();
        regularized_gamma_upper(0.5 * (BINS - 1) as f64, 0.5 * chi_square)
    };
    let worst = (0..counts.len())
        .min_by(|a, b| p_value(&counts[*a]).total_cmp(&p_value(&counts[*b])))
        .ok_or("no quantity to rank")?;
    Ok(Calibration {
        quantities: counts.len(),
        p: (p_value(&counts[worst]) * counts.len() as f64).min(1.0),
        worst: names[worst].clone(),
        counts: counts[worst],
    })
}

/// The ranks of the truth of one replication, by name.
fn ranks(
    kind: Kind,
    network: &Mlp,
    from_prior: &Mlp,
    index: u64,
) -> Result<Vec<(String, usize)>, Failure> {
    let mut stream = Seed(2018).stream(Purpose::Data, [index, 0]);
    // The first input has two values, so that rows can be grouped by it.
    let inputs = Matrix::from_fn(ROWS, INPUTS, |i, k| match (k, i % 2) {
        (0, 0) => -1.0,
        (0, _) => 1.0,
        _ => stream.normal(),
    });
    let empty = from_prior.condition(&dataset(kind, &inputs, |_, _| 0.0), None)?;
    let state = empty.start(&mut stream);
    let draw = evaluate(&empty, &state)?.0;
    let targets = draw_targets(&empty, &draw, &inputs, &mut stream)?;
    let posterior = network.condition(&dataset(kind, &inputs, |i, o| targets[i][o]), None)?;
    let (mut truth, log_likelihood) = evaluate(&posterior, &state)?;
    truth.push(log_likelihood);
    let plan = Plan { thin: THIN, ..Plan::new(1, WARMUP, DRAWS) };
    let one = NonZero::new(1).ok_or("one")?;
    let draws = fit(&posterior, &plan, Seed(index), one)?;
    let mut ranked = Vec::new();
    for (name, place) in places(&posterior) {
        let (mut below, mut ties) = (0, 0);
        for index in 0..DRAWS {
            let value = match draws.draw(0, index).get(place) {
                Some(value) => *value,
                None => draws.statistics[index].log_likelihood,
            };
            match value.total_cmp(&truth[place]) {
                Ordering::Less => below += 1,
                Ordering::Equal => ties += 1,
                Ordering::Greater => {}
            }
        }
        // Degrees of freedom on a grid: every rank among equals is as probable.
        let rank = below + stream.index(ties + 1);
        ranked.push((name, rank));
    }
    Ok(ranked)
}

/// What is ranked: everything identified but latent scales of cases and errors, a few fitted
/// values, and the log likelihood (one place after the draw).
fn places(posterior: &MlpPosterior) -> Vec<(String, usize)> {
    let layout = posterior.layout();
    let mut places = Vec::new();
    for variable in layout.variables() {
        let name = variable.name.as_str();
        if !variable.identified || ["case_scale", "training_error"].contains(&name) {
            continue;
        }
        let count = if name == "fitted" { FITTED } else { variable.len() };
        for component in 0..count {
            places.push((variable.component_name(component), variable.offset + component));
        }
    }
    places.push(("log_likelihood".into(), layout.len()));
    places
}

fn evaluate(posterior: &MlpPosterior, state: &[f64]) -> Result<(Vec<f64>, f64), Failure> {
    let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; ROWS]);
    let terms = posterior
        .evaluator()
        .evaluate(state, &mut draw, &mut rows)
        .map_err(|reason| format!("the truth has no density: {reason}"))?;
    Ok((draw, terms.log_likelihood))
}

/// Targets of every row from the predictive distribution given one draw.
fn draw_targets(
    posterior: &MlpPosterior,
    draw: &[f64],
    inputs: &Matrix,
    stream: &mut Stream,
) -> Result<Vec<Vec<f64>>, Failure> {
    let mut predictor = posterior.predictor().ok_or("a network predicts")?;
    let family = predictor.family();
    let mut parameters = vec![0.0; ROWS * family.width()];
    predictor.at(draw, inputs, &mut parameters);
    let mut row = |parameters: &[f64]| {
        let mut targets = vec![0.0; family.outputs().max(1)];
        Predictive::new(family, parameters).draw(stream, &mut targets);
        targets
    };
    Ok(parameters.chunks(family.width()).map(&mut row).collect())
}

fn dataset(kind: Kind, inputs: &Matrix, target: impl Fn(usize, usize) -> f64) -> Dataset {
    let (targets, target_scaling) = match kind {
        Kind::Real(count) => {
            let names = (0..count).map(|o| format!("y{o}")).collect();
            let scaling = |o| Standardization { centre: 3.0, scale: 2.0 + o as f64 };
            let scalings: Vec<Standardization> = (0..count).map(scaling).collect();
            let values = Matrix::from_fn(ROWS, count, |i, o| scalings[o].apply(target(i, o)));
            (Targets::Real { names, values }, scalings)
        }
        Kind::Classes(count) => {
            let labels = (0..count).map(|class| format!("class {class}")).collect();
            let codes = (0..ROWS).map(|i| target(i, 0) as usize).collect();
            (Targets::Classes { name: "y".into(), labels, codes }, Vec::new())
        }
    };
    Dataset { target_scaling, ..Dataset::unscaled(inputs.clone(), targets) }
}
