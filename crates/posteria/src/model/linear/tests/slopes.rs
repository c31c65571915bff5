//! Log residual scales that are linear in inputs: joint distribution, exact moments, maximum
//! likelihood.

use super::several_targets::two;
use super::*;
use crate::density::special::{LOG_SQRT_2PI, normal_cdf};
use crate::density::{Gamma, InverseGamma};
use crate::model::Posterior;
use crate::predict::PredictiveTable;

const ROWS: usize = 6;
const TRANSITIONS: usize = 10_000;
const PRIORS: &str = "[prior.weights]\nscale = 0.8\ndof = 6.0\n[prior.intercept]\nfixed = 1.0\n\
                      [residual]\nscale = 0.6\nscale_dof = 6.0\nslope_sd = 0.4\n";

/// A residual model and how its prior is drawn.
#[derive(Clone, Copy, Default)]
struct Kind {
    text: &'static str,
    /// Inputs with a slope.
    slopes: &'static [usize],
    /// Degrees of freedom of κ; infinitely many of a Laplace distribution.
    dof: Option<f64>,
    by: bool,
    targets: usize,
    /// Whether targets share scale and slopes.
    common: bool,
}

impl Kind {
    fn sets(&self) -> usize {
        if self.common { 1 } else { self.targets }
    }

    fn groups(&self) -> usize {
        1 + usize::from(self.by)
    }

    /// Where residual scales begin: after the coefficients and the scale of the weights.
    fn scales(&self) -> usize {
        3 * self.targets + 1
    }

    fn first_slope(&self) -> usize {
        self.scales() + self.sets() * self.groups() + usize::from(self.by)
    }

    /// An exact draw of the state from the prior: coefficients, weight scale, residual scales and
    /// the one above, slopes, κ.
    fn prior_state(&self, noise: &mut Stream) -> Vec<f64> {
        let weights = InverseGamma::new(0.8, 6.0).unwrap().draw_log_scale(noise);
        let mut state: Vec<f64> = (0..self.targets).map(|_| noise.normal()).collect();
        state.extend((0..2 * self.targets).map(|_| weights.exp() * noise.normal()));
        state.push(weights);
        if self.by {
            let above = InverseGamma::new(0.6, 5.0).unwrap().draw_log_scale(noise);
            let below = InverseGamma::new(above.exp(), 6.0).unwrap();
            state.extend([below.draw_log_scale(noise), below.draw_log_scale(noise), above]);
        } else {
            let prior = InverseGamma::new(0.6, 6.0).unwrap();
            state.extend((0..self.sets()).map(|_| prior.draw_log_scale(noise)));
        }
        state.extend((0..self.sets() * self.slopes.len()).map(|_| 0.4 * noise.normal()));
        let cases = self.targets * ROWS;
        match self.dof {
            None => {}
            // Normal with an exponential variance of mean 2 is Laplace of scale 1.
            Some(f64::INFINITY) => {
                state.extend((0..cases).map(|_| -0.5 / (1.0 - noise.uniform()).ln()));
            }
            Some(dof) => {
                let gamma = Gamma::from_shape_rate(0.5 * dof, 0.5 * dof).unwrap();
                state.extend((0..cases).map(|_| gamma.draw(noise)));
            }
        }
        state
    }

    fn scale(&self, x: &Matrix, state: &[f64], (target, row): (usize, usize)) -> f64 {
        let set = if self.common { 0 } else { target };
        let group = usize::from(self.by && x[(row, 1)] > 0.5);
        let mut log_scale = state[self.scales() + set * self.groups() + group];
        for (k, input) in self.slopes.iter().enumerate() {
            log_scale += state[self.first_slope() + set * self.slopes.len() + k] * x[(row, *input)];
        }
        let kappa = match self.dof {
            None => 1.0,
            Some(_) => state[state.len() - self.targets * ROWS + target * ROWS + row],
        };
        log_scale.exp() / kappa.sqrt()
    }

    fn functions(&self, state: &[f64]) -> Vec<f64> {
        let mut values = Vec::new();
        for w in &state[..3 * self.targets] {
            values.extend([w.tanh(), (w * w + 0.01).ln()]);
        }
        let end = self.first_slope() + self.sets() * self.slopes.len();
        let logs = &state[self.scales() - 1..end];
        for u in logs {
            values.extend([*u, u * u]);
        }
        // Slopes with each other and with the scale.
        values.push(state[self.scales()] * state[self.first_slope()]);
        values.push(state[self.first_slope()] * state[end - 1]);
        for positive in &state[end..] {
            values.extend([positive.ln().tanh(), (1.0 + positive).recip()]);
        }
        values
    }
}

