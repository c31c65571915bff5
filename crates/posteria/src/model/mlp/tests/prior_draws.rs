//! Check that draws from the prior are of the prior, on the user's scale.

use super::super::{Mlp, MlpPosterior};
use crate::data::{Column, Dataset, Roles, Standardization, Table};
use crate::density::{InverseGamma, StudentT};
use crate::model::Posterior;
use crate::model::spec::Spec;
use crate::random::{Purpose, Seed};

fn posterior(text: &str) -> MlpPosterior {
    let x: Vec<f64> = (0..12).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| 7.0 + 3.0 * (0.4 * x).sin()).collect();
    let columns = vec![("x".into(), Column::numbers(x)), ("y".into(), Column::numbers(y))];
    let table = Table::new("memory", columns).unwrap();
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    let (data, _) = Dataset::new(&table, &roles).unwrap();
    let spec = Spec::from_toml(&format!("[model]\nkind = 'mlp'\n{text}")).unwrap();
    Mlp::new(&spec).unwrap().condition(&data, None).unwrap()
}

/// Mean of the values of the probability integral transform, which are uniform: with 2000 of
/// them its standard error is 0.0065, so that 0.03 is four and a half of it.
#[track_caller]
fn assert_uniform(name: &str, levels: &[f64]) {
    let count = levels.len() as f64;
    let mean = levels.iter().sum::<f64>() / count;
    let second = levels.iter().map(|u| u * u).sum::<f64>() / count;
    // The second moment is 1/3, with standard error 0.0067.
    assert!((mean - 0.5).abs() < 0.03 && (second - 1.0 / 3.0).abs() < 0.03, "{name}: {mean}");
}

#[test]
fn prior_draws_follow_the_prior_on_the_users_scale() {
    let posterior = posterior(
        "hidden = 3\n[prior.hidden_bias]\nscale = 0.4\ndof = 3.0\n\
         [residual]\nfamily = 'per-case'\ndof = 5.0\nscale = 0.2\nscale_dof = 4.0",
    );
    let layout = posterior.layout();
    let at = |name: &str| layout.variable(name).unwrap().offset;
    let unit = posterior.target_scaling[0].scale;
    let bias_scale = InverseGamma::new(0.4, 3.0).unwrap();
    let residual_scale = InverseGamma::new(0.2 * unit, 4.0).unwrap();
    // Normal with an inverse gamma variance: Student's t.
    let bias = StudentT::new(0.0, 0.4, 3.0).unwrap();
    let mut levels = [const { Vec::new() }; 4];
    for index in 0..2000 {
        let mut stream = Seed(9).stream(Purpose::Data, [index, 0]);
        let draw = posterior.draw_prior(&mut stream).unwrap();
        assert_eq!(draw.len(), layout.len());
        let scale = draw[at("residual_scale")];
        // A case's variance is about that scale, with 5 degrees of freedom.
        let case = InverseGamma::new(scale, 5.0).unwrap();
        levels[0].push(bias.cdf(draw[at("hidden_bias")]));
        levels[1].push(bias_scale.cdf(draw[at("hidden_bias_scale")].powi(2)));
        levels[2].push(residual_scale.cdf(scale.powi(2)));
        levels[3].push(case.cdf(draw[at("case_scale")].powi(2)));
    }
    for (name, levels) in ["bias", "bias scale", "residual", "case"].iter().zip(&levels) {
        assert_uniform(name, levels);
    }
}

#[test]
fn the_fitted_values_of_a_prior_draw_are_those_of_its_weights() {
    let posterior = posterior("hidden = 2");
    let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
    let draw = posterior.draw_prior(&mut stream).unwrap();
    let layout = posterior.layout();
    let of = |name: &str| &draw[layout.variable(name).unwrap().range()];
    let (w1, b1) = (of("input_weights"), of("hidden_bias"));
    let (w2, b2) = (of("output_weights"), of("output_bias")[0]);
    let x = Standardization::fit(&(0..12).map(f64::from).collect::<Vec<_>>()).unwrap();
    for (row, fitted) in of("fitted").iter().enumerate() {
        let unit = |h: usize| w2[h] * (b1[h] + w1[h] * x.apply(row as f64)).tanh();
        let expected = posterior.target_scaling[0].invert(b2 + unit(0) + unit(1));
        assert!((fitted - expected).abs() < 1e-9 * expected.abs().max(1.0), "row {row}");
    }
}
