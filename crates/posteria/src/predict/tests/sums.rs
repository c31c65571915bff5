//! Check sums of a normal function and a residual against references and their limits.

use std::f64::consts::LN_2;

use super::{LAPLACE, NORMAL, STUDENT_T, stream};
use crate::density::checks::assert_relative;
use crate::predict::{Family, Predictive};

const STUDENT_T_SUM: Family = Family::NormalPlusStudentT { outputs: 1 };
const LAPLACE_SUM: Family = Family::NormalPlusLaplace { outputs: 1 };

/// mpmath, 25 digits, at residual scale 1: degrees of freedom, deviation of the function, y;
/// logarithms of density and distribution function at y.
const STUDENT_T_SUMS: [(f64, f64, f64, f64, f64); 17] = [
    (2.0, 0.001, 0.0, -1.039_721_520_838_792_9, -LN_2),
    (2.0, 1.0, 0.0, -1.424_030_357_960_890_2, -LN_2),
    (2.0, 1.0, -3.0, -3.147_411_013_619_807, -2.764_980_763_048_110_5),
    (2.0, 1_000.0, -10.0, -7.826_750_623_878_826_5, -0.701_157_838_655_521_5),
    (2.0, 1_000.0, -4_000.0, -15.826_396_466_979_745, -10.358_716_053_981_983),
    (2.0, 1_000.0, -1_000_000.0, -41.446_525_673_868_82, -28.324_165_296_479_492),
    (4.0, 0.1, -0.5, -1.135_852_391_679_887, -1.131_331_911_969_419),
    (4.0, 2.0, -30.0, -14.464_159_294_654_701, -12.468_372_743_605_698),
    (4.0, 30.0, -300.0, -25.873_046_116_498_25, -21.610_471_521_332_42),
    (4.0, 1.0, -1_000_000.0, -66.592_646_140_028_36, -54.163_429_943_185_655),
    (10.0, 1.0, -10_000.0, -89.593_423_322_421_74, -82.685_668_061_772_93),
    (10.0, 30.0, -200.0, -26.512_091_600_323_682, -25.027_996_469_434_11),
    (10.0, 1_000.0, -1_000_000.0, -140.250_229_477_520_7, -128.737_315_012_733_8),
    (50.0, 0.01, -300.0, -192.074_419_030_336, -190.282_114_899_877_2),
    (50.0, 1.0, -5.0, -7.292_275_704_327_721, -8.197_123_177_051),
    (50.0, 10.0, -100_000.0, -488.326_537_142_588_2, -480.725_635_188_142_7),
    (0.5, 1.0, -100.0, -8.737_998_555_611_41, -3.439_801_219_109_972_5),
];

/// mpmath, 60 digits and more, at residual scale 1: deviation of the function, y; logarithms of
/// density and distribution function at y.
const LAPLACE_SUMS: [(f64, f64, f64, f64); 11] = [
    (0.001, 0.0, -0.693_944_883_466_965_1, -LN_2),
    (0.001, -0.01, -0.703_146_680_559_945_3, -0.703_146_680_559_945_3),
    (0.5, -2.0, -2.568_194_304_082_249, -2.568_152_271_440_347),
    (1.0, 0.0, -1.341_021_645_009_263_6, -LN_2),
    (1.0, -3.0, -3.203_170_285_538_783, -3.195_787_637_092_638),
    (3.0, -200.0, -196.193_147_180_559_95, -196.193_147_180_559_95),
    (30.0, -50.0, -5.707_058_753_945_88, -3.037_085_188_754_213_4),
    (30.0, -900.0, -451.373_087_570_788_75, -451.347_228_455_873_16),
    (30.0, -2_000.0, -1_550.693_147_180_56, -1_550.693_147_180_56),
    (1_000.0, 0.0, -7.826_694_812_184_31, -LN_2),
    (1_000.0, -5_000.0, -20.326_669_811_996_81, -15.064_972_461_234_621),
];

/// Asserts densities and distribution function at y, and mirrored, in some unit about some place.
fn check(family: Family, parameters: &[f64], y: f64, (log_density, log_below): (f64, f64)) {
    for (location, unit) in [(0.0, 1.0), (0.0, 2f64.powi(300)), (3.0, 0.5)] {
        let scaled: Vec<f64> = match family {
            STUDENT_T_SUM => {
                vec![location, parameters[0] * unit, unit, parameters[1]]
            }
            _ => vec![location, parameters[0] * unit, unit],
        };
        let predictive = Predictive::new(family, &scaled);
        // Moving y costs digits of a difference.
        let tolerance = if location > 0.0 { 1e-9 } else { 1e-11 };
        for sign in [1.0, -1.0] {
            let at = location + sign * y * unit;
            let found = predictive.log_density(&[at]) + unit.ln();
            let error = (found - log_density).abs();
            assert!(error < tolerance * log_density.abs().max(1.0), "{parameters:?} {y}: {found}");
            let tail = if sign > 0.0 {
                predictive.cdf(0, at)
            } else {
                predictive.probability_above(0, at)
            };
            let error = (tail.ln() - log_below).abs();
            let close = error < tolerance * log_below.abs().max(1.0);
            assert!(close || log_below < -700.0, "{parameters:?} {y}: {}", tail.ln());
        }
    }
}

