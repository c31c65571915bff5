//! The reference finds what the library's own chains find, with the same specification.

use posteria::data::{Column, Table};
use posteria::fit::{Fit, Prepared, Workers};
use posteria::model::spec::{ModelKind, ResidualFamily, ResidualSpec, Spec};
use posteria::random::{Purpose, Seed};

use crate::mlp::network::parameters;
use crate::mlp::{MlpFold, MlpModel, MlpOptions, Reference};

const ROWS: usize = 20;
/// Batches of either sampler, whose means tell how far its own may be off.
const BATCHES: usize = 20;

fn table(classes: bool) -> Table {
    let mut stream = Seed(8).stream(Purpose::Start, [0, 0]);
    let mut numbers = || (0..ROWS).map(|_| stream.normal()).collect::<Vec<f64>>();
    let (a, b, noise) = (numbers(), numbers(), numbers());
    let y = (0..ROWS).map(|row| {
        let f = 3.0 * a[row].sin() + b[row] + 0.7 * noise[row];
        if classes { f64::from(f > 0.0) } else { 10.0 + 4.0 * f }
    });
    let y: Vec<f64> = y.collect();
    let columns = [("a", a), ("b", b), ("y", y)];
    let named = columns.map(|(name, values)| (name.to_string(), Column::Numbers(values)));
    Table::new("table", named.into()).unwrap()
}

fn spec(family: Option<ResidualFamily>) -> Spec {
    let mut spec = Spec::default();
    spec.model.kind = ModelKind::Mlp;
    spec.model.hidden = Some(2);
    spec.data.target = vec!["y".into()];
    if family.is_none() {
        spec.model.task = Some(posteria::data::Task::Binary);
    }
    spec.residual =
        family.map(|family| ResidualSpec { family: Some(family), ..ResidualSpec::default() });
    spec.sampling.chains = 4;
    spec.sampling.warmup = 150;
    spec.sampling.settle = None;
    spec.sampling.draws = 300;
    spec.sampling.ess = None;
    spec
}

/// What is compared of a draw: fitted values in units of their scaling, and their squares.
fn with_squares(fitted: impl Iterator<Item = f64>) -> Vec<f64> {
    fitted.flat_map(|f| [f, f * f]).collect()
}

fn of_library(fit: &Fit) -> Vec<Vec<f64>> {
    let range = fit.draws.layout.variable("fitted").unwrap().range();
    let scaling = fit.prepared.data.target_scaling.first().copied();
    let standard = |y: &f64| scaling.map_or(*y, |by| (y - by.centre) / by.scale);
    let draws = &fit.draws;
    let all = (0..draws.chains).flat_map(|chain| {
        let range = range.clone();
        (0..draws.draws).map(move |draw| {
            with_squares(draws.draw(chain, draw)[range.clone()].iter().map(standard))
        })
    });
    all.collect()
}

fn of_reference(prepared: &Prepared, classes: bool) -> Vec<Vec<f64>> {
    const ADAPTING: u32 = 200;
    const KEPT: u32 = 800;
    let model = MlpModel::of_spec(&prepared.spec, &prepared.data).unwrap();
    let fold = MlpFold::of_data(&prepared.data, None, 0);
    let adapting = ADAPTING as usize;
    let options = MlpOptions { steps: 30, adapting, ..MlpOptions::default() };
    let mut reference = Reference::new(&model, &fold, options, Seed(1)).unwrap();
    let mut all = Vec::new();
    for chain in 0..4 {
        let mut state = model.start(Seed(1), 0, chain);
        for iteration in 0..ADAPTING + KEPT {
            reference.iterate(&mut state, chain, iteration);
            if iteration >= ADAPTING {
                let outputs = (0..ROWS).map(|row| {
                    let input = |k: usize| fold.inputs[(row, k)];
                    let hidden = |h: usize| {
                        (state[h] * input(0) + state[2 + h] * input(1) + state[4 + h]).tanh()
                    };
                    let f = state[8] + state[6] * hidden(0) + state[7] * hidden(1);
                    if classes { 1.0 / (1.0 + (-f).exp()) } else { f }
                });
                all.push(with_squares(outputs));
            }
        }
    }
    all
}

