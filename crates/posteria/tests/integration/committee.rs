//! Check committees: better than their members, the same on any number of threads.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;

use posteria::data::{Dataset, Roles, Table, TextFormat};
use posteria::draws::Draws;
use posteria::fit::{Chain, ChainMemory, Outcome, Recorder, Report, fit_committee, run_committee};
use posteria::model::Posterior;
use posteria::model::mlp::{Mlp, MlpPosterior};
use posteria::model::spec::Spec;
use posteria::random::{Purpose, Seed};
use posteria_linalg::Matrix;

const MEMBERS: usize = 8;

fn truth(x: f64) -> f64 {
    (2.5 * x).sin() + 0.5 * x
}

/// 80 values of a curve on (-2, 2) with noise of deviation 0.4.
fn curve() -> (Dataset, MlpPosterior) {
    let mut stream = Seed(11).stream(Purpose::Data, [0, 0]);
    let mut text = String::from("x,y\n");
    for _ in 0..80 {
        let x = 4.0 * stream.uniform() - 2.0;
        text.push_str(&format!("{x},{}\n", truth(x) + 0.4 * stream.normal()));
    }
    let table = Table::from_text("curve.csv", text.as_bytes(), &TextFormat::default());
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    let (data, _) = Dataset::new(&table.expect("a table"), &roles).expect("data");
    let spec = Spec::from_toml("[model]\nkind = 'mlp'\nhidden = 8").expect("a specification");
    let posterior = Mlp::new(&spec).expect("a model").condition(&data, None).expect("a posterior");
    (data, posterior)
}

fn trained(members: usize, threads: usize) -> Draws {
    let threads = NonZero::new(threads).expect("not zero");
    fit_committee(&curve().1, members, Seed(3), threads).expect("a committee")
}

#[test]
fn a_committee_predicts_better_than_its_worst_member_and_than_they_do_on_average() {
    let (data, posterior) = curve();
    let draws = trained(MEMBERS, 2);
    assert_eq!((draws.chains, draws.draws), (1, MEMBERS));
    let places: Vec<f64> = (0..101).map(|i| -2.0 + 0.04 * f64::from(i)).collect();
    let inputs =
        Matrix::from_fn(places.len(), 1, |row, _| data.input_scaling[0].apply(places[row]));
    let mut predictor = posterior.predictor().expect("targets");
    let mut outputs = vec![0.0; places.len()];
    let mut mean = vec![0.0; places.len()];
    let error = |outputs: &[f64]| {
        let squares = outputs.iter().zip(&places).map(|(f, x)| (f - truth(*x)).powi(2));
        (squares.sum::<f64>() / places.len() as f64).sqrt()
    };
    let mut errors = Vec::new();
    for member in 0..MEMBERS {
        predictor.functions(draws.draw(0, member), &inputs, &mut outputs);
        errors.push(error(&outputs));
        mean.iter_mut().zip(&outputs).for_each(|(m, f)| *m += f / MEMBERS as f64);
    }
    let worst = errors.iter().copied().fold(0.0, f64::max);
    let average = errors.iter().sum::<f64>() / MEMBERS as f64;
    // Members err each in their own way: distinctly better, by the root of what they share.
    assert!(error(&mean) < 0.9 * average, "{} against {errors:?}", error(&mean));
    assert!(error(&mean) < 0.8 * worst, "{} against {errors:?}", error(&mean));
    // The curve has deviation 0.85: it was learned.
    assert!(error(&mean) < 0.3, "{}", error(&mean));
}

#[test]
fn members_depend_on_seed_and_index_alone() {
    let one = trained(5, 1);
    for threads in [2, 3] {
        let other = trained(5, threads);
        assert_eq!((&one.values, &one.log_likelihood), (&other.values, &other.log_likelihood));
        // Energies are NaN, which no number equals.
        let bits = |draws: &Draws| -> Vec<_> {
            draws.statistics.iter().map(|s| s.to_array().map(f64::to_bits)).collect()
        };
        assert_eq!(bits(&one), bits(&other));
    }
    let more = trained(7, 2);
    assert_eq!(one.values, more.values[..one.values.len()]);
    assert_eq!(one.log_likelihood, more.log_likelihood[..one.log_likelihood.len()]);
    for member in 1..5 {
        assert_ne!(one.draw(0, 0), one.draw(0, member));
    }
    let scale = one.layout.component_names().iter().position(|name| name == "residual_scale");
    for (member, statistics) in one.statistics.iter().enumerate() {
        assert!(statistics.n_steps > 2.0 && (statistics.acceptance_rate - 1.0).abs() < 1e-12);
        assert!(statistics.log_density.is_finite() && statistics.energy.is_nan());
        let scale = one.draw(0, member)[scale.expect("a residual scale")];
        assert!((0.25..0.9).contains(&scale), "{scale}");
    }
}

/// Keeps draws, stops after so many, and keeps the memory of then.
struct Stopping {
    after: usize,
    kept: Mutex<(Vec<f64>, Option<ChainMemory>)>,
}

impl Recorder for Stopping {
    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        let mut kept = self.kept.lock().expect("no member panicked");
        kept.0.extend(report.kept.expect("every sweep keeps one").draw);
        kept.1 = Some(chain.memory());
        if report.iteration == self.after {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}

#[test]
fn an_interrupted_committee_continues_to_the_same_members() {
    let (_, posterior) = curve();
    let threads = NonZero::new(2).expect("not zero");
    let mut memory: Option<ChainMemory> = None;
    let mut values = Vec::new();
    for (after, outcome) in
        [(1, Outcome::Interrupted), (4, Outcome::Interrupted), (9, Outcome::Complete)]
    {
        let stopping = Stopping { after, kept: Mutex::default() };
        let ended = run_committee(&posterior, 5, Seed(3), memory.as_ref(), threads, &stopping)
            .expect("trained");
        assert_eq!(ended, outcome);
        let (draws, kept) = stopping.kept.into_inner().expect("no member panicked");
        values.extend(draws);
        memory = kept;
    }
    assert_eq!(values, trained(5, 1).values);
    let foreign = ChainMemory { state: vec![0.0; 3], iteration: 2, ..memory.expect("a memory") };
    let stopping = Stopping { after: 9, kept: Mutex::default() };
    assert!(run_committee(&posterior, 5, Seed(3), Some(&foreign), threads, &stopping).is_err());
}
