//! Decide whether a stretch of a trajectory has turned back on itself.

/// Whether the stretch from momentum `left` to momentum `right`, whose momenta add up to
/// `plus[0] + plus[1] - minus`, has turned: the net displacement, by the trapezoidal rule
/// ρ - ½ (left + right), points against the momentum at either end
/// [Betancourt 2017, A.4.2].
#[inline]
pub(super) fn turned(left: &[f64], right: &[f64], plus: [&[f64]; 2], minus: &[f64]) -> bool {
    let dim = left.len();
    let (right, minus) = (&right[..dim], &minus[..dim]);
    let plus = [&plus[0][..dim], &plus[1][..dim]];
    // Four partial sums a side let the loop vectorise.
    let (mut at_left, mut at_right) = ([0.0; 4], [0.0; 4]);
    let whole = dim - dim % 4;
    for block in (0..whole).step_by(4) {
        for lane in 0..4 {
            let i = block + lane;
            let displacement = plus[0][i] + plus[1][i] - minus[i] - 0.5 * (left[i] + right[i]);
            at_left[lane] += displacement * left[i];
            at_right[lane] += displacement * right[i];
        }
    }
    for i in whole..dim {
        let displacement = plus[0][i] + plus[1][i] - minus[i] - 0.5 * (left[i] + right[i]);
        at_left[0] += displacement * left[i];
        at_right[0] += displacement * right[i];
    }
    let sum = |lanes: [f64; 4]| (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    sum(at_left) <= 0.0 || sum(at_right) <= 0.0
}
