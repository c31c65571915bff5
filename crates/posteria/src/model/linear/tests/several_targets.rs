//! Several real targets: single models where nothing is shared, the joint distribution where it is.

use super::*;
use crate::density::InverseGamma;
use crate::model::Posterior;
use crate::predict::PredictiveTable;

const ROWS: usize = 6;
const TRANSITIONS: usize = 10_000;

pub(super) fn two(x: Matrix, y: &[Vec<f64>]) -> Dataset {
    let values = Matrix::from_fn(x.rows(), y.len(), |row, target| y[target][row]);
    let names = (0..y.len()).map(|target| format!("y{target}")).collect();
    Dataset::unscaled(x, Targets::Real { names, values })
}

/// Two targets that one input explains, both with noise.
pub(super) fn example(rows: usize) -> (Matrix, [Vec<f64>; 2]) {
    let mut noise = stream(90);
    let x = random_matrix(rows, 2, &mut noise);
    let line = |slope: f64, scale: f64, noise: &mut Stream| -> Vec<f64> {
        (0..rows).map(|row| 0.3 + slope * x[(row, 0)] + scale * noise.normal()).collect()
    };
    let y = [line(1.2, 0.5, &mut noise), line(-0.4, 1.5, &mut noise)];
    (x, y)
}

#[test]
fn targets_that_share_nothing_are_single_models() {
    // Weights of known scale: the posterior of a target is that of its own model, which is known
    // by quadrature.
    let text = "[prior.weights]\nfixed = 0.8\n[prior.intercept]\nfixed = 2.0\n\
                [residual]\nscale = 0.6\nscale_dof = 5.0";
    let (x, y) = example(9);
    let both = conditioned(text, &two(x.clone(), &y));
    let names = both.layout().component_names().join(" ");
    let expected = "intercept[y0] intercept[y1] weights[x0, y0] weights[x0, y1] weights[x1, y0] \
                    weights[x1, y1] residual_scale[y0] residual_scale[y1]";
    assert_eq!(names, expected);
    let mut noise = stream(91);
    let mut state = both.start(&mut noise);
    let mut sweep = both.sweep(1.0);
    let table = Table::collect(20_000, || {
        sweep.pass(&mut state, &mut noise);
        let [a, b] = [[2, 4, 6], [3, 5, 7]].map(|at| at.map(|at| state[at]));
        [a, b].iter().flat_map(|[w, v, s]| [*w, w * w, *v, w * v, *s]).collect()
    });
    let mut expected = Vec::new();
    for y in &y {
        let exact = conditioned(text, &real(x.clone(), y.clone())).by_quadrature().unwrap();
        let square = |c: &[f64]| {
            let along = exact.weights(c);
            along.sd().powi(2) + along.mean().powi(2)
        };
        // Products by w v = ½((w + v)² - w² - v²).
        let [first, second, sum] = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]].map(|c| square(&c));
        let means = [[1.0, 0.0], [0.0, 1.0]].map(|c| exact.weights(&c).mean());
        let product = 0.5 * (sum - first - second);
        let log_scale = exact.expectation(|log_noise, _| log_noise);
        expected.extend([means[0], first, means[1], product, log_scale]);
    }
    table.assert_means(&expected, "two targets");
}

#[test]
fn conjugate_targets_are_independent_closed_forms() {
    let text = "[prior.weights]\nfamily = 'conjugate'\nrho = 0.5\n\
                [residual]\nscale = 0.6\nscale_dof = 5.0\n";
    let (x, y) = example(9);
    let both = conditioned(text, &two(x.clone(), &y));
    assert!(both.closed_form().is_none(), "not one target");
    let exact = both.closed_forms().unwrap();
    let mut evidence = 0.0;
    for (exact, y) in exact.iter().zip(&y) {
        let single = conditioned(text, &real(x.clone(), y.clone()));
        assert_eq!(exact.mean(), single.closed_form().unwrap().mean());
        evidence += single.log_evidence().unwrap();
    }
    assert!((both.log_evidence().unwrap() - evidence).abs() < 1e-12);
    // Prior × likelihood / posterior is the evidence wherever it is looked at; by the moments the
    // sampled posterior is the exact one.
    let mut noise = stream(92);
    let mut state = both.start(&mut noise);
    let mut sweep = both.sweep(1.0);
    let table = Table::collect(20_000, || {
        sweep.pass(&mut state, &mut noise);
        let shares = (0..2)
            .map(|target| exact[target].residual_precision().cdf((2.0 * state[6 + target]).exp()));
        let coefficients = state[..6].iter().copied();
        coefficients.chain(shares).collect()
    });
    let means = (0..6).map(|at| exact[at % 2].mean()[at / 2]);
    table.assert_means(&means.chain([0.5, 0.5]).collect::<Vec<_>>(), "conjugate");
    // Inputs that all stay have the conditional of the model without a choice.
    let chosen = format!("{text}[selection]\nprior = {{ binomial = 0.999999 }}");
    let chosen = conditioned(&chosen, &two(x, &y));
    let mut state = chosen.start(&mut noise);
    let mut sweep = chosen.sweep(1.0);
    let table = Table::collect(20_000, || {
        sweep.pass(&mut state, &mut noise);
        state[..6].to_vec()
    });
    table.assert_means(&means_of(exact), "all inputs in");
    let common = format!("{text}sharing = 'common'");
    let refused = model(&common).condition(&two(example(9).0, &example(9).1), nuts());
    assert!(refused.err().unwrap().to_string().contains("per-target"));
}

