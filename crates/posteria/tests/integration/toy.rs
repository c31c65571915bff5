//! A small hierarchical posterior with a Gibbs block and a kernel block.

use posteria::draws::Layout;
use posteria::model::{Evaluator, Posterior};
use posteria::random::Stream;
use posteria::sample::{Block, Kernel, Step, Sweep, Unconditional, Update};
use posteria::target::{Infeasible, LogDensity, Terms};

/// y_i ~ N(μ, exp(2u)), μ ~ N(0, 10²), u ~ N(0, 1). The state is (μ, u).
pub struct Toy {
    pub targets: Vec<f64>,
    pub kernel: fn(usize) -> Box<dyn Kernel>,
    pub layout: Layout,
}

impl Toy {
    pub fn new(kernel: fn(usize) -> Box<dyn Kernel>) -> Self {
        let mut layout = Layout::new();
        layout.push_scalar("mean");
        layout.push_scalar("log_scale");
        Toy { targets: vec![1.0, 2.5, 0.3, 1.7, 4.1], kernel, layout }
    }
}

const LOG_SQRT_2PI: f64 = 0.918_938_533_204_672_7;

fn normal(x: f64, mean: f64, scale: f64) -> f64 {
    -0.5 * ((x - mean) / scale).powi(2) - scale.ln() - LOG_SQRT_2PI
}

/// The joint density of the state.
struct Joint<'p>(&'p Toy);

impl LogDensity for Joint<'_> {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, state: &[f64]) -> Result<f64, Infeasible> {
        let scale = state[1].exp();
        let likelihood: f64 = self.0.targets.iter().map(|y| normal(*y, state[0], scale)).sum();
        Ok(normal(state[0], 0.0, 10.0) + normal(state[1], 0.0, 1.0) + likelihood)
    }

    fn log_density_gradient(
        &mut self,
        state: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, Infeasible> {
        let precision = (-2.0 * state[1]).exp();
        gradient[0] = -state[0] / 100.0;
        gradient[1] = -state[1];
        for y in &self.0.targets {
            let residual = y - state[0];
            gradient[0] += precision * residual;
            gradient[1] += precision * residual * residual - 1.0;
        }
        self.log_density(state)
    }
}

/// μ given u, exactly.
struct MeanUpdate<'p>(&'p Toy);

impl Update for MeanUpdate<'_> {
    fn name(&self) -> &str {
        "mean"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let precision = (-2.0 * state[1]).exp();
        let total = 0.01 + precision * self.0.targets.len() as f64;
        let sum: f64 = self.0.targets.iter().sum();
        state[0] = precision * sum / total + stream.normal() / total.sqrt();
        Step::default()
    }
}

struct Rows<'p>(&'p Toy);

impl Evaluator for Rows<'_> {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        draw.copy_from_slice(state);
        let scale = state[1].exp();
        for (row, y) in log_likelihood.iter_mut().zip(&self.0.targets) {
            *row = normal(*y, state[0], scale);
        }
        let log_prior = normal(state[0], 0.0, 10.0) + normal(state[1], 0.0, 1.0);
        Ok(Terms { log_prior, log_likelihood: log_likelihood.iter().sum() })
    }
}

impl Posterior for Toy {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        self.targets.len()
    }

    fn state_len(&self) -> usize {
        2
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        vec![10.0 * stream.normal(), stream.normal()]
    }

    fn sweep<'p>(&'p self, _inverse_temperature: f64) -> Sweep<'p> {
        let block = Block::new("joint", 0, Unconditional(Joint(self)), (self.kernel)(2));
        Sweep::new(vec![Box::new(MeanUpdate(self)), Box::new(block)])
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(Rows(self))
    }
}
