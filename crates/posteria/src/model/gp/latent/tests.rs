//! The pieces against plain formulas.

use posteria_linalg::{Cholesky, Matrix};

use super::gaussian::{Adjoint, Gaussian};
use super::laplace::approximate;
use super::likelihood::Likelihood;
use super::sites::Sites;
use crate::density::special::inverse_mills;
use crate::model::gp::GpPosterior;
use crate::model::gp::tests::classes::dataset;
use crate::model::gp::tests::posterior;
use crate::random::{Purpose, Seed, Stream};

const TARGETS: [(&str, usize); 3] = [("", 2), ("link = 'probit'", 2), ("", 4)];
const LOG_PARAMETERS: [f64; 3] = [0.4, -0.3, 0.2];

fn stream() -> Stream {
    Seed(11).stream(Purpose::Data, [0, 0])
}

fn world(model: &str, classes: usize) -> GpPosterior {
    let codes: Vec<usize> = (0..6).map(|row| (row * row + 1) % classes).collect();
    posterior(model, &dataset(&codes, classes))
}

#[test]
fn slopes_and_curvatures_are_derivatives() {
    let mut stream = stream();
    for (model, classes) in TARGETS {
        let posterior = world(model, classes);
        let mut likelihood = Likelihood::new(&posterior.observed, 6);
        let functions = likelihood.functions();
        let size = 6 * functions;
        for spread in [1.0, 4.0, 12.0] {
            let latents: Vec<f64> = (0..size).map(|_| spread * stream.normal()).collect();
            let (mut gradient, mut curvature) = (vec![0.0; size], vec![0.0; size * functions]);
            let value = likelihood.curvature(&latents, &mut gradient, &mut curvature);
            assert!((value - likelihood.value(&latents)).abs() < 1e-10 * (1.0 + value.abs()));
            let h = 1e-4;
            for index in 0..size {
                let mut at = |step: f64| {
                    let mut moved = latents.clone();
                    moved[index] += step;
                    let mut slopes = vec![0.0; size];
                    (likelihood.gradient(&moved, &mut slopes), slopes)
                };
                let ((above, more), (below, less)) = (at(h), at(-h));
                let slope = (above - below) / (2.0 * h);
                assert!((slope - gradient[index]).abs() < 1e-6, "{model} {index}: {slope}");
                let (j, row) = (index / 6, index % 6);
                for k in 0..functions {
                    let bend = (less[k * 6 + row] - more[k * 6 + row]) / (2.0 * h);
                    let claimed = curvature[(k * functions + j) * 6 + row];
                    assert!((bend - claimed).abs() < 1e-6, "{model} {index} {k}: {bend} {claimed}");
                }
            }
        }
    }
}

#[test]
fn the_probit_is_right_far_in_its_tails() {
    for t in [-1e2, -1e4, -1e8, -1e100_f64] {
        let (ratio, excess) = inverse_mills(t);
        assert!((ratio / -t - 1.0).abs() < 2.0 / (t * t) + 1e-15, "{t}: {ratio}");
        assert!((ratio * excess - 1.0).abs() < 2.0 / (t * t) + 1e-15, "{t}: {excess}");
    }
    let (series, plain) = (inverse_mills(-30.0 - 1e-9), inverse_mills(-30.0));
    assert!((series.0 / plain.0 - 1.0).abs() < 1e-9);
    // r and t agree in three digits there, and so does their sum's error grow.
    assert!((series.1 / plain.1 - 1.0).abs() < 1e-9, "{series:?} {plain:?}");
    assert!(inverse_mills(40.0).0 >= 0.0 && inverse_mills(40.0).0 < 1e-300);
}

fn inverse(matrix: &Matrix) -> Matrix {
    let mut inverse = Matrix::zeros(matrix.rows(), matrix.rows());
    Cholesky::new(matrix).unwrap().inverse(&mut inverse);
    inverse
}

/// K of all functions by the evaluator of the covariance, W and h of the sites from their memory.
fn dense(posterior: &GpPosterior, sites: &Sites) -> (Matrix, Matrix, Vec<f64>) {
    let (rows, functions) = (posterior.row_count(), posterior.observed.functions());
    let mut block = Matrix::zeros(rows, rows);
    let mut evaluator = posterior.covariance.evaluator(&posterior.inputs);
    evaluator.set(&LOG_PARAMETERS);
    evaluator.fill(&mut block);
    block.mirror_lower();
    let size = rows * functions;
    let k = Matrix::from_fn(size, size, |a, b| {
        let jitter = if a == b { posterior.jitter.powi(2) } else { 0.0 };
        if a / rows == b / rows { block[(a % rows, b % rows)] + jitter } else { 0.0 }
    });
    let mut memory = Vec::new();
    sites.write(&mut memory);
    let w = Matrix::from_fn(size, size, |a, b| match a % rows == b % rows {
        true => memory[((a / rows) * functions + b / rows) * rows + a % rows],
        false => 0.0,
    });
    (k, w, memory[size * functions..].to_vec())
}

