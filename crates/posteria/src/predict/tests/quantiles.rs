//! Check distribution functions, quantiles and moments.

use super::{LAPLACE, NORMAL, STUDENT_T, every_family, parameters, stream};
use crate::density::checks::assert_relative;
use crate::density::{Laplace, Normal, StudentT};
use crate::predict::{Family, Predictive};

/// Component quantiles are good to 1e-12 and the solver stops at 1e-12 of the local scale.
const PRECISE: f64 = 1e-11;

#[test]
fn mixtures_match_references() {
    // mpmath, 40 digits: probabilities, quantiles; points, distribution function, log density.
    let weights = [0.2_f64.ln(), 0.5_f64.ln(), 0.3_f64.ln()];
    let probabilities = [1e-6, 0.05, 0.5, 0.975];
    let points = [-7.0, 1.25];
    for (family, parameters, quantiles, cdfs, log_densities) in [
        (
            NORMAL,
            vec![0.0, 1.0, 4.0, 0.5, -3.0, 2.0],
            [
                -12.008_124_484_621_267,
                -4.934_845_272_529_323,
                2.633_786_894_500_532,
                4.822_561_742_621_84,
            ],
            [0.006_825_039_584_709_725, 0.473_832_062_826_875_54],
            [-4.816_058_517_864_968, -3.151_495_893_647_02],
        ),
        (
            STUDENT_T,
            vec![0.0, 1.0, 3.0, 1.0, 2.0, 0.8, 5.0, 0.1, 30.0],
            [
                -6_169_483.942_524_359,
                -7.241_714_754_805_049,
                1.920_089_053_415_578_5,
                20.597_856_474_088_25,
            ],
            [0.051_211_231_311_276_25, 0.438_890_013_519_176_44],
            [-5.268_783_198_593_645, -2.240_142_448_839_873],
        ),
        (
            LAPLACE,
            vec![0.0, 1.0, 2.0, 3.0, -1.0, 0.25],
            [
                -35.287_648_590_675_02,
                -3.110_576_992_025_987_5,
                -0.171_547_468_499_379_55,
                8.909_377_108_935_631,
            ],
            [0.012_537_955_294_184_139, 0.666_031_204_611_219_2],
            [-5.463_165_929_136_174, -2.368_462_207_520_964],
        ),
    ] {
        let predictive = Predictive::weighted(family, &parameters, &weights);
        for (probability, expected) in probabilities.into_iter().zip(quantiles) {
            assert_relative(predictive.quantile(0, probability), expected, PRECISE);
        }
        for (index, point) in points.into_iter().enumerate() {
            assert_relative(predictive.cdf(0, point), cdfs[index], 1e-13);
            assert_relative(predictive.probability_above(0, point), 1.0 - cdfs[index], 1e-13);
            assert_relative(predictive.log_density(&[point]), log_densities[index], 1e-13);
            assert_relative(predictive.log_density_of(0, point), log_densities[index], 1e-13);
        }
    }
}

