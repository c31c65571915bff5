//! Time one gradient of networks of typical sizes: `cargo bench -p posteria --bench gradient`.
#![allow(clippy::print_stdout, reason = "a benchmark prints what it measures")]

use std::hint::black_box;
use std::time::Instant;

use posteria::model::mlp::{Likelihood, Marginal, MarginalGradient, Network, Rows, Shape};
use posteria::random::{Purpose, Seed, Stream};
use posteria_linalg::Matrix;

/// Best of many repetitions, in microseconds: what the machine can do when nothing disturbs it.
fn best(mut run: impl FnMut()) -> f64 {
    const REPETITIONS: usize = 300;
    let start = Instant::now();
    run();
    // About a tenth of a millisecond per repetition.
    let calls = (1e-4 / start.elapsed().as_secs_f64()).clamp(1.0, 100.0) as usize;
    let mut best = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let start = Instant::now();
        for _ in 0..calls {
            run();
        }
        best = best.min(start.elapsed().as_secs_f64() / calls as f64);
    }
    1e6 * best
}

#[derive(Clone, Copy, PartialEq)]
enum Targets {
    StudentT,
    Normal,
    Binary,
    Classes,
}

struct Problem {
    name: &'static str,
    shape: Shape,
    rows: usize,
    targets: Targets,
    /// Microseconds to stay below: gradient in double and single precision, marginal density.
    goals: [f64; 3],
}

const fn shape(inputs: usize, hidden: usize, outputs: usize) -> Shape {
    Shape { inputs, hidden, outputs, direct: false }
}

/// NaN where nothing is asked.
const NONE: f64 = f64::NAN;

#[rustfmt::skip]
const PROBLEMS: [Problem; 6] = [
    Problem { name: "P1t", shape: shape(1, 8, 1), rows: 100, targets: Targets::StudentT, goals: [1.4, 0.7, NONE] },
    Problem { name: "P1g", shape: shape(1, 8, 1), rows: 100, targets: Targets::Normal, goals: [1.1, 0.55, 2.7] },
    Problem { name: "P2", shape: shape(2, 10, 1), rows: 250, targets: Targets::Binary, goals: [5.0, 2.5, NONE] },
    Problem { name: "P3", shape: shape(4, 8, 3), rows: 400, targets: Targets::Classes, goals: [9.0, 4.5, NONE] },
    Problem { name: "P4", shape: shape(2, 10, 1), rows: 225, targets: Targets::Normal, goals: [3.8, 1.9, 7.3] },
    Problem { name: "P5", shape: shape(84, 20, 1), rows: 4800, targets: Targets::Binary, goals: [900.0, 450.0, NONE] },
];

fn normals(stream: &mut Stream, count: usize) -> Vec<f64> {
    (0..count).map(|_| stream.normal()).collect()
}

fn measure(problem: &Problem) {
    let Problem { shape, rows: n, .. } = *problem;
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    let inputs = Matrix::from_fn(n, shape.inputs, |_, _| stream.normal());
    let rows = Rows::new(&inputs);
    let weights = normals(&mut stream, shape.len());
    let targets = normals(&mut stream, shape.outputs * n);
    let signs: Vec<f64> = targets.iter().map(|y| 1.0_f64.copysign(*y)).collect();
    let codes: Vec<u32> = (0..n).map(|row| (row % shape.outputs) as u32).collect();
    let ones = vec![1.0; targets.len()];
    let likelihood = match problem.targets {
        Targets::StudentT => {
            Likelihood::StudentT { targets: &targets, inverse_scales: &ones, dof: 4.0 }
        }
        Targets::Normal => Likelihood::Squares { targets: &targets, precisions: &ones },
        Targets::Binary => Likelihood::Logistic { signs: &signs },
        Targets::Classes => Likelihood::Softmax { codes: &codes },
    };
    let mut network = Network::new(shape, &rows);
    let mut gradient = vec![0.0; shape.len()];
    let value = best(|| {
        black_box(network.log_likelihood(black_box(&weights), &likelihood));
    });
    let double = best(|| {
        network.log_likelihood_gradient(black_box(&weights), &likelihood, &mut gradient);
        black_box(&gradient);
    });
    let single = best(|| {
        network.force(black_box(&weights), &likelihood, &mut gradient);
        black_box(&gradient);
    });
    let marginal = (problem.targets == Targets::Normal).then(|| {
        let mut marginal = Marginal::new(shape, &rows);
        let mut gradient = MarginalGradient::new(&shape, &rows);
        let (hidden, scales) = (&weights[..shape.tail().start], vec![0.7; shape.tail().len()]);
        let whole = best(|| {
            let hidden = black_box(hidden);
            black_box(marginal.log_density_gradient(
                hidden,
                &scales,
                &targets,
                &ones,
                &mut gradient,
            ))
            .expect("a usable density");
        });
        let value = best(|| {
            black_box(marginal.log_density(black_box(hidden), &scales, &targets, &ones))
                .expect("a usable density");
        });
        (value, whole)
    });
    let cell = |value: f64, goal: f64| {
        let mark = if value > goal { "!" } else { " " };
        if goal.is_nan() {
            format!("{value:9.2}          ")
        } else {
            format!("{value:9.2}{mark} ({goal:5})")
        }
    };
    let [double_goal, single_goal, marginal_goal] = problem.goals;
    print!(
        "{:4} {value:9.2}  {}  {}",
        problem.name,
        cell(double, double_goal),
        cell(single, single_goal)
    );
    if let Some((value, whole)) = marginal {
        print!("  {value:9.2}  {}", cell(whole, marginal_goal));
    }
    println!();
}

fn main() {
    println!("microseconds, best of many; goals in brackets, ! where missed");
    println!(
        "         value   gradient (goal)       force f32 (goal)     marginal   with gradient"
    );
    for problem in &PROBLEMS {
        measure(problem);
    }
}
