//! Draw exactly from a log-concave density of one variable, under a hull of tangents.

use super::hull::{Hull, Tangent};
use crate::random::Stream;

/// Steps of the search for both sides of the mode: doublings from a width of 1 beyond the doubles.
const MAX_STEPS_OUT: usize = 2100;

/// Tangents added before drawing; each is a Newton-like step towards the mode.
const MAX_TIGHTENINGS: usize = 60;

/// Proposals of one draw at most: with a fitted hull a few suffice.
const MAX_ATTEMPTS: usize = 10_000;

/// Why there is no draw.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AdaptiveRejectionError {
    /// The density is not log-concave.
    #[error(
        "the density is not log-concave near {at} (or its slope is wrong), so its tangents do \
         not cover it; use slice sampling instead"
    )]
    NotLogConcave {
        /// Where it was noticed.
        at: f64,
    },
    /// The log density or its derivative is NaN or infinite where it must be finite.
    #[error(
        "the log density or its slope is not finite at {at}; start inside, and narrow the \
         support or return -∞ where there is no density"
    )]
    NotFinite {
        /// Where.
        at: f64,
    },
    /// The support is empty or the start is not inside it.
    #[error("start {start} is not inside the support ({lower}, {upper})")]
    Support {
        /// Where the hull was to begin.
        start: f64,
        /// Lower end.
        lower: f64,
        /// Upper end.
        upper: f64,
    },
    /// The guess of the spread is of no use.
    #[error("a width must be positive and finite, got {width}")]
    Width {
        /// What was given.
        width: f64,
    },
    /// The density does not fall off in an unbounded direction.
    #[error("the density does not fall off beyond {reached}; bound the support there")]
    Improper {
        /// How far it was followed.
        reached: f64,
    },
    /// No proposal was accepted.
    #[error("none of {attempts} proposals was accepted; the log density is not consistent")]
    Exhausted {
        /// How many were made.
        attempts: usize,
    },
}

/// A draw and its price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdaptiveDraw {
    /// The draw.
    pub value: f64,
    /// How often the density was evaluated for it.
    pub evaluations: u32,
}

/// Adaptive rejection sampling with derivatives [Gilks & Wild 1992].
///
/// Tangents of a concave log density h lie above it, chords below. A point is drawn from the
/// exponential of the tangents' hull; if a uniform number falls under the chord it is accepted
/// without an evaluation, else h decides, and the point joins the hull. Draws are independent
/// and exact whatever the hull. It lives in fixed arrays: nothing is allocated. A density that
/// is not log-concave is refused as soon as an evaluation shows it.
///
/// Before the first draw a tangent on either side of the mode is found that is neither almost
/// level nor far down, and the hull is tightened until it is less than e times as high as the
/// density. So plateaus whose curvature says nothing about their width, walls as steep as
/// doubles allow and starts far from the mode cost evaluations only. A log density of -∞ means
/// that there is no density at that point nor beyond it.
#[derive(Clone, Debug)]
pub struct AdaptiveRejection {
    hull: Hull,
    /// Whether the hull has changed since its masses were computed.
    stale: bool,
    evaluations: u32,
}

impl AdaptiveRejection {
    /// A hull over the support (`lower`, `upper`), either end may be infinite, of the density
    /// whose log and derivative (h(x), h′(x)) are `density(x)`, up to any constant in h.
    /// `start` and `width` only make it cheap: guesses of the centre and of the spread.
    ///
    /// # Errors
    /// [`AdaptiveRejectionError`] if the density is seen not to be log-concave, finite and
    /// proper.
    pub fn new(
        (lower, upper): (f64, f64),
        start: f64,
        width: f64,
        mut density: impl FnMut(f64) -> (f64, f64),
    ) -> Result<Self, AdaptiveRejectionError> {
        if !(lower < start && start < upper) {
            return Err(AdaptiveRejectionError::Support { start, lower, upper });
        }
        if !(width > 0.0 && width.is_finite()) {
            return Err(AdaptiveRejectionError::Width { width });
        }
        let mut sampler =
            AdaptiveRejection { hull: Hull::new(lower, upper), stale: true, evaluations: 0 };
        let first = sampler.touch(start, &mut density);
        if !is_finite(&first) {
            return Err(AdaptiveRejectionError::NotFinite { at: start });
        }
        sampler.add(first)?;
        for step in [-width, width] {
            let outermost = sampler.outwards(first, step, &mut density)?;
            sampler.add(outermost)?;
        }
        for _ in 0..MAX_TIGHTENINGS {
            sampler.hull.prune();
            sampler.hull.join();
            sampler.stale = false;
            let (peak, height) = sampler.hull.peak();
            if height < sampler.hull.top() + 1.0 || sampler.hull.is_full() {
                break;
            }
            let tangent = sampler.touch(peak, &mut density);
            sampler.add(tangent)?;
        }
        if sampler.stale {
            sampler.hull.join();
            sampler.stale = false;
        }
        if sampler.hull.weigh() {
            Ok(sampler)
        } else {
            Err(AdaptiveRejectionError::NotFinite { at: sampler.hull.peak().0 })
        }
    }

