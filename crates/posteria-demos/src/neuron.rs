//! Sample the weights of a single neuron, by the Langevin method and by Hamiltonian Monte
//! Carlo [MacKay 2003, §41.4].

use std::num::NonZero;

use posteria::fit::run_jobs;
use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::Kernel;
use posteria::sample::hmc::{Hmc, HmcOptions, MetricKind};
use posteria::target::{Infeasible, LogDensity};

use super::cost::{simulate, slowest};
use super::{Demonstration, Quantity, mean_and_sd};

/// The weight decay rate α: weights and bias are N(0, 1/α).
const WEIGHT_DECAY: f64 = 0.01;
/// The learning rate η of the source; the step size is √(2 η).
const LEARNING_RATE: f64 = 0.01;
/// Iterations of the Langevin method, and how many of them are discarded.
const LANGEVIN: usize = 40_000;
const LANGEVIN_WARMUP: usize = 10_000;
/// Trajectories of Hamiltonian Monte Carlo, and how many of them are discarded.
const TRAJECTORIES: usize = 1_000;
const TRAJECTORIES_WARMUP: usize = 50;
/// Repetitions of either simulation.
const RUNS: usize = 12;

/// Ten points of two classes in the square from 0 to 10: x1, x2, class. The points of the
/// source are drawn in its figures but not printed.
const POINTS: [([f64; 2], bool); 10] = [
    ([7.5, 8.5], true),
    ([9.0, 6.5], true),
    ([5.0, 5.2], true),
    ([8.0, 4.5], true),
    ([5.0, 8.0], true),
    ([2.0, 3.0], false),
    ([4.5, 1.5], false),
    ([1.0, 5.5], false),
    ([3.5, 4.0], false),
    ([6.0, 4.3], false),
];

const WORDS: &str = "\
The source does not print its ten points; these are ten other points of two classes in the same
square, so the acceptances agree roughly, not to the digit. The last line compares effective draws per
gradient of the slowest weight; the source says at least ten. Every figure of ours is the mean over
repeated simulations, and sd their standard deviation; in the last line sd is the standard error.
";

/// The posterior of the three weights: minus M(w) = G(w) + α |w|² / 2.
struct Neuron;

impl LogDensity for Neuron {
    fn dim(&self) -> usize {
        3
    }

    fn log_density(&mut self, weights: &[f64]) -> Result<f64, Infeasible> {
        self.log_density_gradient(weights, &mut [0.0; 3])
    }

    fn log_density_gradient(
        &mut self,
        weights: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let mut value = 0.0;
        for (slope, weight) in gradient.iter_mut().zip(weights) {
            *slope = -WEIGHT_DECAY * weight;
            value -= 0.5 * WEIGHT_DECAY * weight * weight;
        }
        for (point, class) in POINTS {
            let row = [1.0, point[0], point[1]];
            let activation: f64 = row.iter().zip(weights).map(|(x, w)| x * w).sum();
            // ln y for class 1, ln (1 - y) for class 0, without overflow on either side.
            let signed = if class { activation } else { -activation };
            value += signed.min(0.0) - (-signed.abs()).exp().ln_1p();
            let error = f64::from(u8::from(class)) - 1.0 / (1.0 + (-activation).exp());
            for (slope, x) in gradient.iter_mut().zip(row) {
                *slope += error * x;
            }
        }
        Ok(value)
    }
}

/// The log posterior of the three weights.
pub fn log_posterior() -> impl LogDensity {
    Neuron
}

/// Draws of the three weights by Hamiltonian Monte Carlo, warm-up discarded.
pub fn draw_by_chains(count: usize, stream: &mut Stream) -> Vec<Vec<f64>> {
    let steps = count + TRAJECTORIES_WARMUP;
    let run = simulate(&mut Hmc::new(3, options()), Neuron, &[0.0; 3], steps, stream)
        .expect("the density of a neuron is usable everywhere");
    run.positions[TRAJECTORIES_WARMUP..].iter().map(|position| position.to_vec()).collect()
}

fn options() -> HmcOptions {
    HmcOptions {
        step_size: (2.0 * LEARNING_RATE).sqrt(),
        step_jitter: 0.0,
        // Between 100 and 200 steps, uniformly.
        leapfrog_steps: 150,
        leapfrog_jitter: 1.0 / 3.0,
        metric: MetricKind::Unit,
        ..HmcOptions::default()
    }
}

