//! Decide whether a stretch of a trajectory has turned back on itself.

use posteria_linalg::end_products;

/// Whether the stretch from momentum `left` to momentum `right`, whose momenta add up to
/// ρ = `plus[0] + plus[1] - minus`, has turned: the net displacement, by the trapezoidal rule
/// ρ - ½ (left + right), points against the momentum at either end [Betancourt 2017, A.4.2].
pub(super) fn turned(left: &[f64], right: &[f64], plus: [&[f64]; 2], minus: &[f64]) -> bool {
    let (at_left, at_right) = end_products(left, right, (plus[0], plus[1], minus));
    at_left <= 0.0 || at_right <= 0.0
}
