//! Check chains on prior × likelihood^β against the exact answer.

use std::num::NonZero;
use std::sync::Arc;

use posteria::approximate::TemperedPosterior;
use posteria::data::{Column, Dataset, Roles, Table};
use posteria::density::InverseGamma;
use posteria::diagnose::{SummaryOptions, summarize};
use posteria::fit::fit;
use posteria::model::linear::{ClosedForm, Linear};
use posteria::model::spec::Spec;
use posteria::random::Seed;
use posteria::sample::Plan;
use posteria::sample::hmc::{Nuts, NutsOptions};
use posteria_linalg::Matrix;

#[test]
fn a_tempered_regression_has_the_exact_tempered_posterior() {
    let x: Vec<f64> = (0..15).map(|row| (f64::from(row) * 0.618).fract()).collect();
    let y: Vec<f64> = x
        .iter()
        .zip(0..)
        .map(|(x, row)| 1.0 + 2.0 * x + (f64::from(row) * 0.754).fract())
        .collect();
    let columns =
        vec![("x".into(), Column::numbers(x.clone())), ("y".into(), Column::numbers(y.clone()))];
    let table = Table::new("memory", columns).expect("a table");
    let roles = Roles { targets: vec!["y".into()], standardize: false, ..Roles::default() };
    let (data, _) = Dataset::new(&table, &roles).expect("data");
    let text = "[prior.weights]\nfamily = 'conjugate'\nrho = 0.5\n\
                [residual]\nprecision = { shape = 2.0, scale = 1.0 }";
    let model = Linear::new(&Spec::from_toml(text).expect("a spec")).expect("a model");
    for beta in [0.3, 1.0, 6.0] {
        let kernel = Arc::new(|dim: usize| -> Box<dyn posteria::sample::Kernel> {
            Box::new(Nuts::new(dim, NutsOptions::default()))
        });
        let posterior = model.condition(&data, kernel).expect("a posterior");
        let tempered = TemperedPosterior::new(Box::new(posterior), beta);
        let plan = Plan::new(2, 0, 4000);
        let draws = fit(&tempered, &plan, Seed(2), NonZero::<usize>::MIN).expect("draws");
        let design = Matrix::from_fn(15, 2, |row, k| if k == 0 { 1.0 } else { x[row] });
        let prior = InverseGamma::from_shape_rate(2.0, 1.0).expect("a prior");
        let exact = ClosedForm::new(&design, &y, 0.5, prior, beta).expect("exact");
        let summary = summarize(&draws, &SummaryOptions::default());
        for (k, name) in ["intercept", "weights[x]"].into_iter().enumerate() {
            let found = summary.variables.iter().find(|v| v.name == name).expect("the variable");
            let mut one = [0.0; 2];
            one[k] = 1.0;
            let marginal = exact.combination(&one);
            let sd = marginal.scale * (marginal.dof / (marginal.dof - 2.0)).sqrt();
            // 8000 independent draws; 4.5 standard errors, 1e-5. Tails of t add to that of sd.
            let error = sd / 8000.0_f64.sqrt();
            assert!((found.mean - marginal.location).abs() < 4.5 * error, "{beta} {name}");
            assert!((found.sd - sd).abs() < 6.0 * error, "{beta} {name}: {} {sd}", found.sd);
        }
    }
}
