//! Check independent draws from an approximation in the place of chains.

use std::num::NonZero;

use posteria::approximate::{Approximation, Independent};
use posteria::density::Normal;
use posteria::diagnose::{SummaryOptions, summarize};
use posteria::fit::{Chain, fit};
use posteria::model::{Custom, Posterior};
use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::Plan;
use posteria::sample::hmc::{Nuts, NutsOptions};
use posteria::target::{Infeasible, LogDensity};

/// N(2, 1) and N(-1, 0.5²), in which q is exact.
struct Two;

const CENTRES: [f64; 2] = [2.0, -1.0];
const SCALES: [f64; 2] = [1.0, 0.5];

fn log_normal(x: &[f64]) -> f64 {
    let log = |k: usize| Normal::new(CENTRES[k], SCALES[k]).expect("a normal").log_density(x[k]);
    log(0) + log(1)
}

impl LogDensity for Two {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, x: &[f64]) -> Result<f64, Infeasible> {
        Ok(log_normal(x))
    }

    fn log_density_gradient(&mut self, x: &[f64], g: &mut [f64]) -> Result<f64, Infeasible> {
        for k in 0..2 {
            g[k] = (CENTRES[k] - x[k]) / SCALES[k].powi(2);
        }
        self.log_density(x)
    }
}

struct Exact;

impl Approximation for Exact {
    fn draw(&self, state: &mut [f64], stream: &mut Stream) {
        for k in 0..2 {
            state[k] = CENTRES[k] + SCALES[k] * stream.normal();
        }
    }

    fn log_density(&self, state: &[f64]) -> f64 {
        log_normal(state)
    }
}

fn posterior() -> Custom<'static> {
    let kernel = |dim: usize| -> Box<dyn posteria::sample::Kernel> {
        Box::new(Nuts::new(dim, NutsOptions::default()))
    };
    Custom::density(&["a", "b"], || Box::new(Two), kernel).expect("names")
}

#[test]
fn draws_are_independent_and_weigh_the_same_where_q_is_the_posterior() {
    let posterior = posterior();
    let independent = Independent::new(&posterior, &Exact);
    let threads = NonZero::new(2).unwrap();
    let draws = fit(&independent, &Plan::new(4, 0, 1000), Seed(3), threads).unwrap();
    let summary = summarize(&draws, &SummaryOptions::default());
    for (variable, (centre, scale)) in summary.variables.iter().zip(CENTRES.iter().zip(SCALES)) {
        // 4000 draws: the false-alarm rate of 4.5 standard errors is 1e-5.
        let error = scale / 4000.0_f64.sqrt();
        assert!((variable.mean - centre).abs() < 4.5 * error, "{}", variable.mean);
        assert!((variable.sd - scale).abs() < 4.5 * error, "{}", variable.sd);
        assert!(variable.r_hat < 1.01 && variable.ess_bulk > 3000.0);
    }
    // log p - log q of an exact q is the same for all draws, here 0.
    for statistics in &draws.statistics {
        assert!((statistics.log_density + statistics.energy).abs() < 1e-12);
    }
}

#[test]
fn a_chain_that_is_continued_gives_the_draws_of_one_that_was_not() {
    let posterior = posterior();
    let independent = Independent::new(&posterior, &Exact);
    let (short, long) = (Plan::new(1, 0, 5), Plan::new(1, 0, 9));
    let mut whole = Chain::start(&independent, &long, Seed(1), 2).unwrap();
    while whole.advance() {}
    let mut first = Chain::start(&independent, &short, Seed(1), 2).unwrap();
    while first.advance() {}
    let mut rest = Chain::resume(&independent, &long, 2, &first.memory()).unwrap();
    while rest.advance() {}
    assert_eq!(rest.memory(), whole.memory());
    let other = Chain::start(&independent, &long, Seed(1), 3).unwrap();
    assert_ne!(other.memory().state, first.memory().state);
    let mut stream = Seed(1).stream(Purpose::Start, [0, 0]);
    assert_eq!(independent.start(&mut stream).len(), 2);
}