/// Sites that touch the likelihood at arbitrary latents.
fn sites_at(posterior: &GpPosterior, stream: &mut Stream) -> Sites {
    let mut likelihood = Likelihood::new(&posterior.observed, 6);
    let functions = likelihood.functions();
    let size = 6 * functions;
    let latents: Vec<f64> = (0..size).map(|_| stream.normal()).collect();
    let (mut gradient, mut curvature) = (vec![0.0; size], vec![0.0; size * functions]);
    likelihood.curvature(&latents, &mut gradient, &mut curvature);
    let mut sites = Sites::none(6, functions);
    assert!(sites.touch(0.8, &latents, &gradient, &curvature));
    sites
}

#[test]
fn the_normal_distribution_is_that_of_the_plain_formulas() {
    let mut stream = stream();
    for (model, classes) in TARGETS {
        let posterior = world(model, classes);
        let sites = sites_at(&posterior, &mut stream);
        let (k, w, h) = dense(&posterior, &sites);
        let size = h.len();
        let precision = inverse(&k);
        let precision = Matrix::from_fn(size, size, |a, b| precision[(a, b)] + w[(a, b)]);
        let sigma = inverse(&precision);
        let mean: Vec<f64> =
            (0..size).map(|a| (0..size).map(|b| sigma[(a, b)] * h[b]).sum()).collect();
        let mut gaussian = Gaussian::new(&posterior);
        gaussian.set(&LOG_PARAMETERS);
        gaussian.factorize_prior().unwrap();
        gaussian.factorize(&sites).unwrap();
        let close = |a: f64, b: f64| (a - b).abs() < 1e-8 * (1.0 + b.abs());

        let log_determinant = |m: &Matrix| Cholesky::new(m).unwrap().log_determinant();
        let square: f64 = mean.iter().zip(&h).map(|(m, h)| m * h).sum();
        let evidence =
            -0.5 * log_determinant(&k) - 0.5 * log_determinant(&precision) + 0.5 * square;
        let own: f64 = sites.targets().iter().map(|target| 0.5 * target * target).sum();
        let found = gaussian.log_evidence(&sites) + own;
        assert!(close(found, evidence), "{model}: {found} {evidence}");

        let (mut found, mut solved) = (vec![0.0; size], vec![0.0; size]);
        gaussian.mean(&sites, &mut found, Some(&mut solved));
        for a in 0..size {
            assert!(close(found[a], mean[a]), "{model}: mean {a}");
            let back: f64 = (0..size).map(|b| k[(a, b)] * solved[b]).sum();
            assert!(close(back, mean[a]), "{model}: solved {a}");
        }
        // The map from noise to functions has covariance Σ, and noise of functions leads back.
        let mut sum = Matrix::zeros(size, size);
        for unit in 0..2 * size {
            let mut functions = vec![0.0; size];
            let mut noise = vec![0.0; size];
            match unit < size {
                true => functions[unit] = 1.0,
                false => noise[unit - size] = 1.0,
            }
            gaussian.transform_noise(&sites, &mut functions, &noise, false);
            for a in 0..size {
                for b in 0..size {
                    sum[(a, b)] += functions[a] * functions[b];
                }
            }
        }
        for b in 0..size {
            let mut unit = vec![0.0; size];
            unit[b] = 1.0;
            gaussian.covariance_times(&sites, &unit, &mut found);
            for a in 0..size {
                assert!(close(found[a], sigma[(a, b)]), "{model}: covariance {a} {b}");
                assert!(close(sum[(a, b)], sigma[(a, b)]), "{model}: noise {a} {b}");
            }
        }
        let latents: Vec<f64> = (0..size).map(|_| stream.normal()).collect();
        let (mut z, mut noise) = (vec![0.0; size], vec![0.0; size]);
        gaussian.draw_noise(&sites, &latents, &mut z, &mut noise, &mut stream);
        gaussian.transform_noise(&sites, &mut z, &noise, true);
        assert!(z.iter().zip(&latents).all(|(a, b)| close(*a, *b)), "{model}: {z:?} {latents:?}");
    }
}

