//! Compare samplers on correlated normal distributions of two variables [Fabricius 1999, §4.4].

use std::num::NonZero;

use posteria::fit::run_jobs;
use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::hmc::{Hmc, HmcOptions, MetricKind};
use posteria::sample::{Kernel, Metropolis, RandomWalk, Step};
use posteria::target::{Infeasible, LogDensity, Point};

use super::cost::{Simulation, simulate, slowest};
use super::{Demonstration, Quantity};

/// Repetitions of the published runs.
const SHORT_RUNS: usize = 400;
/// Chains from which costs are measured, and their length.
const LONG_RUNS: usize = 16;
const LONG: usize = 20_000;

const WORDS: &str = "\
Every figure of ours is the mean over repeated simulations of the same size, and sd their standard
deviation: with 100 draws a covariance of 0.8 is known to a tenth or two at best, so the published
single runs scatter that much too. An independent draw costs the longer autocorrelation time of x1 + x2
and x1 - x2, at least one step, times the evaluations per step. The published costs are rules of thumb
and leave out factors of a few, but what they say holds: the cost of a random walk (Metropolis,
Langevin) grows with the square of the ratio of the widths, that of long trajectories with the ratio
itself. Gibbs counts draws from a conditional; it needs no density. For the spread along x1 - x2 the fixed
trajectories of the source come close to a resonance, which jittered lengths avoid.
";

/// Where the draws are: along the wide and along the narrow direction.
const LOCATION: [fn(&[f64]) -> f64; 2] = [|x| x[0] + x[1], |x| x[0] - x[1]];
/// How far they spread along the narrow one.
const SPREAD: [fn(&[f64]) -> f64; 1] = [|x| (x[0] - x[1]).powi(2)];

/// Zero mean, unit variances, correlation ρ.
#[derive(Clone, Copy, Debug)]
struct Correlated {
    rho: f64,
}

impl LogDensity for Correlated {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
        let determinant = 1.0 - self.rho * self.rho;
        let form = x[0] * x[0] - 2.0 * self.rho * x[0] * x[1] + x[1] * x[1];
        Ok(-std::f64::consts::TAU.ln() - 0.5 * determinant.ln() - 0.5 * form / determinant)
    }

    fn log_density_gradient(&mut self, x: &[f64], gradient: &mut [f64]) -> Result<f64, Infeasible> {
        let determinant = 1.0 - self.rho * self.rho;
        gradient[0] = (self.rho * x[1] - x[0]) / determinant;
        gradient[1] = (self.rho * x[0] - x[1]) / determinant;
        self.log_density(x)
    }
}

impl Correlated {
    fn exact(&self, stream: &mut Stream) -> Vec<f64> {
        let first = stream.normal();
        vec![first, self.conditional(first, stream)]
    }

    fn conditional(&self, other: f64, stream: &mut Stream) -> f64 {
        self.rho * other + (1.0 - self.rho * self.rho).sqrt() * stream.normal()
    }
}

/// Draws one variable given the other, in turn.
struct Gibbs {
    target: Correlated,
}

