//! The factors of scales above precisions.

use crate::density::special::LOG_SQRT_2PI;
use crate::random::Stream;

/// Newton steps of a level: a few settle it.
const STEPS: usize = 50;

/// q(u) of u = log a², a scale above precisions: normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    mean: f64,
    variance: f64,
}

/// What a level is found from: log p = power · u - up · e^u - down · e^-u.
#[derive(Clone, Copy, Debug)]
pub(super) struct LevelTerms {
    pub(super) power: f64,
    pub(super) up: f64,
    pub(super) down: f64,
}

impl Level {
    /// About a scale.
    pub(super) fn at(scale: f64) -> Self {
        Level { mean: 2.0 * scale.ln(), variance: 1.0 }
    }

    /// E a².
    pub(super) fn square(self) -> f64 {
        (self.mean + 0.5 * self.variance).exp()
    }

    fn inverse_square(self) -> f64 {
        (-self.mean + 0.5 * self.variance).exp()
    }

    /// E log a².
    pub(super) fn log_square(self) -> f64 {
        self.mean
    }

    /// E log p - E log q, up to what does not depend on q.
    pub(super) fn value(self, terms: LevelTerms) -> f64 {
        terms.power * self.mean - terms.up * self.square() - terms.down * self.inverse_square()
            + self.entropy()
    }

    pub(super) fn entropy(self) -> f64 {
        0.5 + 0.5 * self.variance.ln() + LOG_SQRT_2PI
    }

    /// The best normal distribution: the value is concave in (mean, variance), and Newton steps
    /// in (mean, log variance) that gain nothing are halved.
    #[must_use]
    pub(super) fn improved(self, terms: LevelTerms) -> Self {
        let mut now = self;
        for _ in 0..STEPS {
            let (up, down) = (terms.up * now.square(), terms.down * now.inverse_square());
            let half = 0.5 * now.variance;
            let slope = [terms.power - up + down, 0.5 - half * (up + down)];
            let both = up + down;
            let across = half * (down - up);
            // Minus the second derivatives; that by log variance is positive where it counts.
            let curve = [both, half * both + half * half * both];
            let determinant = curve[0] * curve[1] - across * across;
            let step = [
                (slope[0] * curve[1] + slope[1] * across) / determinant,
                (slope[1] * curve[0] + slope[0] * across) / determinant,
            ];
            if !(step[0].is_finite() && step[1].is_finite()) {
                break;
            }
            let mut factor = 1.0;
            let before = now.value(terms);
            let next = loop {
                let moved = Level {
                    mean: now.mean + factor * step[0].clamp(-3.0, 3.0),
                    variance: now.variance * (factor * step[1].clamp(-3.0, 3.0)).exp(),
                };
                if moved.value(terms) >= before {
                    break Some(moved);
                }
                factor *= 0.5;
                if factor < 1e-10 {
                    break None;
                }
            };
            let Some(next) = next else { break };
            let settled = (next.mean - now.mean).abs() < 1e-12
                && (next.variance / now.variance - 1.0).abs() < 1e-12;
            now = next;
            if settled {
                break;
            }
        }
        now
    }

    pub(super) fn draw_log_scale(self, stream: &mut Stream) -> f64 {
        0.5 * (self.mean + self.variance.sqrt() * stream.normal())
    }

    /// Log density of log a = u/2: a factor 2.
    pub(super) fn log_density(self, log_scale: f64) -> f64 {
        let off = 2.0 * log_scale - self.mean;
        std::f64::consts::LN_2
            - 0.5 * (self.variance.ln() + off * off / self.variance)
            - LOG_SQRT_2PI
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_the_best_of_its_neighbours() {
        for terms in [
            LevelTerms { power: 1.0, up: 2.0, down: 0.3 },
            LevelTerms { power: -0.25, up: 1e-4, down: 50.0 },
            LevelTerms { power: 4.0, up: 1e5, down: 1e-6 },
        ] {
            let best = Level::at(1.0).improved(terms);
            let value = best.value(terms);
            for (dm, dv) in [(0.01, 1.0), (-0.01, 1.0), (0.0, 1.01), (0.0, 0.99), (0.3, 1.3)] {
                let other = Level { mean: best.mean + dm, variance: best.variance * dv };
                assert!(other.value(terms) < value, "{terms:?}");
            }
        }
    }
}
