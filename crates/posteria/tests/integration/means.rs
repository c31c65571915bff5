//! Move a scale with the means below it integrated out, against quadrature.

use posteria::random::{Purpose, Seed, Stream};
use posteria::sample::{
    Block, Conditional, Coordinates, Kernel, Plan, Reparametrized, Slice, Stage, Step, Sweep,
    Update,
};
use posteria::target::{Infeasible, LogDensity, Point};

use crate::kernels;

/// Largest |z| of a comparison by 100 batch means: a false-alarm rate of 2e-5 each.
const LARGEST_Z: f64 = 4.5;
const SWEEPS: usize = 40_000;
const BATCHES: usize = 100;

/// y_j ~ N(m_j, exp(2v)), m_j ~ N(0, exp(2u)), u and v ~ N(0, 1). The state is (v, u, m).
#[derive(Clone)]
pub struct Means {
    targets: Vec<f64>,
    log_residual_scale: f64,
}

impl Means {
    pub fn new() -> Self {
        Means { targets: vec![0.3, -1.2, 2.0, 0.8], log_residual_scale: 0.0 }
    }

    pub fn start() -> Vec<f64> {
        vec![0.0; 6]
    }

    /// v by slice sampling given the means; u, as u - v, by `kernel` without them.
    pub fn sweep<'p>(&self, kernel: Box<dyn Kernel + 'p>) -> Sweep<'p> {
        let residual = ResidualScale { means: vec![0.0; 4], targets: self.targets.clone() };
        Sweep::new(vec![
            Box::new(Block::new("residual scale", 0, residual, Slice::new(&[1.0]))),
            Box::new(Reparametrized::new("scale and means", self.clone(), kernel)),
        ])
    }

    /// log p(y | u, v) + log p(u), means integrated out, and its derivative in u.
    fn collapsed(&self, u: f64, v: f64) -> (f64, f64) {
        let (prior, variance) = ((2.0 * u).exp(), (2.0 * u).exp() + (2.0 * v).exp());
        let mut value = -0.5 * u * u;
        let mut derivative = -u;
        for y in &self.targets {
            value -= 0.5 * (variance.ln() + y * y / variance);
            derivative += prior * (y * y / variance - 1.0) / variance;
        }
        (value, derivative)
    }

    /// Mean and variance of m_j given u and v.
    fn mean_given(&self, j: usize, u: f64, v: f64) -> (f64, f64) {
        let (prior, residual) = ((2.0 * u).exp(), (2.0 * v).exp());
        let gain = prior / (prior + residual);
        (gain * self.targets[j], gain * residual)
    }
}

impl LogDensity for Means {
    fn dim(&self) -> usize {
        1
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let v = self.log_residual_scale;
        Ok(self.collapsed(position[0] + v, v).0)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let v = self.log_residual_scale;
        let (value, derivative) = self.collapsed(position[0] + v, v);
        gradient[0] = derivative;
        Ok(value)
    }
}

impl Coordinates for Means {
    fn enter(&mut self, state: &[f64], position: &mut [f64]) {
        self.log_residual_scale = state[0];
        position[0] = state[1] - state[0];
    }

    fn leave(&mut self, position: &[f64], state: &mut [f64], stream: &mut Stream) {
        state[1] = position[0] + self.log_residual_scale;
        for j in 0..self.targets.len() {
            let (mean, variance) = self.mean_given(j, state[1], state[0]);
            state[2 + j] = mean + variance.sqrt() * stream.normal();
        }
    }
}

/// v given the means.
struct ResidualScale {
    means: Vec<f64>,
    targets: Vec<f64>,
}

impl LogDensity for ResidualScale {
    fn dim(&self) -> usize {
        1
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        let v = position[0];
        let squares: f64 =
            self.targets.iter().zip(&self.means).map(|(y, mean)| (y - mean).powi(2)).sum();
        Ok(-0.5 * v * v - self.targets.len() as f64 * v - 0.5 * squares * (-2.0 * v).exp())
    }

    fn log_density_gradient(&mut self, _: &[f64], _: &mut [f64]) -> Result<f64, Infeasible> {
        unreachable!("slice sampling needs no gradient")
    }
}

impl Conditional for ResidualScale {
    fn condition(&mut self, state: &[f64]) -> bool {
        self.means.copy_from_slice(&state[2..]);
        true
    }
}

type Function = fn(f64, f64, f64) -> f64;

