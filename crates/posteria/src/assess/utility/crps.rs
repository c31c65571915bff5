//! The continuous ranked probability score, by quadrature.

use super::errors::over_targets;
use super::{Better, Summary, UtilityFunction};
use crate::predict::Predictive;

/// The continuous ranked probability score
///
/// ∫ (F(x) - 1[x ≥ y])² dx = E|X - y| - ½ E|X - X'|
///
/// of the predictive distribution F, in the unit of the target: for a prediction without
/// uncertainty the absolute error [Gneiting & Raftery 2007]. Of several targets the mean over
/// targets.
///
/// Of counts it is a sum over all numbers.
///
/// The identity on the right takes draws² evaluations, so the integral is found by adaptive
/// Gauss–Kronrod rules of 15 points between y and three quantiles and on both infinite tails, to
/// a relative error of 1e-6 (the estimate of the rule's own error is far below): some 150 times the
/// price of a distribution function. It exists where a mean does, and for t with more than half
/// a degree of freedom.
#[derive(Clone, Copy, Debug, Default)]
pub struct Crps;

impl UtilityFunction for Crps {
    fn name(&self) -> &str {
        "crps"
    }
    fn better(&self) -> Better {
        Better::Lower
    }
    fn summary(&self) -> Summary {
        Summary::Mean
    }
    fn evaluate(&self, predictive: &Predictive<'_>, observed: &[f64]) -> f64 {
        over_targets(observed, |target, y| score(predictive, target, y))
    }
}

/// Estimated error, relative to the score, that is small enough.
const PRECISION: f64 = 1e-7;
/// Intervals beyond which nothing is halved any more: steps that no rule resolves.
const MOST_INTERVALS: usize = 400;

/// Deviations beyond which counts are left out of the sum, and the most of them: beyond, the steps
/// of the distribution function are so small that it is integrated as if it had none.
const DEVIATIONS: f64 = 12.0;
const MOST_COUNTS: f64 = 4096.0;

/// Σ_k (F(k) - 1[k ≥ y])² of a count; `None` if there are too many.
fn score_of_count(predictive: &Predictive<'_>, y: f64) -> Option<f64> {
    let (mean, sd) = (predictive.mean(0)?, predictive.sd(0)?);
    let reach = DEVIATIONS * (sd + 1.0);
    let low = (mean - reach).floor().max(0.0).min(y);
    let high = (mean + reach).ceil().max(y);
    let range = high - low;
    if range.is_nan() || range > MOST_COUNTS {
        return None;
    }
    let probabilities = predictive.probabilities_from(low, range as usize + 1);
    let (mut below, mut score) = (0.0, 0.0);
    for (k, p) in probabilities.iter().enumerate() {
        below += p;
        let wrong = if low + (k as f64) < y { below } else { 1.0 - below };
        score += wrong * wrong;
    }
    Some(score)
}