/// Rows with one input that has two values.
fn design() -> Matrix {
    let mut noise = stream(110);
    Matrix::from_fn(ROWS, 2, |row, k| if k == 0 { noise.normal() } else { f64::from(row % 2 == 0) })
}

#[test]
fn the_joint_distribution_is_kept_with_slopes_of_every_residual_model() {
    let x = design();
    let plain = Kind { slopes: &[0], targets: 1, ..Kind::default() };
    let kinds = [
        Kind { text: "slopes = ['x0']", ..plain },
        Kind { text: "slopes = ['x1', 'x0']", slopes: &[0, 1], ..plain },
        Kind { text: "slopes = ['x0']\nfamily = 'student-t'\ndof = 4.0", dof: Some(4.0), ..plain },
        Kind { text: "slopes = ['x0']\nfamily = 'laplace'", dof: Some(f64::INFINITY), ..plain },
        Kind { text: "slopes = ['x0']\nfamily = 'per-case'\ndof = 6.0", dof: Some(6.0), ..plain },
        Kind { text: "slopes = ['x0']\nby = ['x1']\ntop_dof = 5.0", by: true, ..plain },
        Kind { text: "slopes = ['x0']", targets: 2, ..plain },
        Kind {
            text: "slopes = ['x0']\nsharing = 'common'\nfamily = 'student-t'\ndof = 4.0",
            dof: Some(4.0),
            targets: 2,
            common: true,
            ..plain
        },
    ];
    for (index, kind) in kinds.into_iter().enumerate() {
        let model = model(&format!("{PRIORS}{}", kind.text));
        let mut noise = stream(111 + index as u64);
        let marginal =
            Table::collect(TRANSITIONS, || kind.functions(&kind.prior_state(&mut noise)));
        let mut state = kind.prior_state(&mut noise);
        let successive = Table::collect(TRANSITIONS, || {
            let targets = kind.targets;
            let y: Vec<Vec<f64>> = (0..targets)
                .map(|target| {
                    let at = |k: usize| state[k * targets + target];
                    (0..ROWS)
                        .map(|row| {
                            let f = at(0) + at(1) * x[(row, 0)] + at(2) * x[(row, 1)];
                            f + kind.scale(&x, &state, (target, row)) * noise.normal()
                        })
                        .collect()
                })
                .collect();
            let posterior = model.condition(&two(x.clone(), &y), nuts()).unwrap();
            assert_eq!(posterior.state_len(), state.len(), "{}", kind.text);
            posterior.sweep(1.0).pass(&mut state, &mut noise);
            kind.functions(&state)
        });
        successive.assert_means_of(&marginal, kind.text);
    }
}

#[test]
fn moments_are_those_of_quadrature_at_every_temperature() {
    // The density of Laplace residuals has a kink in w, which takes more nodes.
    const WEIGHTS: i32 = 400;
    const NODES: i32 = 50;
    let mut noise = stream(120);
    let x: Vec<f64> = (0..7).map(|_| noise.normal()).collect();
    let y: Vec<f64> = x.iter().map(|x| 0.8 * x + (-0.7 + 0.5 * x).exp() * noise.normal()).collect();
    let text = "[model]\nintercept = false\n[prior.weights]\nfixed = 1.5\n\
                [residual]\nscale = 0.5\nscale_dof = 5.0\nslopes = ['x0']\n";
    let normal = |z: f64| -0.5 * z * z;
    let student = |z: f64| -2.5 * (z * z / 4.0).ln_1p();
    let laplace = |z: f64| -z.abs();
    let prior = InverseGamma::new(0.5, 5.0).unwrap();
    type Density = fn(f64) -> f64;
    for (family, density) in [
        ("", normal as Density),
        ("family = 'student-t'\ndof = 4.0", student),
        ("family = 'laplace'", laplace),
    ] {
        let data = real(Matrix::from_fn(7, 1, |i, _| x[i]), y.clone());
        let posterior = conditioned(&format!("{text}{family}"), &data);
        for beta in [1.0, 0.4, 0.0] {
            let (mut total, mut sums) = (0.0, [0.0; 7]);
            let node = |i: i32, low: f64, high: f64, count: i32| {
                low + (high - low) * (f64::from(i) + 0.5) / f64::from(count)
            };
            for i in 0..WEIGHTS {
                // Wider than the prior of w, which is all there is at β = 0.
                let w = node(i, -6.0, 6.0, WEIGHTS);
                for j in 0..NODES {
                    let u = node(j, -3.0, 2.5, NODES);
                    for k in 0..NODES {
                        let b = node(k, -2.2, 2.2, NODES);
                        let likelihood: f64 = (0..7)
                            .map(|i| {
                                let log_scale = u + b * x[i];
                                density((y[i] - w * x[i]) * (-log_scale).exp()) - log_scale
                            })
                            .sum();
                        let log = beta * likelihood - w * w / 4.5 - 2.0 * b * b
                            + prior.log_density_of_log_scale(u);
                        let mass = log.exp();
                        total += mass;
                        let values = [w, w * w, u, u * u, b, b * b, u * b];
                        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += mass * value);
                    }
                }
            }
            let mut noise = stream(121);
            let mut state = posterior.start(&mut noise);
            let mut sweep = posterior.sweep(beta);
            let table = Table::collect(20_000, || {
                sweep.pass(&mut state, &mut noise);
                let (w, u, b) = (state[0], state[1], state[2]);
                vec![w, w * w, u, u * u, b, b * b, u * b]
            });
            table.assert_means(&sums.map(|sum| sum / total), &format!("{family}, β = {beta}"));
        }
    }
}

