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

/// Independent a, b ~ N(0, 1) with one observation [`SEEN`] of a + b, of variance ¼.
const SEEN: f64 = 2.0;
const PRECISION: f64 = 4.0;

/// b is integrated out: at β the observation of a has variance 1 + 1/(4β).
struct WithoutSecond(Ladder);

impl Marginalized for WithoutSecond {
    fn log_density(&mut self, rung: usize, state: &[f64]) -> Result<f64, Infeasible> {
        let variance = 1.0 + 1.0 / (PRECISION * self.0[rung]);
        Ok(-0.5 * (state[0].powi(2) + (SEEN - state[0]).powi(2) / variance))
    }

    fn draw(&mut self, rung: usize, state: &mut [f64], stream: &mut Stream) {
        let weight = PRECISION * self.0[rung];
        let precision = 1.0 + weight;
        state[1] = weight * (SEEN - state[0]) / precision + stream.normal() / precision.sqrt();
    }
}

/// Draws b given a.
struct DrawSecond {
    ladder: Ladder,
    rung: usize,
}

impl Update for DrawSecond {
    fn name(&self) -> &str {
        "second"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        WithoutSecond(self.ladder.clone()).draw(self.rung, state, stream);
        Step::default()
    }
}

/// Moves a given b by an exact draw.
struct DrawFirst {
    beta: f64,
}

impl Update for DrawFirst {
    fn name(&self) -> &str {
        "first"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let weight = PRECISION * self.beta;
        let precision = 1.0 + weight;
        state[0] = weight * (SEEN - state[1]) / precision + stream.normal() / precision.sqrt();
        Step::default()
    }
}

#[test]
fn exchanges_with_a_part_integrated_out_leave_every_rung_its_own_posterior() {
    let ladder = Ladder::new(vec![1.0, 0.3, 0.05]).expect("a decreasing ladder");
    let first = |rung: usize| -> Box<dyn Update> { Box::new(DrawFirst { beta: ladder[rung] }) };
    // Hotter rungs leave b to the exchanges: were it drawn wrongly there, or not at all, no later
    // update would hide that.
    let sweeps = (1..3).map(|rung| Sweep::new(vec![first(rung)])).collect();
    let log_likelihood = |x: &[f64]| Ok(-0.5 * PRECISION * (SEEN - x[0] - x[1]).powi(2));
    let states = vec![vec![0.0; 2]; 2];
    let mut exchange =
        ReplicaExchange::new("exchange", ladder.clone(), sweeps, states, log_likelihood)
            .integrating(WithoutSecond(ladder.clone()));
    let second = Box::new(DrawSecond { ladder: ladder.clone(), rung: 0 });
    let mut chain = Chain::new(Sweep::new(vec![second, first(0)]), &[0.0; 2], vec![], 43);
    let mut draws = vec![Vec::new(); 3];
    for _ in 0..60_000 {
        chain.sweep.pass(&mut chain.state, &mut chain.stream);
        exchange.update(&mut chain.state, &mut chain.stream);
        draws[0].push(chain.state.clone());
        for (draws, state) in draws[1..].iter_mut().zip(exchange.states()) {
            draws.push(state.clone());
        }
    }
    for (draws, beta) in draws.iter().zip(ladder.iter()) {
        // a and b are alike: mean wy/(1 + 2w) and variance (1 + w)/(1 + 2w), w = 4β.
        let weight = PRECISION * beta;
        let total = 1.0 + 2.0 * weight;
        let moments = (weight * SEEN / total, ((1.0 + weight) / total).sqrt());
        assert_normal(&format!("a, β = {beta}"), draws, moments, |x| x[0]);
        assert_normal(&format!("b, β = {beta}"), draws, moments, |x| x[1]);
        let sum = (2.0 * weight * SEEN / total, (2.0 / total).sqrt());
        assert_normal(&format!("a + b, β = {beta}"), draws, sum, |x| x[0] + x[1]);
    }
    let counts = exchange.counts();
    assert!(counts.pairs.iter().all(|pair| pair.rate() > 0.5), "{counts:?}");
}
