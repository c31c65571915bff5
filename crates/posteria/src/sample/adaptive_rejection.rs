//! Draw exactly from a log-concave density of one variable, under a hull of tangents.

use crate::random::Stream;

/// Points of a hull at most; beyond it the hull is no longer refined but stays valid.
const CAPACITY: usize = 64;

/// Steps out, doubling each time, in search of both sides of the mode.
const MAX_STEPS_OUT: usize = 200;

/// Proposals of one draw at most: with a fitted hull a few suffice.
const MAX_ATTEMPTS: usize = 10_000;

/// Relative rounding granted to the caller's log density and slope before log-concavity counts
/// as violated.
const TOLERANCE: f64 = 1e-8;

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
    /// The log density or its derivative is NaN or infinite inside the support.
    #[error("the log density or its slope is not finite at {at}; narrow the support")]
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
/// without an evaluation, else h decides, and the point joins the hull. The hull lives in fixed
/// arrays: nothing is allocated. A density that is not log-concave is refused as soon as an
/// evaluation shows it.
#[derive(Clone, Debug)]
pub struct AdaptiveRejection {
    lower: f64,
    upper: f64,
    count: usize,
    evaluations: u32,
    /// Points of contact, increasing.
    contacts: [f64; CAPACITY],
    /// h there.
    heights: [f64; CAPACITY],
    /// h′ there, not increasing.
    slopes: [f64; CAPACITY],
    /// Right end of each tangent's piece; the last one is `upper`.
    ends: [f64; CAPACITY],
    /// Cumulative mass of the pieces, as a share of the whole.
    cumulative: [f64; CAPACITY],
}

