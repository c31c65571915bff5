//! The Hamiltonian kernels.

use posteria::sample::hmc::{
    Hmc, HmcOptions, LengthSearch, MetricKind, Nuts, NutsOptions, Persistence,
};
use posteria::sample::{Kernel, Plan};
use posteria::target::{Infeasible, LogDensity};

use super::{
    check_banana, check_banana_chains, check_funnel, check_gaussian, check_normal, run_kernel,
};
use crate::targets::{Banana, Gaussian};

pub fn hmc(options: HmcOptions) -> impl Fn(usize) -> Box<dyn Kernel> {
    move |dim| Box::new(Hmc::new(dim, options.clone()))
}

pub fn nuts(options: NutsOptions) -> impl Fn(usize) -> Box<dyn Kernel> {
    move |dim| Box::new(Nuts::new(dim, options.clone()))
}

#[test]
fn no_u_turn_sampler() {
    let kernel = nuts(NutsOptions::default());
    check_gaussian("NUTS", 100, &kernel, &Plan::new(4, 500, 1000));
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
    check_gaussian("HMC", 100, &kernel, &Plan::new(4, 500, 1500));
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
    check_gaussian("windowed HMC", 100, hmc(options.clone()), &Plan::new(4, 500, 1500));
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
    check_gaussian("persistent HMC", 100, hmc(options.clone()), &plan);
    check_banana("persistent HMC", hmc(options.clone()), &Plan::new(4, 500, 20_000));
    let windowed = HmcOptions { leapfrog_steps: 6, window: 3, ..options };
    check_banana("persistent windowed HMC", hmc(windowed), &Plan::new(4, 500, 20_000));
}

#[test]
fn hybrid_monte_carlo_by_coarse_forces() {
    let options = HmcOptions { leapfrog_steps: 10, fast_force: true, ..HmcOptions::default() };
    let chains = run_kernel(&Banana, hmc(options), &Plan::new(4, 500, 8000));
    check_banana_chains("HMC by coarse forces", &chains);
}

#[test]
fn hybrid_monte_carlo_of_tuned_length() {
    let kernel =
        hmc(HmcOptions { tune_length: Some(LengthSearch::over(1..=100)), ..HmcOptions::default() });
    check_gaussian("HMC of tuned length", 100, &kernel, &Plan::new(4, 500, 1500));
    check_funnel("HMC of tuned length", &kernel, &Plan::new(4, 500, 8000));
    check_banana("HMC of tuned length", &kernel, &Plan::new(4, 500, 8000));
}

#[test]
fn langevin() {
    let kernel = |dim| -> Box<dyn Kernel> {
        let options = HmcOptions { target_acceptance: 0.6, ..HmcOptions::default() };
        Box::new(Hmc::langevin(dim, options))
    };
    check_banana("Langevin", kernel, &Plan::new(4, 500, 20_000));
    let mut plan = Plan::new(4, 2000, 4000);
    plan.thin = 10;
    check_gaussian("Langevin", 100, kernel, &plan);
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
        fn log_density(&mut self, q: &[f64]) -> Result<f64, Infeasible> {
            self.0.log_density(q)
        }
        fn log_density_gradient(
            &mut self,
            q: &[f64],
            gradient: &mut [f64],
        ) -> Result<f64, Infeasible> {
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
    let chains = run_kernel(&target, hmc(options), &Plan::new(4, 0, 2000));
    for (coordinate, scale) in chains.iter().zip(&target.0.scales) {
        check_normal("told scales", coordinate, 0.0, *scale);
    }
}

#[test]
fn a_pooled_metric_gives_one_scale_per_group() {
    let target = Gaussian { scales: [vec![0.01; 5], vec![3.0; 5]].concat() };
    let groups = [vec![0; 5], vec![1; 5]].concat();
    let options = NutsOptions { metric: MetricKind::Pooled(groups), ..NutsOptions::default() };
    let chains = run_kernel(&target, nuts(options), &Plan::new(4, 300, 1000));
    for (coordinate, scale) in chains.iter().zip(&target.scales) {
        check_normal("pooled", coordinate, 0.0, *scale);
    }
}
