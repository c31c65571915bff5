//! Leapfrog dynamics run backwards to where they came from and preserve volume.

use posteria::random::{Purpose, Seed};
use posteria::sample::hmc::{Metric, MetricKind, Phase};
use posteria::target::{LogDensity, Point, check_gradient};

use crate::targets::{Banana, Funnel, Gaussian};

/// Largest relative error of rounding over a trajectory.
const EXACT: f64 = 1e-9;

fn metrics(dim: usize) -> Vec<Metric> {
    let scales = (0..dim).map(|i| 0.5 + 0.3 * i as f64).collect();
    let mut dense = Metric::new(MetricKind::Dense, dim);
    let mut stream = Seed(5).stream(Purpose::Data, [9, 0]);
    let mut position = vec![0.0; dim];
    for _ in 0..50 {
        let common = stream.normal();
        position.iter_mut().for_each(|x| *x = common + 0.5 * stream.normal());
        dense.observe(&position, &position, true);
    }
    assert!(dense.conclude(), "fifty positions make a dense metric");
    vec![Metric::new(MetricKind::Unit, dim), Metric::new(MetricKind::Given(scales), dim), dense]
}

fn phase_at(target: &mut dyn LogDensity, seed: u64) -> Phase {
    let mut stream = Seed(seed).stream(Purpose::Data, [1, 0]);
    let mut phase = Phase::new(target.dim());
    stream.fill_normal(&mut phase.point.position);
    stream.fill_normal(&mut phase.momentum);
    phase.point = Point::new(target, phase.point.position).expect("a usable start");
    phase
}

#[test]
fn a_reversed_trajectory_returns_to_its_start() {
    let mut targets: Vec<Box<dyn LogDensity>> =
        vec![Box::new(Banana), Box::new(Funnel { count: 4 })];
    for target in &mut targets {
        for mut metric in metrics(target.dim()) {
            let start = phase_at(target, 3);
            let mut phase = start.clone();
            for step in [0.05, -0.05] {
                for _ in 0..40 {
                    phase.leapfrog(target, &mut metric, step).expect("a usable density");
                }
            }
            let moved = |a: &[f64], b: &[f64]| {
                a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
            };
            assert!(moved(&phase.point.position, &start.point.position) < EXACT);
            assert!(moved(&phase.momentum, &start.momentum) < EXACT);
        }
    }
}

#[test]
fn a_trajectory_preserves_volume() {
    // The determinant of the numerical Jacobian of ten steps in four-dimensional phase space.
    let mut target = Banana;
    for mut metric in metrics(2) {
        let start = phase_at(&mut target, 8);
        let mut end = |component: usize, shift: f64| -> [f64; 4] {
            let mut phase = start.clone();
            if component < 2 {
                phase.point.position[component] += shift;
            } else {
                phase.momentum[component - 2] += shift;
            }
            phase.point.evaluate(&mut target).expect("a usable density");
            for _ in 0..10 {
                phase.leapfrog(&mut target, &mut metric, 0.03).expect("a usable density");
            }
            let (q, r) = (&phase.point.position, &phase.momentum);
            [q[0], q[1], r[0], r[1]]
        };
        // Rows of the transposed Jacobian; its determinant is the same.
        let width = 1e-5;
        let jacobian = [0, 1, 2, 3].map(|component| {
            let (above, below) = (end(component, width), end(component, -width));
            [0, 1, 2, 3].map(|i| (above[i] - below[i]) / (2.0 * width))
        });
        let volume = determinant(jacobian);
        assert!((volume - 1.0).abs() < 1e-7, "volume {volume}");
    }
}

fn determinant(mut a: [[f64; 4]; 4]) -> f64 {
    let mut product = 1.0;
    for column in 0..4 {
        let pivot = (column..4)
            .max_by(|i, j| a[*i][column].abs().total_cmp(&a[*j][column].abs()))
            .expect("a row");
        if pivot != column {
            a.swap(pivot, column);
            product = -product;
        }
        product *= a[column][column];
        for row in column + 1..4 {
            let factor = a[row][column] / a[column][column];
            let pivot_row = a[column];
            for (entry, above) in a[row].iter_mut().zip(pivot_row) {
                *entry -= factor * above;
            }
        }
    }
    product
}

#[test]
fn gradients_agree_with_central_differences() {
    let mut targets: Vec<Box<dyn LogDensity>> = vec![
        Box::new(Banana),
        Box::new(Funnel { count: 4 }),
        Box::new(Gaussian::ill_conditioned(5)),
    ];
    for target in &mut targets {
        let mut stream = Seed(2).stream(Purpose::Data, [2, 0]);
        let mut position = vec![0.0; target.dim()];
        for _ in 0..100 {
            stream.fill_normal(&mut position);
            let check = check_gradient(target, &position).expect("a usable density");
            assert!(check.error < 1e-7, "{check:?}");
        }
    }
}

/// A gradient with one wrong sign.
struct WrongSign;

impl LogDensity for WrongSign {
    fn dim(&self) -> usize {
        2
    }

    fn log_density(&mut self, position: &[f64]) -> Result<f64, posteria::target::Infeasible> {
        Banana.log_density(position)
    }

    fn log_density_gradient(
        &mut self,
        position: &[f64],
        gradient: &mut [f64],
    ) -> Result<f64, posteria::target::Infeasible> {
        let value = Banana.log_density_gradient(position, gradient);
        gradient[1] = -gradient[1];
        value
    }
}

#[test]
fn the_gradient_check_names_the_wrong_component() {
    let check = check_gradient(&mut WrongSign, &[0.3, 1.0]).expect("a usable density");
    assert_eq!(check.component, 1);
    assert!(check.error > 0.1);
}
