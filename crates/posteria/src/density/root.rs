//! Solve for quantiles: a root of an increasing function by Newton's method in a bracket.

/// The root of an increasing function between `lower` and `upper`. `f` returns value and slope.
/// Newton's method from `start`; a step that leaves the shrinking bracket is replaced by
/// bisection, so that it always ends.
pub(super) fn increasing_root(
    mut lower: f64,
    mut upper: f64,
    start: f64,
    f: impl Fn(f64) -> (f64, f64),
) -> f64 {
    // Bisection alone reaches neighbouring doubles from any bracket used here within this.
    const MOST_STEPS: usize = 120;
    let mut x = start.clamp(lower, upper);
    for _ in 0..MOST_STEPS {
        let (value, slope) = f(x);
        if value < 0.0 {
            lower = x;
        } else {
            upper = x;
        }
        let newton = x - value / slope;
        let next = if newton > lower && newton < upper { newton } else { 0.5 * (lower + upper) };
        let moved = (next - x).abs();
        x = next;
        if moved <= 2.0 * f64::EPSILON * x.abs() {
            break;
        }
    }
    x
}