/// What is compared, of (v, u, m_3).
const FUNCTIONS: [(&str, Function); 7] = [
    ("v", |v, _, _| v),
    ("u", |_, u, _| u),
    ("v²", |v, _, _| v * v),
    ("u²", |_, u, _| u * u),
    ("u v", |v, u, _| u * v),
    ("m", |_, _, m| m),
    ("m²", |_, _, m| m * m),
];

/// Posterior expectations by quadrature over u and v; those of m given them are known.
fn truths() -> [f64; FUNCTIONS.len()] {
    let means = Means::new();
    let grid = |i: usize| -6.0 + 0.02 * i as f64;
    let (mut total, mut sums) = (0.0, [0.0; FUNCTIONS.len()]);
    for (u, v) in (0..600).flat_map(|i| (0..600).map(move |j| (grid(i), grid(j)))) {
        let weight = (means.collapsed(u, v).0 - 0.5 * v * v).exp();
        let (mean, variance) = means.mean_given(2, u, v);
        total += weight;
        // No function is of higher order in m than a square: two points have its moments.
        for (sum, (_, function)) in sums.iter_mut().zip(FUNCTIONS) {
            let sd = variance.sqrt();
            *sum += 0.5 * weight * (function(v, u, mean + sd) + function(v, u, mean - sd));
        }
    }
    sums.map(|sum| sum / total)
}

fn check(name: &str, kernel: Box<dyn Kernel>, truths: &[f64]) {
    let mut sweep = Means::new().sweep(kernel);
    let mut state = Means::start();
    let mut stream = Seed(41).stream(Purpose::Chain, [0, 0]);
    for stage in &Plan::new(1, 500, 0).warmup {
        sweep.enter(stage);
        for _ in 0..stage.iterations {
            sweep.pass(&mut state, &mut stream);
        }
    }
    sweep.enter(&Stage::default());
    let mut batches = vec![[0.0; FUNCTIONS.len()]; BATCHES];
    let size = SWEEPS / BATCHES;
    for batch in &mut batches {
        for _ in 0..size {
            sweep.pass(&mut state, &mut stream);
            for (sum, (_, function)) in batch.iter_mut().zip(FUNCTIONS) {
                *sum += function(state[0], state[1], state[4]) / size as f64;
            }
        }
    }
    let count = BATCHES as f64;
    for (i, (what, _)) in FUNCTIONS.iter().enumerate() {
        let mean = batches.iter().map(|batch| batch[i]).sum::<f64>() / count;
        let variance =
            batches.iter().map(|batch| (batch[i] - mean).powi(2)).sum::<f64>() / (count - 1.0);
        let z = (mean - truths[i]) / (variance / count).sqrt();
        assert!(z.abs() < LARGEST_Z, "{name}: {what} is {mean}, not {} (z = {z:.1})", truths[i]);
    }
}

#[test]
fn a_scale_without_its_means_follows_the_posterior() {
    let truths = truths();
    for (name, kernel) in kernels::ALL {
        if name != "user's proposal" {
            check(name, kernel(1), &truths);
        }
    }
}

/// A kernel that never moves.
struct Still;

impl Kernel for Still {
    fn name(&self) -> &'static str {
        "still"
    }

    fn step(&mut self, _: &mut dyn LogDensity, _: &mut Point, _: &mut Stream) -> Step {
        Step { accepted: false, ..Step::default() }
    }
}

#[test]
fn what_is_integrated_out_is_drawn_even_where_the_rest_stays() {
    let mut update = Reparametrized::new("means", Means::new(), Still);
    let mut state = Means::start();
    let mut stream = Seed(1).stream(Purpose::Chain, [0, 0]);
    let step = update.update(&mut state, &mut stream);
    assert!(!step.accepted);
    assert!(state[2..].iter().all(|mean| mean.abs() > 0.0), "{state:?}");
}

#[test]
fn without_a_density_the_state_stays_and_says_so() {
    let mut update = Reparametrized::new("means", Means::new(), Slice::new(&[1.0]));
    let state = vec![f64::NAN, 0.5, 1.0, 2.0, 3.0, 4.0];
    let mut moved = state.clone();
    let mut stream = Seed(1).stream(Purpose::Chain, [0, 0]);
    let step = update.update(&mut moved, &mut stream);
    assert_eq!(step.infeasible, Some(Infeasible::NotFinite));
    assert!(!step.accepted);
    assert_eq!(moved[1..], state[1..]);
}
