//! Check densities in tests: quadrature, Kolmogorov-Smirnov, chi-square, differences.

use std::f64::consts::FRAC_PI_2;

/// Asserts |found - expected| ≤ tolerance · |expected|.
#[track_caller]
pub(crate) fn assert_relative(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs(),
        "found {found:e}, expected {expected:e}"
    );
}

/// Half width and step of the double exponential rule; at ±4 its argument is e^±43.
const REACH: f64 = 4.0;
const STEP: f64 = 1.0 / 64.0;

/// ∫₀^∞ f by the double exponential rule, x = unit · exp(π/2 sinh t) [Takahasi and Mori 1974].
pub(crate) fn integral_above_zero(unit: f64, f: impl Fn(f64) -> f64) -> f64 {
    let count = (REACH / STEP) as i32;
    (-count..=count)
        .map(|i| {
            let t = f64::from(i) * STEP;
            let x = unit * (FRAC_PI_2 * t.sinh()).exp();
            let weight = STEP * FRAC_PI_2 * t.cosh() * x;
            let value = f(x);
            if value > 0.0 { weight * value } else { 0.0 }
        })
        .sum()
}

/// ∫ f over the real line, split at `centre` (where f may have a kink).
pub(crate) fn integral(centre: f64, unit: f64, f: impl Fn(f64) -> f64) -> f64 {
    integral_above_zero(unit, |x| f(centre + x)) + integral_above_zero(unit, |x| f(centre - x))
}

/// √n sup |F_n - F|. Asserts below 2.4: for independent draws the false-alarm rate is
/// 2 exp(-2 · 2.4²) = 2e-5 (and seeds are fixed).
#[track_caller]
pub(crate) fn assert_draws_follow(draws: &mut [f64], cdf: impl Fn(f64) -> f64) {
    draws.sort_by(f64::total_cmp);
    let count = draws.len() as f64;
    let distance = draws.iter().enumerate().fold(0.0_f64, |worst, (i, &x)| {
        let probability = cdf(x);
        assert!(probability.is_finite(), "distribution function at {x}: {probability}");
        let below = probability - i as f64 / count;
        let above = (i + 1) as f64 / count - probability;
        worst.max(below).max(above)
    });
    let statistic = count.sqrt() * distance;
    assert!(statistic < 2.4, "Kolmogorov-Smirnov statistic {statistic}");
}

/// Asserts that `counts` follow `probabilities`: chi-square, as a normal deviate by Wilson and
/// Hilferty, below 4 (false-alarm rate about 5e-5).
#[track_caller]
pub(crate) fn assert_counts_follow(counts: &[u64], probabilities: &[f64]) {
    let total = counts.iter().sum::<u64>() as f64;
    let chi_square: f64 = counts
        .iter()
        .zip(probabilities)
        .map(|(&count, &probability)| {
            let expected = total * probability;
            assert!(expected > 5.0, "too few draws for a chi-square test: expected {expected}");
            (count as f64 - expected).powi(2) / expected
        })
        .sum();
    let dof = (counts.len() - 1) as f64;
    let spread = 2.0 / (9.0 * dof);
    let deviate = ((chi_square / dof).cbrt() - (1.0 - spread)) / spread.sqrt();
    assert!(deviate < 4.0, "chi-square {chi_square} with {dof} degrees of freedom");
}

/// Asserts that `derivative` is the derivative of `f` at `x`, by central differences of fourth
/// order, to 1e-8 of max(1, |derivative|).
#[track_caller]
pub(crate) fn assert_derivative(derivative: f64, x: f64, f: impl Fn(f64) -> f64) {
    let central = |h: f64| (f(x + h) - f(x - h)) / (2.0 * h);
    let width = 1e-3 * x.abs().max(0.1);
    let numeric = (4.0 * central(width / 2.0) - central(width)) / 3.0;
    assert!(
        (derivative - numeric).abs() <= 1e-8 * derivative.abs().max(1.0),
        "derivative {derivative}, numeric {numeric} at {x}"
    );
}

/// The distribution function of the density ∝ exp(f) between two ends that hold all its mass,
/// by cumulated trapezoids.
pub(crate) struct NumericCdf {
    lower: f64,
    step: f64,
    cumulated: Vec<f64>,
}

impl NumericCdf {
    pub(crate) fn new(lower: f64, upper: f64, f: impl Fn(f64) -> f64) -> Self {
        const CELLS: usize = 4000;
        let step = (upper - lower) / CELLS as f64;
        let values: Vec<f64> = (0..=CELLS).map(|i| f(lower + i as f64 * step)).collect();
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // A cut-off tail would make the comparison wrong, not just inaccurate.
        assert!(values[0].max(values[CELLS]) < largest - 20.0, "the ends cut off mass");
        let mut cumulated = vec![0.0];
        let mut total = 0.0;
        for pair in values.windows(2) {
            total += (pair[0] - largest).exp() + (pair[1] - largest).exp();
            cumulated.push(total);
        }
        cumulated.iter_mut().for_each(|sum| *sum /= total);
        NumericCdf { lower, step, cumulated }
    }

    pub(crate) fn at(&self, x: f64) -> f64 {
        let place = (x - self.lower) / self.step;
        if place <= 0.0 {
            return 0.0;
        }
        let cell = place as usize;
        match self.cumulated.get(cell..cell + 2) {
            Some(ends) => ends[0] + (place - cell as f64) * (ends[1] - ends[0]),
            None => 1.0,
        }
    }
}
