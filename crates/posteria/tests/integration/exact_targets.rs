//! Means, variances and quantiles of every kernel within four Monte Carlo errors of the truth.

use posteria::density::special::normal_quantile;
use posteria::diagnose::mcse_mean;
use posteria::random::{Purpose, Seed};
use posteria::sample::hmc::{Hmc, HmcOptions, MetricKind, Nuts, NutsOptions, Persistence};
use posteria::sample::{Kernel, Plan};
use posteria::target::{LogDensity, Point, Tempered};

use crate::targets::{Banana, Funnel, Gaussian, Neuron};

/// Largest difference from the truth, in Monte Carlo errors. With the seeds fixed a run is
/// reproducible; over fresh seeds the false-alarm rate is 6e-5 for each quantity.
const FOUR_ERRORS: f64 = 4.0;

type Chains = Vec<Vec<Vec<f64>>>;

/// Positions of four chains: `[coordinate][chain][draw]`.
fn run<T: LogDensity + Clone>(
    target: &T,
    kernel: impl Fn(usize) -> Box<dyn Kernel>,
    plan: &Plan,
) -> Chains {
    let dim = target.dim();
    let mut chains = vec![vec![Vec::new(); plan.chains]; dim];
    for chain in 0..plan.chains {
        let mut target = target.clone();
        let mut stream = Seed(20).stream(Purpose::Chain, [chain as u64, 0]);
        let mut kernel = kernel(dim);
        let mut start = vec![0.0; dim];
        stream.fill_normal(&mut start);
        start.iter_mut().for_each(|x| *x *= 0.1);
        let mut point = Point::new(&mut target, start).expect("a usable start");
        for stage in &plan.warmup {
            kernel.enter(stage);
            for _ in 0..stage.iterations {
                kernel.step(&mut target, &mut point, &mut stream);
            }
        }
        kernel.enter(&plan.sampling);
        for _ in 0..plan.draws {
            for _ in 0..plan.thin {
                kernel.step(&mut target, &mut point, &mut stream);
            }
            for (coordinate, value) in chains.iter_mut().zip(&point.position) {
                coordinate[chain].push(*value);
            }
        }
    }
    chains
}

/// Compares the mean of `statistic` with `truth`, in Monte Carlo errors.
fn errors(coordinate: &[Vec<f64>], truth: f64, statistic: impl Fn(f64) -> f64) -> f64 {
    let values: Vec<Vec<f64>> =
        coordinate.iter().map(|chain| chain.iter().map(|x| statistic(*x)).collect()).collect();
    let count: usize = values.iter().map(Vec::len).sum();
    let mean = values.iter().flatten().sum::<f64>() / count as f64;
    (mean - truth) / mcse_mean(&values)
}

/// Checks mean, variance and three quantiles of a coordinate that is N(0, scale²).
fn check_normal(name: &str, coordinate: &[Vec<f64>], scale: f64) {
    let mut worst: (f64, String) = (0.0, String::new());
    let mut note = |z: f64, what: String| {
        if z.is_nan() || z.abs() > worst.0 {
            worst = (z.abs(), what);
        }
    };
    note(errors(coordinate, 0.0, |x| x), "mean".into());
    note(errors(coordinate, scale * scale, |x| x * x), "variance".into());
    for p in [0.05, 0.5, 0.9] {
        let quantile = scale * normal_quantile(p);
        let below = |x: f64| f64::from(u8::from(x < quantile));
        note(errors(coordinate, p, below), format!("quantile {p}"));
    }
    assert!(worst.0 < FOUR_ERRORS, "{name}: {} is {} errors off", worst.1, worst.0);
}

fn check_gaussian(name: &str, kernel: impl Fn(usize) -> Box<dyn Kernel>, plan: &Plan) {
    let target = Gaussian::ill_conditioned(100);
    let chains = run(&target, kernel, plan);
    for (i, (coordinate, scale)) in chains.iter().zip(&target.scales).enumerate() {
        check_normal(&format!("{name}, coordinate {i}"), coordinate, *scale);
    }
}

fn check_funnel(name: &str, kernel: impl Fn(usize) -> Box<dyn Kernel>, plan: &Plan) {
    let chains = run(&Funnel { count: 4 }, kernel, plan);
    check_normal(&format!("{name}, funnel neck"), &chains[0], 1.0);
    for coordinate in &chains[1..] {
        // E[x²] = E[exp(v)] = exp(1/2); its fourth moment exists too.
        let z = errors(coordinate, 0.5_f64.exp(), |x| x * x);
        assert!(z.abs() < FOUR_ERRORS, "{name}, funnel width: {z}");
        let z = errors(coordinate, 0.5, |x| f64::from(u8::from(x < 0.0)));
        assert!(z.abs() < FOUR_ERRORS, "{name}, funnel median: {z}");
    }
}

fn check_banana(name: &str, kernel: impl Fn(usize) -> Box<dyn Kernel>, plan: &Plan) {
    let chains = run(&Banana, kernel, plan);
    check_normal(&format!("{name}, banana"), &chains[0], 1.0);
    // y = x²/2 + e: mean ½, variance ½ + width².
    let variance = 0.5 + Banana::WIDTH * Banana::WIDTH;
    let z = errors(&chains[1], 0.5, |y| y);
    assert!(z.abs() < FOUR_ERRORS, "{name}, banana mean: {z}");
    let z = errors(&chains[1], variance, |y| (y - 0.5).powi(2));
    assert!(z.abs() < FOUR_ERRORS, "{name}, banana variance: {z}");
}

fn hmc(options: HmcOptions) -> impl Fn(usize) -> Box<dyn Kernel> {
    move |dim| Box::new(Hmc::new(dim, options.clone()))
}