/// The table of tests/reference/slopes.py.
fn reference_table() -> (Matrix, Vec<f64>) {
    let part = |i: usize, r: f64| (i as f64 * r.sqrt()).fract();
    let x = |i: usize| 12.0_f64.sqrt() * (part(i, 5.0) - 0.5);
    let e = |i: usize| 2.0 * (part(i, 2.0) + part(i, 3.0) + part(i, 7.0) - 1.5);
    let y = |i: usize| 1.0 + 2.0 * x(i) + (-0.5 + 0.6 * x(i)).exp() * e(i);
    (Matrix::from_fn(200, 1, |row, _| x(row + 1)), (1..=200).map(y).collect())
}

#[test]
fn flat_priors_give_the_maximum_likelihood_of_another_program() {
    // From tests/reference/slopes.py: maxima and standard errors of intercept, weight, log scale
    // and slope, and the log likelihood at the maximum.
    let (x, y) = reference_table();
    for (family, log_likelihood, maximum, errors) in [
        (
            "",
            -176.920676,
            [0.972099, 1.949967, -0.533967, 0.630906],
            [0.051192, 0.042874, 0.05, 0.051885],
        ),
        (
            "family = 'student-t'\ndof = 4.0",
            -185.498430,
            [0.985016, 1.964803, -0.689968, 0.632463],
            [0.053238, 0.043741, 0.062816, 0.063833],
        ),
    ] {
        let text = format!(
            "[prior.weights]\nfixed = 100.0\n[prior.intercept]\nfixed = 100.0\n\
             [residual]\nscale = 1.0\nlog_sd = 10.0\nslopes = ['x0']\nslope_sd = 10.0\n{family}"
        );
        let posterior = conditioned(&text, &real(x.clone(), y.clone()));
        let mut noise = stream(125);
        let mut state = posterior.start(&mut noise);
        let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 200]);
        state[..4].copy_from_slice(&maximum);
        let terms = posterior.evaluator().evaluate(&state, &mut draw, &mut rows).unwrap();
        // The maximum is given to six digits, its square's effect is beyond them.
        assert!((terms.log_likelihood - log_likelihood).abs() < 2e-6, "{}", terms.log_likelihood);
        let mut sweep = posterior.sweep(1.0);
        (0..100).for_each(|_| {
            sweep.pass(&mut state, &mut noise);
        });
        let table = Table::collect(6_000, || {
            sweep.pass(&mut state, &mut noise);
            state[..4].to_vec()
        });
        for (k, column) in table.0.iter().enumerate() {
            let count = column.len() as f64;
            let mean = column.iter().sum::<f64>() / count;
            let square = column.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
            let off = (mean - maximum[k]) / errors[k];
            // Posterior mean and maximum differ by terms of order 1/n, about a tenth of an error;
            // the Monte Carlo error of 6000 draws is below 0.03.
            assert!(off.abs() < 0.3, "{family}: quantity {k} is {off} errors off");
            let ratio = (square / count).sqrt() / errors[k];
            assert!((0.93..1.1).contains(&ratio), "{family}: quantity {k}, deviation × {ratio}");
        }
    }
}

#[test]
fn without_data_slopes_have_their_prior() {
    let text = format!("{PRIORS}slopes = ['x0', 'x1']\nfamily = 'student-t'");
    let posterior = conditioned(&text, &real(design(), vec![0.3; ROWS]));
    let mut noise = stream(126);
    let mut state = posterior.start(&mut noise);
    let mut sweep = posterior.sweep(0.0);
    let tempering = posterior.tempering().unwrap();
    let first = 3 + 1 + 1;
    let table = Table::collect(8000, || {
        sweep.pass(&mut state, &mut noise);
        let drawn = tempering.draw_prior_state(&mut noise).unwrap();
        [&state, &drawn]
            .into_iter()
            .flat_map(|state| [state[first], state[first + 1]])
            .flat_map(|b| {
                let z = b / 0.4;
                [normal_cdf(z), z * z]
            })
            .collect()
    });
    table.assert_means(&[0.5, 1.0, 0.5, 1.0, 0.5, 1.0, 0.5, 1.0], "prior");
}

