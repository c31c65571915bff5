//! Real targets: the truth has every rank among the draws of a whole fit, warm-up included.

use super::joint_distribution::{PRIORS, draw_targets};
use super::ranks::Ranks;
use super::{data, posterior, with_targets};
use crate::model::Posterior;
use crate::model::gp::observed::Observed;
use crate::model::gp::{GpPosterior, start};
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Adapt, Stage, Sweep};

const ROWS: usize = 10;
/// Replications of the usual tests, and of the slow ones.
const REPLICATIONS: [usize; 2] = [96, 1024];
const THIN: usize = 3;

/// Hyperparameters and the scales above them, the residual scale, its degrees of freedom, latent
/// values where there are some, and log prior and log likelihood, which depend on everything.
fn quantities(posterior: &GpPosterior, state: &[f64]) -> Vec<f64> {
    let slots = posterior.processes[0].hyperparameters.slots.clone();
    let mut values = state[slots].to_vec();
    let Observed::Real(residual) = &posterior.observed else { unreachable!() };
    values.push(residual.log_scale(state, 0));
    values.extend(residual.dof.slot().map(|slot| state[slot]));
    if posterior.keeps_latents() {
        let first = posterior.latents.start;
        values.extend([state[first], state[first + ROWS / 2]]);
    }
    let mut draw = vec![0.0; posterior.layout().len()];
    let mut rows = vec![0.0; ROWS];
    let terms = posterior.evaluator().evaluate(state, &mut draw, &mut rows).unwrap();
    values.extend([terms.log_prior, terms.log_likelihood]);
    values
}

fn warm_up(sweep: &mut Sweep<'_>, state: &mut [f64], stream: &mut Stream) {
    for (adapt, passes) in [(Adapt::StepSize, 30), (Adapt::Metric, 60), (Adapt::StepSize, 30)] {
        sweep.enter(&Stage { adapt, ..Stage::default() });
        for _ in 0..passes {
            sweep.pass(state, stream);
        }
    }
    sweep.enter(&Stage::default());
}

/// Every quantity of every model fails by chance with probability 1e-5.
fn check(residual: &str, index: u64, replications: usize) {
    let text = format!("{PRIORS}[residual]\nscale = 0.4\nscale_dof = 5.0\n{residual}");
    let data = data(ROWS, &[&|_, _| 0.0]);
    let empty = posterior(&text, &with_targets(&data, &[0.0; ROWS]));
    let mut stream = Seed(2018).stream(Purpose::Data, [index, 0]);
    let mut ranks = Ranks::default();
    for _ in 0..replications {
        let mut truth = start::from_prior(&empty, &mut stream).unwrap();
        let targets = draw_targets(&empty, &mut truth, &mut stream);
        let posterior = posterior(&text, &with_targets(&data, &targets));
        let mut state = posterior.start(&mut stream);
        let mut sweep = posterior.sweep(1.0);
        warm_up(&mut sweep, &mut state, &mut stream);
        ranks.add(&quantities(&posterior, &truth), || {
            (0..THIN).for_each(|_| {
                sweep.pass(&mut state, &mut stream);
            });
            quantities(&posterior, &state)
        });
    }
    ranks.assert_uniform(residual);
}

const RESIDUALS: [&str; 3] =
    ["", "family = 'student-t'\ndof = { scale = 5.0, dof = 2.0 }", "family = 'laplace'"];

#[test]
fn ranks_of_the_truth_with_normal_residuals_are_uniform() {
    check(RESIDUALS[0], 0, REPLICATIONS[0]);
}

#[test]
fn ranks_of_the_truth_with_student_t_residuals_are_uniform() {
    check(RESIDUALS[1], 1, REPLICATIONS[0]);
}

#[test]
fn ranks_of_the_truth_with_laplace_residuals_are_uniform() {
    check(RESIDUALS[2], 2, REPLICATIONS[0]);
}

#[test]
#[ignore = "slow: a thousand fits of every residual family"]
fn ranks_of_the_truth_are_uniform_in_many_replications() {
    for (index, residual) in RESIDUALS.into_iter().enumerate() {
        check(residual, index as u64, REPLICATIONS[1]);
    }
}
