//! Every method against exact values, and errors against the truth.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use super::*;
use crate::data::{Column, Dataset, Roles, Table};
use crate::model::Posterior;
use crate::model::StateDensity;
use crate::model::gp::{GaussianProcess, GpPosterior};
use crate::model::linear::{Linear, LinearPosterior};
use crate::model::mlp::Mlp;
use crate::model::spec::Spec;
use crate::random::{Purpose, Seed};
use crate::sample::hmc::{Nuts, NutsOptions};

const ONE: NonZero<usize> = NonZero::new(1).expect("one is not zero");
const TWO: NonZero<usize> = NonZero::new(2).expect("two is not zero");

/// `rows` of correlated inputs x1, … and a target that is the sum of the first three with noise.
fn dataset(rows: usize, inputs: usize, correlation: f64, seed: u64) -> Dataset {
    let mut stream = Seed(seed).stream(Purpose::Data, [0, 0]);
    let common: Vec<f64> = (0..rows).map(|_| stream.normal()).collect();
    let mut columns: Vec<(String, Column)> = Vec::new();
    let mut y = vec![3.0; rows];
    for input in 0..inputs {
        let own = (1.0 - correlation).sqrt();
        let x: Vec<f64> =
            common.iter().map(|c| correlation.sqrt() * c + own * stream.normal()).collect();
        if input < 3 {
            y.iter_mut().zip(&x).for_each(|(y, x)| *y += x);
        }
        columns.push((format!("x{input}"), Column::numbers(x)));
    }
    y.iter_mut().for_each(|y| *y += 0.5 * stream.normal());
    columns.push(("y".into(), Column::numbers(y)));
    let table = Table::new("memory", columns).unwrap();
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    Dataset::new(&table, &roles).unwrap().0
}

fn linear(data: &Dataset, text: &str) -> LinearPosterior {
    let spec = Spec::from_toml(&format!("[model]\nkind = 'linear'\n{text}")).unwrap();
    let kernel = Arc::new(|dim| Box::new(Nuts::new(dim, NutsOptions::default())) as _);
    Linear::new(&spec).unwrap().condition(data, kernel).unwrap()
}

fn run<'p>(posterior: &'p dyn Posterior, ladders: usize, draws: usize, seed: u64) -> Ladder<'p> {
    let options = LadderOptions {
        ladders,
        warmup: draws / 2,
        draws,
        keep_states: true,
        ..Default::default()
    };
    Ladder::run(posterior, &options, Seed(seed), TWO, &Silent).unwrap()
}

const CONJUGATE: &str = "[prior.weights]\nfamily = 'conjugate'\nrho = 0.1\n\
     [residual]\nprecision = { shape = 2.0, scale = 1.0 }";
const INDEPENDENT: &str = "[prior.weights]\nfamily = 'independent'\nshape = 0.5\nrate_scale = 100.0\n\
     [prior.intercept]\nfixed = 5.0\n[residual]\nprecision = { shape = 0.5, scale = 100.0 }";

/// Four errors, of which one in 16 000 exceeds (normal), plus what quadrature cannot promise.
#[track_caller]
fn assert_close(found: &LogEvidence, exact: f64) {
    let off = (found.value - exact).abs();
    assert!(off < 4.0 * found.standard_error + 1e-6, "{found:?}, exact {exact}");
}

