//! Residuals that are normal given one number per row: joint distribution, exact moments, ranks.

use super::*;
use crate::density::special::ln_gamma;
use crate::density::{Gamma, InverseGamma};
use crate::model::Posterior;
use crate::predict::PredictiveTable;

const ROWS: usize = 6;
const TRANSITIONS: usize = 12_000;
const PRIORS: &str = "[prior.weights]\nscale = 0.8\ndof = 6.0\n[prior.intercept]\nfixed = 1.0\n\
                      [residual]\nscale = 0.6\nscale_dof = 6.0\n";

#[derive(Clone, Copy, PartialEq)]
enum Dofs {
    None,
    Known(f64),
    Grid,
    Continuous,
    Above,
}

/// A residual model and how its prior is drawn.
#[derive(Clone, Copy)]
struct Kind {
    text: &'static str,
    dofs: Dofs,
    laplace: bool,
    by: bool,
}

/// Rows with one input that has two values.
fn design() -> Matrix {
    let mut noise = stream(60);
    Matrix::from_fn(ROWS, 2, |row, k| if k == 0 { noise.normal() } else { f64::from(row % 2 == 0) })
}

/// An exact draw of the state from the prior: coefficients, weight scale, residual scales and
/// the one above, degrees of freedom, κ.
fn prior_state(kind: Kind, noise: &mut Stream) -> Vec<f64> {
    let weights = InverseGamma::new(0.8, 6.0).unwrap().draw_log_scale(noise);
    let mut state = vec![noise.normal()];
    state.extend((0..2).map(|_| weights.exp() * noise.normal()));
    state.push(weights);
    if kind.by {
        let above = InverseGamma::new(0.6, 5.0).unwrap().draw_log_scale(noise);
        let below = InverseGamma::new(above.exp(), 6.0).unwrap();
        state.extend([below.draw_log_scale(noise), below.draw_log_scale(noise), above]);
    } else {
        state.push(InverseGamma::new(0.6, 6.0).unwrap().draw_log_scale(noise));
    }
    let dof = match kind.dofs {
        Dofs::None => None,
        Dofs::Known(dof) => Some(dof),
        Dofs::Grid => Some([3.0, 6.0, 20.0][noise.index(3)]),
        Dofs::Continuous => Some(Gamma::new(2.0, 10.0).unwrap().draw(noise)),
        Dofs::Above => {
            let whole = InverseGamma::new(5.0_f64.sqrt(), 2.0).unwrap();
            let draws = std::iter::repeat_with(|| whole.draw(noise));
            draws.into_iter().find(|dof| *dof > 2.0)
        }
    };
    if let (Some(dof), Dofs::Grid | Dofs::Continuous | Dofs::Above) = (dof, kind.dofs) {
        state.push(dof);
    }
    if kind.laplace {
        // Normal with an exponential variance of mean 2 is Laplace of scale 1.
        state.extend((0..ROWS).map(|_| -0.5 / (1.0 - noise.uniform()).ln()));
    } else if let Some(dof) = dof {
        let gamma = Gamma::from_shape_rate(0.5 * dof, 0.5 * dof).unwrap();
        state.extend((0..ROWS).map(|_| gamma.draw(noise)));
    }
    state
}

fn scale(kind: Kind, x: &Matrix, state: &[f64], row: usize) -> f64 {
    // Groups are in the order of the values: 0, then 1.
    let slot = if kind.by && x[(row, 1)] > 0.5 { 5 } else { 4 };
    let kappa = if kind.dofs == Dofs::None && !kind.laplace {
        1.0
    } else {
        state[state.len() - ROWS + row]
    };
    state[slot].exp() / kappa.sqrt()
}

fn functions(kind: Kind, state: &[f64]) -> Vec<f64> {
    let mut values = Vec::new();
    for w in &state[..3] {
        values.extend([w.tanh(), (w * w + 0.01).ln()]);
    }
    let logs = if kind.by { 3..7 } else { 3..5 };
    for u in &state[logs.clone()] {
        values.extend([*u, u * u]);
    }
    for positive in &state[logs.end..] {
        values.extend([positive.ln().tanh(), (1.0 + positive).recip()]);
    }
    values
}

