//! Special functions, each from the source that is most accurate for it.

use std::f64::consts::{FRAC_1_SQRT_2, LN_2, PI};

/// log √(2π).
pub const LOG_SQRT_2PI: f64 = 0.918_938_533_204_672_7;

/// log Γ(x) for positive x.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Where [`stirling_remainder`] reaches the precision of a double.
const STIRLING_FROM: f64 = 10.0;

/// log Γ(x) - [(x - ½) log x - x + log √(2π)] for x ≥ 10 [Abramowitz and Stegun 6.1.41].
fn stirling_remainder(x: f64) -> f64 {
    let y = 1.0 / (x * x);
    let tail = 1.0 / 1188.0 - y * (691.0 / 360_360.0 - y / 156.0);
    let tail = 1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y * tail));
    (1.0 / 12.0 - y * tail) / x
}

/// log Γ(x + ½) - log Γ(x) for positive x: the normalising constant of a Student t. Keeps an
/// absolute error of some 1e-15 for any x, where the difference of two log gammas would lose
/// all digits for large degrees of freedom.
pub fn ln_gamma_half_step(x: f64) -> f64 {
    if x < STIRLING_FROM {
        return ln_gamma(x + 0.5) - ln_gamma(x);
    }
    x * (0.5 / x).ln_1p() - 0.5 + 0.5 * x.ln() + stirling_remainder(x + 0.5) - stirling_remainder(x)
}

/// log B(a, b) = log Γ(a) + log Γ(b) - log Γ(a + b) for positive arguments, without the
/// cancellation of large terms.
pub fn ln_beta(a: f64, b: f64) -> f64 {
    let (small, large) = if a < b { (a, b) } else { (b, a) };
    if large < STIRLING_FROM {
        return ln_gamma(small) + ln_gamma(large) - ln_gamma(small + large);
    }
    let remainder = stirling_remainder(large) - stirling_remainder(small + large);
    let step = (small / large).ln_1p();
    if small < STIRLING_FROM {
        return ln_gamma(small) - (small + large - 0.5) * step
            + small * (1.0 - large.ln())
            + remainder;
    }
    LOG_SQRT_2PI - 0.5 * large.ln() + (small - 0.5) * (small / (small + large)).ln() - large * step
        + stirling_remainder(small)
        + remainder
}

/// log Γ_d(x) = d(d-1)/4 log π + Σ_j log Γ(x - (j-1)/2), j = 1, …, d, for x > (d-1)/2: the
/// constant of Wishart densities.
pub fn ln_gamma_multivariate(dim: usize, x: f64) -> f64 {
    let constant = 0.25 * (dim * dim.saturating_sub(1)) as f64 * PI.ln();
    constant + (0..dim).map(|j| ln_gamma(x - 0.5 * j as f64)).sum::<f64>()
}

/// P(a, x) = ∫₀ˣ t^(a-1) e^(-t) dt / Γ(a), the distribution function of Gamma(a, scale 1).
/// Relative error below 1e-12 in the whole left tail for a ≤ 1000, some 1e-10 at a = 1e5.
pub fn regularized_gamma_lower(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x == f64::INFINITY {
        1.0
    } else {
        statrs::function::gamma::gamma_lr(a, x)
    }
}

/// Q(a, x) = 1 - P(a, x), as accurate in the right tail as [`regularized_gamma_lower`] is in
/// the left one.
pub fn regularized_gamma_upper(a: f64, x: f64) -> f64 {
    if x <= 0.0 {
        1.0
    } else if x == f64::INFINITY {
        0.0
    } else {
        statrs::function::gamma::gamma_ur(a, x)
    }
}

/// I_x(a, b) = ∫₀ˣ t^(a-1) (1-t)^(b-1) dt / B(a, b), the distribution function of Beta(a, b).
/// Relative error below 1e-12 in the left tail for a, b ≤ 300, some 2e-12 at 1e4.
pub fn regularized_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        0.0
    } else if x >= 1.0 {
        1.0
    } else {
        statrs::function::beta::beta_reg(a, b, x)
    }
}

/// ψ(x) = d log Γ(x) / dx.
pub fn digamma(x: f64) -> f64 {
    statrs::function::gamma::digamma(x)
}

