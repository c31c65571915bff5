//! The density of hyperparameters without chains: of what it is, and what is refused.

use super::{data, posterior};
use crate::model::Posterior;
use crate::random::{Purpose, Seed};
use crate::target::LogDensity;

fn wave(a: f64, b: f64) -> f64 {
    7.0 + 3.0 * (0.8 * a).sin() + 0.02 * b + 0.3 * (17.0 * a).sin()
}

/// The density of a state that chains are judged by, of targets in the user's unit.
#[test]
fn it_is_that_of_the_states_of_chains() {
    let data = data(9, &[&wave, &|a, b| 0.1 * a * b]);
    for text in [
        "",
        "mean = 'constant'\ncovariance = 'matern-5/2'",
        "covariance = ['rational-quadratic*periodic', 'neural-network']\nprocesses = 'shared'",
        "neighbours = 4",
        "[residual]\nsharing = 'common'",
        "[hyperparameters]\nresidual = 0.4",
    ] {
        let posterior = posterior(text, &data);
        let mut density = posterior.hyperparameters().expect("a density");
        let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
        let mut state = posterior.start(&mut stream);
        if text.contains("residual =") {
            state = density.template();
        }
        let position: Vec<f64> = density.slots().iter().map(|slot| state[*slot]).collect();
        let found = density.log_density(&position).expect("a density") + density.log_unit();
        let (mut draw, mut rows) = (vec![0.0; posterior.layout().len()], vec![0.0; 9]);
        let terms = posterior.evaluator().evaluate(&state, &mut draw, &mut rows).expect("terms");
        let expected = terms.log_prior + terms.log_likelihood;
        assert!((found - expected).abs() < 1e-8 * expected.abs(), "{text}: {found} {expected}");
        let mut gradient = vec![0.0; position.len()];
        density.log_density_gradient(&position, &mut gradient).expect("a gradient");
        for (k, slope) in gradient.iter().enumerate() {
            let mut at = |step: f64| {
                let mut moved = position.clone();
                moved[k] += step;
                density.log_density(&moved).expect("a density")
            };
            let numeric = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((slope - numeric).abs() < 1e-5 * (1.0 + slope.abs()), "{text} {k}");
        }
    }
}

#[test]
fn what_is_discrete_is_refused() {
    let data = data(9, &[&wave]);
    for text in [
        "[prior.relevance]\nscale = 0.1\ndof = 'unknown'",
        "[selection]\nprior = { probabilities = [0.9, 0.5] }",
        "[residual]\nfamily = 'student-t'",
    ] {
        let error = posterior(text, &data).hyperparameters().err().expect("refused").to_string();
        assert!(error.contains("inference = \"laplace\""), "{text}: {error}");
    }
}