#[test]
fn the_joint_distribution_is_kept_by_every_residual_model() {
    let x = design();
    let t = "family = 'student-t'\n";
    let plain = Kind { text: "", dofs: Dofs::None, laplace: false, by: false };
    let known = format!("{t}dof = 5.0");
    let grid = format!("{t}dof = {{ grid = [3.0, 6.0, 20.0] }}");
    let continuous = format!("{t}dof = 'continuous'");
    let kinds = [
        (known, Kind { dofs: Dofs::Known(5.0), ..plain }),
        (grid, Kind { dofs: Dofs::Grid, ..plain }),
        (continuous, Kind { dofs: Dofs::Continuous, ..plain }),
        (
            format!("{t}dof = {{ scale = 5.0, dof = 2.0, above = 2.0 }}"),
            Kind { dofs: Dofs::Above, ..plain },
        ),
        ("family = 'laplace'".into(), Kind { laplace: true, ..plain }),
        ("family = 'per-case'\ndof = 6.0".into(), Kind { dofs: Dofs::Known(6.0), ..plain }),
        ("by = ['x1']\ntop_dof = 5.0".into(), Kind { by: true, ..plain }),
        (
            format!("{t}dof = 4.0\nby = ['x1']\ntop_dof = 5.0"),
            Kind { dofs: Dofs::Known(4.0), by: true, ..plain },
        ),
    ];
    for (index, (text, kind)) in kinds.into_iter().enumerate() {
        let model = model(&format!("{PRIORS}{}{text}", kind.text));
        let mut noise = stream(61 + index as u64);
        let marginal =
            Table::collect(TRANSITIONS, || functions(kind, &prior_state(kind, &mut noise)));
        let mut state = prior_state(kind, &mut noise);
        let successive = Table::collect(TRANSITIONS, || {
            let y = (0..ROWS)
                .map(|row| {
                    let output = state[0] + state[1] * x[(row, 0)] + state[2] * x[(row, 1)];
                    output + scale(kind, &x, &state, row) * noise.normal()
                })
                .collect();
            let posterior = model.condition(&real(x.clone(), y), nuts()).unwrap();
            assert_eq!(posterior.state_len(), state.len(), "{text}");
            posterior.sweep(1.0).pass(&mut state, &mut noise);
            functions(kind, &state)
        });
        successive.assert_means_of(&marginal, &text);
    }
}

#[test]
fn moments_are_those_of_quadrature_at_every_temperature() {
    let mut noise = stream(70);
    let x: Vec<f64> = (0..7).map(|_| noise.normal()).collect();
    let mut y: Vec<f64> = x.iter().map(|x| 0.8 * x + 0.4 * noise.normal()).collect();
    y[3] += 4.0;
    let text = "[model]\nintercept = false\n[prior.weights]\nfixed = 1.5\n\
                [residual]\nscale = 0.5\nscale_dof = 5.0\n";
    let student = |z: f64| {
        ln_gamma(2.5)
            - ln_gamma(2.0)
            - 0.5 * (4.0 * std::f64::consts::PI).ln()
            - 2.5 * (z * z / 4.0).ln_1p()
    };
    let laplace = |z: f64| -z.abs() - std::f64::consts::LN_2;
    let prior = InverseGamma::new(0.5, 5.0).unwrap();
    type Density = fn(f64) -> f64;
    for (family, density) in
        [("family = 'student-t'\ndof = 4.0", student as Density), ("family = 'laplace'", laplace)]
    {
        let data = real(Matrix::from_fn(7, 1, |i, _| x[i]), y.clone());
        let posterior = conditioned(&format!("{text}{family}"), &data);
        for beta in [1.0, 0.4] {
            let (mut total, mut sums) = (0.0, [0.0; 4]);
            for i in 0..500 {
                let w = -6.0 + 0.024 * f64::from(i);
                for j in 0..200 {
                    let u = -4.0 + 0.035 * f64::from(j);
                    let likelihood: f64 =
                        (0..7).map(|i| density((y[i] - w * x[i]) * (-u).exp()) - u).sum();
                    let log = beta * likelihood - w * w / 4.5 + prior.log_density_of_log_scale(u);
                    total += log.exp();
                    for (sum, value) in sums.iter_mut().zip([w, w * w, u, u * u]) {
                        *sum += log.exp() * value;
                    }
                }
            }
            let mut noise = stream(71);
            let mut state = posterior.start(&mut noise);
            let mut sweep = posterior.sweep(beta);
            let table = Table::collect(20_000, || {
                sweep.pass(&mut state, &mut noise);
                vec![state[0], state[0] * state[0], state[1], state[1] * state[1]]
            });
            table.assert_means(&sums.map(|sum| sum / total), family);
        }
    }
}