/// ψ'(x), the derivative of the digamma function, for positive x: upwards by
/// ψ'(x) = ψ'(x + 1) + 1/x² to where the asymptotic series in 1/x² has sixteen digits.
pub fn trigamma(x: f64) -> f64 {
    let (mut x, mut sum) = (x, 0.0);
    while x < 12.0 {
        sum += (x * x).recip();
        x += 1.0;
    }
    let square = (x * x).recip();
    let series = [1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0, -691.0 / 2730.0];
    let tail = series.iter().rev().fold(0.0, |tail, bernoulli| (tail + bernoulli) * square);
    sum + (1.0 + 0.5 / x + tail) / x
}

/// Φ(x), the standard normal distribution function, accurate in both tails.
pub fn normal_cdf(x: f64) -> f64 {
    // statrs is only good to 1e-10 here; erfc of libm keeps the relative error of the tail.
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// log Φ(x), accurate in both tails (relative error below 1e-12, below 1e-14 for x < 8), far
/// beyond where Φ(x) underflows.
pub fn log_normal_cdf(x: f64) -> f64 {
    // Where erfc comes close to the smallest normal number and loses digits.
    const SERIES_BELOW: f64 = -37.0;
    if x >= 0.0 {
        (-0.5 * libm::erfc(x * FRAC_1_SQRT_2)).ln_1p()
    } else if x >= SERIES_BELOW {
        (0.5 * libm::erfc(-x * FRAC_1_SQRT_2)).ln()
    } else {
        // Φ(x) = φ(x)/|x| (1 - 1/x² + 3/x⁴ - 15/x⁶ + …) [Abramowitz and Stegun 26.2.12].
        let y = 1.0 / (x * x);
        let series = -y * (1.0 - 3.0 * y * (1.0 - 5.0 * y * (1.0 - 7.0 * y)));
        -0.5 * x * x - LOG_SQRT_2PI - (-x).ln() + series.ln_1p()
    }
}

/// exp(x²) erfc(x) for x ≥ 0, to a few units in the last place however large x.
pub fn scaled_erfc(x: f64) -> f64 {
    // Where erfc comes close to the smallest normal number.
    const SERIES_ABOVE: f64 = 26.0;
    if x < SERIES_ABOVE {
        let square = x * x;
        // What rounding took from the square would be magnified by exp.
        let lost = x.mul_add(x, -square);
        return square.exp() * (1.0 + lost) * libm::erfc(x);
    }
    // 1/(x√π) Σ_k (-1)^k (2k-1)!!/(2x²)^k [Abramowitz and Stegun 7.1.23].
    let y = 0.5 / (x * x);
    let series = (1..=7).rev().fold(1.0, |sum, k| 1.0 - f64::from(2 * k - 1) * y * sum);
    series / (x * std::f64::consts::PI.sqrt())
}

/// Φ⁻¹(p), the standard normal quantile, to the precision of a double for p down to the
/// smallest positive number; ∓∞ at 0 and 1.
pub fn normal_quantile(p: f64) -> f64 {
    if p > 0.5 {
        // 1 - p is exact here.
        return -normal_quantile(1.0 - p);
    }
    let x = -std::f64::consts::SQRT_2 * statrs::function::erf::erfc_inv(2.0 * p);
    if !x.is_finite() {
        return x;
    }
    // erfc_inv is good to about 1e-10; one Newton step on log Φ doubles the digits, in the
    // tail too. d log Φ(x) / dx = φ(x) / Φ(x).
    let log_cdf = log_normal_cdf(x);
    let slope = (-0.5 * x * x - LOG_SQRT_2PI - log_cdf).exp();
    x - (log_cdf - p.ln()) / slope
}

/// log Σ exp(x_i); -∞ for an empty slice.
pub fn log_sum_exp(values: &[f64]) -> f64 {
    let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    // Shifted by the largest term, so that no exp overflows and one of them is 1.
    largest + values.iter().map(|value| (value - largest).exp()).sum::<f64>().ln()
}

/// log(exp(a) + exp(b)).
pub fn log_add_exp(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if large == f64::NEG_INFINITY { large } else { large + (small - large).exp().ln_1p() }
}

/// log(1 + exp(x)) without overflow or cancellation.
pub fn log1p_exp(x: f64) -> f64 {
    if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() }
}

