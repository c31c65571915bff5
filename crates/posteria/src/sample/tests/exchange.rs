//! Check replica exchange where the answer is known at every temperature.

use super::chain::{Chain, stage, sweep_of};
use super::monte_carlo::{assert_mean, assert_normal};
use super::targets::Product;
use crate::density::special::log_add_exp;
use crate::random::Stream;
use crate::sample::{
    Adapt, Ladder, Marginalized, MetropolisHastings, RandomWalk, ReplicaExchange, Stage, Step,
    Sweep, Update,
};
use crate::target::{Infeasible, Tempered};

/// Prior N(0, 10²), likelihood 0.3 N(x; -8, ½²) + 0.7 N(x; 8, ½²). The prior is even and
/// normal, so the posterior is the mixture with the same weights, slightly shrunk.
pub fn mixture() -> Product {
    Product {
        log_prior: |x| -0.005 * x * x,
        log_likelihood: |x| {
            let part = |weight: f64, centre: f64| weight.ln() - 2.0 * (x - centre).powi(2);
            log_add_exp(part(0.3, -8.0), part(0.7, 8.0))
        },
    }
}

/// Random-walk Metropolis on prior × likelihood^β.
pub fn tempered_sweep(product: Product, inverse_temperature: f64) -> Sweep<'static> {
    let kernel = MetropolisHastings::new(RandomWalk::new(&[2.0]));
    sweep_of(Tempered { product, inverse_temperature }, Box::new(kernel))
}

type LogLikelihood = Box<dyn FnMut(&[f64]) -> Result<f64, Infeasible> + Send>;
type Exchange = ReplicaExchange<'static, LogLikelihood>;

/// Draws at every rung, `count` of them, the cold one first.
fn run(
    product: Product,
    ladder: Ladder,
    start: f64,
    count: usize,
) -> (Vec<Vec<Vec<f64>>>, Exchange) {
    let rungs = ladder.len();
    let sweeps = ladder[1..].iter().map(|beta| tempered_sweep(product, *beta)).collect();
    let likelihood: LogLikelihood = Box::new(move |x: &[f64]| Ok((product.log_likelihood)(x[0])));
    let states = vec![vec![start]; rungs - 1];
    let mut exchange = ReplicaExchange::new("exchange", ladder, sweeps, states, likelihood);
    let mut chain = Chain::new(tempered_sweep(product, 1.0), &[start], vec![], 41);
    let mut draws = vec![Vec::with_capacity(count); rungs];
    for stage in [stage(2000, Adapt::StepSize), Stage { iterations: count, ..Stage::default() }] {
        chain.sweep.enter(&stage);
        exchange.enter(&stage);
        for _ in 0..stage.iterations {
            chain.sweep.pass(&mut chain.state, &mut chain.stream);
            exchange.update(&mut chain.state, &mut chain.stream);
            if stage.adapt == Adapt::Nothing {
                draws[0].push(chain.state.clone());
                for (draws, state) in draws[1..].iter_mut().zip(exchange.states()) {
                    draws.push(state.clone());
                }
            }
        }
    }
    (draws, exchange)
}

#[test]
fn exchange_recovers_the_weights_of_far_modes_where_a_plain_chain_stays_in_one() {
    let mut plain =
        Chain::new(tempered_sweep(mixture(), 1.0), &[-8.0], vec![stage(2000, Adapt::StepSize)], 42);
    plain.warm_up();
    assert!(plain.draws(20_000).iter().all(|x| x[0] < 0.0), "the modes are not separate");

    let ladder = Ladder::geometric(0.4, 7).expect("a valid ratio").down_to_prior();
    let (draws, exchange) = run(mixture(), ladder, -8.0, 60_000);
    let cold = &draws[0];
    assert_mean("weight", cold, 0.7, |x| f64::from(u8::from(x[0] > 0.0)));
    // Within a mode: precision 4 + 1/100 about 8 · 4 / 4.01.
    let centre = 8.0 * 4.0 / 4.01;
    assert_mean("within-mode mean", cold, 0.0, |x| x[0].abs() - centre);
    assert_mean("within-mode variance", cold, 1.0 / 4.01, |x| (x[0].abs() - centre).powi(2));
    assert_normal("prior", &draws[7], (0.0, 10.0), |x| x[0]);

    let counts = exchange.counts();
    assert!(counts.round_trips > 500, "{counts:?}");
    assert!(counts.pairs.iter().all(|pair| pair.proposed == 30_000), "{counts:?}");
    assert!(counts.pairs.iter().all(|pair| pair.rate() > 0.2), "{counts:?}");
    for (value, state) in exchange.log_likelihoods()[1..].iter().zip(exchange.states()) {
        assert_eq!(value.to_bits(), (mixture().log_likelihood)(state[0]).to_bits());
    }
}

#[test]
fn every_rung_follows_its_own_tempered_posterior() {
    // Prior N(0, 1), one observation 3 of variance ½: precision 1 + 2β about 6β / (1 + 2β).
    let product = Product { log_prior: |x| -0.5 * x * x, log_likelihood: |x| -(x - 3.0).powi(2) };
    let ladder = Ladder::new(vec![1.0, 0.5, 0.1, 0.0]).expect("a decreasing ladder");
    let (draws, exchange) = run(product, ladder, 0.0, 60_000);
    for (draws, beta) in draws.iter().zip(exchange.ladder().iter()) {
        let precision = 1.0 + 2.0 * beta;
        let moments = (6.0 * beta / precision, precision.recip().sqrt());
        assert_normal(&format!("β = {beta}"), draws, moments, |x| x[0]);
    }
}