fn means_of(exact: &[super::super::ClosedForm]) -> Vec<f64> {
    (0..6).map(|at| exact[at % 2].mean()[at / 2]).collect()
}

/// A residual model of two targets, and how many scales it has.
struct Kind {
    text: &'static str,
    scales: usize,
    /// Degrees of freedom of Student's t.
    dof: Option<f64>,
}

/// An exact draw of the state from the prior: coefficients of both targets by columns, weight
/// scales, residual scales, κ.
fn prior_state(kind: &Kind, inputs: usize, noise: &mut Stream) -> Vec<f64> {
    let weights = InverseGamma::new(0.8, 6.0).unwrap();
    let scales: Vec<f64> = (0..inputs).map(|_| weights.draw_log_scale(noise)).collect();
    let mut state = vec![noise.normal(), noise.normal()];
    for input in 0..2 {
        for _ in 0..2 {
            state.push(scales[input % inputs].exp() * noise.normal());
        }
    }
    state.extend(scales);
    let residual = InverseGamma::new(0.6, 6.0).unwrap();
    state.extend((0..kind.scales).map(|_| residual.draw_log_scale(noise)));
    if let Some(dof) = kind.dof {
        let gamma = crate::density::Gamma::from_shape_rate(0.5 * dof, 0.5 * dof).unwrap();
        state.extend((0..2 * ROWS).map(|_| gamma.draw(noise)));
    }
    state
}

#[test]
fn the_joint_distribution_of_two_targets_is_kept() {
    let x = random_matrix(ROWS, 2, &mut stream(93));
    let prior = |sharing: &str| {
        format!(
            "[prior.weights]\n{sharing}\nscale = 0.8\ndof = 6.0\n[prior.intercept]\nfixed = 1.0\n\
             [residual]\nscale = 0.6\nscale_dof = 6.0\n"
        )
    };
    let t = "family = 'student-t'\ndof = 5.0";
    for (seed, sharing, inputs, kind) in [
        (0, "", 1, Kind { text: "", scales: 2, dof: None }),
        (1, "sharing = 'per-input'", 2, Kind { text: "sharing = 'common'", scales: 1, dof: None }),
        (2, "", 1, Kind { text: t, scales: 2, dof: Some(5.0) }),
    ] {
        let model = model(&format!("{}{}", prior(sharing), kind.text));
        let functions = |state: &[f64]| -> Vec<f64> {
            let logs = 6 + inputs + kind.scales;
            let weights = state[..6].iter().flat_map(|w| [w.tanh(), (w * w + 0.01).ln()]);
            let scales = state[6..logs].iter().flat_map(|u| [*u, u * u]);
            let products = [(state[2] * state[3]).tanh(), (state[2] * state[5]).tanh()];
            let kappas = state[logs..].iter().map(|kappa| (1.0 + kappa).recip());
            weights.chain(scales).chain(products).chain(kappas).collect()
        };
        let mut noise = stream(94 + seed);
        let marginal =
            Table::collect(TRANSITIONS, || functions(&prior_state(&kind, inputs, &mut noise)));
        let mut state = prior_state(&kind, inputs, &mut noise);
        let successive = Table::collect(TRANSITIONS, || {
            let [first, second] = [0, 1].map(|target| {
                let draw = |row: usize, noise: &mut Stream| {
                    let slot = 6 + inputs + target % kind.scales;
                    let kappa = kind
                        .dof
                        .map_or(1.0, |_| state[state.len() - 2 * ROWS + target * ROWS + row]);
                    state[target]
                        + state[2 + target] * x[(row, 0)]
                        + state[4 + target] * x[(row, 1)]
                        + state[slot].exp() / kappa.sqrt() * noise.normal()
                };
                (0..ROWS).map(|row| draw(row, &mut noise)).collect::<Vec<f64>>()
            });
            let posterior = model.condition(&two(x.clone(), &[first, second]), nuts()).unwrap();
            assert_eq!(posterior.state_len(), state.len());
            posterior.sweep(1.0).pass(&mut state, &mut noise);
            functions(&state)
        });
        successive.assert_means_of(&marginal, &format!("{sharing} {}", kind.text));
    }
}