#[test]
fn a_draw_alone_gives_the_log_likelihood_and_the_prediction() {
    let mut noise = stream(72);
    let x = design();
    let y: Vec<f64> = (0..ROWS).map(|_| 20.0 + 5.0 * noise.normal()).collect();
    let mut data = real(x, y.iter().map(|y| (y - 20.0) / 5.0).collect());
    data.target_scaling = vec![Standardization { centre: 20.0, scale: 5.0 }];
    for (text, names) in [
        ("family = 'student-t'", "residual_scale residual_dof"),
        ("family = 'student-t'\ndof = 3.0", "residual_scale"),
        ("family = 'laplace'", "residual_scale"),
        ("family = 'per-case'", "residual_scale case_scale[0] case_scale[1] case_scale[2]"),
        ("by = ['x1']", "residual_scale[x1=0] residual_scale[x1=1] residual_scale_above"),
    ] {
        let posterior = conditioned(&format!("[residual]\n{text}"), &data);
        let all = posterior.layout().component_names().join(" ");
        assert!(all.starts_with("intercept weights[x0] weights[x1] weight_scale "), "{all}");
        assert!(all.contains(names), "{all}");
        let mut state = posterior.start(&mut noise);
        let (mut sweep, mut evaluator) = (posterior.sweep(1.0), posterior.evaluator());
        let mut predictor = posterior.predictor().unwrap();
        let width = predictor.family().width();
        let mut parameters = vec![0.0; width];
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut rows = vec![0.0; ROWS];
        for _ in 0..20 {
            sweep.pass(&mut state, &mut noise);
            evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
            let draws = alone(posterior.layout(), &draw);
            let table = PredictiveTable::new(&mut *predictor, &draws, 0..1, &data.inputs);
            for row in 0..ROWS {
                let found = table.predictive(row).log_density(&[y[row]]);
                assert!((found - rows[row]).abs() < 1e-9, "{text}: {found} {}", rows[row]);
            }
        }
        // A row of a group that was never seen has a scale of its prior.
        let new = Matrix::from_fn(1, 2, |_, k| [0.0, 7.0][k]);
        predictor.at(&draw, &new, &mut parameters);
        assert!(parameters[1] > 0.0);
    }
}

#[test]
fn ranks_of_the_truth_are_uniform_with_student_t_residuals() {
    // 64 replications, ranks among 63 draws in 8 bins: chi-square with 7 degrees of freedom
    // passes 29.9 by chance with probability 1e-4, for each of six quantities (seeds fixed).
    const DRAWS: usize = 63;
    let kind = Kind { text: "", dofs: Dofs::Grid, laplace: false, by: false };
    let text = "family = 'student-t'\ndof = { grid = [3.0, 6.0, 20.0] }";
    let model = model(&format!("{PRIORS}{text}"));
    let mut noise = stream(73);
    let x = design();
    let mut counts = [[0.0; 8]; 5];
    for _ in 0..64 {
        let truth = prior_state(kind, &mut noise);
        let y = (0..ROWS).map(|row| {
            let output = truth[0] + truth[1] * x[(row, 0)] + truth[2] * x[(row, 1)];
            output + scale(kind, &x, &truth, row) * noise.normal()
        });
        let y = y.collect();
        let posterior = model.condition(&real(x.clone(), y), nuts()).unwrap();
        let mut ranks = [0; 5];
        let mut state = posterior.start(&mut noise);
        let mut sweep = posterior.sweep(1.0);
        for index in 0..DRAWS + 20 {
            (0..15).for_each(|_| {
                sweep.pass(&mut state, &mut noise);
            });
            if index >= 20 {
                for (rank, (value, truth)) in ranks.iter_mut().zip(state.iter().zip(&truth)) {
                    *rank += usize::from(value < truth);
                }
            }
        }
        for (counts, rank) in counts.iter_mut().zip(ranks) {
            counts[rank * 8 / (DRAWS + 1)] += 1.0;
        }
    }
    for (index, counts) in counts.iter().enumerate() {
        let chi_square: f64 = counts.iter().map(|count| (count - 8.0_f64).powi(2) / 8.0).sum();
        assert!(chi_square < 29.9, "quantity {index}: {counts:?}");
    }
}
