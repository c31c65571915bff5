//! Counts about a log mean that is normal: probabilities, moments, distribution function.

use super::draw_mixture::{DrawMixture, normal_density};
use super::family::Component;
use super::normal_location::{average, log_average, rule};
use crate::density::NegativeBinomial;
use crate::density::special::ln_gamma;
use crate::random::Stream;

/// A count whose log mean is N(`log_mean`, `spread`²).
#[derive(Clone, Copy, Debug)]
pub(super) struct CountComponent {
    log_mean: f64,
    spread: f64,
    shape: f64,
}

impl CountComponent {
    pub(super) fn new(component: &Component) -> Self {
        let Component { location, spread, dof, .. } = *component;
        CountComponent { log_mean: location, spread, shape: dof }
    }

    /// Given the log mean, so many deviations from its middle.
    fn at(&self, z: f64) -> NegativeBinomial {
        NegativeBinomial::of_log_mean(self.log_mean + self.spread * z, self.shape)
    }

    /// Whether the log mean is not known; also if that is not a number, to show it.
    fn is_open(&self) -> bool {
        self.spread > 0.0 || self.spread.is_nan()
    }

    pub(super) fn mean(&self) -> f64 {
        (self.log_mean + 0.5 * self.spread * self.spread).exp()
    }

    /// E μ + (1 + 1/r) E μ²: the second moment about zero, with E μ² = exp(2η + 2s²).
    fn second_moment(&self) -> f64 {
        let square = (2.0 * (self.log_mean + self.spread * self.spread)).exp();
        self.mean() + (1.0 + self.shape.recip()) * square
    }

    /// log P(y) = log ∫ P(y given η) N(η; log mean, spread²) dη, by the trapezoid rule about the mode
    /// of the integrand, whose logarithm is concave.
    pub(super) fn log_probability(&self, y: f64) -> f64 {
        if !self.is_open() {
            return self.at(0.0).log_probability(y);
        }
        let whole = y >= 0.0 && y.fract() <= 0.0;
        if !whole || !self.log_mean.is_finite() || !self.spread.is_finite() {
            let known = whole && !self.log_mean.is_nan() && !self.spread.is_nan();
            return if known || !whole && !y.is_nan() { f64::NEG_INFINITY } else { f64::NAN };
        }
        let of = |z: f64| self.at(z).terms(y);
        log_average(of, self.spread, self.bracket(y), f64::INFINITY) - ln_gamma(y + 1.0)
    }

    /// Where the mode of the log mean given a count lies, in deviations.
    fn bracket(&self, y: f64) -> (f64, f64) {
        // The slope of the likelihood falls: the mode lies between 0 and its value there.
        let end = self.spread * self.at(0.0).terms(y).slope;
        // Nor is it beyond the log mean that is the logarithm of the count, where that slope is 0.
        let there = (y.ln() - self.log_mean) / self.spread;
        if end > 0.0 { (0.0, end.min(there)) } else { (end.max(there), 0.0) }
    }

    /// P(Y ≤ y), or P(Y > y).
    fn tail(&self, y: f64, lower: bool) -> f64 {
        let at = |z: f64| match lower {
            true => self.at(z).cdf(y),
            false => self.at(z).probability_above(y),
        };
        if !self.is_open() {
            return at(0.0);
        }
        average(at, self.steepness(y))
    }

    /// Adds `weight` times the probabilities of `first`, `first` + 1, … to `sums`: one after the other by
    /// P(y + 1) = P(y) (y + r) / (y + 1) · μ/(r + μ), which is far quicker than each by itself.
    fn add_probabilities(&self, weight: f64, first: f64, sums: &mut [f64]) {
        let last = first + (sums.len() - 1) as f64;
        let mut add = |weight: f64, count: NegativeBinomial| {
            // From the largest on in both directions, so that none is lost in rounding.
            let top = count.mean().floor().clamp(first, last);
            let middle = (top - first) as usize;
            let largest = weight * count.log_probability(top).exp();
            sums[middle] += largest;
            let mut p = largest;
            for (sum, y) in sums[middle + 1..].iter_mut().zip(middle..) {
                p *= count.ratio(first + y as f64);
                *sum += p;
            }
            p = largest;
            for (index, sum) in sums[..middle].iter_mut().enumerate().rev() {
                p /= count.ratio(first + index as f64);
                *sum += p;
            }
        };
        if !self.is_open() {
            return add(weight, self.at(0.0));
        }
        let (spacing, count) = rule(self.steepness(last));
        let total: f64 = (-count..=count).map(|k| normal_density(f64::from(k) * spacing)).sum();
        for k in -count..=count {
            let z = f64::from(k) * spacing;
            add(weight * normal_density(z) / total, self.at(z));
        }
    }

