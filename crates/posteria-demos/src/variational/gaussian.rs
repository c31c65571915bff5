//! Fit one normal distribution to a density of one variable, by mode and by divergence.

/// Points of a quadrature, and how many deviations it reaches.
const POINTS: usize = 4000;
const REACH: f64 = 9.0;
/// Rounds of coordinate search, and its narrowest bracket.
const ROUNDS: usize = 400;
const NARROW: f64 = 1e-10;

/// A normal distribution.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Normal {
    pub mean: f64,
    pub sd: f64,
}

impl Normal {
    fn log_density(self, z: f64) -> f64 {
        let t = (z - self.mean) / self.sd;
        -0.5 * t * t - self.sd.ln() - 0.5 * std::f64::consts::TAU.ln()
    }
}

/// A density of one variable, normalised over an interval outside which there is nothing.
pub struct Density<F> {
    log: F,
    low: f64,
    high: f64,
    log_total: f64,
}

impl<F: Fn(f64) -> f64> Density<F> {
    /// The density proportional to exp(`log`) between `low` and `high`.
    pub fn new(log: F, low: f64, high: f64) -> Self {
        let total = integrate(low, high, |z| log(z).exp());
        Density { log, low, high, log_total: total.ln() }
    }

    /// log p(z).
    fn log_density(&self, z: f64) -> f64 {
        (self.log)(z) - self.log_total
    }

    /// Mean and standard deviation: the normal distribution that minimises KL(p‖q).
    pub fn moments(&self) -> Normal {
        let moment = |power: i32, about: f64| {
            integrate(self.low, self.high, |z| self.log_density(z).exp() * (z - about).powi(power))
        };
        let mean = moment(1, 0.0);
        Normal { mean, sd: moment(2, mean).sqrt() }
    }

    /// The normal distribution at the mode, with its curvature: Laplace's approximation.
    pub fn laplace(&self, start: f64) -> Normal {
        let mode = maximize(start, 1.0, |z| self.log_density(z));
        let step = 1e-4;
        let curvature = (self.log_density(mode + step) - 2.0 * self.log_density(mode)
            + self.log_density(mode - step))
            / (step * step);
        Normal { mean: mode, sd: (-curvature).sqrt().recip() }
    }

    /// KL(q‖p).
    pub fn divergence(&self, q: Normal) -> f64 {
        let (low, high) = (q.mean - REACH * q.sd, q.mean + REACH * q.sd);
        integrate(low, high, |z| {
            let log_q = q.log_density(z);
            log_q.exp() * (log_q - self.log_density(z))
        })
    }

    /// The normal distribution near `start` that minimises KL(q‖p).
    pub fn variational(&self, start: Normal) -> Normal {
        let mut now = start;
        for _ in 0..ROUNDS {
            let before = now;
            let of_mean = |mean: f64| -self.divergence(Normal { mean, ..now });
            now.mean = maximize(now.mean, 0.3 * now.sd, of_mean);
            let of_log_sd = |log: f64| -self.divergence(Normal { sd: log.exp(), ..now });
            now.sd = maximize(now.sd.ln(), 0.1, of_log_sd).exp();
            if (now.mean - before.mean).abs() < 1e-8 && (now.sd - before.sd).abs() < 1e-8 {
                break;
            }
        }
        now
    }
}

/// By the midpoint rule, whose error is negligible for what vanishes at both ends.
fn integrate(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let step = (high - low) / POINTS as f64;
    (0..POINTS).map(|i| f(low + (i as f64 + 0.5) * step)).sum::<f64>() * step
}

/// A local maximum near `start`: steps uphill, then a bracket that shrinks.
fn maximize(start: f64, step: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut at, mut width) = (start, step);
    let mut value = f(at);
    while width > NARROW {
        let [(left, down), (right, up)] = [-width, width].map(|by| (at + by, f(at + by)));
        if down > value {
            (at, value) = (left, down);
        } else if up > value {
            (at, value) = (right, up);
        } else {
            width *= 0.5;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_normal_density_is_found_by_every_method() {
        let density = Density::new(|z: f64| -0.5 * ((z - 1.5) / 0.4).powi(2), -10.0, 10.0);
        let start = Normal { mean: 0.0, sd: 1.0 };
        for found in [density.moments(), density.laplace(0.0), density.variational(start)] {
            assert!((found.mean - 1.5).abs() < 1e-6 && (found.sd - 0.4).abs() < 1e-6, "{found:?}");
            assert!(density.divergence(found).abs() < 1e-10);
        }
        assert!(density.divergence(start) > 1.0);
    }
}
