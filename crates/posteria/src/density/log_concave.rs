//! Draw exactly from a log-concave density on the line, by adaptive rejection.

use crate::random::Stream;

/// Most tangents kept; more only sharpen an envelope that already accepts nearly always.
const MOST_TANGENTS: usize = 24;

/// Doublings of the search for both sides of the mode: from a width of 1 beyond the doubles.
const MOST_DOUBLINGS: usize = 2100;

/// Tightenings of the bracket before drawing; each is a Newton-like step towards the mode.
const MOST_TIGHTENINGS: usize = 60;

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

    /// Where two tangents meet; between their points of contact, whatever rounding does.
    fn meets(&self, right: &Tangent) -> f64 {
        let gap = right.at - self.at;
        let fall = self.slope - right.slope;
        let step = (right.value - self.value - gap * right.slope) / fall;
        if step >= 0.0 && step <= gap { self.at + step } else { self.at + 0.5 * gap }
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
    tangents: [Tangent; MOST_TANGENTS],
    count: usize,
}

impl Envelope {
    /// Two tangents, one on each side of the mode and not far from it.
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
        // A level tangent is no end of an envelope: both ends must fall outwards.
        let mut left =
            if first.slope > 0.0 { first } else { outwards(first, -width, &mut tangent)? };
        let mut right =
            if first.slope < 0.0 { first } else { outwards(first, width, &mut tangent)? };
        let mut envelope = Envelope { tangents: [Tangent::default(); MOST_TANGENTS], count: 0 };
        for _ in 0..MOST_TIGHTENINGS {
            let meeting = left.meets(&right);
            if left.height(meeting) - left.value.max(right.value) < 1.0 {
                break;
            }
            let middle = tangent(meeting)?;
            if middle.slope > 0.0 {
                left = middle;
            } else if middle.slope < 0.0 {
                right = middle;
            } else {
                envelope.insert(middle);
                break;
            }
        }
        envelope.insert(left);
        envelope.insert(right);
        Some(envelope)
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

    /// A draw from the envelope, and the height of the envelope there.
    fn draw(&self, stream: &mut Stream) -> (f64, f64) {
        let tangents = &self.tangents[..self.count];
        let highest = tangents.iter().fold(f64::NEG_INFINITY, |most, t| most.max(t.value));
        let mut masses = [0.0; MOST_TANGENTS];
        let mut pieces = [(0.0, 0.0); MOST_TANGENTS];
        let mut total = 0.0;
        let mut from = f64::NEG_INFINITY;
        for (i, tangent) in tangents.iter().enumerate() {
            let to = tangents.get(i + 1).map_or(f64::INFINITY, |next| tangent.meets(next));
            pieces[i] = (from, to);
            total += piece_mass(tangent, from, to, highest);
            masses[i] = total;
            from = to;
        }
        let point = stream.uniform() * total;
        let chosen = masses[..self.count].partition_point(|sum| *sum <= point).min(self.count - 1);
        let (from, to) = pieces[chosen];
        let tangent = &tangents[chosen];
        // From the higher end of the piece inwards: a truncated exponential.
        let steep = tangent.slope.abs();
        let length = steep * (to - from);
        let reach = -(-stream.uniform() * -(-length).exp_m1()).ln_1p();
        let x = if length < 1e-9 {
            // Flat to rounding.
            from + stream.uniform() * (to - from)
        } else if tangent.slope > 0.0 {
            to - reach / steep
        } else {
            from + reach / steep
        };
        (x, tangent.height(x))
    }
}

/// The first tangent that falls outwards, at doubling steps of the sign of `step`.
fn outwards(
    mut near: Tangent,
    mut step: f64,
    tangent: &mut impl FnMut(f64) -> Option<Tangent>,
) -> Option<Tangent> {
    for _ in 0..MOST_DOUBLINGS {
        match tangent(near.at + step) {
            // Beyond the range of the density: come back.
            None => step *= 0.25,
            Some(next) if next.slope * step < 0.0 => return Some(next),
            Some(next) => {
                near = next;
                step *= 2.0;
            }
        }
    }
    None
}

/// ∫ exp(tangent - offset) from `from` to `to`, one of which may be infinite.
fn piece_mass(tangent: &Tangent, from: f64, to: f64, offset: f64) -> f64 {
    let top = if tangent.slope > 0.0 { to } else { from };
    let steep = tangent.slope.abs();
    let length = steep * (to - from);
    let height = (tangent.height(top) - offset).exp();
    if length < 1e-9 { height * (to - from) } else { height * -(-length).exp_m1() / steep }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::assert_draws_follow;
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
    fn what_cannot_be_drawn_is_refused() {
        let mut stream = Seed(1).stream(Purpose::Data, [15, 1]);
        assert_eq!(draw_log_concave(0.0, 1.0, |_| (f64::NAN, 0.0), &mut stream), None);
        assert_eq!(draw_log_concave(0.0, 1.0, |x| (x, 1.0), &mut stream), None);
    }
}
