//! Durations about a location that is normal: densities, survival, moments, quantiles.

use super::draw_mixture::DrawMixture;
use super::family::Component;
use super::normal_location::{average, log_average};
use super::quantile::solve;
use crate::density::special::normal_quantile;
use crate::density::{Duration, DurationFamily};
use crate::random::Stream;

/// A duration with log T = η + σ ε whose location η is N(`location`, `spread`²).
#[derive(Clone, Copy, Debug)]
pub(super) struct DurationComponent {
    family: DurationFamily,
    location: f64,
    spread: f64,
    scale: f64,
}

impl DurationComponent {
    pub(super) fn new(family: DurationFamily, component: &Component) -> Self {
        let Component { location, spread, scale, .. } = *component;
        DurationComponent { family, location, spread, scale }
    }

    /// Given the location, so many deviations from its middle.
    fn at(&self, z: f64) -> Duration {
        Duration::new(self.family, self.location + self.spread * z, self.scale)
    }

    /// Whether the location is not known; also if that is not a number, to show it. The sum of two
    /// normal variables is one, and has none.
    fn is_open(&self) -> bool {
        self.spread > 0.0 || self.spread.is_nan()
    }

    /// The log density at `y`, or of a negative `y` the log probability of a duration longer than that.
    pub(super) fn log_likelihood(&self, y: f64) -> f64 {
        let time = y.abs();
        let is_finite = self.location.is_finite() && self.spread.is_finite();
        let is_time = time > 0.0 && time < f64::INFINITY;
        if !(self.is_open() && is_finite && is_time) {
            let known = self.at(0.0);
            return if y < 0.0 { known.log_survival(time) } else { known.log_density(time) };
        }
        let log_time = time.ln();
        let of = |z: f64| self.at(z).terms(log_time, y < 0.0);
        // The slope of the likelihood falls: the mode lies between 0 and its value there.
        let end = (self.spread * of(0.0).slope).clamp(-f64::MAX, f64::MAX);
        // Where the location is the logarithm of the time the slope is 0, or 1/σ if that is censored, and
        // falls beyond.
        let there = (log_time - self.location) / self.spread;
        let bracket = match end > 0.0 {
            true => (0.0, end.min(there.max(0.0) + self.spread / self.scale)),
            false => (end.max(there.min(0.0)), 0.0),
        };
        log_average(of, self.spread, bracket, 0.35 * self.scale / self.spread)
    }

    /// The average over the location of something that changes with it as the distribution function does.
    fn average(&self, of: impl Fn(Duration) -> f64) -> f64 {
        if !self.is_open() {
            return of(self.at(0.0));
        }
        average(|z| of(self.at(z)), 0.5 * self.scale / self.spread)
    }

    /// P(log T ≤ x) for a positive `sign`, else P(log T > -x), and the density there.
    fn tail(&self, sign: f64, x: f64) -> (f64, f64) {
        let below = |it: Duration| if sign > 0.0 { it.below(x) } else { it.above(-x) };
        (self.average(below), self.average(|it| it.log_scale_density(sign * x)))
    }

    /// Between which two numbers the quantile of `sign` times log T lies, for a probability of at most ½:
    /// P(A + B ≤ a + b) ≤ P(A ≤ a) + P(B ≤ b), from both sides.
    fn bracket(&self, sign: f64, probability: f64) -> (f64, f64) {
        let lower = sign > 0.0;
        let residual = |p: f64| sign * self.at(0.0).log_quantile(p, lower);
        if !self.is_open() {
            let known = residual(probability);
            return (known, known);
        }
        let half = 0.5 * probability;
        let other = sign * self.at(0.0).log_quantile(0.5 * (1.0 - probability), !lower);
        let normal = [half, 0.5 * (1.0 - probability)].map(|p| self.spread * normal_quantile(p));
        (residual(half) + normal[0], other - normal[1])
    }

    /// E T^k.
    fn moment(&self, k: f64) -> f64 {
        let stretch = k * self.spread;
        self.at(0.0).moment(k) * (0.5 * stretch * stretch).exp()
    }

    pub(super) fn draw(&self, stream: &mut Stream) -> f64 {
        let z = if self.is_open() { stream.normal() } else { 0.0 };
        self.at(z).draw(stream)
    }
}