    /// Over how many deviations of the log mean the distribution function at `y` changes, at the least: its
    /// width there is 1/√(y + 1).
    fn steepness(&self, y: f64) -> f64 {
        0.7 / (self.spread * (y.max(0.0) + 1.0).sqrt())
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        let z = if self.is_open() { stream.normal() } else { 0.0 };
        self.at(z).draw(stream)
    }
}

impl DrawMixture<'_> {
    /// Weight and distribution of every draw that counts.
    fn counts(&self) -> impl Iterator<Item = (f64, CountComponent)> {
        self.components().map(|(weight, parameters)| {
            (weight, CountComponent::new(&self.family.component(parameters, 0)))
        })
    }

    /// The mean of a count; `None` if it is beyond the doubles.
    pub(super) fn mean_count(&self) -> Option<f64> {
        let mean: f64 = self.counts().map(|(weight, count)| weight * count.mean()).sum();
        Some(mean).filter(|mean| *mean < f64::INFINITY || mean.is_nan())
    }

    /// Its standard deviation; `None` if it is beyond the doubles.
    pub(super) fn sd_of_count(&self) -> Option<f64> {
        let mean = self.mean_count()?;
        let second: f64 = self.counts().map(|(weight, it)| weight * it.second_moment()).sum();
        let variance = (second - mean * mean).max(0.0);
        Some(variance.sqrt()).filter(|sd| *sd < f64::INFINITY || sd.is_nan())
    }

    /// Adds `share` times the probabilities of `first`, `first` + 1, … to `sums`.
    pub(super) fn add_probabilities(&self, share: f64, first: f64, sums: &mut [f64]) {
        self.counts().for_each(|(weight, it)| it.add_probabilities(share * weight, first, sums));
    }

    /// P(Y ≤ x) for a positive `sign`, else P(Y > -x).
    pub(super) fn tail_of_count(&self, sign: f64, x: f64) -> f64 {
        let lower = sign > 0.0;
        self.counts().map(|(weight, count)| weight * count.tail(sign * x, lower)).sum()
    }
}

