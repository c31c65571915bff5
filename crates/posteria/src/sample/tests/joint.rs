//! Alternate data and parameters, and see that the parameters keep their prior [Geweke 2004].

use super::chain::{Chain, warmup};
use super::monte_carlo::{assert_mean, assert_normal};
use super::targets::kernels;
use crate::random::Stream;
use crate::sample::{
    Block, Conditional, EllipticalSlice, GaussianTimesLikelihood, Step, Sweep, Update,
};
use crate::target::{Infeasible, LogDensity};

/// The state is [y, θ].
const SWEEPS: usize = 100_000;

/// Draws y given θ.
struct Data(fn(f64, &mut Stream) -> f64);

impl Update for Data {
    fn name(&self) -> &str {
        "data"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        state[0] = (self.0)(state[1], stream);
        Step::default()
    }
}

/// θ ~ Laplace(0, 1), y | θ ~ N(θ, 1), as the density of θ given y.
struct GivenData(f64);

impl LogDensity for GivenData {
    fn dim(&self) -> usize {
        1
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        Ok(-position[0].abs() - 0.5 * (self.0 - position[0]).powi(2))
    }

    fn log_density_gradient(&mut self, _: &[f64], _: &mut [f64]) -> Result<f64, Infeasible> {
        panic!("a kernel that needs no gradient asked for one")
    }
}

impl Conditional for GivenData {
    fn condition(&mut self, state: &[f64]) -> bool {
        let changed = self.0.to_bits() != state[0].to_bits();
        self.0 = state[0];
        changed
    }
}

#[test]
fn kernels_keep_a_laplace_prior_under_normal_data() {
    for (name, kernel) in kernels(1) {
        let sweep = Sweep::new(vec![
            Box::new(Data(|theta, stream| theta + stream.normal())),
            Box::new(Block::new("theta", 1, GivenData(0.0), kernel)),
        ]);
        let mut chain = Chain::new(sweep, &[0.0, 0.0], warmup(), 51);
        chain.warm_up();
        let draws = chain.draws(SWEEPS);
        assert_mean(&format!("{name}: θ"), &draws, 0.0, |s| s[1]);
        assert_mean(&format!("{name}: θ²"), &draws, 2.0, |s| s[1] * s[1]);
        assert_mean(&format!("{name}: θ y"), &draws, 2.0, |s| s[0] * s[1]);
        assert_mean(&format!("{name}: y²"), &draws, 3.0, |s| s[0] * s[0]);
        for (bound, share) in [(0.1f64, 0.1), (0.5, 0.5), (0.9, 0.9)] {
            let radius = -(1.0 - bound).ln();
            assert_mean(&format!("{name}: |θ| below {radius}"), &draws, share, |s| {
                f64::from(u8::from(s[1].abs() < radius))
            });
        }
    }
}

/// θ ~ N(½, 2²), y | θ ~ Laplace(θ, 1).
struct NormalGivenData(f64);

impl GaussianTimesLikelihood for NormalGivenData {
    fn dim(&self) -> usize {
        1
    }

    fn condition(&mut self, state: &[f64]) -> bool {
        self.0 = state[0];
        true
    }

    fn prior_mean(&self) -> &[f64] {
        &[0.5]
    }

    fn draw_deviation(&mut self, deviation: &mut [f64], stream: &mut Stream) {
        deviation[0] = 2.0 * stream.normal();
    }

    fn log_likelihood(&mut self, block: &[f64]) -> Result<f64, Infeasible> {
        Ok(-(self.0 - block[0]).abs())
    }
}

#[test]
fn elliptical_slice_keeps_a_normal_prior_under_laplace_data() {
    let sweep = Sweep::new(vec![
        Box::new(Data(|theta, stream| {
            theta + stream.exponential() * if stream.uniform() < 0.5 { 1.0 } else { -1.0 }
        })),
        Box::new(EllipticalSlice::new("theta", 1, NormalGivenData(0.0), 1.0)),
    ]);
    let draws = Chain::new(sweep, &[0.0, 0.0], Vec::new(), 52).draws(SWEEPS);
    assert_normal("θ", &draws, (0.5, 2.0), |s| s[1]);
    assert_mean("y²", &draws, 0.25 + 4.0 + 2.0, |s| s[0] * s[0]);
    assert_mean("θ y", &draws, 0.25 + 4.0, |s| s[0] * s[1]);
}