fn nuts(options: NutsOptions) -> impl Fn(usize) -> Box<dyn Kernel> {
    move |dim| Box::new(Nuts::new(dim, options.clone()))
}

#[test]
fn no_u_turn_sampler() {
    let kernel = nuts(NutsOptions::default());
    check_gaussian("NUTS", &kernel, &Plan::new(4, 500, 1000));
    check_funnel("NUTS", &kernel, &Plan::new(4, 500, 4000));
    check_banana("NUTS", &kernel, &Plan::new(4, 500, 4000));
}

#[test]
fn no_u_turn_sampler_with_a_dense_metric() {
    let kernel = nuts(NutsOptions { metric: MetricKind::Dense, ..NutsOptions::default() });
    check_banana("dense NUTS", &kernel, &Plan::new(4, 500, 16_000));
    check_funnel("dense NUTS", &kernel, &Plan::new(4, 500, 4000));
}

#[test]
fn hybrid_monte_carlo() {
    let kernel = hmc(HmcOptions { leapfrog_steps: 10, ..HmcOptions::default() });
    check_gaussian("HMC", &kernel, &Plan::new(4, 500, 1500));
    check_funnel("HMC", &kernel, &Plan::new(4, 500, 8000));
    check_banana("HMC", &kernel, &Plan::new(4, 500, 8000));
}

#[test]
fn hybrid_monte_carlo_with_windows_and_random_direction() {
    let options = HmcOptions {
        leapfrog_steps: 12,
        window: 4,
        random_direction: true,
        ..HmcOptions::default()
    };
    check_gaussian("windowed HMC", hmc(options.clone()), &Plan::new(4, 500, 1500));
    check_funnel("windowed HMC", hmc(options.clone()), &Plan::new(4, 500, 8000));
    check_banana("windowed HMC", hmc(options), &Plan::new(4, 500, 8000));
}

#[test]
fn hybrid_monte_carlo_with_persistence() {
    let options = HmcOptions {
        leapfrog_steps: 3,
        persistence: Persistence { decay: 0.9, reset_every: 50 },
        target_acceptance: 0.95,
        ..HmcOptions::default()
    };
    // A persistent momentum makes coordinates oscillate; thinning by more than a period lets
    // the truncated sums behind the Monte Carlo error see the whole autocorrelation.
    let plan = Plan { thin: 10, ..Plan::new(4, 500, 1000) };
    check_gaussian("persistent HMC", hmc(options.clone()), &plan);
    check_banana("persistent HMC", hmc(options.clone()), &Plan::new(4, 500, 20_000));
    let windowed = HmcOptions { leapfrog_steps: 6, window: 3, ..options };
    check_banana("persistent windowed HMC", hmc(windowed), &Plan::new(4, 500, 20_000));
}

#[test]
fn langevin() {
    let kernel = |dim| -> Box<dyn Kernel> {
        let options = HmcOptions { target_acceptance: 0.6, ..HmcOptions::default() };
        Box::new(Hmc::langevin(dim, options))
    };
    check_banana("Langevin", kernel, &Plan::new(4, 500, 20_000));
    let mut plan = Plan::new(4, 2000, 1000);
    plan.thin = 10;
    check_gaussian("Langevin", kernel, &plan);
}

#[test]
fn step_scales_follow_the_target() {
    /// The Gaussian, telling its own scales.
    #[derive(Clone)]
    struct Told(Gaussian);
    impl LogDensity for Told {
        fn dim(&self) -> usize {
            self.0.dim()
        }
        fn log_density(&mut self, q: &[f64]) -> Result<f64, posteria::target::Infeasible> {
            self.0.log_density(q)
        }
        fn log_density_gradient(
            &mut self,
            q: &[f64],
            gradient: &mut [f64],
        ) -> Result<f64, posteria::target::Infeasible> {
            self.0.log_density_gradient(q, gradient)
        }
        fn step_scale(&self) -> Option<&[f64]> {
            Some(&self.0.scales)
        }
    }
    let target = Told(Gaussian::ill_conditioned(20));
    let options = HmcOptions {
        step_size: 0.5,
        leapfrog_steps: 4,
        metric: MetricKind::Target,
        ..HmcOptions::default()
    };
    let chains = run(&target, hmc(options), &Plan::new(4, 0, 2000));
    for (coordinate, scale) in chains.iter().zip(&target.0.scales) {
        check_normal("told scales", coordinate, *scale);
    }
}

#[test]
fn a_pooled_metric_gives_one_scale_per_group() {
    let target = Gaussian { scales: [vec![0.01; 5], vec![3.0; 5]].concat() };
    let groups = [vec![0; 5], vec![1; 5]].concat();
    let options = NutsOptions { metric: MetricKind::Pooled(groups), ..NutsOptions::default() };
    let chains = run(&target, nuts(options), &Plan::new(4, 300, 1000));
    for (coordinate, scale) in chains.iter().zip(&target.scales) {
        check_normal("pooled", coordinate, *scale);
    }
}

#[test]
fn with_the_likelihood_off_every_kernel_returns_the_prior() {
    let product =
        Neuron { inputs: vec![vec![1.0, 0.5, -2.0], vec![1.0, 3.0, 0.1]], targets: vec![1.0, 0.0] };
    let target = Tempered { product, inverse_temperature: 0.0 };
    let plan = Plan::new(4, 300, 3000);
    for kernel in [
        Box::new(nuts(NutsOptions::default())) as Box<dyn Fn(usize) -> Box<dyn Kernel>>,
        Box::new(hmc(HmcOptions { leapfrog_steps: 8, ..HmcOptions::default() })),
    ] {
        let chains = run(&target, kernel, &plan);
        for coordinate in &chains {
            check_normal("prior", coordinate, 1.0);
        }
    }
}
