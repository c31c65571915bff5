//! Degrees of freedom of Student's t for every group of rows.

use super::*;
use crate::density::{Gamma, InverseGamma, StudentT};
use crate::model::Posterior;
use crate::predict::PredictiveTable;

const ROWS: usize = 8;
const TRANSITIONS: usize = 12_000;
const GRID: [f64; 3] = [2.0, 5.0, 30.0];
const PRIORS: &str = "[prior.weights]\nscale = 0.8\ndof = 6.0\n[prior.intercept]\nfixed = 1.0\n\
                      [residual]\nscale = 0.6\nscale_dof = 6.0\nfamily = 'student-t'\n\
                      dof_by = ['x1']\n";
/// Coefficients, the scale of the weights and that of the residuals come before.
const DOFS: usize = 5;

/// Rows with one input that has two values.
fn design() -> Matrix {
    let mut noise = stream(130);
    Matrix::from_fn(ROWS, 2, |row, k| if k == 0 { noise.normal() } else { f64::from(row % 2 == 0) })
}

/// An exact draw of the state from the prior: coefficients, weight scale, residual scale, degrees
/// of freedom of both groups (that of the value 0 first), κ.
fn prior_state(continuous: bool, x: &Matrix, noise: &mut Stream) -> Vec<f64> {
    let weights = InverseGamma::new(0.8, 6.0).unwrap().draw_log_scale(noise);
    let mut state = vec![noise.normal()];
    state.extend((0..2).map(|_| weights.exp() * noise.normal()));
    state.push(weights);
    state.push(InverseGamma::new(0.6, 6.0).unwrap().draw_log_scale(noise));
    for _ in 0..2 {
        state.push(match continuous {
            true => Gamma::new(2.0, 10.0).unwrap().draw(noise),
            false => GRID[noise.index(3)],
        });
    }
    for row in 0..ROWS {
        let dof = state[DOFS + usize::from(x[(row, 1)] > 0.5)];
        state.push(Gamma::from_shape_rate(0.5 * dof, 0.5 * dof).unwrap().draw(noise));
    }
    state
}

fn functions(state: &[f64]) -> Vec<f64> {
    let mut values = Vec::new();
    for w in &state[..3] {
        values.extend([w.tanh(), (w * w + 0.01).ln()]);
    }
    for u in &state[3..DOFS] {
        values.extend([*u, u * u]);
    }
    for positive in &state[DOFS..] {
        values.extend([positive.ln().tanh(), (1.0 + positive).recip()]);
    }
    values.push(state[DOFS].ln() * state[DOFS + 1].ln());
    values
}

#[test]
fn the_joint_distribution_is_kept() {
    let x = design();
    for (index, continuous) in [false, true].into_iter().enumerate() {
        let dof = if continuous { "'continuous'" } else { "{ grid = [2.0, 5.0, 30.0] }" };
        let model = model(&format!("{PRIORS}dof = {dof}\n"));
        let mut noise = stream(131 + index as u64);
        let marginal =
            Table::collect(TRANSITIONS, || functions(&prior_state(continuous, &x, &mut noise)));
        let mut state = prior_state(continuous, &x, &mut noise);
        let successive = Table::collect(TRANSITIONS, || {
            let y = (0..ROWS).map(|row| {
                let output = state[0] + state[1] * x[(row, 0)] + state[2] * x[(row, 1)];
                let scale = state[4].exp() / state[DOFS + 2 + row].sqrt();
                output + scale * noise.normal()
            });
            let y = y.collect();
            let posterior = model.condition(&real(x.clone(), y), nuts()).unwrap();
            assert_eq!(posterior.state_len(), state.len());
            posterior.sweep(1.0).pass(&mut state, &mut noise);
            functions(&state)
        });
        successive.assert_means_of(&marginal, dof);
    }
}

