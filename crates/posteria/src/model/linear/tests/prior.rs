//! With the likelihood switched off every sampler returns the prior.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::gamma::gamma_lr;

use super::*;
use crate::density::InverseGamma;
use crate::density::special::normal_cdf;
use crate::model::Posterior;

const DRAWS: usize = 2000;
/// The Kolmogorov-Smirnov distance of independent draws passes 2.23/√n by chance with
/// probability 1e-4 (seeds fixed).
const KS: f64 = 2.23;

/// Largest distance between the empirical distribution of `values` and `cdf`, times √n.
fn ks(mut values: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let count = values.len() as f64;
    let distance = values.iter().enumerate().fold(0.0_f64, |largest, (index, &value)| {
        let p = cdf(value);
        largest.max((p - index as f64 / count).abs()).max(((index + 1) as f64 / count - p).abs())
    });
    distance * count.sqrt()
}

/// Distribution function of the log scale: P(log s < u) = P(τ > exp(-2u)).
fn log_scale_cdf(prior: InverseGamma) -> impl Fn(f64) -> f64 {
    move |u| 1.0 - gamma_lr(prior.shape(), prior.rate() * (-2.0 * u).exp())
}

/// States of the chain at inverse temperature 0, far enough apart to be independent.
fn prior_states(posterior: &LinearPosterior, thin: usize) -> Table {
    let mut stream = stream(10);
    let mut state = posterior.start(&mut stream);
    let mut sweep = posterior.sweep(0.0);
    let mut next = || {
        for _ in 0..thin {
            sweep.pass(&mut state, &mut stream);
        }
        state.clone()
    };
    for _ in 0..20 {
        next();
    }
    Table::collect(DRAWS, next)
}

fn t_cdf(scale: f64, dof: f64) -> impl Fn(f64) -> f64 {
    let t = StudentsT::new(0.0, scale, dof).unwrap();
    move |w| t.cdf(w)
}

const TEXT: &str = "[prior.weights]\nscale = 0.7\ndof = 5.0\nSHARING\n\
                    [prior.intercept]\nfixed = 3.0\n";

#[test]
fn gibbs_of_a_regression_returns_the_prior() {
    let mut noise = stream(11);
    let x = random_matrix(30, 2, &mut noise);
    let y: Vec<f64> = (0..30).map(|i| 4.0 + 3.0 * x[(i, 0)]).collect();
    let data = real(x, y);
    let weights = InverseGamma::new(0.7, 5.0).unwrap();
    let residual = InverseGamma::new(0.2, 4.0).unwrap();
    for (sharing, scales) in [("", 1), ("sharing = 'per-input'", 2)] {
        let text = TEXT.replace("SHARING", sharing) + "[residual]\nscale = 0.2\nscale_dof = 4.0";
        let mut table = prior_states(&conditioned(&text, &data), 15).0;
        let last = table.pop().unwrap();
        assert!(ks(last, log_scale_cdf(residual)) < KS, "residual scale");
        for _ in 0..scales {
            let column = table.pop().unwrap();
            assert!(ks(column, log_scale_cdf(weights)) < KS, "weight scale");
        }
        for _ in 0..2 {
            assert!(ks(table.pop().unwrap(), t_cdf(0.7, 5.0)) < KS, "weight");
        }
        assert!(ks(table.pop().unwrap(), |b| normal_cdf(b / 3.0)) < KS, "intercept");
        assert!(table.is_empty());
    }
}

#[test]
fn a_sampled_intercept_scale_and_the_conjugate_prior_return_the_prior() {
    let mut noise = stream(12);
    let data = real(random_matrix(9, 1, &mut noise), (0..9).map(|_| noise.normal()).collect());
    let text = "[prior.weights]\nfixed = 2.0\n[prior.intercept]\nscale = 0.4\ndof = 6.0";
    let table = prior_states(&conditioned(text, &data), 15).0;
    assert!(ks(table[0].clone(), t_cdf(0.4, 6.0)) < KS);
    assert!(ks(table[1].clone(), |w| normal_cdf(w / 2.0)) < KS);
    let scale = InverseGamma::new(0.4, 6.0).unwrap();
    assert!(ks(table[2].clone(), log_scale_cdf(scale)) < KS);
    // w = N(0, 1/(ρτ)) with τ ~ Gamma(a, rate b) is t with 2a degrees of freedom and scale
    // √(b/(aρ)).
    let text = "[prior.weights]\nfamily = 'conjugate'\nrho = 0.25\n\
                [residual]\nprecision = { shape = 3.0, scale = 0.5 }";
    let table = prior_states(&conditioned(text, &data), 1).0;
    for column in &table[..2] {
        assert!(ks(column.clone(), t_cdf((2.0_f64 / (3.0 * 0.25)).sqrt(), 6.0)) < KS);
    }
    assert!(
        ks(table[2].clone(), log_scale_cdf(InverseGamma::from_shape_rate(3.0, 2.0).unwrap())) < KS
    );
}

#[test]
fn logistic_regression_returns_the_prior() {
    let mut noise = stream(13);
    let x = random_matrix(20, 2, &mut noise);
    let codes = (0..20).map(|i| usize::from(x[(i, 0)] > 0.0)).collect();
    let text = TEXT.replace("SHARING", "");
    let table = prior_states(&conditioned(&text, &classes(x, codes)), 30).0;
    let scale = InverseGamma::new(0.7, 5.0).unwrap();
    assert!(ks(table[0].clone(), |b| normal_cdf(b / 3.0)) < KS);
    assert!(ks(table[1].clone(), t_cdf(0.7, 5.0)) < KS);
    assert!(ks(table[3].clone(), log_scale_cdf(scale)) < KS);
}