#[test]
fn every_method_finds_the_evidence_of_a_conjugate_model() {
    let data = dataset(20, 2, 0.0, 1);
    let posterior = linear(&data, CONJUGATE);
    let exact = posterior.exact_log_evidence().unwrap();
    let ladder = run(&posterior, 4, 300, 1);
    let energies = ladder.energies();
    for found in [
        path_sampling(energies),
        stepping_stone(energies),
        bridge(energies, Bridging::Optimal),
        bridge(energies, Bridging::Geometric),
        warp_bridge(&ladder).unwrap(),
        annealed_importance(&ladder, 200, 6, &Silent).unwrap(),
    ] {
        assert!(found.usable && found.standard_error < 0.15, "{found:?}");
        assert_close(&found, exact);
    }
    let slots = posterior.density_slots().unwrap();
    let t = MultivariateT::fit(ladder.states(), &slots).unwrap();
    let found = importance(&posterior, &t, 4000, Seed(1), TWO);
    assert!(found.standard_error < 0.05);
    assert_close(&found, exact);
    let directions = both_directions(&ladder, 60, &Silent).unwrap();
    assert!(!directions.is_hysteresis(), "{directions:?}");
    let judged = judge(path_sampling(energies), energies, Some(&directions));
    assert!(judged.usable, "{judged:?}");
    let sweep = SingleSweep { k: 0.8, temperatures: 400, sweeps: 1, down: false };
    assert_close(&single_sweep(&ladder, &sweep, &Silent).unwrap(), exact);
    assert!(!harmonic_mean(energies).usable);
    // One mode, and near normal: right, but never called so.
    let reciprocal = reciprocal_importance(&ladder).unwrap();
    assert!(!reciprocal.usable && reciprocal.standard_error < 0.15, "{reciprocal:?}");
    assert_close(&reciprocal, exact);
    // So few draws of the prior are near the posterior that the mean weight is not to be trusted.
    assert!(!importance_from_prior(&posterior, 2000, Seed(1), TWO).unwrap().usable);
}

#[test]
fn numbers_do_not_depend_on_threads_and_do_on_the_seed() {
    let data = dataset(12, 2, 0.0, 2);
    let posterior = linear(&data, CONJUGATE);
    let options = LadderOptions { ladders: 3, warmup: 20, draws: 20, ..Default::default() };
    let value = |seed, threads| {
        let ladder = Ladder::run(&posterior, &options, Seed(seed), threads, &Silent).unwrap();
        let ais = annealed_importance(&ladder, 40, 1, &Silent).unwrap().value;
        let both = both_directions(&ladder, 6, &Silent).unwrap();
        [path_sampling(ladder.energies()).value, ais, both.forward.value, both.backward.value]
            .map(f64::to_bits)
    };
    assert_eq!(value(1, ONE), value(1, TWO));
    assert!(value(1, ONE).iter().zip(value(2, ONE)).all(|(a, b)| *a != b));
}

/// Keeps checkpoints, and stops after so many sweeps.
struct Stopping {
    kept: Mutex<Vec<LadderMemory>>,
    left: AtomicI64,
}

impl Observer for Stopping {
    fn checkpoint(&self, memory: &LadderMemory) {
        self.kept.lock().unwrap().push(memory.clone());
    }

    fn advanced(&self, sweeps: u64) -> ControlFlow<()> {
        let left = self.left.fetch_sub(sweeps as i64, Ordering::Relaxed);
        if left > 0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }
}

#[test]
fn an_interrupted_run_goes_on_bit_for_bit() {
    // Student's t residuals have κ, which is part of the state.
    let data = dataset(12, 2, 0.0, 2);
    let posterior = linear(&data, "[residual]\nfamily = 'student-t'\ndof = 4.0\nscale = 0.1");
    let options = LadderOptions {
        ladders: 3,
        warmup: 20,
        draws: 50,
        keep_states: true,
        ..Default::default()
    };
    let whole = Ladder::run(&posterior, &options, Seed(1), TWO, &Silent).unwrap();
    let bits = |ladder: &Ladder<'_>| -> Vec<u64> {
        let values = ladder.energies().values.iter().flatten().flatten();
        let states = ladder.states().iter().flatten().flatten();
        values.chain(states).map(|value| value.to_bits()).collect()
    };
    let cost = 3 * whole.energies().rungs() as i64;
    let watch = Stopping { kept: Mutex::default(), left: AtomicI64::new(i64::MAX) };
    Ladder::run(&posterior, &options, Seed(1), ONE, &watch).unwrap();
    let kept = watch.kept.into_inner().unwrap();
    assert_eq!(kept.len(), 11);
    // After an even and after an odd number of exchanges, and when all is done.
    for memory in [&kept[0], &kept[5], &kept[10]] {
        let text = serde_json::to_string(memory).unwrap();
        let memory: LadderMemory = serde_json::from_str(&text).unwrap();
        let resumed = Ladder::resume(&posterior, &options, Seed(1), TWO, &Silent, &memory).unwrap();
        assert_eq!(bits(&resumed), bits(&whole));
        assert_eq!(resumed.energies().round_trips, whole.energies().round_trips);
    }
    let stopping = Stopping { kept: Mutex::default(), left: AtomicI64::new(5 * cost) };
    let stopped = Ladder::resume(&posterior, &options, Seed(1), TWO, &stopping, &kept[0]);
    assert_eq!(stopped.err(), Some(LadderError::Interrupted));
    let other = linear(&data, CONJUGATE);
    let foreign = Ladder::resume(&other, &options, Seed(1), TWO, &Silent, &kept[4]);
    assert_eq!(foreign.err(), Some(LadderError::Memory));
}

