//! A full covariance of the residuals of several targets: exact moments, and the joint distribution.

use posteria_linalg::{Cholesky, dot, symmetric_rank_k};

use super::several_targets::{example, two};
use super::*;
use crate::density::{InverseGamma, InverseWishart};
use crate::model::Posterior;

const TRANSITIONS: usize = 10_000;

/// Entries of a symmetric 2 × 2 matrix, column by column.
const ENTRIES: [usize; 3] = [0, 1, 3];

#[test]
fn moments_are_those_of_the_matrix_normal_inverse_wishart_distribution() {
    // Under weights of so wide a prior that it says nothing, Σ has ν' + n - d degrees of freedom and
    // the scatter of its prior more than that of the least squares residuals, and given Σ the
    // covariance of w_ko and w_lp is (XᵀX)⁻¹_kl Σ_op [Zellner 1971, §8.1; Gelman et al. 2013, §14.8].
    let text = "[prior.weights]\nfixed = 1e5\n[prior.intercept]\nfixed = 1e5\n\
                [residual]\nsharing = 'covariance'\nscale = 0.6\nscale_dof = 6.0";
    let (rows, columns) = (12, 3);
    let (x, mut y) = example(rows);
    let first = y[0].clone();
    y[1].iter_mut().zip(&first).for_each(|(b, a)| *b += 2.0 * a);
    let posterior = conditioned(text, &two(x.clone(), &y));
    let design =
        Matrix::from_fn(rows, columns, |row, k| if k == 0 { 1.0 } else { x[(row, k - 1)] });
    let mut gram = Matrix::zeros(columns, columns);
    symmetric_rank_k(&design, &mut gram);
    let factor = Cholesky::new(&gram).unwrap();
    let estimates = y.each_ref().map(|y| {
        let mut moment: Vec<f64> = (0..columns).map(|k| dot(design.column(k), y)).collect();
        factor.solve(&mut moment);
        moment
    });
    let residual = |target: usize, row: usize| {
        let fit: f64 = (0..columns).map(|k| design[(row, k)] * estimates[target][k]).sum();
        y[target][row] - fit
    };
    // Two targets: one degree of freedom more than a single variance, the same scatter.
    let dof = 7.0 + (rows - columns) as f64;
    let scatter = |o: usize, p: usize| {
        let squares: f64 = (0..rows).map(|row| residual(o, row) * residual(p, row)).sum();
        squares + if o == p { 6.0 * 0.36 } else { 0.0 }
    };
    let mean = |o: usize, p: usize| scatter(o, p) / (dof - 3.0);
    let mut inverse = vec![0.0, 1.0, 0.0];
    factor.solve(&mut inverse);
    let slots = posterior.coefficients.state_len;
    let mut noise = stream(101);
    let mut state = posterior.start(&mut noise);
    let mut sweep = posterior.sweep(1.0);
    let table = Table::collect(30_000, || {
        sweep.pass(&mut state, &mut noise);
        let covariance = ENTRIES.map(|entry| state[slots + entry]);
        // Slopes of x0 about their estimates.
        let (a, b) = (state[2] - estimates[0][1], state[3] - estimates[1][1]);
        [&covariance[..], &[a, b, a * a, a * b, b * b]].concat()
    });
    let [of_a, of_ab, of_b] = [(0, 0), (0, 1), (1, 1)].map(|(o, p)| mean(o, p));
    let expected =
        [of_a, of_ab, of_b, 0.0, 0.0, inverse[1] * of_a, inverse[1] * of_ab, inverse[1] * of_b];
    assert!(of_ab.abs() > 0.1, "there is something to find: {of_ab}");
    table.assert_means(&expected, "covariance");
}

