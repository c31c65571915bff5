//! The reference is right: its densities are those of the library, and it samples what it says.
//!
//! Means are compared in units of their standard errors from 50 batches: beyond 5 once in 10⁵ means.

mod against_chains;

use posteria::model::mlp::{Likelihood, Network, Rows, Shape};
use posteria::random::{Purpose, Seed, Stream};
use posteria_linalg::Matrix;

use super::{
    GroupScale, MlpFold, MlpLikelihood, MlpModel, MlpOptions, Reference, ResidualScale, ScaleSpread,
};
use crate::CudaError;

const ALL: [MlpLikelihood; 4] = [
    MlpLikelihood::Normal,
    MlpLikelihood::StudentT,
    MlpLikelihood::Logistic,
    MlpLikelihood::Softmax,
];
/// Degrees of freedom of inverse gamma spreads: those of which log moments are known in closed form.
const DOF: f64 = 4.0;
const LOG_SD: f64 = 0.6;

fn model(likelihood: MlpLikelihood, spread: ScaleSpread, top: ScaleSpread) -> MlpModel {
    let outputs = if likelihood == MlpLikelihood::Softmax { 3 } else { 1 };
    let sampled = |scale| GroupScale::Sampled { scale, spread };
    MlpModel {
        inputs: 2,
        hidden: 2,
        outputs,
        likelihood,
        groups: [
            GroupScale::PerInput { scale: 0.7, spread, top },
            sampled(1.0),
            sampled(0.8),
            GroupScale::Fixed(1.0),
        ],
        residual: ResidualScale { scale: 0.5, spread, dofs: vec![3.0, 6.0, 20.0] },
    }
}

fn fold(model: &MlpModel, rows: usize, stream: &mut Stream) -> MlpFold {
    let inputs = Matrix::from_fn(rows, model.inputs, |_, _| stream.normal());
    let classes = if model.likelihood == MlpLikelihood::Softmax { 3 } else { 2 };
    let target = |row: usize, stream: &mut Stream| match model.likelihood {
        MlpLikelihood::Logistic | MlpLikelihood::Softmax => (row % classes) as f64,
        _ => stream.normal(),
    };
    let targets = (0..rows).map(|row| target(row, stream)).collect();
    MlpFold { label: 0, inputs, targets }
}

#[test]
fn energies_and_gradients_are_those_of_the_library() {
    for likelihood in ALL {
        let normal = ScaleSpread::LogNormal(LOG_SD);
        let model = model(likelihood, normal, normal);
        let mut stream = Seed(3).stream(Purpose::Start, [0, 0]);
        let fold = fold(&model, 37, &mut stream);
        let options = MlpOptions { inverse_temperature: 1.0, ..MlpOptions::default() };
        let mut reference = Reference::new(&model, &fold, options, Seed(1)).unwrap();
        let mut state = model.start(Seed(1), 0, 0);
        let layout = model.layout();
        state[layout.residual()] = 0.7;
        let (tau, dof) = (0.7_f64.exp(), model.residual.dofs[state[layout.dof()] as usize]);
        let MlpModel { inputs, hidden, outputs, .. } = model;
        let shape = Shape { inputs, hidden, outputs, direct: false };
        let rows = Rows::new(&fold.inputs);
        let mut network = Network::new(shape, &rows);
        let precisions = vec![tau; 37];
        let inverse_scales = vec![tau.sqrt(); 37];
        let signs: Vec<f64> = fold.targets.iter().map(|y| 2.0 * y - 1.0).collect();
        let codes: Vec<u32> = fold.targets.iter().map(|y| y.abs() as u32).collect();
        let targets = &fold.targets;
        let of_library = match likelihood {
            MlpLikelihood::Normal => Likelihood::Squares { targets, precisions: &precisions },
            MlpLikelihood::StudentT => {
                Likelihood::StudentT { targets, inverse_scales: &inverse_scales, dof }
            }
            MlpLikelihood::Logistic => Likelihood::Logistic { signs: &signs },
            MlpLikelihood::Softmax => Likelihood::Softmax { codes: &codes },
        };
        let weights = &state[..layout.weights];
        let mut expected = vec![0.0; weights.len()];
        let value = network.log_likelihood_gradient(weights, &of_library, &mut expected);
        let mut gradient = vec![0.0; weights.len()];
        reference.gradient(&state, &mut gradient);
        assert!((reference.energy(&state) + value).abs() < 1e-11 * value.abs(), "{likelihood:?}");
        for (here, there) in gradient.iter().zip(&expected) {
            assert!((here + there).abs() < 1e-11 * (1.0 + there.abs()), "{likelihood:?}");
        }
    }
}