impl Kernel for Gibbs {
    fn name(&self) -> &'static str {
        "Gibbs"
    }

    fn step(&mut self, _: &mut dyn LogDensity, point: &mut Point, stream: &mut Stream) -> Step {
        point.position[0] = self.target.conditional(point.position[1], stream);
        point.position[1] = self.target.conditional(point.position[0], stream);
        Step::default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Method {
    Gibbs,
    Metropolis,
    Langevin,
    Hybrid,
}

/// The settings of the source for one correlation: proposal variances equal to the smallest
/// eigenvalue, steps of 1.5 times the smallest standard deviation, enough of them to cross.
#[derive(Clone, Copy, Debug)]
struct Setting {
    target: Correlated,
    step_size: f64,
    leapfrog_steps: usize,
}

const MILD: Setting =
    Setting { target: Correlated { rho: 0.8 }, step_size: 0.6, leapfrog_steps: 3 };
const STRONG: Setting =
    Setting { target: Correlated { rho: 0.99 }, step_size: 0.15, leapfrog_steps: 20 };

impl Setting {
    fn kernel(&self, method: Method) -> Box<dyn Kernel> {
        let options = |leapfrog_steps| HmcOptions {
            step_size: self.step_size,
            step_jitter: 0.0,
            leapfrog_steps,
            leapfrog_jitter: 0.0,
            metric: MetricKind::Unit,
            ..HmcOptions::default()
        };
        match method {
            Method::Gibbs => Box::new(Gibbs { target: self.target }),
            Method::Metropolis => {
                Box::new(Metropolis::new(RandomWalk::new(&[(1.0 - self.target.rho).sqrt(); 2])))
            }
            Method::Langevin => Box::new(Hmc::langevin(2, options(1))),
            Method::Hybrid => Box::new(Hmc::new(2, options(self.leapfrog_steps))),
        }
    }

    fn simulate(&self, method: Method, steps: usize, stream: &mut Stream) -> Simulation {
        let start = self.target.exact(stream);
        simulate(&mut *self.kernel(method), self.target, &start, steps, stream)
            .expect("a normal density is usable everywhere")
    }

    /// Evaluations per independent draw of one long chain; of Gibbs, conditional draws.
    fn cost(&self, method: Method, functions: &[fn(&[f64]) -> f64], stream: &mut Stream) -> f64 {
        let simulation = self.simulate(method, LONG, stream);
        let per_step = if method == Method::Gibbs { 2.0 } else { simulation.evaluations };
        // Draws that repel each other are worth more than independent ones for some averages;
        // they count as independent.
        per_step * slowest(&simulation.positions, functions).max(1.0)
    }
}

/// Streams of one part of the demonstration, one per repetition.
struct Repeated {
    seed: Seed,
    threads: NonZero<usize>,
    parts: u64,
}

impl Repeated {
    fn run<T: Send>(&mut self, times: usize, once: impl Fn(&mut Stream) -> T + Sync) -> Vec<T> {
        self.parts += 1;
        let (seed, part) = (self.seed, self.parts);
        run_jobs(times, self.threads, |index| {
            once(&mut seed.stream(Purpose::Data, [part, index as u64]))
        })
    }
}

/// Runs the demonstration.
pub fn run(seed: Seed, threads: NonZero<usize>) -> Demonstration {
    let mut repeated = Repeated { seed, threads, parts: 0 };
    let mut results = Vec::new();
    published_runs(&mut repeated, &mut results);
    for (setting, published) in [
        // 9 = 1.8 / 0.2 and 199 = 1.99 / 0.01: the squared ratio of the widths; trajectories of
        // 3 and 20 steps were called independent.
        (MILD, [None, Some(9.0), Some(9.0), Some(3.0)]),
        (STRONG, [None, Some(199.0), Some(199.0), Some(20.0)]),
    ] {
        let rho = setting.target.rho;
        let methods = [
            (Method::Gibbs, "Gibbs: conditional draws"),
            (Method::Metropolis, "Metropolis: densities"),
            (Method::Langevin, "Langevin: gradients"),
            (Method::Hybrid, "hybrid Monte Carlo: gradients"),
        ];
        let mut costs = Vec::new();
        for ((method, label), published) in methods.into_iter().zip(published) {
            let runs = repeated.run(LONG_RUNS, |stream| setting.cost(method, &LOCATION, stream));
            let name = format!("{label} per independent draw, rho = {rho}");
            results.push(Quantity::over_runs(name, published, &runs));
            costs.push(runs);
        }
        let ratios: Vec<f64> = costs[2].iter().zip(&costs[3]).map(|(l, h)| l / h).collect();
        results.push(Quantity::over_runs(
            format!("Langevin cost over hybrid Monte Carlo cost, rho = {rho}"),
            Some(if rho > 0.9 { 10.0 } else { 3.0 }),
            &ratios,
        ));
    }
    let spread = |stream: &mut Stream| STRONG.cost(Method::Hybrid, &SPREAD, stream);
    results.push(Quantity::over_runs(
        "hybrid Monte Carlo: gradients per independent draw of (x1 - x2)², rho = 0.99",
        None,
        &repeated.run(LONG_RUNS, spread),
    ));
    Demonstration { name: "samplers", results, words: WORDS.into(), ..Demonstration::default() }
}

/// Acceptances and covariances of runs as long as the published ones.
fn published_runs(repeated: &mut Repeated, results: &mut Vec<Quantity>) {
    let runs = [
        (MILD, Method::Gibbs, "Gibbs", 100, 1, None, Some([0.8308, 0.6333, 0.8303])),
        (
            MILD,
            Method::Metropolis,
            "Metropolis",
            1000,
            10,
            Some(0.68),
            Some([0.9258, 0.6781, 0.867]),
        ),
        (MILD, Method::Langevin, "Langevin", 30, 1, Some(23.0 / 30.0), None),
        (
            MILD,
            Method::Hybrid,
            "hybrid Monte Carlo",
            100,
            1,
            Some(0.82),
            Some([1.1899, 1.0191, 1.23]),
        ),
        (STRONG, Method::Langevin, "Langevin", 40, 1, Some(31.0 / 40.0), None),
    ];
    for (setting, method, label, steps, every, acceptance, covariance) in runs {
        let rho = setting.target.rho;
        let simulations =
            repeated.run(SHORT_RUNS, |stream| setting.simulate(method, steps, stream));
        if acceptance.is_some() {
            let rates: Vec<f64> = simulations.iter().map(|run| run.acceptance).collect();
            let name = format!("{label} acceptance, rho = {rho}");
            results.push(Quantity::over_runs(name, acceptance, &rates));
        }
        let Some(covariance) = covariance else { continue };
        let entries = [("variance of x1", 0, 0), ("covariance", 0, 1), ("variance of x2", 1, 1)];
        for ((entry, i, j), published) in entries.into_iter().zip(covariance) {
            let estimates: Vec<f64> = simulations
                .iter()
                .map(|run| empirical_covariance(&run.positions, every, i, j))
                .collect();
            let name = format!("{label}, {entry} of 100 draws, rho = {rho}");
            results.push(Quantity::over_runs(name, Some(published), &estimates));
        }
    }
}

fn empirical_covariance(positions: &[Vec<f64>], every: usize, i: usize, j: usize) -> f64 {
    let kept: Vec<&Vec<f64>> = positions.iter().skip(every - 1).step_by(every).collect();
    let count = kept.len() as f64;
    let mean = |k: usize| kept.iter().map(|x| x[k]).sum::<f64>() / count;
    let (first, second) = (mean(i), mean(j));
    kept.iter().map(|x| (x[i] - first) * (x[j] - second)).sum::<f64>() / (count - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gibbs_cost_is_that_of_its_autoregression() {
        // x1 - x2 and x1 + x2 under Gibbs mix both, but x2 alone is autoregressive with
        // coefficient rho², so tau = (1 + rho²) / (1 - rho²) = 4.56 at rho = 0.8. 16 chains of
        // 20 000 draws know it to 1 %: 8 % is far outside.
        let mut repeated = Repeated { seed: Seed(1), threads: NonZero::<usize>::MIN, parts: 0 };
        let times = repeated.run(8, |stream| {
            slowest(&MILD.simulate(Method::Gibbs, LONG, stream).positions, &[|x| x[1]])
        });
        let mean = times.iter().sum::<f64>() / 8.0;
        assert!((mean / 4.556 - 1.0).abs() < 0.08, "autocorrelation time {mean}");
    }

    #[test]
    fn the_gradient_is_that_of_the_density() {
        for setting in [MILD, STRONG] {
            let check = posteria::target::check_gradient(&mut { setting.target }, &[0.3, -0.8]);
            assert!(check.expect("usable").error < 1e-7);
        }
    }
}