impl DrawMixture<'_> {
    /// Weight and distribution of every draw that counts.
    fn durations(&self) -> impl Iterator<Item = (f64, DurationComponent)> {
        let family = self.family.duration().unwrap_or(DurationFamily::Weibull);
        self.components().map(move |(weight, parameters)| {
            (weight, DurationComponent::new(family, &self.family.component(parameters, 0)))
        })
    }

    /// E T^k over draws; `None` if it is beyond the doubles.
    pub(super) fn moment_of_duration(&self, k: f64) -> Option<f64> {
        let moment: f64 = self.durations().map(|(weight, it)| weight * it.moment(k)).sum();
        Some(moment).filter(|moment| *moment < f64::INFINITY || moment.is_nan())
    }

    /// The standard deviation of a duration; `None` if it is beyond the doubles.
    pub(super) fn sd_of_duration(&self) -> Option<f64> {
        let mean = self.moment_of_duration(1.0)?;
        let second = self.moment_of_duration(2.0)?;
        Some((second / mean / mean - 1.0).max(0.0).sqrt() * mean)
    }

    /// The quantile for a probability of at most ½ of `sign` times a duration: found on the scale of its
    /// logarithm.
    pub(super) fn lower_quantile_of_duration(&self, sign: f64, probability: f64) -> f64 {
        let (mut bracket, mut start) = ((f64::INFINITY, f64::NEG_INFINITY), 0.0);
        for (weight, it) in self.durations() {
            let own = it.bracket(sign, probability);
            if weight.is_nan() || own.0.is_nan() || own.1.is_nan() {
                return f64::NAN;
            }
            bracket = (bracket.0.min(own.0), bracket.1.max(own.1));
            start += weight * 0.5 * (own.0 + own.1);
        }
        let at = |x: f64| {
            self.durations().fold((0.0, 0.0), |(below, density), (weight, it)| {
                let (own, slope) = it.tail(sign, x);
                (below + weight * own, density + weight * slope)
            })
        };
        let x = solve(probability, bracket, start, at);
        sign * (sign * x).exp()
    }

    /// P(`sign` × T ≤ y) and its density.
    pub(super) fn tail_of_duration(&self, sign: f64, y: f64) -> (f64, f64) {
        let time = sign * y;
        if time.is_nan() || time <= 0.0 {
            let settled = if sign > 0.0 { 0.0 } else { 1.0 };
            return (if time.is_nan() { f64::NAN } else { settled }, 0.0);
        }
        self.durations().fold((0.0, 0.0), |(below, density), (weight, it)| {
            let (own, slope) = it.tail(sign, sign * time.ln());
            (below + weight * own, density + weight * slope / time)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_draws_follow, assert_relative, integral};
    use crate::predict::draw_mixture::normal_density;
    use crate::predict::{Family, ModelShare, Predictive};
    use crate::random::{Purpose, Seed};

    const FAMILIES: [DurationFamily; 2] = [DurationFamily::Weibull, DurationFamily::LogNormal];

    #[test]
    fn an_open_location_is_integrated_out() {
        for family in FAMILIES {
            for (spread, scale) in [(0.4, 0.7), (1.5, 0.3), (0.05, 1.0)] {
                let parameters = [0.6, spread, scale];
                let duration = Predictive::new(Family::Duration(family), &parameters);
                for y in [0.02, 0.9, 3.0, 25.0] {
                    let over = |of: &dyn Fn(Duration) -> f64| {
                        integral(0.0, 0.7, |z| {
                            let it = Duration::new(family, 0.6 + spread * z, scale);
                            of(it) * normal_density(z)
                        })
                    };
                    let density = over(&|it| it.log_density(y).exp());
                    assert_relative(duration.density(&[y]), density, 1e-6);
                    let survival = over(&|it| it.log_survival(y).exp());
                    assert_relative(duration.density(&[-y]), survival, 1e-6);
                    assert_relative(duration.probability_above(0, y), survival, 1e-6);
                    assert!((duration.cdf(0, y) + survival - 1.0).abs() < 1e-7);
                }
                let mean =
                    (0.6 + 0.5 * spread * spread).exp() * Duration::new(family, 0.0, scale).mean();
                assert_relative(duration.mean(0).unwrap(), mean, 1e-12);
                for p in [1e-4, 0.05, 0.5, 0.8, 0.999] {
                    let y = duration.quantile(0, p);
                    assert!((duration.cdf(0, y) - p).abs() < 1e-10, "{p}: {y}");
                }
            }
        }
    }

    #[test]
    fn mixtures_and_averages_have_the_quantiles_of_their_distributions() {
        for family in FAMILIES {
            let parameters = [[0.5, 0.0, 0.4, 2.0, 0.3, 1.1], [1.0, 0.0, 0.2, -1.0, 0.0, 0.6]];
            let of = |it| Predictive::new(Family::Duration(family), it);
            let shares = [0.3, 0.7]
                .into_iter()
                .zip(&parameters)
                .map(|(share, it)| ModelShare { share, predictive: of(it) });
            let shares: Vec<ModelShare<'_>> = shares.collect();
            for it in [of(&parameters[0]), Predictive::average(&shares)] {
                for p in [0.001, 0.2, 0.5, 0.9, 0.9999] {
                    let y = it.quantile(0, p);
                    assert!((it.cdf(0, y) - p).abs() < 1e-9 && y > 0.0, "{p}: {y}");
                }
                let (mean, sd) = (it.mean(0).unwrap(), it.sd(0).unwrap());
                let of_log =
                    |k: f64| integral(1.0, 0.8, |x| it.density(&[x.exp()]) * ((k + 1.0) * x).exp());
                assert_relative(of_log(0.0), 1.0, 1e-7);
                assert_relative(of_log(1.0), mean, 1e-6);
                assert_relative(of_log(2.0), sd * sd + mean * mean, 1e-5);
                // What is censored is spread over what is left.
                let above = it.cdf(0, 2.0);
                let spread = it.transform(0, -2.0, 0.25);
                assert!((spread - (above + 0.25 * (1.0 - above))).abs() < 1e-12);
            }
        }
    }

    /// Kolmogorov-Smirnov, false-alarm rate 2e-5 each.
    #[test]
    fn draws_follow_the_distribution() {
        for (index, family) in FAMILIES.into_iter().enumerate() {
            let parameters = [0.2, 0.6, 0.5];
            let duration = Predictive::new(Family::Duration(family), &parameters);
            let mut stream = Seed(8).stream(Purpose::Data, [index as u64, 0]);
            let mut draws = vec![0.0; 4000];
            draws.iter_mut().for_each(|y| duration.draw(&mut stream, std::slice::from_mut(y)));
            assert_draws_follow(&mut draws, |y| duration.cdf(0, y));
        }
    }
}
