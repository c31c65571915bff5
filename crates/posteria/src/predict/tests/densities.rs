//! Check densities, class probabilities and draws.

use posteria_linalg::{Cholesky, Matrix};

use super::{every_family, parameters, stream};
use crate::density::checks::{
    assert_counts_follow, assert_derivative, assert_draws_follow, assert_relative, integral,
};
use crate::density::{MultivariateNormal, Normal};
use crate::predict::{Family, Predictive};

#[test]
fn the_density_is_the_mean_over_draws_of_the_product_over_outputs() {
    let family = Family::Normal { outputs: 2 };
    // Two draws in opposite corners: the joint density knows that they go together.
    let parameters = [0.0, 1.0, 0.0, 1.0, 5.0, 1.0, 5.0, 1.0];
    let predictive = Predictive::new(family, &parameters);
    let at = |y: f64, mean: f64| Normal::new(mean, 1.0).unwrap().log_density(y).exp();
    let joint = 0.5 * (at(0.1, 0.0) * at(4.9, 0.0) + at(0.1, 5.0) * at(4.9, 5.0));
    assert_relative(predictive.density(&[0.1, 4.9]), joint, 1e-13);
    let alone: f64 =
        (0..2).map(|output| predictive.log_density_of(output, [0.1, 4.9][output])).sum();
    assert!(predictive.log_density(&[0.1, 4.9]) < alone - 8.0);
}

#[test]
fn the_full_covariance_is_that_of_its_factor() {
    let family = Family::MultivariateNormal { outputs: 3 };
    let mut stream = stream(3);
    let parameters = parameters(family, 1, &mut stream);
    let mut factor = Matrix::zeros(3, 3);
    let mut next = 3;
    for row in 0..3 {
        for column in 0..=row {
            factor[(row, column)] = parameters[next];
            next += 1;
        }
    }
    let product = |i: usize, j: usize| (0..3).map(|k| factor[(i, k)] * factor[(j, k)]).sum::<f64>();
    let covariance = Matrix::from_fn(3, 3, product);
    let cholesky = Cholesky::new(&covariance).unwrap();
    let reference = MultivariateNormal::new(parameters[..3].to_vec(), cholesky).unwrap();
    let predictive = Predictive::new(family, &parameters);
    let y = [0.3, -1.0, 2.5];
    assert_relative(predictive.log_density(&y), reference.log_density(&y, &mut [0.0; 3]), 1e-12);
    for output in 0..3 {
        assert_relative(
            predictive.sd(output).unwrap().powi(2),
            covariance[(output, output)],
            1e-13,
        );
    }
    // Projections of draws are normal with the projected variance.
    let direction = [0.7, -1.2, 0.4];
    let project = |y: &[f64]| -> f64 { y.iter().zip(direction).map(|(y, d)| y * d).sum() };
    let variance: f64 =
        (0..9).map(|k| direction[k / 3] * direction[k % 3] * covariance[(k / 3, k % 3)]).sum();
    let expected = Normal::new(project(&parameters[..3]), variance.sqrt()).unwrap();
    let mut target = [0.0; 3];
    let mut projections: Vec<f64> = (0..10_000)
        .map(|_| {
            predictive.draw(&mut stream, &mut target);
            project(&target)
        })
        .collect();
    assert_draws_follow(&mut projections, |x| expected.cdf(x));
}

#[test]
fn densities_are_normalised_and_are_the_slope_of_the_distribution_function() {
    let mut stream = stream(4);
    for family in every_family().into_iter().filter(|family| family.outputs() > 0) {
        let parameters = parameters(family, 3, &mut stream);
        let predictive = Predictive::new(family, &parameters);
        for output in 0..family.outputs() {
            let density = |y: f64| predictive.log_density_of(output, y).exp();
            // The kinks of Laplace densities, or nearly kinks, cost the rule some digits.
            let kinks = matches!(family, Family::Laplace { .. } | Family::NormalPlusLaplace { .. });
            let tolerance = if kinks { 1e-3 } else { 1e-8 };
            let centre = predictive.quantile(output, 0.5);
            assert_relative(integral(centre, 1.0, density), 1.0, tolerance);
            for y in [-2.3, 0.4, 5.1] {
                assert_derivative(density(y), y, |y| predictive.cdf(output, y));
                assert_derivative(-density(y), y, |y| predictive.probability_above(output, y));
            }
        }
    }
}