impl AdaptiveRejection {
    /// A hull over the support (`lower`, `upper`), either end may be infinite, of the density
    /// whose log and derivative (h(x), h′(x)) are `density(x)`. The first points are `start` and,
    /// where the support is unbounded, points `width`, 2 `width`, 4 `width`, … further out
    /// until the mode is passed.
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
        if !(lower < start && start < upper && start.is_finite() && width > 0.0) {
            return Err(AdaptiveRejectionError::Support { start, lower, upper });
        }
        let mut hull = AdaptiveRejection {
            lower,
            upper,
            count: 0,
            evaluations: 0,
            contacts: [0.0; CAPACITY],
            heights: [0.0; CAPACITY],
            slopes: [0.0; CAPACITY],
            ends: [0.0; CAPACITY],
            cumulative: [0.0; CAPACITY],
        };
        let mut touch = |hull: &mut Self, x: f64| -> Result<f64, AdaptiveRejectionError> {
            let (height, slope) = hull.evaluate(x, &mut density)?;
            hull.insert(x, height, slope)?;
            Ok(slope)
        };
        let slope = touch(&mut hull, start)?;
        for (direction, end) in [(-1.0, lower), (1.0, upper)] {
            if end.is_finite() || slope * direction < 0.0 {
                continue;
            }
            let mut reached = start;
            let mut stride = width * direction;
            let mut falling = false;
            for _ in 0..MAX_STEPS_OUT {
                reached += stride;
                stride *= 2.0;
                if !reached.is_finite() {
                    break;
                }
                // The points on the way fill the hull without helping it.
                if hull.count > CAPACITY / 2 {
                    hull.remove(if direction < 0.0 { 1 } else { hull.count - 2 });
                }
                if touch(&mut hull, reached)? * direction < 0.0 {
                    falling = true;
                    break;
                }
            }
            if !falling {
                return Err(AdaptiveRejectionError::Improper { reached });
            }
        }
        hull.rebuild();
        Ok(hull)
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
        self.evaluations = 0;
        for _ in 0..MAX_ATTEMPTS {
            let (x, piece) = self.propose(stream);
            if !(x > self.lower && x < self.upper) {
                // Rounded onto an end of the support, a set of measure zero.
                continue;
            }
            let above = self.tangent(piece, x);
            let level = above - stream.exponential();
            let below = self.chord(piece, x);
            if level > below {
                let (height, slope) = self.evaluate(x, &mut density)?;
                let slack = TOLERANCE * (1.0 + height.abs());
                if height > above + slack || height < below - slack {
                    return Err(AdaptiveRejectionError::NotLogConcave { at: x });
                }
                if self.count < CAPACITY {
                    self.insert(x, height, slope)?;
                    self.rebuild();
                }
                if level > height {
                    continue;
                }
            }
            return Ok(AdaptiveDraw { value: x, evaluations: self.evaluations });
        }
        Err(AdaptiveRejectionError::Exhausted { attempts: MAX_ATTEMPTS })
    }

    fn evaluate(
        &mut self,
        x: f64,
        density: &mut impl FnMut(f64) -> (f64, f64),
    ) -> Result<(f64, f64), AdaptiveRejectionError> {
        self.evaluations += 1;
        let (height, slope) = density(x);
        if height.is_finite() && slope.is_finite() {
            Ok((height, slope))
        } else {
            Err(AdaptiveRejectionError::NotFinite { at: x })
        }
    }

    /// Inserts a point of contact in its place; slopes must not increase.
    fn insert(&mut self, x: f64, height: f64, slope: f64) -> Result<(), AdaptiveRejectionError> {
        let count = self.count;
        let place = self.contacts[..count].partition_point(|contact| *contact < x);
        let slack = TOLERANCE * (1.0 + slope.abs());
        let too_steep = place > 0 && slope > self.slopes[place - 1] + slack;
        let too_flat = place < count && slope < self.slopes[place] - slack;
        if too_steep || too_flat {
            return Err(AdaptiveRejectionError::NotLogConcave { at: x });
        }
        for (array, value) in
            [(&mut self.contacts, x), (&mut self.heights, height), (&mut self.slopes, slope)]
        {
            array.copy_within(place..count, place + 1);
            array[place] = value;
        }
        self.count += 1;
        Ok(())
    }

    fn remove(&mut self, place: usize) {
        for array in [&mut self.contacts, &mut self.heights, &mut self.slopes] {
            array.copy_within(place + 1..self.count, place);
        }
        self.count -= 1;
    }

    /// Where the pieces meet, and their masses.
    fn rebuild(&mut self) {
        let last = self.count - 1;
        let mut log_masses = [f64::NEG_INFINITY; CAPACITY];
        let mut largest = f64::NEG_INFINITY;
        for (piece, log_mass) in log_masses.iter_mut().enumerate().take(self.count) {
            self.ends[piece] = if piece == last { self.upper } else { self.meeting(piece) };
            *log_mass = self.log_mass(piece);
            largest = largest.max(*log_mass);
        }
        let mut total = 0.0;
        for (cumulative, log_mass) in self.cumulative.iter_mut().zip(&log_masses[..=last]) {
            total += (log_mass - largest).exp();
            *cumulative = total;
        }
        self.cumulative[..=last].iter_mut().for_each(|cumulative| *cumulative /= total);
    }

    /// Where the tangents of `piece` and the next one meet.
    fn meeting(&self, piece: usize) -> f64 {
        let (x, next) = (self.contacts[piece], self.contacts[piece + 1]);
        let bend = self.slopes[piece] - self.slopes[piece + 1];
        if bend <= TOLERANCE * (1.0 + self.slopes[piece].abs()) {
            // Nearly one line: any point between will do, and the quotient is all rounding.
            return 0.5 * (x + next);
        }
        let rise = self.heights[piece + 1] - self.heights[piece];
        let offset = (rise - self.slopes[piece + 1] * (next - x)) / bend;
        (x + offset).clamp(x, next)
    }

    fn begin(&self, piece: usize) -> f64 {
        if piece == 0 { self.lower } else { self.ends[piece - 1] }
    }

    fn tangent(&self, piece: usize, x: f64) -> f64 {
        self.heights[piece] + self.slopes[piece] * (x - self.contacts[piece])
    }

    /// The chord below h at `x`, a point of `piece`; -∞ outside the outermost contacts.
    fn chord(&self, piece: usize, x: f64) -> f64 {
        let left = if x >= self.contacts[piece] { piece } else { piece.wrapping_sub(1) };
        if left >= self.count - 1 {
            return f64::NEG_INFINITY;
        }
        let (a, b) = (self.contacts[left], self.contacts[left + 1]);
        let share = (x - a) / (b - a);
        self.heights[left] + share * (self.heights[left + 1] - self.heights[left])
    }

    /// log ∫ exp(tangent) over the piece.
    fn log_mass(&self, piece: usize) -> f64 {
        let (begin, end, slope) = (self.begin(piece), self.ends[piece], self.slopes[piece]);
        let length = end - begin;
        let drop = (slope * length).abs();
        if drop < 1e-12 {
            return self.tangent(piece, 0.5 * (begin + end)) + length.ln();
        }
        // From the higher end, so that no exponential overflows.
        let high = self.tangent(piece, if slope > 0.0 { end } else { begin });
        high + (-(-drop).exp_m1()).ln() - slope.abs().ln()
    }

    /// A draw from the exponential of the hull, and its piece.
    fn propose(&self, stream: &mut Stream) -> (f64, usize) {
        let share = stream.uniform();
        let piece = self.cumulative[..self.count]
            .partition_point(|cumulative| *cumulative < share)
            .min(self.count - 1);
        let (begin, end, slope) = (self.begin(piece), self.ends[piece], self.slopes[piece]);
        let length = end - begin;
        let drop = (slope * length).abs();
        let u = stream.uniform();
        if drop < 1e-12 {
            return (begin + u * length, piece);
        }
        // Distance from the higher end: exponential, cut off at the length of the piece.
        let distance = -(u * (-drop).exp_m1()).ln_1p() / slope.abs();
        (if slope > 0.0 { end - distance } else { begin + distance }, piece)
    }
}