#[test]
fn one_component_is_itself() {
    let normal = Normal::new(3.0, 0.25).unwrap();
    let student_t = StudentT::new(-2.0, 1.5, 4.0).unwrap();
    let laplace = Laplace::new(1.0, 2.0).unwrap();
    type Function<'a> = &'a dyn Fn(f64) -> f64;
    let cases: [(Family, Vec<f64>, Function<'_>, f64, f64); 3] = [
        (NORMAL, vec![3.0, 0.25], &|p| normal.quantile(p), 3.0, 0.25),
        (STUDENT_T, vec![-2.0, 1.5, 4.0], &|p| student_t.quantile(p), -2.0, 1.5 * 2f64.sqrt()),
        (LAPLACE, vec![1.0, 2.0], &|p| laplace.quantile(p), 1.0, 2.0 * 2f64.sqrt()),
    ];
    for (family, parameters, quantile, mean, sd) in cases {
        // Also as several equal components.
        for copies in [1, 5] {
            let parameters = parameters.repeat(copies);
            let predictive = Predictive::new(family, &parameters);
            assert_relative(predictive.mean(0).unwrap(), mean, 1e-15);
            assert_relative(predictive.sd(0).unwrap(), sd, 1e-15);
            for probability in [1e-12, 0.025, 0.5, 0.8, 0.999] {
                let found = predictive.quantile(0, probability);
                assert_relative(found, quantile(probability), 1e-12);
            }
        }
    }
    let predictive = Predictive::new(NORMAL, &[3.0, 0.25]);
    assert!(predictive.quantile(0, 0.0) == f64::NEG_INFINITY);
    assert!(predictive.quantile(0, 1.0) == f64::INFINITY);
    assert!([-0.1, 1.1, f64::NAN].iter().all(|p| predictive.quantile(0, *p).is_nan()));
}

#[test]
fn the_distribution_function_inverts_the_quantile() {
    let mut stream = stream(1);
    for family in every_family().into_iter().filter(|family| family.outputs() > 0) {
        for draws in [1, 2, 50, 300] {
            let parameters = parameters(family, draws, &mut stream);
            let predictive = Predictive::new(family, &parameters);
            for output in 0..family.outputs() {
                for p in [1e-200, 1e-12, 1e-3, 0.05, 0.31, 0.5] {
                    let low = predictive.quantile(output, p);
                    assert_relative(predictive.cdf(output, low), p, 1e-10);
                    // 1 - p rounds; what it rounded to is the probability above.
                    let high = predictive.quantile(output, 1.0 - p);
                    let above = 1.0 - (1.0 - p);
                    if above > 0.0 {
                        assert_relative(predictive.probability_above(output, high), above, 1e-10);
                    }
                }
            }
        }
    }
}

#[test]
fn the_unit_of_the_target_does_not_matter() {
    let mut stream = stream(2);
    for family in [NORMAL, STUDENT_T, LAPLACE] {
        let reference = parameters(family, 20, &mut stream);
        let expected = Predictive::new(family, &reference);
        // Powers of two near 1e±150: exact products, so only the method could differ.
        for unit in [2f64.powi(498), 2f64.powi(-498), 2f64.powi(900), 2f64.powi(-900)] {
            let in_unit = |(index, value): (usize, &f64)| {
                if index % family.width() == 2 { *value } else { value * unit }
            };
            let scaled: Vec<f64> = reference.iter().enumerate().map(in_unit).collect();
            let predictive = Predictive::new(family, &scaled);
            assert_relative(predictive.mean(0).unwrap() / unit, expected.mean(0).unwrap(), 1e-13);
            assert_relative(predictive.sd(0).unwrap() / unit, expected.sd(0).unwrap(), 1e-13);
            for p in [1e-9, 0.2, 0.5, 0.99] {
                let found = predictive.quantile(0, p) / unit;
                assert_relative(found, expected.quantile(0, p), 1e-9);
            }
            let shift = predictive.log_density(&[0.3 * unit]) + unit.ln();
            assert_relative(shift, expected.log_density(&[0.3]), 1e-12);
        }
    }
}

#[test]
fn components_of_very_different_magnitude_are_mixed() {
    // Half of the mass within 1e-150 of 0, half spread over 1e150.
    let predictive = Predictive::new(NORMAL, &[0.0, 1e-150, 0.0, 1e150]);
    for p in [0.1, 0.26, 0.4, 0.5, 0.6, 0.74, 0.9] {
        let found = predictive.quantile(0, p);
        let expected: f64 = if (0.25..=0.75).contains(&p) {
            Normal::new(0.0, 1e-150).unwrap().quantile(2.0 * p - 0.5)
        } else {
            let outer = if p < 0.5 { 2.0 * p } else { 2.0 * p - 1.0 };
            Normal::new(0.0, 1e150).unwrap().quantile(outer)
        };
        // Rounding of 2p - 1/2 moves the quantile by up to 1e-15 of the scale.
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1e-151), "{p}: {found:e}");
    }
    // Two far modes: the median lies between them, quantiles inside are those of a mode.
    let modes = [-1e100, 1.0, 1e100, 1.0];
    let predictive = Predictive::new(NORMAL, &modes);
    assert!(predictive.quantile(0, 0.5).abs() <= 1e100);
    assert_relative(predictive.quantile(0, 0.25), -1e100, 1e-12);
    assert_relative(predictive.sd(0).unwrap(), 1e100, 1e-12);
}

