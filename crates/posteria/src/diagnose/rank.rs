//! Replace draws by the normal scores of their ranks.

use super::chains;
use crate::density::special::normal_quantile;

/// Normal scores z = Φ⁻¹((r - 3/8) / (S + 1/4)) of the ranks r of all S draws of all chains; equal
/// draws share the mean of their ranks. [Vehtari et al. 2021, eq. 14; Blom 1958]
pub(super) fn normal_scores(chains: &[&[f64]]) -> Vec<Vec<f64>> {
    let pooled = chains::pool(chains);
    let size = pooled.len();
    let mut order: Vec<usize> = (0..size).collect();
    order.sort_unstable_by(|&i, &j| pooled[i].total_cmp(&pooled[j]));
    let mut scores = vec![0.0; size];
    let mut start = 0;
    while start < size {
        // After sorting, "not less" can only mean equal (-0 and 0 included).
        let tied = |&&i: &&usize| pooled[order[start]] >= pooled[i];
        let end = start + order[start..].iter().take_while(tied).count();
        let rank = (start + 1 + end) as f64 / 2.0;
        let score = normal_quantile((rank - 0.375) / (size as f64 + 0.25));
        order[start..end].iter().for_each(|&i| scores[i] = score);
        start = end;
    }
    let mut rest = scores.as_slice();
    chains
        .iter()
        .map(|chain| {
            let (first, after) = rest.split_at(chain.len());
            rest = after;
            first.to_vec()
        })
        .collect()
}

/// Spearman's correlation: that of the ranks of two variables, equal values sharing the mean of
/// their ranks. NaN for fewer than two pairs, a variable that does not change, and NaN.
pub fn rank_correlation(x: &[f64], y: &[f64]) -> f64 {
    let pairs = x.len().min(y.len());
    let (x, y) = (&x[..pairs], &y[..pairs]);
    if x.iter().chain(y).any(|value| value.is_nan()) {
        return f64::NAN;
    }
    let ranks = |values: &[f64]| -> Vec<f64> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let rank = |value: &f64| {
            let below = sorted.partition_point(|other| other < value);
            let up_to = sorted.partition_point(|other| other <= value);
            // About the middle rank, so that the mean is 0.
            (below + up_to) as f64 / 2.0 - pairs as f64 / 2.0
        };
        values.iter().map(rank).collect()
    };
    let (x, y) = (ranks(x), ranks(y));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    product(&x, &y) / (product(&x, &x) * product(&y, &y)).sqrt()
}

/// |x - median|: draws folded about the median of all of them.
pub(super) fn fold(chains: &[&[f64]]) -> Vec<Vec<f64>> {
    let mut pooled = chains::pool(chains);
    let centre = median(&mut pooled);
    chains::map_chains(chains, |x| (x - centre).abs())
}

/// The median; reorders `values`, which must not be empty.
pub(crate) fn median(values: &mut [f64]) -> f64 {
    let middle = values.len() / 2;
    let (below, &mut upper, _) = values.select_nth_unstable_by(middle, f64::total_cmp);
    if below.len() == middle && values.len() % 2 == 1 {
        return upper;
    }
    let lower = values[..middle].iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let sum = lower + upper;
    if sum.is_finite() { sum / 2.0 } else { lower / 2.0 + upper / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_a_score() {
        let scores = normal_scores(&[&[3.0, 1.0, 0.0], &[1.0, -0.0, 7.0]]);
        assert_eq!(scores[0][1].to_bits(), scores[1][0].to_bits());
        assert_eq!(scores[0][2].to_bits(), scores[1][1].to_bits());
        assert!((scores[1][2] + normal_quantile(0.625 / 6.25)).abs() < 1e-12);
        assert!(scores[0][2] < scores[0][1] && scores[0][1] < scores[0][0]);
    }

    #[test]
    fn rank_correlations_look_at_order_alone() {
        let x = [0.1_f64, 5.0, 2.0, 0.7];
        let squares = x.map(|x| x * x);
        assert!((rank_correlation(&x, &squares) - 1.0).abs() < 1e-12);
        assert!((rank_correlation(&x, &x.map(|x| -x)) + 1.0).abs() < 1e-12);
        // Ranks 1, 2, 3, 4 and 2, 1, 4, 3: 1 - 6 · 4 / (4 · 15).
        assert!(
            (rank_correlation(&[1.0, 2.0, 3.0, 4.0], &[2.0, 1.0, 4.0, 3.0]) - 0.6).abs() < 1e-12
        );
        // Ranks 1.5, 1.5, 3 and 1, 2, 3.
        let tied = rank_correlation(&[1.0, 1.0, 2.0], &[1.0, 2.0, 3.0]);
        assert!((tied - 0.75_f64.sqrt()).abs() < 1e-12);
        assert!(rank_correlation(&[1.0, 1.0], &[1.0, 2.0]).is_nan());
        assert!(rank_correlation(&[f64::NAN, 1.0], &[1.0, 2.0]).is_nan());
    }

    #[test]
    fn medians_of_odd_and_even_numbers() {
        assert!((median(&mut [3.0, 1.0, 2.0]) - 2.0).abs() < 1e-15);
        assert!((median(&mut [4.0, 3.0, 1.0, 2.0]) - 2.5).abs() < 1e-15);
        assert!(median(&mut [f64::MAX, f64::MAX]).is_finite());
    }
}