    /// One draw of the density the hull was built for.
    ///
    /// # Errors
    /// [`AdaptiveRejectionError`] if the density is seen not to be log-concave or finite.
    pub fn draw(
        &mut self,
        mut density: impl FnMut(f64) -> (f64, f64),
        stream: &mut Stream,
    ) -> Result<AdaptiveDraw, AdaptiveRejectionError> {
        let before = self.evaluations;
        for _ in 0..MAX_ATTEMPTS {
            if self.stale {
                self.hull.join();
                self.hull.weigh();
                self.stale = false;
            }
            let (value, height) = self.hull.draw(stream);
            // -log U is exponential: a point uniform under the hull.
            let level = height - stream.exponential();
            let mut accepted = level <= self.hull.chord(value);
            if !accepted {
                let tangent = self.touch(value, &mut density);
                self.add(tangent)?;
                accepted = level <= tangent.value;
            }
            if accepted {
                let evaluations = self.evaluations.wrapping_sub(before);
                return Ok(AdaptiveDraw { value, evaluations });
            }
        }
        Err(AdaptiveRejectionError::Exhausted { attempts: MAX_ATTEMPTS })
    }

    fn touch(&mut self, at: f64, density: &mut impl FnMut(f64) -> (f64, f64)) -> Tangent {
        self.evaluations = self.evaluations.wrapping_add(1);
        let (value, slope) = density(at);
        Tangent { at, value, slope }
    }

    /// Learns from an evaluation.
    fn add(&mut self, tangent: Tangent) -> Result<(), AdaptiveRejectionError> {
        let at = tangent.at;
        let concave = if is_finite(&tangent) {
            self.hull.insert(tangent)
        } else if is_zero(&tangent) {
            self.hull.narrow(at)
        } else if tangent.value.is_finite() && tangent.slope.is_infinite() {
            // A wall too steep to be a tangent; its height is good enough to decide.
            return Ok(());
        } else {
            return Err(AdaptiveRejectionError::NotFinite { at });
        };
        self.stale = true;
        if concave { Ok(()) } else { Err(AdaptiveRejectionError::NotLogConcave { at }) }
    }

    /// A tangent that can end the hull and is not far down: found at doubling steps of the sign
    /// of `step`, then by halving back where the density falls like a wall or is not finite.
    ///
    /// On a bounded side half way to the bound is far enough: a hull that is still nearly level
    /// there is no more than about twice as long as it must be. An edge, beyond which there is
    /// no density, becomes the bound.
    fn outwards(
        &mut self,
        first: Tangent,
        mut step: f64,
        density: &mut impl FnMut(f64) -> (f64, f64),
    ) -> Result<Tangent, AdaptiveRejectionError> {
        /// Beyond this depth an end wastes proposals.
        const DEEP: f64 = 20.0;
        /// Distance to an edge of the density, in units of the way to it, that is near enough.
        const NEAR: f64 = 1e-3;
        let direction = step.signum();
        let bound = self.hull.bound(direction);
        let limit = if bound.is_finite() { first.at.midpoint(bound) } else { bound };
        let mut near = first;
        let mut top = near.value;
        let mut end: Option<Tangent> = None;
        // The nearest point known to be too far out, be it an end or not.
        let mut beyond: Option<Tangent> = None;
        for _ in 0..MAX_STEPS_OUT {
            let at = near.at + step;
            let at = if direction < 0.0 { at.max(limit) } else { at.min(limit) };
            if at.is_infinite() {
                break;
            }
            let next = self.touch(at, density);
            if !is_finite(&next) {
                beyond = Some(next);
            } else {
                top = top.max(next.value);
                if next.ends(direction, top) {
                    (end, beyond) = (Some(next), Some(next));
                } else {
                    near = next;
                }
            }
            let Some(far) = beyond else {
                if near.at.to_bits() == limit.to_bits() {
                    break;
                }
                step *= 2.0;
                continue;
            };
            step = 0.5 * (far.at - near.at);
            let stuck = step.abs() <= f64::EPSILON * near.at.abs();
            let at_edge = is_zero(&far) && step.abs() < NEAR * (near.at - first.at).abs();
            if stuck || end.map_or(at_edge, |end| end.value > top - DEEP) {
                break;
            }
        }
        if end.is_none()
            && let Some(far) = beyond
            && is_zero(&far)
        {
            self.hull.narrow(far.at);
        }
        match (end, beyond) {
            (Some(end), _) => Ok(end),
            (None, _) if self.hull.bound(direction).is_finite() => Ok(near),
            (None, Some(beyond)) => Err(AdaptiveRejectionError::NotFinite { at: beyond.at }),
            (None, None) => Err(AdaptiveRejectionError::Improper { reached: near.at }),
        }
    }
}

/// One draw from a log-concave density, by an [`AdaptiveRejection`] that is used once: for a
/// full conditional, which is another density every time. The arguments are those of
/// [`AdaptiveRejection::new`]; all evaluations are counted.
///
/// # Errors
/// [`AdaptiveRejectionError`] if the density is seen not to be log-concave, finite and proper.
pub fn draw_log_concave(
    support: (f64, f64),
    start: f64,
    width: f64,
    mut density: impl FnMut(f64) -> (f64, f64),
    stream: &mut Stream,
) -> Result<AdaptiveDraw, AdaptiveRejectionError> {
    let mut sampler = AdaptiveRejection::new(support, start, width, &mut density)?;
    let draw = sampler.draw(density, stream)?;
    Ok(AdaptiveDraw { value: draw.value, evaluations: sampler.evaluations })
}

fn is_finite(tangent: &Tangent) -> bool {
    tangent.value.is_finite() && tangent.slope.is_finite()
}

/// Whether there is no density at the point of contact.
fn is_zero(tangent: &Tangent) -> bool {
    tangent.value.is_infinite() && tangent.value < 0.0
}