#[test]
fn weights_of_any_offset_count_and_weights_of_zero_do_not() {
    let parameters = [0.0, 1.0, f64::NAN, f64::NAN, 4.0, 0.5];
    let none = f64::NEG_INFINITY;
    let reference = [0.0, 1.0, 4.0, 0.5];
    let plain = [0.25_f64.ln(), 0.75_f64.ln()];
    let expected = Predictive::weighted(NORMAL, &reference, &plain);
    for offset in [0.0, -1e5, 1e5] {
        let weights = [0.25_f64.ln() + offset, none, 0.75_f64.ln() + offset];
        let predictive = Predictive::weighted(NORMAL, &parameters, &weights);
        // An offset of 1e5 costs the weights five of their sixteen digits.
        let tolerance = if offset.abs() > 0.0 { 1e-9 } else { 1e-13 };
        assert_relative(predictive.mean(0).unwrap(), expected.mean(0).unwrap(), tolerance);
        assert_relative(predictive.sd(0).unwrap(), expected.sd(0).unwrap(), tolerance);
        assert_relative(predictive.quantile(0, 0.2), expected.quantile(0, 0.2), tolerance);
        assert_relative(predictive.log_density(&[1.0]), expected.log_density(&[1.0]), tolerance);
    }
    // All mass on one draw, the other e^-700 less: still there in the tail.
    let weights = [0.0, -700.0];
    let predictive = Predictive::weighted(NORMAL, &[0.0, 1.0, 100.0, 1.0], &weights);
    assert_relative(predictive.mean(0).unwrap() + 1.0, 1.0, 1e-15);
    let there = -700.0 - 0.918_938_533_204_672_7;
    assert_relative(predictive.log_density(&[100.0]), there, 1e-12);
    let nothing = [none];
    let unusable = Predictive::weighted(NORMAL, &[0.0, 1.0], &nothing);
    assert!(unusable.quantile(0, 0.3).is_nan() && unusable.log_density(&[0.0]).is_nan());
}

#[test]
fn moments_that_do_not_exist_are_none() {
    let moments = |dofs: [f64; 2]| {
        let parameters = [0.0, 1.0, dofs[0], 1.0, 1.0, dofs[1]];
        let predictive = Predictive::new(STUDENT_T, &parameters);
        (predictive.mean(0).is_some(), predictive.sd(0).is_some())
    };
    assert_eq!(moments([30.0, 2.1]), (true, true));
    assert_eq!(moments([30.0, 2.0]), (true, false));
    assert_eq!(moments([1.0, 30.0]), (false, false));
    let predictive = Predictive::new(STUDENT_T, &[0.0, 1.0, 0.5, 1.0, 1.0, 1.0]);
    assert!(predictive.quantile(0, 0.5).is_finite());
}

#[test]
fn parameters_that_are_no_numbers_show() {
    for parameters in [[f64::NAN, 1.0, 0.0, 1.0], [0.0, f64::NAN, 0.0, 1.0]] {
        let predictive = Predictive::new(NORMAL, &parameters);
        assert!(predictive.quantile(0, 0.3).is_nan());
        assert!(predictive.cdf(0, 0.3).is_nan() && predictive.log_density(&[0.3]).is_nan());
    }
}