#[test]
fn the_joint_distribution_of_targets_with_a_covariance_is_kept() {
    const ROWS: usize = 5;
    let x = random_matrix(ROWS, 2, &mut stream(102));
    for (seed, selection) in [(0, ""), (1, "[selection]\nprior = { binomial = 0.6 }")] {
        let model = model(&format!(
            "[prior.weights]\nscale = 0.8\ndof = 6.0\n[prior.intercept]\nfixed = 1.0\n\
             [residual]\nsharing = 'covariance'\nscale = 0.6\nscale_dof = 8.0\n{selection}"
        ));
        // ν' = 9 with the scatter 8 · 0.36 I.
        let square = 8.0 * 0.36 / 9.0;
        let scale = Matrix::from_fn(2, 2, |r, c| if r == c { square } else { 0.0 });
        let prior = InverseWishart::new(&scale, 9.0).unwrap();
        let weights = InverseGamma::new(0.8, 6.0).unwrap();
        let draw = |noise: &mut Stream| {
            let log_scale = weights.draw_log_scale(noise);
            let mut state = vec![noise.normal(), noise.normal()];
            state.extend((0..4).map(|_| log_scale.exp() * noise.normal()));
            state.push(log_scale);
            let mut covariance = Matrix::zeros(2, 2);
            prior.draw(noise, &mut covariance);
            state.extend(covariance.values());
            if !selection.is_empty() {
                state.extend((0..2).map(|_| f64::from(noise.uniform() < 0.6)));
            }
            state
        };
        let included = |state: &[f64], input: usize| {
            if selection.is_empty() { 1.0 } else { state[11 + input] }
        };
        let functions = |state: &[f64]| -> Vec<f64> {
            let mut values: Vec<f64> = state[..6].iter().map(|w| w.tanh()).collect();
            values.extend(state[..6].iter().map(|w| (w * w + 0.01).ln()));
            let [a, ab, b] = ENTRIES.map(|entry| state[7 + entry]);
            values.extend([state[6], state[6] * state[6], a.ln(), b.ln(), ab / (a * b).sqrt()]);
            values.extend([(ab / (a * b).sqrt()).powi(2), (state[2] * state[3]).tanh()]);
            if !selection.is_empty() {
                values.extend([included(state, 0), included(state, 1)]);
            }
            values
        };
        let mut noise = stream(103 + seed);
        let marginal = Table::collect(TRANSITIONS, || functions(&draw(&mut noise)));
        let mut state = draw(&mut noise);
        let successive = Table::collect(TRANSITIONS, || {
            let covariance = Matrix::from_fn(2, 2, |r, c| state[7 + 2 * c + r]);
            let factor = Cholesky::new(&covariance).unwrap();
            let mut y = [vec![0.0; ROWS], vec![0.0; ROWS]];
            for row in 0..ROWS {
                let z = [noise.normal(), noise.normal()];
                for target in 0..2 {
                    let e: f64 = (0..=target).map(|k| factor.factor()[(target, k)] * z[k]).sum();
                    y[target][row] = state[target]
                        + included(&state, 0) * state[2 + target] * x[(row, 0)]
                        + included(&state, 1) * state[4 + target] * x[(row, 1)]
                        + e;
                }
            }
            let posterior = model.condition(&two(x.clone(), &y), nuts()).unwrap();
            assert_eq!(posterior.state_len(), state.len());
            posterior.sweep(1.0).pass(&mut state, &mut noise);
            functions(&state)
        });
        successive.assert_means_of(&marginal, selection);
    }
}

#[test]
fn without_data_the_covariance_has_its_prior() {
    // At inverse temperature 0 the targets do not count.
    let text = "[prior.weights]\nfixed = 1.0\n[residual]\nsharing = 'covariance'\n\
                scale = 0.6\nscale_dof = 6.0";
    let (x, y) = example(8);
    let posterior = conditioned(text, &two(x, &y));
    let variance = InverseGamma::new(0.6, 6.0).unwrap();
    let slots = posterior.coefficients.state_len;
    let mut noise = stream(106);
    let mut state = posterior.start(&mut noise);
    let mut sweep = posterior.sweep(0.0);
    let table = Table::collect(5_000, || {
        sweep.pass(&mut state, &mut noise);
        let [a, ab, b] = ENTRIES.map(|entry| state[slots + entry]);
        vec![variance.cdf(a), variance.cdf(b), ab, state[2], state[2] * state[2]]
    });
    table.assert_means(&[0.5, 0.5, 0.0, 0.0, 1.0], "prior");
}