/// What a mean is of, and of which one.
type Named = (&'static str, usize);

/// What a mean is of, its value at a state, its mean under the prior.
type Statistic = (Named, f64, f64);

/// Functions of a state whose means under the prior are known, with these means.
fn statistics(model: &MlpModel, state: &[f64]) -> Vec<Statistic> {
    const EULER: f64 = 0.577_215_664_901_532_9;
    let layout = model.layout();
    // E log(1/a²) and its variance about log of `square`.
    let moments = |spread: ScaleSpread| match spread {
        // ψ(2) - log 2, ψ'(2): 1/a² has the density of a χ² variate of 4 degrees of freedom over 4 a_0².
        ScaleSpread::InverseGamma(_) => {
            (1.0 - EULER - 2.0_f64.ln(), std::f64::consts::PI.powi(2) / 6.0 - 1.0)
        }
        ScaleSpread::LogNormal(log_sd) => (0.0, 4.0 * log_sd * log_sd),
    };
    let mut all = Vec::new();
    let mut scale = |name: &'static str, value: f64, (mean, variance): (f64, f64)| {
        let standard = (value - mean) / variance.sqrt();
        all.push(((name, 1), standard, 0.0));
        all.push(((name, 2), standard * standard, 1.0));
    };
    let GroupScale::PerInput { scale: of_top, spread, top } = model.groups[0] else { return all };
    let above = -state[layout.weights + layout.parts];
    let (at_top, below) = (moments(top), moments(spread));
    scale("above", above + 2.0 * of_top.ln(), at_top);
    for part in 0..2 {
        let own = state[layout.weights + part] + 2.0 * of_top.ln();
        scale("input", own, (at_top.0 + below.0, at_top.1 + below.1));
    }
    scale("hidden bias", state[layout.weights + 2], below);
    scale("output weights", state[layout.weights + 3] + 2.0 * 0.8_f64.ln(), below);
    if matches!(model.likelihood, MlpLikelihood::Normal | MlpLikelihood::StudentT) {
        scale("residual", state[layout.residual()] + 2.0 * 0.5_f64.ln(), below);
    }
    if model.likelihood == MlpLikelihood::StudentT {
        for index in 0..3 {
            let here = f64::from(state[layout.dof()] as usize == index);
            all.push((("degrees of freedom", index), here, 1.0 / 3.0));
        }
    }
    for weight in 0..layout.weights {
        let precision = state[layout.weights + model.part_of(weight)].exp();
        let standard = state[weight] * precision.sqrt();
        all.push((("weight", weight), standard.clamp(-3.0, 3.0), 0.0));
        // E min(z², 4) of a standard normal number: 2φ-terms by quadrature.
        all.push((("squared weight", weight), (standard * standard).min(4.0), 0.920_537));
    }
    all
}

/// Means over batches against the known ones.
fn compare(case: &str, batches: &[Vec<f64>], known: &[Statistic]) {
    let n = batches.len() as f64;
    for (index, (name, _, expected)) in known.iter().enumerate() {
        let mean = batches.iter().map(|batch| batch[index]).sum::<f64>() / n;
        let square = |batch: &Vec<f64>| (batch[index] - mean).powi(2);
        let error = (batches.iter().map(square).sum::<f64>() / (n * (n - 1.0))).sqrt();
        let z = (mean - expected) / error;
        assert!(z.abs() < 5.0, "{case}, {name:?}: {mean} of {expected}, {z} standard errors");
    }
}

/// Runs `step` from a draw of the prior that `start` makes, in 50 batches.
fn averages(
    model: &MlpModel,
    length: usize,
    mut step: impl FnMut(&mut [f64], u32),
) -> (Vec<Vec<f64>>, Vec<Statistic>) {
    let mut state = model.start(Seed(1), 0, 0);
    let mut batches = Vec::new();
    let mut iteration = 0;
    for batch in 0..51 {
        let mut sums = vec![0.0; statistics(model, &state).len()];
        for _ in 0..length {
            step(&mut state, iteration);
            iteration += 1;
            for (sum, (_, value, _)) in sums.iter_mut().zip(statistics(model, &state)) {
                *sum += value / length as f64;
            }
        }
        // The first one forgets the start.
        if batch > 0 {
            batches.push(sums);
        }
    }
    (batches, statistics(model, &state))
}

fn spreads() -> [(ScaleSpread, ScaleSpread); 3] {
    let (gamma, normal) = (ScaleSpread::InverseGamma(DOF), ScaleSpread::LogNormal(LOG_SD));
    [(gamma, gamma), (normal, normal), (gamma, normal)]
}

#[test]
fn without_the_likelihood_the_prior_is_sampled() {
    for (likelihood, (spread, top)) in
        [MlpLikelihood::Normal, MlpLikelihood::StudentT, MlpLikelihood::Softmax]
            .into_iter()
            .zip(spreads())
    {
        let model = model(likelihood, spread, top);
        let mut stream = Seed(4).stream(Purpose::Start, [0, 0]);
        let fold = fold(&model, 5, &mut stream);
        let options = MlpOptions {
            steps: 4,
            adapting: 200,
            inverse_temperature: 0.0,
            ..MlpOptions::default()
        };
        let mut reference = Reference::new(&model, &fold, options, Seed(5)).unwrap();
        let step = |state: &mut [f64], iteration: u32| {
            reference.iterate(state, 0, iteration);
        };
        let (batches, known) = averages(&model, 700, step);
        compare(&format!("{likelihood:?}"), &batches, &known);
    }
}

