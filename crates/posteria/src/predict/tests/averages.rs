//! An average over models is the mixture of all their draws.

use super::{LAPLACE, NORMAL, STUDENT_T, parameters, stream};
use crate::density::checks::assert_relative;
use crate::predict::{Family, ModelShare, Predictive};

#[test]
fn models_of_one_family_are_one_mixture() {
    let family = Family::StudentT { outputs: 2 };
    let mut stream = stream(40);
    let parts = [parameters(family, 30, &mut stream), parameters(family, 50, &mut stream)];
    let shares = [0.3, 0.7];
    let all: Vec<f64> = parts.concat();
    let weights: Vec<f64> = (0..80)
        .map(|draw| if draw < 30 { 0.3_f64 / 30.0 } else { 0.7 / 50.0 })
        .map(f64::ln)
        .collect();
    let whole = Predictive::weighted(family, &all, &weights);
    let models: Vec<ModelShare<'_>> = shares
        .iter()
        .zip(&parts)
        .map(|(share, own)| ModelShare { share: *share, predictive: Predictive::new(family, own) })
        .collect();
    let average = Predictive::average(&models);
    let observed = [0.4, -2.0];
    assert_relative(average.log_density(&observed), whole.log_density(&observed), 1e-12);
    for output in 0..2 {
        let [mean, sd] = [&average, &whole].map(|it| (it.mean(output), it.sd(output)));
        assert_relative(mean.0.expect("a mean"), sd.0.expect("a mean"), 1e-12);
        assert_relative(mean.1.expect("an sd"), sd.1.expect("an sd"), 1e-12);
        assert_relative(
            average.log_density_of(output, 1.0),
            whole.log_density_of(output, 1.0),
            1e-12,
        );
        for y in [-6.0, 0.0, 3.0] {
            assert_relative(average.cdf(output, y), whole.cdf(output, y), 1e-12);
            let above = [&average, &whole].map(|it| it.probability_above(output, y));
            assert_relative(above[0], above[1], 1e-12);
        }
        for p in [1e-6, 0.05, 0.5, 0.8, 0.999] {
            assert_relative(average.quantile(output, p), whole.quantile(output, p), 1e-9);
        }
    }
}

#[test]
fn families_may_differ() {
    let mut stream = stream(41);
    let parts =
        [NORMAL, LAPLACE, STUDENT_T].map(|family| (family, parameters(family, 9, &mut stream)));
    let models: Vec<ModelShare<'_>> = [0.2, 0.0, 0.8]
        .iter()
        .zip(&parts)
        .map(|(share, (family, own))| ModelShare {
            share: *share,
            predictive: Predictive::new(*family, own),
        })
        .collect();
    let average = Predictive::average(&models);
    let [normal, _, t] = [0, 1, 2].map(|index| models[index].predictive);
    for y in [-3.0, 0.5, 10.0] {
        let expected = 0.2 * normal.density(&[y]) + 0.8 * t.density(&[y]);
        assert_relative(average.density(&[y]), expected, 1e-12);
    }
    for p in [0.01, 0.3, 0.5, 0.97] {
        assert_relative(average.cdf(0, average.quantile(0, p)), p, 1e-10);
    }
    // 4000 draws: five standard deviations of their mean, a false alarm in two million.
    let (mean, sd) = (average.mean(0).expect("a mean"), average.sd(0).expect("an sd"));
    let mut target = [0.0];
    let mut sum = 0.0;
    for _ in 0..4000 {
        average.draw(&mut stream, &mut target);
        sum += target[0] / 4000.0;
    }
    assert!((sum - mean).abs() < 5.0 * sd / 4000_f64.sqrt(), "{sum} and {mean}");
}

#[test]
fn classes_have_the_average_of_their_probabilities() {
    let family = Family::Categorical { classes: 3 };
    let (one, two) = ([0.0, 1.0, -1.0], [2.0, 0.0, 0.5, -1.0, 0.0, 3.0]);
    let parts = [Predictive::new(family, &one), Predictive::new(family, &two)];
    let models = [0.25, 0.75]
        .iter()
        .zip(parts)
        .map(|(share, predictive)| ModelShare { share: *share, predictive })
        .collect::<Vec<_>>();
    let average = Predictive::average(&models);
    let probabilities = |it: &Predictive<'_>| {
        let mut all = [0.0; 3];
        it.probabilities(&mut all);
        all
    };
    let found = probabilities(&average);
    assert_relative(found.iter().sum(), 1.0, 1e-14);
    for (class, found) in found.iter().enumerate() {
        let expected =
            0.25 * probabilities(&parts[0])[class] + 0.75 * probabilities(&parts[1])[class];
        assert_relative(*found, expected, 1e-14);
        assert_relative(average.log_probability(class), expected.ln(), 1e-12);
    }
}