#[test]
fn errors_are_calibrated() {
    let data = dataset(15, 1, 0.0, 3);
    let posterior = linear(&data, CONJUGATE);
    let exact = posterior.exact_log_evidence().unwrap();
    let mut squares = [0.0; 5];
    let seeds = 20;
    for seed in 0..seeds {
        let ladder = run(&posterior, 4, 100, 100 + seed);
        let energies = ladder.energies();
        let found = [
            path_sampling(energies),
            stepping_stone(energies),
            bridge(energies, Bridging::Optimal),
            warp_bridge(&ladder).unwrap(),
            annealed_importance(&ladder, 100, 2, &Silent).unwrap(),
        ];
        for (square, found) in squares.iter_mut().zip(&found) {
            *square += ((found.value - exact) / found.standard_error).powi(2);
        }
    }
    // Errors that are right give χ²(20)/20: RMS z outside 0.6 … 1.6 has probability 2e-4 each.
    for square in squares {
        let rms = (square / seeds as f64).sqrt();
        assert!((0.6..1.6).contains(&rms), "{squares:?}");
    }
}

#[test]
fn every_method_finds_the_evidence_of_a_model_with_heavy_tails() {
    let data = dataset(100, 10, 0.9, 4);
    let posterior = linear(&data, INDEPENDENT);
    let exact = posterior.exact_log_evidence().unwrap();
    let ladder = run(&posterior, 4, 250, 5);
    let energies = ladder.energies();
    for found in [
        path_sampling(energies),
        stepping_stone(energies),
        bridge(energies, Bridging::Optimal),
        warp_bridge(&ladder).unwrap(),
        annealed_importance(&ladder, 160, 6, &Silent).unwrap(),
    ] {
        assert!(found.standard_error < 0.6, "{found:?}");
        assert_close(&found, exact);
    }
}

#[test]
fn student_t_residuals_are_refreshed_between_temperatures() {
    // Against importance sampling from the prior, which needs no temperatures.
    let data = dataset(8, 1, 0.0, 6);
    let text = "[prior.weights]\nfamily = 'normal'\nfixed = 1.0\n[prior.intercept]\nfixed = 1.0\n\
                [residual]\nfamily = 'student-t'\ndof = 3.0\nscale = 0.5\nscale_dof = 4.0";
    let posterior = linear(&data, text);
    let plain = importance_from_prior(&posterior, 200_000, Seed(2), TWO).unwrap();
    // Temperatures far apart, so that κ of one, which is of the size of β, is far off at another.
    let options = LadderOptions {
        ladders: 4,
        warmup: 100,
        draws: 3000,
        schedule: Schedule::Power { k: 0.5, rungs: 4 },
        keep_states: false,
    };
    let ladder = Ladder::run(&posterior, &options, Seed(7), TWO, &Silent).unwrap();
    let found = bridge(ladder.energies(), Bridging::Optimal);
    let error = found.standard_error.hypot(plain.standard_error);
    // Four errors: once in 16 000.
    assert!(error < 0.04 && (found.value - plain.value).abs() < 4.0 * error, "{found:?} {plain:?}");
}

