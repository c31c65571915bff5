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
    fn medians_of_odd_and_even_numbers() {
        assert!((median(&mut [3.0, 1.0, 2.0]) - 2.0).abs() < 1e-15);
        assert!((median(&mut [4.0, 3.0, 1.0, 2.0]) - 2.5).abs() < 1e-15);
        assert!(median(&mut [f64::MAX, f64::MAX]).is_finite());
    }
}