/// Mean and its squared standard error, of every number.
fn moments(draws: &[Vec<f64>]) -> Vec<(f64, f64)> {
    let size = draws.len() / BATCHES;
    let moment = |index: usize| {
        let mean = |draws: &[Vec<f64>]| {
            draws.iter().map(|draw| draw[index]).sum::<f64>() / draws.len() as f64
        };
        let means: Vec<f64> = draws.chunks_exact(size).map(mean).collect();
        let all = means.iter().sum::<f64>() / means.len() as f64;
        let squares: f64 = means.iter().map(|mean| (mean - all).powi(2)).sum();
        (all, squares / (BATCHES * (BATCHES - 1)) as f64)
    };
    (0..draws[0].len()).map(moment).collect()
}

/// 40 means of each case within 5 standard errors: a false alarm in 10⁴ runs.
#[test]
fn fitted_values_are_those_of_the_chains_of_the_library() {
    for family in [Some(ResidualFamily::StudentT), None] {
        let classes = family.is_none();
        let prepared = Prepared::new(spec(family), &table(classes), None).unwrap();
        let there = moments(&of_reference(&prepared, classes));
        let fit = prepared.fit(&Workers::default()).unwrap();
        let here = moments(&of_library(&fit));
        for (index, (a, b)) in here.iter().zip(&there).enumerate() {
            let z = (a.0 - b.0) / (a.1 + b.1).sqrt();
            assert!(z.abs() < 5.0, "{family:?}, {index}: {} of {}, {z}", b.0, a.0);
        }
    }
}

/// Two states that differ in their weights alone differ by as much in both log likelihoods; those of classes are the
/// same altogether.
#[test]
fn a_state_of_the_device_is_one_of_the_library() {
    for family in [Some(ResidualFamily::Normal), Some(ResidualFamily::StudentT), None] {
        let classes = family.is_none();
        let prepared = Prepared::new(spec(family), &table(classes), None).unwrap();
        let model = MlpModel::of_spec(&prepared.spec, &prepared.data).unwrap();
        let fold = MlpFold::of_data(&prepared.data, None, 0);
        let mut reference = Reference::new(&model, &fold, MlpOptions::default(), Seed(1)).unwrap();
        let unit = prepared.data.target_scaling.first().map_or(1.0, |scaling| scaling.scale);
        let has_dof = family == Some(ResidualFamily::StudentT);
        let mut draw = vec![0.0; prepared.posterior.layout().len()];
        let mut rows = vec![0.0; prepared.data.rows()];
        let mut both = |state: &[f64]| {
            let found = parameters(&model, state, (unit, has_dof));
            let state_of = prepared.posterior.state_density().unwrap().state_of(&found).unwrap();
            let mut evaluator = prepared.posterior.evaluator();
            let terms = evaluator.evaluate(&state_of, &mut draw, &mut rows).unwrap();
            (terms.log_likelihood, -reference.energy(state))
        };
        let mut state = model.start(Seed(2), 0, 3);
        let layout = model.layout();
        for (index, slot) in state[layout.weights..layout.dof()].iter_mut().enumerate() {
            *slot += 0.3 * (index as f64).sin();
        }
        let first = both(&state);
        state[..layout.weights].iter_mut().for_each(|weight| *weight *= -1.7);
        let second = both(&state);
        let apart = [second.0 - first.0, second.1 - first.1];
        assert!((apart[0] - apart[1]).abs() < 1e-9 * apart[0].abs(), "{family:?}: {apart:?}");
        if classes {
            assert!((first.0 - first.1).abs() < 1e-9 * first.0.abs(), "{first:?}");
        }
    }
}

#[test]
fn specifications_say_what_the_device_does_not_do() {
    let prepared = Prepared::new(spec(Some(ResidualFamily::Normal)), &table(false), None).unwrap();
    let refusal = |change: &dyn Fn(&mut Spec)| {
        let mut spec = prepared.spec.clone();
        change(&mut spec);
        MlpModel::of_spec(&spec, &prepared.data).unwrap_err().to_string()
    };
    let laplace = |spec: &mut Spec| {
        spec.residual.as_mut().unwrap().family = Some(ResidualFamily::Laplace);
    };
    assert!(refusal(&laplace).contains("a residual family other than normal and Student's t"));
    let direct = |spec: &mut Spec| spec.model.direct = Some(true);
    assert!(refusal(&direct).contains("direct weights"));
    let wide = |spec: &mut Spec| spec.model.hidden = Some(400);
    assert!(refusal(&wide).contains("more than 160 weights"));
    let process = |spec: &mut Spec| *spec = Spec { model: Default::default(), ..spec.clone() };
    assert!(refusal(&process).contains("kind = \"linear\""));
}
