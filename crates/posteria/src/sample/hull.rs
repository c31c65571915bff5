//! Cover a concave function by its tangents, and draw from their exponential.

use crate::random::Stream;

/// Tangents of a hull at most; beyond it the hull is no longer refined but stays valid.
const CAPACITY: usize = 64;

/// Relative rounding granted to values and slopes before concavity counts as violated.
const TOLERANCE: f64 = 1e-8;

/// Fall of a piece of the hull below which it counts as level.
const LEVEL: f64 = 1e-9;

/// Value and derivative of a log density at a point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tangent {
    pub(super) at: f64,
    pub(super) value: f64,
    pub(super) slope: f64,
}

impl Tangent {
    fn height(&self, x: f64) -> f64 {
        self.value + self.slope * (x - self.at)
    }

    /// Whether a hull may end with this tangent in the given direction. It must fall, and not
    /// almost level: a concave function that is `ENOUGH` below its top has a slope of at least
    /// `ENOUGH` over the distance, so that the tail of the hull is no longer than a few times
    /// that distance.
    pub(super) fn ends(&self, direction: f64, top: f64) -> bool {
        const ENOUGH: f64 = 0.25;
        self.slope * direction < 0.0 && self.value <= top - ENOUGH
    }

    /// Whether the point of contact of `other` is below this tangent, as for a concave function.
    /// Heights say so in any unit of x, slopes would not.
    fn covers(&self, other: &Tangent) -> bool {
        let rise = self.slope * (other.at - self.at);
        let size = 1.0 + self.value.abs() + other.value.abs() + rise.abs();
        other.value <= self.value + rise + TOLERANCE * size
    }

    /// Where two tangents meet (between their points of contact, whatever rounding does), and
    /// how high: by the less steep one, since the height of a wall is lost to rounding.
    fn meets(&self, right: &Tangent) -> (f64, f64) {
        let gap = right.at - self.at;
        let fall = self.slope - right.slope;
        let step = (right.value - self.value - gap * right.slope) / fall;
        let at = self.at + if step >= 0.0 && step <= gap { step } else { 0.5 * gap };
        let flatter = if self.slope.abs() < right.slope.abs() { self } else { right };
        (at, flatter.height(at))
    }
}

/// The minimum of tangents of a concave function over an interval, as a piecewise exponential
/// density. Lives in fixed arrays: nothing is allocated.
#[derive(Clone, Debug)]
pub(super) struct Hull {
    lower: f64,
    upper: f64,
    count: usize,
    /// By increasing points of contact. On an unbounded side the outermost falls outwards.
    tangents: [Tangent; CAPACITY],
    /// Where the pieces begin and end, and the height of the hull there.
    ends: [(f64, f64); CAPACITY + 1],
    /// Cumulative mass of the pieces, in units of the highest point.
    cumulative: [f64; CAPACITY],
}

impl Hull {
    /// A hull over (`lower`, `upper`) without tangents.
    pub(super) fn new(lower: f64, upper: f64) -> Self {
        Hull {
            lower,
            upper,
            count: 0,
            tangents: [Tangent::default(); CAPACITY],
            ends: [(0.0, 0.0); CAPACITY + 1],
            cumulative: [0.0; CAPACITY],
        }
    }

    /// The end of the interval in the given direction.
    pub(super) fn bound(&self, direction: f64) -> f64 {
        if direction < 0.0 { self.lower } else { self.upper }
    }

    pub(super) fn is_full(&self) -> bool {
        self.count == CAPACITY
    }

    /// The highest point of contact.
    pub(super) fn top(&self) -> f64 {
        self.tangents[..self.count].iter().fold(f64::NEG_INFINITY, |most, t| most.max(t.value))
    }

    /// Adds a tangent (if there is room); `false` if it contradicts a concave function.
    pub(super) fn insert(&mut self, tangent: Tangent) -> bool {
        let place = self.place(tangent.at);
        let left = place.checked_sub(1).map(|left| self.tangents[left]);
        let right = self.tangents[..self.count].get(place).copied();
        let level = |direction: f64| {
            self.bound(direction).is_infinite() && tangent.slope * direction >= 0.0
        };
        if self.count > 0 && (left.is_none() && level(-1.0) || right.is_none() && level(1.0)) {
            // The tail would have no end; a concave function falls here as it does further in.
            return false;
        }
        if [left, right].iter().flatten().any(|t| !(t.covers(&tangent) && tangent.covers(t))) {
            return false;
        }
        let known = right.is_some_and(|right| right.at <= tangent.at);
        if !(known || self.is_full()) {
            self.tangents.copy_within(place..self.count, place + 1);
            self.tangents[place] = tangent;
            self.count += 1;
        }
        true
    }

    /// Moves an end of the interval to `x`, where there is no density, hence none beyond it
    /// either; `false` if there is some beyond it on both sides.
    pub(super) fn narrow(&mut self, x: f64) -> bool {
        let place = self.place(x);
        if place == 0 {
            self.lower = x;
        } else if place == self.count {
            self.upper = x;
        }
        place == 0 || place == self.count
    }

    /// Drops outermost tangents whose inner neighbour can be the end: they only waste draws.
    pub(super) fn prune(&mut self) {
        let top = self.top();
        while self.count > 2 && self.tangents[1].ends(-1.0, top) {
            self.tangents.copy_within(1..self.count, 0);
            self.count -= 1;
        }
        while self.count > 2 && self.tangents[self.count - 2].ends(1.0, top) {
            self.count -= 1;
        }
    }