#[test]
fn without_a_likelihood_every_rung_is_the_prior_and_every_exchange_is_made() {
    let product = Product { log_prior: |x| -0.5 * x * x, log_likelihood: |_| 0.0 };
    let ladder = Ladder::geometric(0.5, 3).expect("a valid ratio").down_to_prior();
    let (draws, exchange) = run(product, ladder, 0.0, 30_000);
    for (rung, draws) in draws.iter().enumerate() {
        assert_normal(&format!("rung {rung}"), draws, (0.0, 1.0), |x| x[0]);
    }
    for pair in &exchange.counts().pairs {
        assert_eq!(pair.accepted, pair.proposed);
    }
    // Alternating pairs carry every state straight through: one round trip per replica and
    // 2 · 4 passes.
    assert!(exchange.counts().round_trips > 30_000 / 2 - 10, "{:?}", exchange.counts());
}

#[test]
fn a_prior_replica_wanders_where_there_is_no_likelihood_and_never_exchanges_from_there() {
    let product = Product {
        log_prior: |x| -0.5 * x * x,
        // Neither -∞ nor NaN is ever a reason to exchange.
        log_likelihood: |x| match x {
            x if x > 0.0 => 0.0,
            x if x > -1.0 => f64::NEG_INFINITY,
            _ => f64::NAN,
        },
    };
    let ladder = Ladder::new(vec![1.0, 0.0]).expect("a decreasing ladder");
    let (draws, exchange) = run(product, ladder, 1.0, 60_000);
    assert!(draws[0].iter().all(|x| x[0] > 0.0));
    assert_mean("half normal", &draws[0], 0.797_884_560_802_865_4, |x| x[0]);
    assert_normal("prior", &draws[1], (0.0, 1.0), |x| x[0]);
    // Exchanged exactly when the prior's state is positive; a single pair every time.
    assert_eq!(exchange.counts().pairs[0].proposed, 60_000);
    assert!((exchange.counts().pairs[0].rate() - 0.5).abs() < 0.02);
}

/// Independent a ~ N(0, 1) and b ~ N(0, ½²) with one observation of a + b, of variance 1/25.
const SEEN: f64 = 1.5;
const SECOND: f64 = 0.25;
const NOISE: f64 = 0.04;

/// b is integrated out: at β the observation of a has variance ½² + 1/(25β).
struct WithoutSecond(Ladder);

impl Marginalized for WithoutSecond {
    fn log_density(&mut self, rung: usize, state: &[f64]) -> Result<f64, Infeasible> {
        let variance = SECOND + NOISE / self.0[rung];
        Ok(-0.5 * (state[0].powi(2) + (SEEN - state[0]).powi(2) / variance))
    }

    fn draw(&mut self, rung: usize, state: &mut [f64], stream: &mut Stream) {
        let weight = self.0[rung] / NOISE;
        let precision = SECOND.recip() + weight;
        state[1] = weight * (SEEN - state[0]) / precision + stream.normal() / precision.sqrt();
    }
}

/// Draws a and b anew at one rung.
struct DrawBoth {
    ladder: Ladder,
    rung: usize,
}

impl Update for DrawBoth {
    fn name(&self) -> &str {
        "both"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let total = 1.0 + SECOND + NOISE / self.ladder[self.rung];
        state[0] = SEEN / total + stream.normal() * (1.0 - total.recip()).sqrt();
        WithoutSecond(self.ladder.clone()).draw(self.rung, state, stream);
        Step::default()
    }
}

#[test]
fn exchanges_with_a_part_integrated_out_leave_every_rung_its_own_posterior() {
    let ladder = Ladder::new(vec![1.0, 0.3, 0.05]).expect("a decreasing ladder");
    // Only the hottest rung moves by itself: whatever the others are, exchanges have made them.
    let hottest = Box::new(DrawBoth { ladder: ladder.clone(), rung: 2 });
    let sweeps = vec![Sweep::new(vec![]), Sweep::new(vec![hottest])];
    let log_likelihood = |x: &[f64]| Ok(-0.5 * (SEEN - x[0] - x[1]).powi(2) / NOISE);
    let states = vec![vec![0.0; 2]; 2];
    let mut exchange =
        ReplicaExchange::new("exchange", ladder.clone(), sweeps, states, log_likelihood)
            .integrating(WithoutSecond(ladder.clone()));
    let mut chain = Chain::new(Sweep::new(vec![]), &[0.0; 2], vec![], 43);
    let mut draws = vec![Vec::new(); 3];
    for pass in 0..60_500 {
        exchange.update(&mut chain.state, &mut chain.stream);
        if pass < 500 {
            continue;
        }
        draws[0].push(chain.state.clone());
        for (draws, state) in draws[1..].iter_mut().zip(exchange.states()) {
            draws.push(state.clone());
        }
    }
    for (draws, beta) in draws.iter().zip(ladder.iter()) {
        let (noise, total) = (NOISE / beta, 1.0 + SECOND + NOISE / beta);
        // Mean and variance of a, b and their sum.
        let moments = |share: f64| (share * SEEN / total, (share - share * share / total).sqrt());
        assert_normal(&format!("a, β = {beta}"), draws, moments(1.0), |x| x[0]);
        assert_normal(&format!("b, β = {beta}"), draws, moments(SECOND), |x| x[1]);
        let sum = moments(1.0 + SECOND);
        assert!((sum.1.powi(2) - (1.0 + SECOND) * noise / total).abs() < 1e-12);
        assert_normal(&format!("a + b, β = {beta}"), draws, sum, |x| x[0] + x[1]);
    }
    let counts = exchange.counts();
    assert!(counts.pairs.iter().all(|pair| pair.rate() > 0.5), "{counts:?}");
}