/// 1 / (1 + exp(-x)).
pub fn logistic(x: f64) -> f64 {
    if x >= 0.0 {
        1.0 / (1.0 + (-x).exp())
    } else {
        let e = x.exp();
        e / (1.0 + e)
    }
}

/// log(1 - exp(x)) for negative x, without cancellation near 0 (Mächler 2012).
pub fn log1m_exp(x: f64) -> f64 {
    if x > -LN_2 { (-x.exp_m1()).ln() } else { (-x.exp()).ln_1p() }
}

/// r = φ(t)/Φ(t) and r + t, both to many digits wherever t is.
pub fn inverse_mills(t: f64) -> (f64, f64) {
    // Below this the series is exact to a double, and r and -t agree in their first digits.
    const SERIES_BELOW: f64 = -30.0;
    if t >= SERIES_BELOW {
        let ratio = (-0.5 * t * t - LOG_SQRT_2PI - log_normal_cdf(t)).exp();
        return (ratio, ratio + t);
    }
    // Φ(t) = φ(t)/|t| (1 - s), s = q - 3q² + 15q³ - …, q = 1/t² [Abramowitz and Stegun 26.2.12].
    let q = 1.0 / (t * t);
    let s = q * (1.0 - 3.0 * q * (1.0 - 5.0 * q * (1.0 - 7.0 * q * (1.0 - 9.0 * q))));
    (-t / (1.0 - s), -t * s / (1.0 - s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::assert_relative;

    // Every reference value: mpmath 1.4.1 with 60 digits, at the double nearest to the argument.

    #[test]
    fn log_normal_cdf_is_accurate_in_both_tails() {
        for (x, expected) in [
            (-1e8, -5_000_000_000_000_019.339_6),
            (-1000.0, -500_007.826_694_812_16),
            (-40.0, -804.608_442_013_753_8),
            (-37.5, -707.668_989_317_507_2),
            (-36.9, -685.332_883_165_350_6),
            (-20.0, -203.917_155_371_097_27),
            (-5.0, -15.064_998_393_988_725),
            (-1.0, -1.841_021_645_009_263_6),
            (-0.1, -0.776_154_592_730_273_3),
            (0.0, -LN_2),
            (0.5, -0.368_946_415_288_656_4),
            (3.0, -0.001_350_809_964_748_193_8),
            (8.0, -6.220_960_574_271_786e-16),
            (30.0, -4.906_713_927_148_187e-198),
        ] {
            // Where 1 - Φ is the answer, rounding of x/√2 costs x² units in the last place.
            assert_relative(log_normal_cdf(x), expected, if x > 8.0 { 1e-12 } else { 1e-14 });
            if x > -37.0 && x < 5.0 {
                assert_relative(normal_cdf(x), expected.exp(), 1e-12);
            }
        }
    }

    #[test]
    fn the_scaled_error_function_keeps_its_digits() {
        for (x, expected) in [
            (0.0, 1.0),
            (0.3, 0.734_599_334_567_655_1),
            (2.0, 0.255_395_676_310_505_75),
            (11.7, 0.048_047_095_869_217_25),
            (25.9, 0.021_767_181_150_738_214),
            (26.1, 0.021_600_627_726_346_206),
            (40.0, 0.014_100_335_983_377_814),
            (1_000_000_000.0, 5.641_895_835_477_563e-10),
        ] {
            assert_relative(scaled_erfc(x), expected, 1e-14);
        }
    }

    #[test]
    fn normal_quantile_is_accurate_in_both_tails() {
        for (p, expected) in [
            (1e-300, -37.047_096_299_361_2),
            (1e-20, -9.262_340_089_798_407),
            (1e-5, -4.264_890_793_922_825),
            (0.02, -2.053_748_910_631_823),
            (0.3, -0.524_400_512_708_040_8),
            (0.499, -0.002_506_630_899_571_766),
            (0.7, 0.524_400_512_708_040_7),
            (0.99, 2.326_347_874_040_840_8),
            (0.999_999, 4.753_424_308_817_087),
        ] {
            assert_relative(normal_quantile(p), expected, 1e-13);
        }
        assert!(normal_quantile(0.5).abs() < 1e-16);
        assert!(normal_quantile(0.0) < 0.0 && normal_quantile(0.0).is_infinite());
        assert!(normal_quantile(1.0) > 0.0 && normal_quantile(1.0).is_infinite());
    }

    #[test]
    fn gamma_functions_keep_their_digits() {
        for (x, expected) in [
            (0.005, -4.732_843_070_243_188),
            (0.25, -1.084_741_573_266_782),
            (1.0, -0.120_782_237_635_245_22),
            (2.0, 0.284_682_870_472_919_2),
            (9.9, 1.133_646_467_400_399),
            (10.1, 1.143_896_514_699_313_2),
            (100.0, 2.301_335_098_202_222_7),
            (1e6, 6.907_755_153_982_137),
            (1e12, 13.815_510_557_964_15),
        ] {
            assert_relative(ln_gamma_half_step(x), expected, 1e-14);
        }
        for (a, b, expected) in [
            (0.5, 0.5, 1.144_729_885_849_400_2),
            (1e-3, 1e6, 6.893_363_375_325_389),
            (3.5, 2.5, -3.301_835_269_962_053),
            (9.5, 12.0, -14.660_284_594_004_006),
            (15.0, 20.0, -24.049_722_172_259_504),
            (0.5, 1e8, -8.637_975_427_801_482),
            (1e9, 1e9, -1_386_294_370.216_011_5),
            (1e15, 3.0, -102.923_182_004_172_12),
        ] {
            assert_relative(ln_beta(a, b), expected, 1e-14);
        }
        for (dim, x, expected) in [
            (1, 2.5, 0.284_682_870_472_919_2),
            (2, 1.25, 0.677_374_057_934_182_3),
            (3, 4.5, 7.163_564_471_191_671_5),
            (6, 30.0, 410.983_043_458_475_55),
        ] {
            assert_relative(ln_gamma_multivariate(dim, x), expected, 1e-14);
        }
        assert_relative(digamma(0.25), -4.227_453_533_376_265_5, 1e-14);
        assert_relative(digamma(1e6), 13.815_510_057_964_191, 1e-14);
        let quarter = 17.197_329_154_507_11;
        assert_relative(trigamma(1.0), std::f64::consts::PI.powi(2) / 6.0, 1e-14);
        assert_relative(trigamma(0.25), quarter, 1e-13);
        assert_relative(trigamma(20.0), 0.051_270_822_935_203_1, 1e-12);
    }

    #[test]
    fn incomplete_gamma_and_beta_keep_their_digits_in_the_tails() {
        for (a, x, lower, upper) in [
            (0.005, 5e-9, 0.911_463_642_614_314_1, 0.088_536_357_385_685_92),
            (0.25, 2.5e-7, 0.024_669_701_620_415_346, 0.975_330_298_379_584_6),
            (3.5, 3.5e-6, 6.895_928_028_947_015e-21, 1.0),
            (3.5, 17.5, 0.999_988_815_569_490_9, 1.118_443_050_907_432_8e-5),
            (25.0, 2.5e-5, 5.725_904_471_883_542e-141, 1.0),
            (25.0, 125.0, 1.0, 2.177_291_001_112_38e-28),
            (1000.0, 300.0, 2.414_920_148_296_785_6e-221, 1.0),
            (1000.0, 1000.0, 0.504_205_244_180_215_5, 0.495_794_755_819_784_5),
            (1000.0, 2000.0, 1.0, 6.847_349_459_614_753e-136),
        ] {
            assert_relative(regularized_gamma_lower(a, x), lower, 1e-12);
            assert_relative(regularized_gamma_upper(a, x), upper, 1e-12);
        }
        for (a, b, x, expected) in [
            (0.25, 0.5, 1e-8, 0.007_627_597_642_645_73),
            (2.0, 0.5, 0.4, 0.070_483_996_910_219_95),
            (50.0, 0.5, 0.1, 8.380_332_558_688_292e-52),
            (50.0, 0.5, 0.999, 0.752_369_019_965_376_8),
            (200.0, 300.0, 0.1, 7.563_101_272_151_247e-70),
        ] {
            assert_relative(regularized_beta(a, b, x), expected, 1e-12);
        }
    }
}