    /// Joins neighbouring tangents, after tangents or ends of the interval have changed.
    pub(super) fn join(&mut self) {
        let tangents = &self.tangents[..self.count];
        self.ends[0] = (self.lower, tangents[0].height(self.lower));
        for (end, pair) in self.ends[1..].iter_mut().zip(tangents.windows(2)) {
            *end = pair[0].meets(&pair[1]);
        }
        let last = &tangents[self.count - 1];
        self.ends[self.count] = (self.upper, last.height(self.upper));
    }

    /// Computes the masses of the joined pieces; `false` if they are not finite.
    pub(super) fn weigh(&mut self) -> bool {
        let tangents = &self.tangents[..self.count];
        let ends = &self.ends[..=self.count];
        // Relative to the highest point no exponential overflows.
        let highest = ends.iter().fold(f64::NEG_INFINITY, |most, end| most.max(end.1));
        let mut total = 0.0;
        for ((cumulative, t), pair) in self.cumulative.iter_mut().zip(tangents).zip(ends.windows(2))
        {
            let height = if t.slope > 0.0 { pair[1].1 } else { pair[0].1 };
            total += piece_mass(height - highest, t.slope.abs(), pair[1].0 - pair[0].0);
            *cumulative = total;
        }
        total.is_finite()
    }

    /// Where the next tangent lowers the hull most, and the height of the hull there or, next
    /// to an end of the interval, at that end.
    pub(super) fn peak(&self) -> (f64, f64) {
        let mut most = (f64::NAN, f64::NEG_INFINITY);
        for end in &self.ends[1..self.count] {
            most = if end.1 > most.1 { *end } else { most };
        }
        for (direction, end, outermost) in [
            (-1.0, self.ends[0], &self.tangents[0]),
            (1.0, self.ends[self.count], &self.tangents[self.count - 1]),
        ] {
            if end.1 > most.1 && outermost.slope * direction > 0.0 {
                // Half a unit below a hull that rises up to the end; there may be no density
                // at the end itself.
                let distance =
                    (0.5 / outermost.slope).abs().min(0.5 * (end.0 - outermost.at).abs());
                most = (self.inside(end.0 - direction * distance), end.1);
            }
        }
        most
    }

    /// A draw from the exponential of the hull, and the height of the hull there.
    pub(super) fn draw(&self, stream: &mut Stream) -> (f64, f64) {
        let masses = &self.cumulative[..self.count];
        let point = stream.uniform() * masses[self.count - 1];
        let chosen = masses.partition_point(|sum| *sum <= point).min(self.count - 1);
        let slope = self.tangents[chosen].slope;
        let (steep, from, to) = (slope.abs(), self.ends[chosen], self.ends[chosen + 1]);
        // From the higher end of the piece inwards: a truncated exponential, or uniform where
        // the piece is level to rounding.
        let length = steep * (to.0 - from.0);
        let uniform = stream.uniform();
        let distance = if length < LEVEL {
            uniform * (to.0 - from.0)
        } else {
            -(uniform * (-length).exp_m1()).ln_1p() / steep
        };
        let (end, x) = if slope > 0.0 { (to, to.0 - distance) } else { (from, from.0 + distance) };
        let x = self.inside(x);
        // The height at x as rounded: on a wall that is another one.
        (x, end.1 - steep * (x - end.0).abs())
    }

    /// The chord below the function at `x`; -∞ outside the outermost points of contact.
    pub(super) fn chord(&self, x: f64) -> f64 {
        let place = self.place(x);
        if place == 0 || place == self.count {
            return f64::NEG_INFINITY;
        }
        let (a, b) = (&self.tangents[place - 1], &self.tangents[place]);
        a.value + (x - a.at) / (b.at - a.at) * (b.value - a.value)
    }

    /// How many points of contact are below `x`.
    fn place(&self, x: f64) -> usize {
        self.tangents[..self.count].partition_point(|tangent| tangent.at < x)
    }

    /// `x`, or the nearest number inside the interval if it was rounded onto an end.
    fn inside(&self, x: f64) -> f64 {
        x.max(self.lower.next_up()).min(self.upper.next_down())
    }
}

/// ∫ of an exponential piece that falls by `steep` per unit, is `width` wide and `height` high
/// (logarithm) at its higher end.
fn piece_mass(height: f64, steep: f64, width: f64) -> f64 {
    let length = steep * width;
    if length < LEVEL { height.exp() * width } else { height.exp() * -(-length).exp_m1() / steep }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn chords_are_below_the_function_and_the_hull_is_above() {
        let value = |x: f64| -0.5 * x * x;
        let mut hull = Hull::new(f64::NEG_INFINITY, 3.0);
        for at in [0.5, -2.0, 1.5] {
            assert!(hull.insert(Tangent { at, value: value(at), slope: -at }));
        }
        hull.join();
        assert!(hull.weigh());
        let mut stream = Seed(62).stream(Purpose::Data, [0, 0]);
        let mut between = 0;
        for _ in 0..1000 {
            let (x, height) = hull.draw(&mut stream);
            assert!(x < 3.0 && height >= value(x) - 1e-12, "{height} at {x}");
            let chord = hull.chord(x);
            // Half the product of the distances to both ends of the chord.
            let below = |a: f64, b: f64| 0.5 * (x - a) * (b - x);
            let expected = match x {
                x if !(-2.0..=1.5).contains(&x) => f64::INFINITY,
                x if x < 0.5 => below(-2.0, 0.5),
                _ => below(0.5, 1.5),
            };
            if expected.is_finite() {
                between += 1;
                assert!((value(x) - chord - expected).abs() < 1e-12, "{chord} at {x}");
            } else {
                assert!(chord.is_infinite() && chord < 0.0, "{chord} at {x}");
            }
        }
        assert!((1..1000).contains(&between), "points on both sides: {between}");
    }
}