#[test]
fn a_draw_alone_gives_the_log_likelihood_and_the_scale_of_a_new_row() {
    let mut noise = stream(127);
    let x = design();
    let y: Vec<f64> = (0..ROWS).map(|_| 20.0 + 5.0 * noise.normal()).collect();
    let mut data = real(x, y.iter().map(|y| (y - 20.0) / 5.0).collect());
    data.target_scaling = vec![Standardization { centre: 20.0, scale: 5.0 }];
    data.input_scaling[0] = Standardization { centre: -3.0, scale: 0.1 };
    for (text, names) in [
        ("slopes = ['x0']", "residual_scale residual_log_slope[x0]"),
        ("slopes = ['x0', 'x1']\nfamily = 'student-t'", "residual_log_slope[x1] residual_dof"),
        ("slopes = ['x0']\nfamily = 'laplace'", "residual_scale residual_log_slope[x0]"),
        ("slopes = ['x0']\nfamily = 'per-case'", "residual_log_slope[x0] case_scale[0]"),
        ("slopes = ['x0']\nby = ['x1']", "residual_scale_above residual_log_slope[x0]"),
    ] {
        let posterior = conditioned(&format!("[residual]\n{text}"), &data);
        let all = posterior.layout().component_names().join(" ");
        assert!(all.contains(names), "{all}");
        let places = ["residual_scale", "residual_log_slope"]
            .map(|name| posterior.layout().variable(name).unwrap().offset);
        let mut state = posterior.start(&mut noise);
        let (mut sweep, mut evaluator) = (posterior.sweep(1.0), posterior.evaluator());
        let mut predictor = posterior.predictor().unwrap();
        let mut parameters = vec![0.0; predictor.family().width()];
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut rows = vec![0.0; ROWS];
        for _ in 0..10 {
            sweep.pass(&mut state, &mut noise);
            evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
            let draws = alone(posterior.layout(), &draw);
            let table = PredictiveTable::new(&mut *predictor, &draws, 0..1, &data.inputs);
            for row in 0..ROWS {
                let found = table.predictive(row).log_density(&[y[row]]);
                assert!((found - rows[row]).abs() < 1e-9, "{text}: {found} {}", rows[row]);
            }
            let density = posterior.state_density().unwrap();
            let back = density.state_of(&draw).unwrap();
            for at in density.movable_slots() {
                assert!((back[at] - state[at]).abs() < 1e-9, "{text}: {back:?} {state:?}");
            }
            // Half a standard deviation above the mean: 0.05 units of the input.
            let new = Matrix::from_fn(1, 2, |_, k| [0.5, 0.0][k]);
            predictor.at(&draw, &new, &mut parameters);
            let expected = draw[places[0]] * (0.05 * draw[places[1]]).exp();
            assert!((parameters[1] / expected - 1.0).abs() < 1e-12, "{text}: {parameters:?}");
            // However far out, it is a number whose square is one.
            let far = Matrix::from_fn(1, 2, |_, k| [1e9, 0.0][k]);
            predictor.at(&draw, &far, &mut parameters);
            assert!(parameters[1].powi(2).is_finite(), "{text}: {parameters:?}");
        }
    }
}

#[test]
fn the_log_prior_of_slopes_is_normalised() {
    let posterior =
        conditioned(&format!("{PRIORS}slopes = ['x0']"), &real(design(), vec![0.1; ROWS]));
    let mut evaluator = posterior.evaluator();
    let mut at = |b: f64| {
        let state = [0.2, 0.1, -0.3, -0.4, -0.5, b];
        let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; ROWS]);
        evaluator.evaluate(&state, &mut draw, &mut rows).unwrap().log_prior
    };
    let none =
        conditioned(PRIORS.trim_end_matches("slope_sd = 0.4\n"), &real(design(), vec![0.1; ROWS]));
    let (mut draw, mut rows) = (vec![0.0; none.layout().len()], vec![0.0; ROWS]);
    let without = none
        .evaluator()
        .evaluate(&[0.2, 0.1, -0.3, -0.4, -0.5], &mut draw, &mut rows)
        .unwrap()
        .log_prior;
    for b in [0.0, 0.4, -1.3] {
        let expected = -0.5 * (b / 0.4) * (b / 0.4) - 0.4_f64.ln() - LOG_SQRT_2PI;
        assert!((at(b) - without - expected).abs() < 1e-12);
    }
}