fn score(predictive: &Predictive<'_>, target: usize, y: f64) -> f64 {
    if predictive.family().is_count()
        && let Some(score) = score_of_count(predictive, y)
    {
        return score;
    }
    let [low, middle, high] = [0.05, 0.5, 0.95].map(|p| predictive.quantile(target, p));
    let unit = high - low;
    if !(y.is_finite() && unit > 0.0 && unit.is_finite()) {
        // A distribution without width is a point; anything else has no score.
        return if unit.abs() <= 0.0 { (middle - y).abs() } else { f64::NAN };
    }
    let below = |x: f64| predictive.cdf(target, x).powi(2);
    let above = |x: f64| predictive.probability_above(target, x).powi(2);
    let mut cuts = [low, middle, high, y];
    cuts.sort_by(f64::total_cmp);
    // Infinite tails: x = end ± unit · t / (1 - t).
    let distance = |t: f64| (unit * t / (1.0 - t), unit / ((1.0 - t) * (1.0 - t)));
    let integrand = |piece: Piece, x: f64| match piece {
        Piece::Below => below(x),
        Piece::Above => above(x),
        Piece::LowerTail => {
            let (distance, slope) = distance(x);
            below(cuts[0] - distance) * slope
        }
        Piece::UpperTail => {
            let (distance, slope) = distance(x);
            above(cuts[3] + distance) * slope
        }
    };
    let mut intervals = Vec::with_capacity(32);
    let add = |intervals: &mut Vec<Interval>, piece: Piece, from: f64, to: f64| {
        if to > from {
            intervals.push(Interval::new(piece, from, to, |x| integrand(piece, x)));
        }
    };
    add(&mut intervals, Piece::LowerTail, 0.0, 1.0);
    add(&mut intervals, Piece::UpperTail, 0.0, 1.0);
    for ends in cuts.windows(2) {
        let piece = if ends[1] <= y { Piece::Below } else { Piece::Above };
        add(&mut intervals, piece, ends[0], ends[1]);
    }
    loop {
        let total: f64 = intervals.iter().map(|interval| interval.value).sum();
        let error: f64 = intervals.iter().map(|interval| interval.error).sum();
        // Also where either is not a number.
        let go_on = error > PRECISION * total;
        if !go_on || intervals.len() >= MOST_INTERVALS {
            return total;
        }
        let worst = (0..intervals.len())
            .max_by(|a, b| intervals[*a].error.total_cmp(&intervals[*b].error))
            .expect("there are tails");
        let Interval { piece, from, to, .. } = intervals.swap_remove(worst);
        let middle = 0.5 * from + 0.5 * to;
        if !(from < middle && middle < to) {
            // Neighbouring doubles: a step, of no width.
            return total;
        }
        add(&mut intervals, piece, from, middle);
        add(&mut intervals, piece, middle, to);
    }
}

/// Where an interval lies.
#[derive(Clone, Copy)]
enum Piece {
    LowerTail,
    Below,
    Above,
    UpperTail,
}

/// An integral over a part, and how far it may be off.
struct Interval {
    piece: Piece,
    from: f64,
    to: f64,
    value: f64,
    error: f64,
}

/// Positive nodes of the rule of 15 points, its weights, and those of the 7 points among them.
const NODES: [(f64, f64, f64); 7] = [
    (0.991_455_371_120_812_6, 0.022_935_322_010_529_224, 0.0),
    (0.949_107_912_342_758_5, 0.063_092_092_629_978_55, 0.129_484_966_168_869_7),
    (0.864_864_423_359_769_1, 0.104_790_010_322_250_18, 0.0),
    (0.741_531_185_599_394_4, 0.140_653_259_715_525_92, 0.279_705_391_489_276_64),
    (0.586_087_235_467_691_1, 0.169_004_726_639_267_9, 0.0),
    (0.405_845_151_377_397_2, 0.190_350_578_064_785_42, 0.381_830_050_505_118_9),
    (0.207_784_955_007_898_47, 0.204_432_940_075_298_89, 0.0),
];
const CENTRE: (f64, f64) = (0.209_482_141_084_727_82, 0.417_959_183_673_469_4);

impl Interval {
    fn new(piece: Piece, from: f64, to: f64, f: impl Fn(f64) -> f64) -> Self {
        let (half, middle) = (0.5 * (to - from), 0.5 * from + 0.5 * to);
        let at_centre = f(middle);
        let (mut fine, mut coarse) = (CENTRE.0 * at_centre, CENTRE.1 * at_centre);
        // The two outermost values on each side.
        let mut outer = [[0.0; 2]; 2];
        for (index, (node, weight, weight_of_seven)) in NODES.into_iter().enumerate() {
            let both = [f(middle - half * node), f(middle + half * node)];
            fine += weight * (both[0] + both[1]);
            coarse += weight_of_seven * (both[0] + both[1]);
            if index < 2 {
                (outer[0][index], outer[1][index]) = (both[0], both[1]);
            }
        }
        let mut error = half * (fine - coarse).abs();
        // Quantiles are where distributions may be steep, and neither rule sees what happens
        // between its last node and the end: compare the end with the straight line there.
        let beyond = 1.0 - NODES[0].0;
        let ratio = beyond / (NODES[0].0 - NODES[1].0);
        let infinite = matches!(piece, Piece::LowerTail | Piece::UpperTail) && to >= 1.0;
        for (end, [last, before]) in [(from, outer[0]), (to, outer[1])] {
            if !(infinite && end >= 1.0) {
                error += half * beyond * (f(end) - last - ratio * (last - before)).abs();
            }
        }
        Interval { piece, from, to, value: half * fine, error }
    }
}
