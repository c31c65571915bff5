//! Solve for the quantile of a mixture: Newton's method in a bracket that always shrinks.

/// How near the logarithm of the probability must come: ten times what rounding leaves of the
/// sum over a million draws.
const PRECISION: f64 = 1e-12;

/// Where a few steps of Newton's method have shown how fast they shrink.
const SMALL: f64 = 1e-4;

/// The bracket halves in the order of doubles at least every second step, and 64 halvings are
/// all there are.
const MOST_STEPS: usize = 200;

/// The x between `lower` and `upper` with P(x) = `probability`, where `at` gives P and its
/// derivative, and P(lower) ≤ `probability` ≤ P(upper). NaN if anything is.
///
/// Newton's method on log P, which is nearly straight in the tail of a normal; from outside
/// the bracket, or where steps do not halve, the bracket is halved instead, alternately in value
/// and in the order of doubles: the latter crosses hundreds of magnitudes in 64 steps.
pub(super) fn solve(
    probability: f64,
    (mut lower, mut upper): (f64, f64),
    start: f64,
    at: impl Fn(f64) -> (f64, f64),
) -> f64 {
    if lower.is_nan() || upper.is_nan() || lower > upper {
        return f64::NAN;
    }
    if lower.to_bits() == upper.to_bits() {
        return lower;
    }
    let target = probability.ln();
    let inside = |x: f64, lower: f64, upper: f64| x > lower && x < upper;
    let mut x = if inside(start, lower, upper) { start } else { 0.5 * lower + 0.5 * upper };
    let (mut last_step, mut by_order) = (f64::INFINITY, false);
    for _ in 0..MOST_STEPS {
        let (below, density) = at(x);
        if below.is_nan() {
            return f64::NAN;
        }
        let excess = below.ln() - target;
        if excess < 0.0 {
            lower = x;
        } else {
            upper = x;
        }
        let step = -excess * below / density;
        let newton = x + step;
        let usable = inside(newton, lower, upper);
        // Newton's steps shrink as squares do: after this one, about excess · (step/last step)²
        // is left.
        let shrinking = (step / last_step).powi(2);
        let settles = last_step.is_finite() && excess.abs() < SMALL;
        if excess.abs() <= PRECISION || settles && usable && excess.abs() * shrinking <= PRECISION {
            return if usable { newton } else { x };
        }
        let next = if usable && step.abs() < 0.5 * last_step {
            newton
        } else {
            by_order = !by_order;
            if by_order { middle_in_order(lower, upper) } else { 0.5 * lower + 0.5 * upper }
        };
        if !inside(next, lower, upper) {
            // Neighbouring doubles: nothing lies between.
            return x;
        }
        last_step = (next - x).abs();
        x = next;
    }
    x
}

/// The double halfway between two in the order of all doubles.
fn middle_in_order(lower: f64, upper: f64) -> f64 {
    // Doubles are ordered as their bits are, negative ones backwards; the map is its own inverse.
    let flip = |bits: i64| bits ^ ((bits >> 63) as u64 >> 1) as i64;
    let (lower, upper) = (flip(lower.to_bits() as i64), flip(upper.to_bits() as i64));
    f64::from_bits(flip((lower & upper) + ((lower ^ upper) >> 1)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_in_order_crosses_all_magnitudes() {
        assert!(middle_in_order(-1.0, 1.0).abs() < 1e-300);
        for (lower, upper) in [(1e-300, 1e300), (-1e300, -1e-300), (0.0, 1.0), (-5.0, 1e-200)] {
            let middle = middle_in_order(lower, upper);
            assert!(lower < middle && middle < upper, "{lower} {middle} {upper}");
        }
        let middle = middle_in_order(1e-300, 1e300);
        assert!((1e-2..1e2).contains(&middle), "{middle}");
    }

    #[test]
    fn a_root_anywhere_in_a_huge_bracket_is_found() {
        for root in [1e-250, 1.0, 3e120, -1e-250, -7.5, -2e149] {
            // A step function in disguise: no slope to follow.
            let at = |x: f64| (if x < root { 0.1 } else { 0.4 }, 0.0);
            let x = solve(0.25, (-1e150, 1e150), 0.0, at);
            assert!((x / root - 1.0).abs() < 1e-14, "{x} for {root}");
        }
        assert!(solve(0.5, (f64::NAN, 1.0), 0.0, |_| (0.5, 1.0)).is_nan());
        assert!(solve(0.5, (0.0, 1.0), 0.3, |_| (f64::NAN, 1.0)).is_nan());
    }
}