/// Targets drawn given the state and states given the targets, in turn, keep the prior [Geweke 2004].
#[test]
fn states_and_targets_keep_their_joint_distribution() {
    for (likelihood, (spread, top)) in ALL.into_iter().zip(spreads().into_iter().cycle()) {
        let model = model(likelihood, spread, top);
        let mut stream = Seed(6).stream(Purpose::Start, [0, 0]);
        let mut fold = fold(&model, 6, &mut stream);
        let options = MlpOptions { steps: 5, adapting: 300, ..MlpOptions::default() };
        let mut accepted = 0.0;
        let step = |state: &mut [f64], iteration: u32| {
            draw_targets(&model, &mut fold, state, &mut stream);
            let mut reference = Reference::new(&model, &fold, options, Seed(7)).unwrap();
            accepted += reference.iterate(state, 0, iteration);
        };
        let (batches, known) = averages(&model, 800, step);
        compare(&format!("{likelihood:?}"), &batches, &known);
        let acceptance = accepted / (51.0 * 800.0);
        assert!((0.6..0.95).contains(&acceptance), "{likelihood:?} accepts {acceptance}");
    }
}

fn draw_targets(model: &MlpModel, fold: &mut MlpFold, state: &[f64], stream: &mut Stream) {
    let layout = model.layout();
    let MlpModel { inputs, hidden, outputs, .. } = *model;
    let (bias, output) = (inputs * hidden, inputs * hidden + hidden);
    let sd = (-0.5 * state[layout.residual()]).exp();
    let dof = model.residual.dofs[state[layout.dof()] as usize];
    for row in 0..fold.targets.len() {
        let mut f = state[output + hidden * outputs..][..outputs].to_vec();
        for h in 0..hidden {
            let mut a = state[bias + h];
            for k in 0..inputs {
                a += state[k * hidden + h] * fold.inputs[(row, k)];
            }
            for (o, f) in f.iter_mut().enumerate() {
                *f += a.tanh() * state[output + h * outputs + o];
            }
        }
        fold.targets[row] = match model.likelihood {
            MlpLikelihood::Normal => f[0] + sd * stream.normal(),
            MlpLikelihood::StudentT => {
                let squares: f64 = (0..dof as usize).map(|_| stream.normal().powi(2)).sum();
                f[0] + sd * stream.normal() / (squares / dof).sqrt()
            }
            MlpLikelihood::Logistic => f64::from(stream.uniform() < 1.0 / (1.0 + (-f[0]).exp())),
            MlpLikelihood::Softmax => {
                let sum: f64 = f.iter().map(|f| f.exp()).sum();
                let mut left = stream.uniform() * sum;
                let class = f.iter().position(|f| {
                    left -= f.exp();
                    left < 0.0
                });
                class.unwrap_or(outputs - 1) as f64
            }
        };
    }
}

#[test]
fn what_the_device_does_not_do_is_refused_by_name() {
    let normal = ScaleSpread::LogNormal(LOG_SD);
    let good = model(MlpLikelihood::StudentT, normal, normal);
    let mut stream = Seed(3).stream(Purpose::Start, [0, 0]);
    let rows = fold(&good, 4, &mut stream);
    let refusal = |model: &MlpModel, options: MlpOptions| match Reference::new(
        model,
        &rows,
        options,
        Seed(1),
    ) {
        Err(error) => error.to_string(),
        Ok(_) => String::new(),
    };
    let usual = MlpOptions::default();
    assert_eq!(refusal(&good, usual), "");
    let tempered = MlpOptions { inverse_temperature: 0.5, ..usual };
    assert!(refusal(&good, tempered).contains("other temperatures"));
    let wide = MlpModel { hidden: 60, ..good.clone() };
    assert!(refusal(&wide, usual).contains("more than 160 weights is not available on the GPU"));
    let two = MlpModel { outputs: 2, ..good.clone() };
    assert!(refusal(&two, usual).contains("several real targets"));
    assert!(refusal(&good, MlpOptions { threads: 16, ..usual }).contains("8, 32 or 128 threads"));
    let broken = MlpFold { targets: vec![0.0, 1.0, f64::NAN, 2.0], ..rows.clone() };
    assert!(Reference::new(&good, &broken, usual, Seed(1)).is_err());
    let short = MlpFold { targets: vec![0.0], ..rows.clone() };
    let error = Reference::new(&good, &short, usual, Seed(1)).err();
    assert!(matches!(error, Some(CudaError::Length { expected: 4, found: 1, .. })), "{error:?}");
}