#[test]
fn a_draw_of_two_targets_gives_the_log_likelihood_and_the_prediction() {
    let mut noise = stream(97);
    let (mut x, y) = example(ROWS);
    // Two groups of rows.
    (0..ROWS).for_each(|row| x[(row, 1)] = f64::from(row % 2 == 0));
    let scaling =
        [(20.0, 5.0), (-3.0, 0.1)].map(|(centre, scale)| Standardization { centre, scale });
    let users: Vec<Vec<f64>> = (0..2)
        .map(|target| y[target].iter().map(|y| scaling[target].invert(*y)).collect())
        .collect();
    let data = Dataset { target_scaling: scaling.to_vec(), ..two(x, &y) };
    for text in [
        "",
        "sharing = 'common'",
        "sharing = 'covariance'",
        "family = 'student-t'",
        "family = 'laplace'",
        "family = 'per-case'",
        "by = ['x1']",
        "slopes = ['x0']\nby = ['x1']",
        "slopes = ['x0', 'x1']\nsharing = 'common'",
    ] {
        let posterior = conditioned(&format!("[residual]\n{text}"), &data);
        let mut state = posterior.start(&mut noise);
        let (mut sweep, mut evaluator) = (posterior.sweep(1.0), posterior.evaluator());
        let mut predictor = posterior.predictor().unwrap();
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut rows = vec![0.0; ROWS];
        for _ in 0..20 {
            sweep.pass(&mut state, &mut noise);
            let terms = evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
            let draws = alone(posterior.layout(), &draw);
            let table = PredictiveTable::new(&mut *predictor, &draws, 0..1, &data.inputs);
            for row in 0..ROWS {
                let observed = [users[0][row], users[1][row]];
                let found = table.predictive(row).log_density(&observed);
                assert!((found - rows[row]).abs() < 1e-9, "{text}: {found} {}", rows[row]);
            }
            // Evidence by draws goes back from a draw to its state.
            let density = posterior.state_density().unwrap();
            let back = density.state_of(&draw).unwrap();
            let same =
                density.movable_slots().iter().all(|at| (back[*at] - state[*at]).abs() < 1e-9);
            assert!(same, "{text}: {back:?} {state:?}");
            let again = evaluator.evaluate(&back, &mut draw, &mut rows).unwrap();
            assert!((terms.log_likelihood - again.log_likelihood).abs() < 1e-8, "{text}");
        }
    }
}

#[test]
fn many_rows_of_two_targets_are_summed_by_their_moments() {
    let (x, y) = example(2500);
    let data = two(x, &y);
    for text in ["", "[residual]\nsharing = 'common'"] {
        let posterior = conditioned(text, &data);
        let mut noise = stream(98);
        let mut state = posterior.start(&mut noise);
        posterior.sweep(1.0).pass(&mut state, &mut noise);
        let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 2500]);
        let mut evaluator = posterior.evaluator();
        let by_rows = evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
        let by_moments = evaluator.evaluate_sum(&state, &mut draw, &mut rows).unwrap();
        let far = by_rows.log_likelihood - by_moments.log_likelihood;
        assert!(far.abs() < 1e-8 * by_rows.log_likelihood.abs(), "{text}: {far}");
        // After a few sweeps the residual scales are those of the example.
        (0..5).for_each(|_| {
            posterior.sweep(1.0).pass(&mut state, &mut noise);
        });
        let scales = &state[posterior.coefficients.state_len..];
        let expected: &[f64] = if scales.len() == 2 { &[0.5, 1.5] } else { &[1.118] };
        for (scale, expected) in scales.iter().zip(expected) {
            // The standard error of log σ is 0.014 at most: ten of them.
            assert!((scale - expected.ln()).abs() < 0.14, "{text}: {scales:?}");
        }
    }
}