#[test]
fn the_evidence_of_sites_has_the_gradient_that_it_claims() {
    let mut stream = stream();
    for (model, classes) in TARGETS {
        let posterior = world(model, classes);
        let sites = sites_at(&posterior, &mut stream);
        let mut gaussian = Gaussian::new(&posterior);
        let mut gradient = [0.0; 3];
        gaussian.set(&LOG_PARAMETERS);
        gaussian.factorize(&sites).unwrap();
        gaussian.gradient(&sites, None, &mut gradient);
        for index in 0..3 {
            let mut at = |h: f64| {
                let mut moved = LOG_PARAMETERS;
                moved[index] += h;
                gaussian.set(&moved);
                gaussian.factorize(&sites).unwrap();
                gaussian.log_evidence(&sites)
            };
            let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!(
                (slope - gradient[index]).abs() < 1e-6,
                "{model} {index}: {slope} {gradient:?}"
            );
        }
    }
}

/// sᵀf + log Z as a function of the noise that f comes from and of the covariance function, with
/// and without sites.
#[test]
fn latents_have_the_derivatives_through_their_noise_that_are_claimed() {
    let mut stream = stream();
    for (model, classes) in TARGETS {
        let posterior = world(model, classes);
        let functions = posterior.observed.functions();
        for sites in [sites_at(&posterior, &mut stream), Sites::none(6, functions)] {
            let size = 6 * functions;
            let mut draw = || (0..size).map(|_| stream.normal()).collect::<Vec<_>>();
            let (slopes, z, noise) = (draw(), draw(), draw());
            let mut gaussian = Gaussian::new(&posterior);
            let value = |gaussian: &mut Gaussian<'_>, at: &[f64]| {
                gaussian.set(&at[..3]);
                gaussian.factorize(&sites).unwrap();
                gaussian.factorize_prior().unwrap();
                let mut latents = at[3..3 + size].to_vec();
                gaussian.transform_noise(&sites, &mut latents, &at[3 + size..], true);
                let linear: f64 = slopes.iter().zip(&latents).map(|(s, f)| s * f).sum();
                linear + gaussian.log_evidence(&sites)
            };
            let position = [&LOG_PARAMETERS[..], &z, &noise].concat();
            value(&mut gaussian, &position);
            let mut adjoint = Adjoint::new(6, functions);
            let mut gradient = vec![0.0; position.len()];
            let (of_parameters, of_noise) = gradient.split_at_mut(3);
            let parts = of_noise.split_at_mut(size);
            gaussian.differentiate(&sites, &slopes, &z, parts, &mut adjoint);
            gaussian.gradient(&sites, Some(&adjoint), of_parameters);
            for (index, claimed) in gradient.iter().enumerate() {
                let mut at = |step: f64| {
                    let mut moved = position.clone();
                    moved[index] += step;
                    value(&mut gaussian, &moved)
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((slope - claimed).abs() < 1e-5, "{model} {index}: {slope} {claimed}");
            }
        }
    }
}

/// At the mode K⁻¹f = β ∇ log p.
#[test]
fn the_mode_is_where_prior_and_likelihood_balance() {
    for (model, classes) in TARGETS {
        let posterior = world(model, classes);
        for (beta, magnitude) in [(1.0, 0.4), (0.2, 0.4), (1.0, 4.0)] {
            let mut likelihood = Likelihood::new(&posterior.observed, 6);
            let functions = likelihood.functions();
            let mut gaussian = Gaussian::new(&posterior);
            let mut sites = Sites::none(6, functions);
            gaussian.set(&[magnitude, -0.3, 0.2]);
            let mode = approximate(&mut likelihood, beta, &mut gaussian, &mut sites).unwrap();
            let mut gradient = vec![0.0; mode.len()];
            likelihood.gradient(&mode, &mut gradient);
            let none = Sites::none(6, functions);
            gaussian.factorize_prior().unwrap();
            let mut back = vec![0.0; mode.len()];
            gradient.iter_mut().for_each(|slope| *slope *= beta);
            gaussian.covariance_times(&none, &gradient, &mut back);
            for (mode, back) in mode.iter().zip(&back) {
                assert!((mode - back).abs() < 0.02 * (1.0 + mode.abs()), "{model}: {mode} {back}");
            }
        }
    }
}
