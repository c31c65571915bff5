//! Draw exactly from a log-concave density on the line, by adaptive rejection.

use crate::random::Stream;

/// Most tangents kept; more only sharpen an envelope that already accepts nearly always.
const MOST_TANGENTS: usize = 24;

/// Doublings of the search for both sides of the mode: from a width of 1 beyond the doubles.
const MOST_DOUBLINGS: usize = 2100;

/// Tightenings of the bracket before drawing; each is a Newton-like step towards the mode.
const MOST_TIGHTENINGS: usize = 60;

/// Fall of a piece of the envelope below which it counts as level.
const LEVEL: f64 = 1e-9;

/// Rejections in a row after which the density cannot be log-concave (or is not finite): with
/// a log-concave density each has a probability well below one half once tangents are in.
const MOST_REJECTIONS: usize = 10_000;

/// Value and derivative of a log density at a point.
#[derive(Clone, Copy, Debug, Default)]
struct Tangent {
    at: f64,
    value: f64,
    slope: f64,
}

impl Tangent {
    fn height(&self, x: f64) -> f64 {
        self.value + self.slope * (x - self.at)
    }

    /// Whether the envelope may end with this tangent in the given direction. It must fall, and
    /// not almost level: a concave function that is `ENOUGH` below its top has a slope of at
    /// least `ENOUGH` over the distance, so that the tail of the envelope is no longer than a
    /// few times that distance.
    fn ends(&self, direction: f64, top: f64) -> bool {
        const ENOUGH: f64 = 0.25;
        self.slope * direction < 0.0 && self.value <= top - ENOUGH
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

/// An independent draw from the density ∝ exp(f) on the real line, for concave f that falls
/// on both sides; `log_density` returns f(x) and f'(x), up to any constant in f.
///
/// Tangents of a concave function lie above it, so their minimum is an envelope that can be
/// drawn from piece by piece; rejected points become new tangents [Gilks and Wild 1992]. The
/// draw is exact and independent of `start` and `width`, which only make it cheap: a guess of
/// the centre and of the spread. `None` if the density is not finite where it must be, or not
/// log-concave.
pub fn draw_log_concave(
    start: f64,
    width: f64,
    mut log_density: impl FnMut(f64) -> (f64, f64),
    stream: &mut Stream,
) -> Option<f64> {
    let mut envelope = Envelope::bracketing(start, width, &mut log_density)?;
    for _ in 0..MOST_REJECTIONS {
        let (x, height) = envelope.draw(stream);
        let (value, slope) = log_density(x);
        if value.is_nan() {
            return None;
        }
        // -log U is exponential: accept with probability exp(value - height).
        if height - value <= stream.exponential() {
            return Some(x);
        }
        if value.is_finite() && slope.is_finite() {
            envelope.insert(Tangent { at: x, value, slope });
        }
    }
    None
}

/// The minimum of tangents, as a piecewise exponential density.
struct Envelope {
    /// Ordered by their points of contact; the outermost fall outwards.
    tangents: [Tangent; MOST_TANGENTS],
    count: usize,
}

impl Envelope {
    /// Tangents on both sides of the mode and not far from it.
    fn bracketing(
        start: f64,
        width: f64,
        log_density: &mut impl FnMut(f64) -> (f64, f64),
    ) -> Option<Self> {
        let mut tangent = |at: f64| {
            let (value, slope) = log_density(at);
            (value.is_finite() && slope.is_finite()).then_some(Tangent { at, value, slope })
        };
        let first = tangent(start)?;
        let mut envelope = Envelope { tangents: [Tangent::default(); MOST_TANGENTS], count: 0 };
        envelope.insert(first);
        envelope.insert(outwards(first, -width, &mut tangent)?);
        envelope.insert(outwards(first, width, &mut tangent)?);
        for _ in 0..MOST_TIGHTENINGS {
            envelope.prune();
            let (peak, height) = envelope.peak();
            if height < envelope.top() + 1.0 {
                break;
            }
            envelope.insert(tangent(peak)?);
        }
        Some(envelope)
    }

    /// The highest point of contact.
    fn top(&self) -> f64 {
        self.tangents[..self.count].iter().fold(f64::NEG_INFINITY, |most, t| most.max(t.value))
    }

    /// Where two neighbouring tangents meet highest.
    fn peak(&self) -> (f64, f64) {
        self.tangents[..self.count].windows(2).fold((0.0, f64::NEG_INFINITY), |most, pair| {
            let meeting = pair[0].meets(&pair[1]);
            if meeting.1 > most.1 { meeting } else { most }
        })
    }

    fn insert(&mut self, tangent: Tangent) {
        if self.count == MOST_TANGENTS {
            return;
        }
        let place = self.tangents[..self.count].partition_point(|other| other.at < tangent.at);
        self.tangents.copy_within(place..self.count, place + 1);
        self.tangents[place] = tangent;
        self.count += 1;
    }

    /// Drops outermost tangents whose inner neighbour can be the end.
    fn prune(&mut self) {
        let top = self.top();
        while self.count > 2 && self.tangents[1].ends(-1.0, top) {
            self.tangents.copy_within(1..self.count, 0);
            self.count -= 1;
        }
        while self.count > 2 && self.tangents[self.count - 2].ends(1.0, top) {
            self.count -= 1;
        }
    }

    /// A draw from the envelope, and the height of the envelope there.
    fn draw(&self, stream: &mut Stream) -> (f64, f64) {
        let tangents = &self.tangents[..self.count];
        let top = self.top();
        let mut masses = [0.0; MOST_TANGENTS];
        let mut ends = [(f64::INFINITY, f64::NEG_INFINITY); MOST_TANGENTS + 1];
        ends[0].0 = f64::NEG_INFINITY;
        let mut total = 0.0;
        for (i, tangent) in tangents.iter().enumerate() {
            if let Some(next) = tangents.get(i + 1) {
                ends[i + 1] = tangent.meets(next);
            }
            let height = if tangent.slope > 0.0 { ends[i + 1].1 } else { ends[i].1 };
            total += piece_mass(height - top, tangent.slope.abs(), ends[i + 1].0 - ends[i].0);
            masses[i] = total;
        }
        let point = stream.uniform() * total;
        let chosen = masses[..self.count].partition_point(|sum| *sum <= point).min(self.count - 1);
        let slope = tangents[chosen].slope;
        let (steep, (from, to)) = (slope.abs(), (ends[chosen], ends[chosen + 1]));
        // From the higher end of the piece inwards: a truncated exponential, or uniform where
        // the piece is level to rounding.
        let length = steep * (to.0 - from.0);
        let uniform = stream.uniform();
        let (distance, fall) = if length < LEVEL {
            (uniform * (to.0 - from.0), 0.0)
        } else {
            let fall = -(uniform * (-length).exp_m1()).ln_1p();
            (fall / steep, fall)
        };
        if slope > 0.0 {
            (to.0 - distance, to.1 - fall)
        } else {
            (from.0 + distance, from.1 - fall)
        }
    }
}

/// A tangent that can be an end and is not far down: found at doubling steps of the sign of
/// `step`, then by halving back where the density falls like a wall.
fn outwards(
    mut near: Tangent,
    mut step: f64,
    tangent: &mut impl FnMut(f64) -> Option<Tangent>,
) -> Option<Tangent> {
    /// Beyond this depth an end wastes proposals.
    const DEEP: f64 = 20.0;
    let mut top = near.value;
    let mut end: Option<Tangent> = None;
    for _ in 0..MOST_DOUBLINGS {
        let next = tangent(near.at + step);
        top = next.map_or(top, |next| top.max(next.value));
        match next {
            // Beyond the range of the density: come back.
            None => step *= 0.5,
            Some(next) if next.ends(step, top) => {
                end = Some(next);
                step *= 0.5;
            }
            Some(next) => {
                near = next;
                step = end.map_or(2.0 * step, |end| 0.5 * (end.at - near.at));
            }
        }
        if let Some(end) = end
            && (end.value > top - DEEP || step.abs() <= f64::EPSILON * near.at.abs())
        {
            return Some(end);
        }
    }
    end
}

/// ∫ of an exponential piece that is `length` long in units of its decay, `width` wide and
/// `height` high (logarithm) at its higher end.
fn piece_mass(height: f64, steep: f64, width: f64) -> f64 {
    let length = steep * width;
    if length < LEVEL { height.exp() * width } else { height.exp() * -(-length).exp_m1() / steep }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{NumericCdf, assert_draws_follow};
    use crate::density::{Gamma, Normal};
    use crate::random::{Purpose, Seed};

    #[test]
    fn draws_are_exact_from_any_start() {
        let normal = Normal::new(3.0, 0.5).unwrap();
        let mut stream = Seed(1).stream(Purpose::Data, [15, 0]);
        for (start, width) in [(3.0, 0.5), (-1e6, 1e-3), (2.9, 1e9)] {
            let mut evaluations = 0;
            let mut draws: Vec<f64> = (0..10_000)
                .map(|_| {
                    let log_density = |x| {
                        evaluations += 1;
                        (normal.log_density(x), normal.derivative(x))
                    };
                    draw_log_concave(start, width, log_density, &mut stream).unwrap()
                })
                .collect();
            assert_draws_follow(&mut draws, |x| normal.cdf(x));
            assert!(start < 0.0 || width > 1.0 || evaluations < 80_000, "{evaluations}");
        }
    }

    #[test]
    fn asymmetric_densities_on_the_log_scale_are_exact() {
        for shape in [0.01, 1.0, 2000.0] {
            let gamma = Gamma::new(shape, 1.0).unwrap();
            let mut stream = Seed(1).stream(Purpose::Data, [15, shape.to_bits()]);
            let mut draws: Vec<f64> = (0..10_000)
                .map(|_| {
                    let log_density = |y: f64| (shape * y - y.exp(), shape - y.exp());
                    draw_log_concave(0.0, 1.0, log_density, &mut stream).unwrap()
                })
                .collect();
            assert_draws_follow(&mut draws, |y| gamma.cdf(y.exp()));
        }
    }

    #[test]
    fn a_plateau_between_walls_is_exact_and_cheap() {
        // Curvature at the mode says nothing about the width: 1e15 against ±18.
        let falls = 1e-30_f64;
        let exact = NumericCdf::new(-40.0, 40.0, |t: f64| -falls * (2.0 * t).cosh());
        let mut stream = Seed(1).stream(Purpose::Data, [15, 2]);
        let mut evaluations = 0;
        let mut draws: Vec<f64> = (0..10_000)
            .map(|_| {
                let log_density = |t: f64| {
                    evaluations += 1;
                    (-falls * (2.0 * t).cosh(), -2.0 * falls * (2.0 * t).sinh())
                };
                draw_log_concave(0.0, 1e15, log_density, &mut stream).unwrap()
            })
            .collect();
        assert_draws_follow(&mut draws, |t| exact.at(t));
        assert!(evaluations < 1_500_000, "{evaluations}");
    }

    #[test]
    fn what_cannot_be_drawn_is_refused() {
        let mut stream = Seed(1).stream(Purpose::Data, [15, 1]);
        assert_eq!(draw_log_concave(0.0, 1.0, |_| (f64::NAN, 0.0), &mut stream), None);
        assert_eq!(draw_log_concave(0.0, 1.0, |x| (x, 1.0), &mut stream), None);
    }
}