#[test]
fn sums_match_references_in_the_bulk_and_far_out() {
    for (dof, spread, y, log_density, log_below) in STUDENT_T_SUMS {
        check(STUDENT_T_SUM, &[spread, dof], y, (log_density, log_below));
    }
    for (spread, y, log_density, log_below) in LAPLACE_SUMS {
        check(LAPLACE_SUM, &[spread], y, (log_density, log_below));
    }
}

#[test]
fn without_a_spread_sums_are_their_residuals_and_of_normal_residuals_normal() {
    let same = |sum: (Family, &[f64]), plain: (Family, &[f64]), tolerance: f64| {
        let sum = Predictive::new(sum.0, sum.1);
        let plain = Predictive::new(plain.0, plain.1);
        for y in [-1e6, -7.0, 0.9, 1.0, 3.5, 400.0] {
            assert_relative(sum.log_density(&[y]), plain.log_density(&[y]), tolerance);
            assert_relative(sum.cdf(0, y), plain.cdf(0, y), tolerance);
            assert_relative(sum.probability_above(0, y), plain.probability_above(0, y), tolerance);
        }
        for p in [1e-12, 0.05, 0.5, 0.9] {
            assert_relative(sum.quantile(0, p), plain.quantile(0, p), 1e-10);
        }
        assert_relative(sum.mean(0).unwrap(), plain.mean(0).unwrap(), 1e-15);
        assert_relative(sum.sd(0).unwrap(), plain.sd(0).unwrap(), 1e-14);
    };
    // Also as small a spread as makes no difference, on both sides of where that is decided.
    for (spread, tolerance) in [(0.0, 1e-15), (1e-12, 1e-13), (2e-9, 1e-10)] {
        same((STUDENT_T_SUM, &[1.0, spread, 2.0, 4.0]), (STUDENT_T, &[1.0, 2.0, 4.0]), tolerance);
        same((LAPLACE_SUM, &[1.0, spread, 2.0]), (LAPLACE, &[1.0, 2.0]), 100.0 * tolerance);
    }
    let infinite = f64::INFINITY;
    same((STUDENT_T_SUM, &[1.0, 3.0, 4.0, infinite]), (NORMAL, &[1.0, 5.0]), 1e-14);
}

#[test]
fn moments_and_draws_are_those_of_independent_parts() {
    let t = Predictive::new(STUDENT_T_SUM, &[1.0, 3.0, 2.0, 4.0]);
    // 9 + 4 · 4/(4 - 2).
    assert_relative(t.sd(0).unwrap(), 17f64.sqrt(), 1e-14);
    let laplace = Predictive::new(LAPLACE_SUM, &[1.0, 3.0, 2.0]);
    assert_relative(laplace.sd(0).unwrap(), 17f64.sqrt(), 1e-14);
    assert!(Predictive::new(STUDENT_T_SUM, &[1.0, 3.0, 2.0, 2.0]).sd(0).is_none());
    assert!(Predictive::new(STUDENT_T_SUM, &[1.0, 3.0, 2.0, 1.0]).mean(0).is_none());
    let mut stream = stream(30);
    let mut target = [0.0];
    for predictive in [t, laplace] {
        let squares: f64 = (0..20_000)
            .map(|_| {
                predictive.draw(&mut stream, &mut target);
                // Bounded, so that the mean has an error: 0.5 / √20000 at most.
                f64::from(u8::from((target[0] - 1.0).abs() < 3.0))
            })
            .sum();
        let expected = predictive.cdf(0, 4.0) - predictive.cdf(0, -2.0);
        // Five errors: false alarm 6e-7.
        assert!((squares / 20_000.0 - expected).abs() < 5.0 * 0.5 / 20_000f64.sqrt());
    }
}

#[test]
fn parameters_that_are_no_numbers_show() {
    for bad in [[f64::NAN, 1.0, 1.0, 4.0], [0.0, f64::NAN, 1.0, 4.0], [0.0, 1.0, f64::NAN, 4.0]] {
        for (family, width) in [(STUDENT_T_SUM, 4), (LAPLACE_SUM, 3)] {
            let predictive = Predictive::new(family, &bad[..width]);
            assert!(predictive.log_density(&[0.3]).is_nan(), "{family:?} {bad:?}");
            assert!(predictive.cdf(0, 0.3).is_nan() && predictive.quantile(0, 0.3).is_nan());
        }
    }
}
