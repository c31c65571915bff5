//! Targets with known moments, and proposals to sample them with.

use posteria_linalg::{Cholesky, Matrix};

use crate::random::Stream;
use crate::sample::{
    DirectionWalk, FittedStudentT, Kernel, MetropolisHastings, Proposal, RandomWalk, Scan,
    Sequence, Slice,
};
use crate::target::{Infeasible, LogDensity, PriorTimesLikelihood, Terms};

/// A log density of a function; asking it for a gradient is a fault of the kernel.
#[derive(Clone)]
pub struct Value<F>(pub usize, pub F);

impl<F: FnMut(&[f64]) -> Result<f64, Infeasible>> LogDensity for Value<F> {
    fn dim(&self) -> usize {
        self.0
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, Infeasible> {
        (self.1)(position)
    }

    fn log_density_gradient(&mut self, _: &[f64], _: &mut [f64]) -> Result<f64, Infeasible> {
        panic!("a kernel that needs no gradient asked for one")
    }
}

type Density = Box<dyn LogDensity + Send>;

/// Means of the normal target of dimension `dim`.
pub fn normal_mean(coordinate: usize) -> f64 {
    coordinate as f64 - 1.0
}

/// Covariances of the normal target: standard deviations 1, 2, 3, …, correlations 0.8^|i-j|.
pub fn normal_covariance(i: usize, j: usize) -> f64 {
    (i + 1) as f64 * (j + 1) as f64 * 0.8f64.powi(i.abs_diff(j) as i32)
}

/// A correlated normal.
pub fn normal(dim: usize) -> Density {
    let factor = Cholesky::new(&Matrix::from_fn(dim, dim, normal_covariance))
        .expect("the covariance is positive definite");
    let mut deviation = vec![0.0; dim];
    Box::new(Value(dim, move |x: &[f64]| {
        for (i, (deviation, x)) in deviation.iter_mut().zip(x).enumerate() {
            *deviation = x - normal_mean(i);
        }
        factor.solve_lower(&mut deviation);
        Ok(-0.5 * deviation.iter().map(|d| d * d).sum::<f64>())
    }))
}

/// Standard deviation of the banana's first coordinate.
pub const BANANA_SD: f64 = 1.5;
/// Its curvature.
pub const BANANA_BEND: f64 = 0.3;

/// What is left of the second coordinate when the curve is taken off: standard normal.
pub fn banana_residual(x: &[f64]) -> f64 {
    x[1] - BANANA_BEND * (x[0] * x[0] - BANANA_SD * BANANA_SD)
}

/// x_1 ~ N(0, sd²), x_2 | x_1 ~ N(bend (x_1² - sd²), 1).
pub fn banana() -> Density {
    Box::new(Value(2, |x: &[f64]| {
        Ok(-0.5 * ((x[0] / BANANA_SD).powi(2) + banana_residual(x).powi(2)))
    }))
}

/// Two standard normals given that their sum is positive.
pub fn half_plane() -> Density {
    Box::new(Value(2, |x: &[f64]| {
        if x[0] + x[1] > 0.0 {
            Ok(-0.5 * (x[0] * x[0] + x[1] * x[1]))
        } else {
            Err(Infeasible::OutsideSupport)
        }
    }))
}

/// A user's proposal that is not symmetric: it is drawn towards the origin, but wider than
/// the targets in two dimensions.
pub struct Pull;

impl Proposal for Pull {
    fn name(&self) -> &'static str {
        "pull"
    }

    fn propose(&mut self, from: &[f64], to: &mut [f64], stream: &mut Stream) {
        for (to, from) in to.iter_mut().zip(from) {
            *to = 0.7 * from + 1.5 * stream.normal();
        }
    }

    fn log_ratio(&mut self, from: &[f64], to: &[f64]) -> f64 {
        let log_q = |a: f64, b: f64| -0.5 * ((a - 0.7 * b) / 1.5).powi(2);
        from.iter().zip(to).map(|(from, to)| log_q(*from, *to) - log_q(*to, *from)).sum()
    }
}

/// One of each kernel on `dim` coordinates, with widths that are far from the best.
pub fn kernels(dim: usize) -> Vec<(&'static str, Box<dyn Kernel>)> {
    let widths = vec![0.3; dim];
    vec![
        ("random walk", Box::new(MetropolisHastings::new(RandomWalk::new(&widths)))),
        (
            "random walk with covariance",
            Box::new(MetropolisHastings::new(RandomWalk::new(&widths).learn_covariance())),
        ),
        ("user's proposal", Box::new(MetropolisHastings::new(Pull))),
        ("slice", Box::new(Slice::new(&widths))),
        ("slice, shuffled", Box::new(Slice::new(&widths).scan(Scan::Shuffled).max_steps_out(3))),
        ("independence", Box::new(MetropolisHastings::new(FittedStudentT::new(&widths)))),
        ("direction walk", Box::new(DirectionWalk::along_axes(0..dim, 0.3).repeats(3))),
        (
            "sequence without gradient",
            Box::new(Sequence::new(vec![
                Box::new(MetropolisHastings::new(RandomWalk::new(&widths).learn_covariance())),
                Box::new(DirectionWalk::along_axes(0..dim, 0.3)),
            ])),
        ),
    ]
}

/// A prior and a likelihood of one scalar.
#[derive(Clone, Copy)]
pub struct Product {
    pub log_prior: fn(f64) -> f64,
    pub log_likelihood: fn(f64) -> f64,
}

impl PriorTimesLikelihood for Product {
    fn dim(&self) -> usize {
        1
    }

    fn terms(&mut self, position: &[f64]) -> Result<Terms, Infeasible> {
        Ok(Terms {
            log_prior: (self.log_prior)(position[0]),
            log_likelihood: (self.log_likelihood)(position[0]),
        })
    }

    fn terms_gradient(&mut self, _: &[f64], _: f64, _: &mut [f64]) -> Result<Terms, Infeasible> {
        panic!("a kernel that needs no gradient asked for one")
    }
}