fn process(text: &str) -> GpPosterior {
    let data = dataset(15, 1, 0.0, 8);
    let spec = Spec::from_toml(&format!("[model]\nkind = 'gp'\n{text}")).unwrap();
    GaussianProcess::new(&spec).unwrap().condition(&data, None).unwrap()
}

#[test]
fn a_process_agrees_with_quadrature_over_its_hyperparameters() {
    let priors = "[prior.magnitude]\nfamily = 'log-normal'\nscale = 1.0\nlog_sd = 0.7\n\
                  [prior.relevance]\nfamily = 'log-normal'\nscale = 0.5\nlog_sd = 0.7\n";
    let sampled = process(&format!("{priors}[hyperparameters]\nresidual = 0.4"));
    // Trapezoid over ±5 deviations of both logarithms: the sum of exp(log p(y|θ)) p(θ).
    let (mut logs, steps) = (Vec::new(), 40);
    for i in 0..=steps {
        for j in 0..=steps {
            let at = |index: i32| -5.0 + 10.0 * f64::from(index) / f64::from(steps);
            let known = process(&format!(
                "[hyperparameters]\nmagnitude = {}\nrelevance = {}\nresidual = 0.4",
                (0.7 * at(i)).exp(),
                0.5 * (0.7 * at(j)).exp()
            ));
            let weight = -0.5 * (at(i).powi(2) + at(j).powi(2)) - std::f64::consts::TAU.ln();
            logs.push(known.exact_log_evidence().unwrap() + weight);
        }
    }
    let step: f64 = 10.0 / f64::from(steps);
    let exact = crate::density::special::log_sum_exp(&logs) + 2.0 * step.ln();
    assert!(sampled.exact_log_evidence().is_none());
    let ladder = run(&sampled, 4, 200, 9);
    for found in [
        path_sampling(ladder.energies()),
        bridge(ladder.energies(), Bridging::Optimal),
        warp_bridge(&ladder).unwrap(),
        annealed_importance(&ladder, 100, 1, &Silent).unwrap(),
    ] {
        assert!(found.standard_error < 0.2, "{found:?}");
        assert_close(&found, exact);
    }
}

#[test]
fn methods_agree_about_a_network() {
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    let x: Vec<f64> = (0..30).map(|_| 4.0 * stream.uniform() - 2.0).collect();
    let y: Vec<f64> = x.iter().map(|x| (2.0 * x).sin() + 0.2 * stream.normal()).collect();
    let columns = vec![("x".into(), Column::numbers(x)), ("y".into(), Column::numbers(y))];
    let table = Table::new("memory", columns).unwrap();
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    let (data, _) = Dataset::new(&table, &roles).unwrap();
    let text = "[model]\nkind = 'mlp'\nhidden = 4\n[prior.input_weights]\nfixed = 1.5\n\
                [prior.hidden_bias]\nfixed = 1.0\n[prior.output_weights]\nscale = 0.7\ndof = 4.0\n\
                [prior.output_bias]\nfixed = 1.0\n[residual]\nscale = 0.3\nscale_dof = 4.0";
    let spec = Spec::from_toml(text).unwrap();
    let posterior = Mlp::new(&spec).unwrap().condition(&data, None).unwrap();
    let ladder = run(&posterior, 4, 200, 3);
    let path = path_sampling(ladder.energies());
    let bridged = bridge(ladder.energies(), Bridging::Optimal);
    let annealed = annealed_importance(&ladder, 60, 10, &Silent).unwrap();
    for (one, other) in [(&path, &annealed), (&bridged, &annealed)] {
        let error = one.standard_error.hypot(other.standard_error);
        assert!(error < 1.0 && (one.value - other.value).abs() < 4.0 * error, "{one:?} {other:?}");
    }
    assert!((path.value - bridged.value).abs() < 0.3, "{path:?} {bridged:?}");
}