/// Acceptance and effective draws per gradient.
struct Measured {
    acceptance: f64,
    per_gradient: f64,
}

fn measure(kernel: &mut dyn Kernel, steps: usize, warmup: usize, stream: &mut Stream) -> Measured {
    let run = simulate(kernel, Neuron, &[0.0; 3], steps, stream)
        .expect("the density of a neuron is usable everywhere");
    let time = slowest(&run.positions[warmup..], &[|w| w[0], |w| w[1], |w| w[2]]);
    Measured { acceptance: run.acceptance, per_gradient: 1.0 / (time * run.evaluations) }
}

/// Runs the demonstration.
pub fn run(seed: Seed, threads: NonZero<usize>) -> Demonstration {
    repeated(RUNS, seed, threads)
}

fn repeated(runs: usize, seed: Seed, threads: NonZero<usize>) -> Demonstration {
    let runs = run_jobs(runs, threads, |index| {
        let stream = |part| seed.stream(Purpose::Data, [part, index as u64]);
        let langevin = &mut Hmc::langevin(3, options());
        let hybrid = &mut Hmc::new(3, options());
        (
            measure(langevin, LANGEVIN, LANGEVIN_WARMUP, &mut stream(1)),
            measure(hybrid, TRAJECTORIES, TRAJECTORIES_WARMUP, &mut stream(2)),
        )
    });
    let over =
        |value: fn(&(Measured, Measured)) -> f64| -> Vec<f64> { runs.iter().map(value).collect() };
    let results = vec![
        Quantity::over_runs(
            "acceptance of the Langevin method",
            Some(0.93),
            &over(|run| run.0.acceptance),
        ),
        Quantity::over_runs(
            "acceptance of Hamiltonian Monte Carlo",
            Some(0.92),
            &over(|run| run.1.acceptance),
        ),
        Quantity::over_runs(
            "Langevin: effective draws per 1000 gradients",
            None,
            &over(|run| 1000.0 * run.0.per_gradient),
        ),
        Quantity::over_runs(
            "Hamiltonian Monte Carlo: effective draws per 1000 gradients",
            None,
            &over(|run| 1000.0 * run.1.per_gradient),
        ),
        efficiency(&over(|run| run.1.per_gradient), &over(|run| run.0.per_gradient)),
    ];
    Demonstration { name: "neuron", results, words: WORDS.into(), ..Demonstration::default() }
}

/// The ratio of two means, with its standard error to first order.
fn efficiency(hybrid: &[f64], langevin: &[f64]) -> Quantity {
    let runs = hybrid.len() as f64;
    let [(hybrid, hybrid_sd), (langevin, langevin_sd)] = [hybrid, langevin].map(mean_and_sd);
    let ratio = hybrid / langevin;
    let relative = (hybrid_sd / hybrid).hypot(langevin_sd / langevin);
    Quantity {
        quantity: "efficiency of Hamiltonian Monte Carlo over Langevin".into(),
        published: Some(10.0),
        here: ratio,
        sd: Some(ratio * relative / runs.sqrt()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_density() {
        for weights in [[0.0, 0.0, 0.0], [-9.0, 1.2, 0.6], [40.0, -8.0, 3.0]] {
            let check = posteria::target::check_gradient(&mut Neuron, &weights);
            assert!(check.expect("usable").error < 1e-6, "{weights:?}");
        }
    }

    #[test]
    fn the_published_findings_hold() {
        // Some of the runs: acceptances and efficiencies are far from where they would not do.
        let demonstration = repeated(3, Seed(1), NonZero::<usize>::MIN);
        let here: Vec<f64> = demonstration.results.iter().map(|result| result.here).collect();
        // Other points than the source's: the acceptances need only be of the same kind.
        assert!((0.88..0.98).contains(&here[0]), "Langevin acceptance {}", here[0]);
        assert!((0.85..0.98).contains(&here[1]), "Hamiltonian acceptance {}", here[1]);
        assert!(here[4] > 10.0, "efficiency {}", here[4]);
    }
}