#[test]
fn draws_follow_the_mixture() {
    let mut stream = stream(5);
    let weights = [0.1_f64.ln(), f64::NEG_INFINITY, 0.6_f64.ln(), 0.3_f64.ln()];
    for family in every_family() {
        let parameters = parameters(family, 4, &mut stream);
        for predictive in [
            Predictive::new(family, &parameters),
            Predictive::weighted(family, &parameters, &weights),
        ] {
            let mut target = vec![0.0; family.outputs().max(1)];
            let mut drawn = vec![Vec::new(); target.len()];
            for _ in 0..8000 {
                predictive.draw(&mut stream, &mut target);
                drawn.iter_mut().zip(&target).for_each(|(all, value)| all.push(*value));
            }
            if family.classes() == 0 {
                for (output, drawn) in drawn.iter_mut().enumerate() {
                    assert_draws_follow(drawn, |y| predictive.cdf(output, y));
                }
                continue;
            }
            let mut probabilities = vec![0.0; family.classes()];
            predictive.probabilities(&mut probabilities);
            let mut counts = vec![0_u64; family.classes()];
            drawn[0].iter().for_each(|class| counts[*class as usize] += 1);
            assert_counts_follow(&counts, &probabilities);
        }
    }
}

#[test]
fn class_probabilities_sum_to_one_and_agree_with_their_logarithms() {
    let mut stream = stream(6);
    for family in [Family::Bernoulli, Family::Categorical { classes: 4 }] {
        let parameters = parameters(family, 9, &mut stream);
        let weights: Vec<f64> = (0..9).map(|_| 3.0 * stream.normal()).collect();
        let predictive = Predictive::weighted(family, &parameters, &weights);
        let mut probabilities = vec![0.0; family.classes()];
        predictive.probabilities(&mut probabilities);
        assert_relative(probabilities.iter().sum(), 1.0, 1e-14);
        for (class, probability) in probabilities.iter().enumerate() {
            assert_relative(predictive.log_probability(class).exp(), *probability, 1e-13);
            let log_density = predictive.log_density(&[class as f64]);
            assert_relative(log_density, predictive.log_probability(class), 1e-15);
            assert!(*probability <= probabilities[predictive.most_probable()]);
        }
        for no_class in [-1.0, 0.5, 17.0, f64::NAN] {
            assert!(predictive.log_density(&[no_class]) == f64::NEG_INFINITY);
        }
    }
}

#[test]
fn classes_beyond_doubt_keep_their_digits() {
    // P(first class) = e^-800 is no double, its logarithm is.
    let predictive = Predictive::new(Family::Bernoulli, &[800.0, 801.0]);
    let mean = -800.0 + ((1.0 + (-1.0_f64).exp()) / 2.0).ln();
    assert_relative(predictive.log_probability(0), mean, 1e-14);
    assert_relative(predictive.log_probability(1) + 1.0, 1.0, 1e-15);
    let mut probabilities = [0.0; 2];
    let small = Predictive::new(Family::Bernoulli, &[-300.0]);
    small.probabilities(&mut probabilities);
    assert_relative(probabilities[1], (-300.0_f64).exp(), 1e-13);
    // A common constant of softmax outputs means nothing, however large.
    let outputs = [1.0, 2.0, -0.5];
    let moved = outputs.map(|value| value + 1e6);
    let family = Family::Categorical { classes: 3 };
    for class in 0..3 {
        let expected = Predictive::new(family, &outputs).log_probability(class);
        assert_relative(Predictive::new(family, &moved).log_probability(class), expected, 1e-9);
    }
}

#[test]
fn rows_belong_to_components_as_their_joint_density_says() {
    // Two draws, two components: p(x, k) is averaged over draws before it is divided by p(x), so
    // that the draw under which the row is likely counts.
    let joint = [0.2_f64, 0.1, 0.001, 0.003];
    let parameters = joint.map(f64::ln);
    let predictive = Predictive::new(Family::Density { components: 2 }, &parameters);
    assert!((predictive.density(&[]) - 0.304 / 2.0).abs() < 1e-12);
    let mut probabilities = [0.0; 2];
    predictive.probabilities(&mut probabilities);
    assert!((probabilities[0] - 0.201 / 0.304).abs() < 1e-12, "{probabilities:?}");
    assert!((probabilities[1] - 0.103 / 0.304).abs() < 1e-12, "{probabilities:?}");
    assert_eq!(predictive.most_probable(), 0);
    let weights = [f64::NEG_INFINITY, 0.0];
    let second = Predictive::weighted(predictive.family(), &parameters, &weights);
    assert!((second.density(&[]) - 0.004).abs() < 1e-12 && second.most_probable() == 1);
    let one = Predictive::new(Family::Density { components: 1 }, &parameters[..2]);
    assert!((one.density(&[]) - 0.15).abs() < 1e-12 && one.family().classes() == 0);
}