#[test]
fn without_data_every_group_has_the_prior() {
    let text = format!("{PRIORS}dof = {{ grid = [2.0, 5.0, 30.0] }}");
    let posterior = conditioned(&text, &real(design(), vec![0.3; ROWS]));
    let mut noise = stream(135);
    let mut state = posterior.start(&mut noise);
    let mut sweep = posterior.sweep(0.0);
    let tempering = posterior.tempering().unwrap();
    let table = Table::collect(6000, || {
        sweep.pass(&mut state, &mut noise);
        let drawn = tempering.draw_prior_state(&mut noise).unwrap();
        let is = |state: &[f64], at: usize, dof: f64| f64::from((state[at] - dof).abs() < 1e-9);
        [&state, &drawn]
            .into_iter()
            .flat_map(|state| {
                let both = is(state, DOFS, 5.0) * is(state, DOFS + 1, 5.0);
                [is(state, DOFS, 2.0), is(state, DOFS + 1, 30.0), both]
            })
            .collect()
    });
    let third = 1.0 / 3.0;
    table.assert_means(&[third, third, third * third].repeat(2), "prior");
}

#[test]
fn every_row_has_the_density_of_its_group_and_new_groups_the_heaviest_tails() {
    let mut noise = stream(136);
    let x = design();
    let y: Vec<f64> = (0..ROWS).map(|_| 20.0 + 5.0 * noise.normal()).collect();
    let mut data = real(x.clone(), y.iter().map(|y| (y - 20.0) / 5.0).collect());
    data.target_scaling = vec![Standardization { centre: 20.0, scale: 5.0 }];
    for more in ["", "slopes = ['x0']", "by = ['x1']"] {
        let text = format!("[residual]\nfamily = 'student-t'\ndof_by = ['x1']\n{more}");
        let posterior = conditioned(&text, &data);
        let names = posterior.layout().component_names().join(" ");
        assert!(names.contains("residual_dof[x1=0] residual_dof[x1=1]"), "{names}");
        let places = posterior.layout().variable("residual_dof").unwrap().offset;
        let mut state = posterior.start(&mut noise);
        let (mut sweep, mut evaluator) = (posterior.sweep(1.0), posterior.evaluator());
        let mut predictor = posterior.predictor().unwrap();
        let mut draw = vec![0.0; posterior.layout().len()];
        let mut rows = vec![0.0; ROWS];
        for _ in 0..10 {
            sweep.pass(&mut state, &mut noise);
            let terms = evaluator.evaluate(&state, &mut draw, &mut rows).unwrap();
            let draws = alone(posterior.layout(), &draw);
            let mut parameters = vec![0.0; 3 * ROWS];
            predictor.at(&draw, &data.inputs, &mut parameters);
            let table = PredictiveTable::new(&mut *predictor, &draws, 0..1, &data.inputs);
            for row in 0..ROWS {
                let dof = draw[places + usize::from(x[(row, 1)] > 0.5)];
                let t = StudentT::new(parameters[3 * row], parameters[3 * row + 1], dof).unwrap();
                let expected = t.log_density(y[row]);
                assert!((rows[row] - expected).abs() < 1e-9, "{more}: {} {expected}", rows[row]);
                let found = table.predictive(row).log_density(&[y[row]]);
                assert!((rows[row] - found).abs() < 1e-9, "{more}: {} {found}", rows[row]);
            }
            let back = posterior.state_density().unwrap().state_of(&draw).unwrap();
            let again = evaluator.evaluate(&back, &mut draw, &mut rows).unwrap();
            assert!((terms.log_likelihood - again.log_likelihood).abs() < 1e-8, "{more}");
            assert!((terms.log_prior - again.log_prior).abs() < 1e-8, "{more}");
        }
        let mut parameters = [0.0; 3];
        predictor.at(&draw, &Matrix::from_fn(1, 2, |_, k| [0.0, 7.0][k]), &mut parameters);
        let least = draw[places].min(draw[places + 1]);
        assert_eq!(parameters[2].to_bits(), least.to_bits(), "{more}");
    }
    for (text, says) in [
        ("family = 'student-t'\ndof = 4.0\ndof_by = ['x1']", "that of all rows"),
        ("dof_by = ['x1']", "other than student-t"),
    ] {
        let spec = Spec::from_toml(&format!("[residual]\n{text}")).unwrap();
        let refused = Linear::new(&spec).unwrap_err().to_string();
        assert!(refused.contains(says), "{refused}");
    }
    let refused =
        model("[residual]\nfamily = 'student-t'\ndof_by = ['x0']").condition(&data, nuts());
    let refused = refused.err().unwrap().to_string();
    assert!(refused.contains("x0 in residual.dof_by") && refused.contains("few"), "{refused}");
}
