//! Time the log marginal likelihood of a Gaussian process: `cargo bench -p posteria --bench gp`.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::hint::black_box;
use std::num::NonZero;
use std::time::Instant;

use posteria::model::gp::covariance::{Covariance, Evaluator, Factor, Function};
use posteria::model::spec::Sharing;
use posteria::random::{Purpose, Seed};
use posteria_linalg::{Cholesky, Matrix, dot, with_threads};

/// Best of several repetitions, in microseconds: what the machine can do when nothing disturbs it.
fn best(mut run: impl FnMut()) -> f64 {
    let start = Instant::now();
    run();
    let once = start.elapsed().as_secs_f64();
    // About two seconds in all, and at least five repetitions.
    let repetitions = (2.0 / once).clamp(5.0, 1000.0) as usize;
    let mut best = once;
    for _ in 0..repetitions {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    1e6 * best
}

struct Problem {
    rows: usize,
    inputs: usize,
    threads: usize,
    /// Microseconds to stay below: value with gradient.
    goal: f64,
}

#[rustfmt::skip]
const PROBLEMS: [Problem; 5] = [
    Problem { rows: 225, inputs: 2, threads: 1, goal: 500.0 },
    Problem { rows: 1000, inputs: 8, threads: 1, goal: 35_000.0 },
    Problem { rows: 1000, inputs: 8, threads: 2, goal: 35_000.0 },
    Problem { rows: 2000, inputs: 8, threads: 1, goal: 250_000.0 },
    Problem { rows: 2000, inputs: 8, threads: 2, goal: 250_000.0 },
];

/// log N(y; 0, K + 0.1² I), K = squared exponential with a relevance per input + 10².
struct Density<'a> {
    evaluator: Evaluator<'a>,
    factor: Cholesky,
    targets: &'a [f64],
    solution: Vec<f64>,
    inverse: Matrix,
}

impl<'a> Density<'a> {
    fn new(covariance: &'a Covariance, points: &'a Matrix, targets: &'a [f64]) -> Self {
        let n = points.rows();
        Density {
            evaluator: covariance.evaluator(points),
            factor: Cholesky::identity(n),
            targets,
            solution: vec![0.0; n],
            inverse: Matrix::zeros(n, n),
        }
    }

    fn fill(&mut self, log_parameters: &[f64]) {
        self.evaluator.set(log_parameters);
        let matrix = self.factor.matrix_mut();
        self.evaluator.fill(matrix);
        for i in 0..self.targets.len() {
            matrix[(i, i)] += 0.01;
        }
    }

    fn value(&mut self, log_parameters: &[f64]) -> f64 {
        self.fill(log_parameters);
        self.factor.refactorize().expect("positive definite with a residual variance");
        self.solution.copy_from_slice(self.targets);
        self.factor.solve_lower(&mut self.solution);
        let constant = self.targets.len() as f64 * std::f64::consts::TAU.ln();
        let square = dot(&self.solution, &self.solution);
        -0.5 * (square + self.factor.log_determinant() + constant)
    }

    fn traces(&mut self, gradient: &mut [f64]) {
        let Density { solution, inverse, evaluator, .. } = self;
        evaluator.gradient(
            &mut |j, weights| {
                let rest = solution[j..].iter().zip(&inverse.column(j)[j..]);
                for (weight, (solution_i, inverse)) in weights.iter_mut().zip(rest) {
                    *weight = 0.5 * (solution_i * solution[j] - inverse);
                }
            },
            gradient,
        );
    }

    fn value_gradient(&mut self, log_parameters: &[f64], gradient: &mut [f64]) -> f64 {
        let value = self.value(log_parameters);
        self.factor.solve_lower_transposed(&mut self.solution);
        self.factor.inverse(&mut self.inverse);
        self.traces(gradient);
        value
    }
}

fn measure(problem: &Problem) {
    let Problem { rows: n, inputs, threads, goal } = *problem;
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    let points = Matrix::from_fn(n, inputs, |_, _| stream.normal());
    let targets: Vec<f64> = (0..n).map(|_| stream.normal()).collect();
    let factor = |function, inputs: Vec<usize>| {
        vec![Factor { function, inputs, sharing: Sharing::PerInput }]
    };
    let terms = vec![
        factor(Function::SquaredExponential, (0..inputs).collect()),
        factor(Function::Constant, Vec::new()),
    ];
    let covariance = Covariance::new(terms, inputs);
    let mut logs = vec![-0.7; covariance.parameters().len()];
    *logs.last_mut().expect("the magnitude of the constant") = 10.0_f64.ln();
    let mut gradient = vec![0.0; logs.len()];
    let mut density = Density::new(&covariance, &points, &targets);
    let budget = NonZero::new(threads).expect("at least one thread");
    let [whole, value, fill, refactorize, invert, traces] = with_threads(budget, || {
        [
            best(|| {
                black_box(density.value_gradient(black_box(&logs), &mut gradient));
            }),
            best(|| {
                black_box(density.value(black_box(&logs)));
            }),
            best(|| density.fill(black_box(&logs))),
            best(|| {
                density.fill(&logs);
                density.factor.refactorize().expect("positive definite");
            }),
            best(|| density.factor.inverse(&mut density.inverse)),
            best(|| density.traces(&mut gradient)),
        ]
    });
    let mark = if whole > goal { "!" } else { " " };
    let share = 100.0 * (fill + traces) / whole;
    println!(
        "{n:5} {inputs:3} {threads:7}  {whole:9.0}{mark} ({goal:6})  {value:8.0}  {fill:6.0}  \
         {:8.0}  {invert:7.0}  {traces:6.0}  {share:4.1} %",
        refactorize - fill,
    );
}

fn main() {
    println!("microseconds, best of many; goals in brackets, ! where missed");
    println!(
        " rows inputs threads  value+gradient (goal)   value    fill  Cholesky  inverse  \
         traces  fill+traces"
    );
    for problem in &PROBLEMS {
        measure(problem);
    }
}