/// The least whole number, from 0 on, with P(Y ≤ y) ≥ `probability`, searched for from `start` on;
/// infinite where there is none, not a number where `probability` is none.
pub(super) fn least_count(probability: f64, start: f64, cdf: impl Fn(f64) -> f64) -> f64 {
    // Whole numbers beyond are not all doubles.
    const MOST: f64 = 9e15;
    if !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    if probability <= 0.0 {
        return 0.0;
    }
    if probability >= 1.0 {
        return f64::INFINITY;
    }
    let begin = start.clamp(0.0, MOST).floor();
    let here = cdf(begin);
    if here.is_nan() {
        return f64::NAN;
    }
    // P(Y ≤ low) < probability ≤ P(Y ≤ high), with -1 for a number below all.
    let (mut low, mut high);
    let mut step = (0.25 * begin.sqrt()).ceil().max(1.0);
    if here >= probability {
        (low, high) = (begin - step, begin);
        while low >= 0.0 && cdf(low) >= probability {
            high = low;
            step *= 2.0;
            low -= step;
        }
        low = low.max(-1.0);
    } else {
        (low, high) = (begin, begin + step);
        while cdf(high) < probability {
            if high >= MOST {
                return f64::INFINITY;
            }
            low = high;
            step *= 2.0;
            high += step;
        }
    }
    while high - low > 1.0 {
        let middle = (0.5 * (low + high)).floor();
        if cdf(middle) >= probability { high = middle } else { low = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_draws_follow, assert_relative, integral};
    use crate::predict::normal_location::mode;
    use crate::predict::{Family, ModelShare, Predictive};
    use crate::random::{Purpose, Seed};

    fn component(log_mean: f64, spread: f64, shape: f64) -> CountComponent {
        CountComponent { log_mean, spread, shape }
    }

    #[test]
    fn probabilities_about_a_normal_log_mean_are_those_of_quadrature() {
        for shape in [f64::INFINITY, 2.5] {
            for spread in [1e-3, 0.2, 1.0, 3.0] {
                for (log_mean, y) in [(0.3, 0.0), (0.3, 2.0), (-4.0, 3.0), (5.0, 60.0), (3.0, 0.0)]
                {
                    let it = component(log_mean, spread, shape);
                    let of = |z: f64| it.at(z).terms(y);
                    let (centre, width) = mode(&of, spread, it.bracket(y));
                    let expected = integral(centre, width, |z| {
                        (it.at(z).log_probability(y) + normal_density(z).ln()).exp()
                    });
                    assert_relative(it.log_probability(y).exp(), expected, 1e-6);
                }
            }
        }
    }

    #[test]
    fn the_distribution_is_the_sum_of_its_probabilities() {
        for (log_mean, spread, shape) in
            [(1.0, 0.0, f64::INFINITY), (1.2, 0.4, f64::INFINITY), (2.0, 0.3, 4.0)]
        {
            let parameters = [log_mean, spread, shape];
            let count = Predictive::new(Family::Count, &parameters);
            let (mut total, mut mean, mut second) = (0.0, 0.0, 0.0);
            for y in 0..4000 {
                let y = f64::from(y);
                let p = count.density(&[y]);
                (total, mean, second) = (total + p, mean + p * y, second + p * y * y);
                if y < 60.0 {
                    assert!((count.cdf(0, y) - total).abs() < 1e-8, "{spread} {shape} {y}");
                    assert!((count.cdf(0, y + 0.7) - total).abs() < 1e-8);
                    assert!((count.probability_above(0, y) - (1.0 - total)).abs() < 1e-8);
                    if p > 1e-9 {
                        assert!(
                            (count.quantile(0, total - 0.5 * p) - y).abs() < 0.5,
                            "quantile {y}"
                        );
                    }
                }
            }
            assert!((total - 1.0).abs() < 1e-8, "{total}");
            for first in [0.0, 4.0, 90.0] {
                let all = count.probabilities_from(first, 30);
                for (y, p) in all.iter().enumerate() {
                    assert!((p - count.density(&[first + y as f64])).abs() < 1e-8, "{first} {y}");
                }
            }
            assert_relative(count.mean(0).unwrap(), mean, 1e-7);
            assert_relative(count.sd(0).unwrap(), (second - mean * mean).sqrt(), 1e-6);
            assert!(count.density(&[0.5]) == 0.0 && count.density(&[-1.0]) == 0.0);
            assert!(count.quantile(0, 0.0) == 0.0 && count.quantile(0, 1.0) == f64::INFINITY);
        }
    }

    #[test]
    fn an_average_of_models_has_the_quantiles_of_its_distribution() {
        let parameters = [[0.5, 0.0, f64::INFINITY], [3.0, 0.2, 2.0]];
        let shares: Vec<ModelShare<'_>> = parameters
            .iter()
            .zip([0.3, 0.7])
            .map(|(it, share)| ModelShare { share, predictive: Predictive::new(Family::Count, it) })
            .collect();
        let average = Predictive::average(&shares);
        for p in [0.01, 0.2, 0.5, 0.9, 0.999] {
            let y = average.quantile(0, p);
            assert!(average.cdf(0, y) >= p && average.cdf(0, y - 1.0) < p, "{p}: {y}");
        }
    }

    /// Randomised: F(y - 1) + u P(y) is uniform. Kolmogorov-Smirnov, false-alarm rate 2e-5.
    #[test]
    fn draws_follow_the_distribution() {
        let parameters = [1.1, 0.5, 3.0];
        let count = Predictive::new(Family::Count, &parameters);
        let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
        let mut levels: Vec<f64> = (0..5000)
            .map(|_| {
                let mut y = [0.0];
                count.draw(&mut stream, &mut y);
                count.cdf(0, y[0] - 1.0) + stream.uniform() * count.density(&y)
            })
            .collect();
        assert_draws_follow(&mut levels, |u| u);
    }
}
