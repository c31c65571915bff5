//! Run a target with each sampler, one chain after the other, on one thread.

use std::collections::HashMap;

use cpu_time::ProcessTime;

use anyhow::Result;
use nuts_rs::Settings;
use nuts_rs::{Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagNutsSettings, HasDims, LogpError};
use posteria::random::{Purpose, Seed};
use posteria::sample::hmc::{MetricKind, Nuts, NutsOptions};
use posteria::sample::{Kernel, Plan, Slice};
use posteria::target::{Infeasible, LogDensity, Point};
use rand::SeedableRng;

use crate::targets::Target;
use crate::{Outcome, Task};

impl LogDensity for Target {
    fn dim(&self) -> usize {
        Target::dim(self)
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        Ok(self.value(position))
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        Ok(self.value_and_gradient(position, gradient))
    }
}

/// posteria's NUTS with its default settings.
pub fn posteria(target: &Target, task: &Task) -> Outcome {
    posteria_with(target, task, 1, |dim| Box::new(Nuts::new(dim, NutsOptions::default())))
}

/// The same with a dense metric.
pub fn posteria_dense(target: &Target, task: &Task) -> Outcome {
    let options = NutsOptions { metric: MetricKind::Dense, ..NutsOptions::default() };
    posteria_with(target, task, 1, |dim| Box::new(Nuts::new(dim, options.clone())))
}

/// posteria's slice sampler, twenty passes over the coordinates per draw.
pub fn posteria_slice(target: &Target, task: &Task) -> Outcome {
    posteria_with(target, task, 20, |dim| Box::new(Slice::new(&vec![1.0; dim])))
}

fn posteria_with(
    target: &Target,
    task: &Task,
    thin: usize,
    kernel: impl Fn(usize) -> Box<dyn Kernel>,
) -> Outcome {
    let plan = Plan::new(task.chains, task.warmup, task.draws);
    let mut outcome = Outcome::default();
    for chain in 0..task.chains {
        let mut target = target.clone();
        let dim = target.dim();
        let mut stream = Seed(task.seed).stream(Purpose::Chain, [chain as u64, 0]);
        let mut kernel = kernel(dim);
        let mut start = vec![0.0; dim];
        stream.fill_normal(&mut start);
        let mut point = Point::new(&mut target, start).expect("a usable start");
        let begin = ProcessTime::now();
        for stage in &plan.warmup {
            kernel.enter(stage);
            for _ in 0..stage.iterations {
                kernel.step(&mut target, &mut point, &mut stream);
            }
        }
        outcome.warmup_seconds += begin.elapsed().as_secs_f64();
        outcome.values.reserve(task.draws * dim);
        let begin = ProcessTime::now();
        kernel.enter(&plan.sampling);
        for _ in 0..task.draws {
            for _ in 0..thin {
                let step = kernel.step(&mut target, &mut point, &mut stream);
                outcome.gradients += u64::from(step.evaluations);
                outcome.divergences += u64::from(step.diverging);
            }
            outcome.values.extend_from_slice(&point.position);
        }
        outcome.sampling_seconds += begin.elapsed().as_secs_f64();
    }
    outcome
}

#[derive(Debug, thiserror::Error)]
#[error("not finite")]
pub struct NotFinite;

impl LogpError for NotFinite {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl HasDims for Target {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_string(), Target::dim(self) as u64)])
    }
}

impl CpuLogpFunc for Target {
    type LogpError = NotFinite;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        Target::dim(self)
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NotFinite> {
        let value = self.value_and_gradient(position, gradient);
        if value.is_finite() { Ok(value) } else { Err(NotFinite) }
    }

    fn expand_vector<R: rand::Rng + ?Sized>(
        &mut self,
        _rng: &mut R,
        position: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(position.to_vec())
    }
}

/// nuts-rs (the sampler of nutpie) with its default settings.
pub fn nuts_rs(target: &Target, task: &Task) -> Result<Outcome> {
    let settings = DiagNutsSettings { num_tune: task.warmup as u64, ..DiagNutsSettings::default() };
    let mut outcome = Outcome::default();
    for chain in 0..task.chains {
        let dim = target.dim();
        let mut stream = Seed(task.seed).stream(Purpose::Chain, [chain as u64, 0]);
        let mut start = vec![0.0; dim];
        stream.fill_normal(&mut start);
        let mut rng = rand::rngs::StdRng::seed_from_u64(task.seed * 1000 + chain as u64);
        let mut sampler =
            settings.new_chain(chain as u64, CpuMath::new(target.clone()), &mut rng)?;
        sampler.set_position(&start)?;
        let begin = ProcessTime::now();
        for _ in 0..task.warmup {
            sampler.draw()?;
        }
        outcome.warmup_seconds += begin.elapsed().as_secs_f64();
        outcome.values.reserve(task.draws * dim);
        let begin = ProcessTime::now();
        for _ in 0..task.draws {
            let (draw, progress) = sampler.draw()?;
            outcome.gradients += progress.num_gradients;
            outcome.divergences += u64::from(progress.diverging);
            outcome.values.extend_from_slice(&draw);
        }
        outcome.sampling_seconds += begin.elapsed().as_secs_f64();
    }
    Ok(outcome)
}
