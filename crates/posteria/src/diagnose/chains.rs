//! See the chains of one variable as diagnostics need them: checked, scaled, split.

/// Fewest draws per chain for which a diagnostic is defined.
pub const FEWEST_DRAWS: usize = 4;

/// Draws closer together than this, relative to their size, differ only by rounding.
const ROUNDING: f64 = 1e-15;

/// Borrows the chains as slices, or `None` where no diagnostic is defined: fewer than
/// `fewest_chains` chains, chains of unequal length, fewer than [`FEWEST_DRAWS`] draws, or a draw
/// that is NaN or infinite.
pub(super) fn checked<C: AsRef<[f64]>>(chains: &[C], fewest_chains: usize) -> Option<Vec<&[f64]>> {
    let chains: Vec<&[f64]> = chains.iter().map(AsRef::as_ref).collect();
    let draws = chains.first()?.len();
    let usable = chains.len() >= fewest_chains
        && draws >= FEWEST_DRAWS
        && chains.iter().all(|chain| chain.len() == draws && is_finite(chain));
    usable.then_some(chains)
}

pub(super) fn is_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// The first and the last half of every chain; the middle draw of an odd number is left out.
pub(super) fn split<'a>(chains: &[&'a [f64]]) -> Vec<&'a [f64]> {
    let halves = |chain: &&'a [f64]| chain.len() / 2;
    let first = chains.iter().map(|chain| &chain[..halves(chain)]);
    let last = chains.iter().map(|chain| &chain[chain.len() - halves(chain)..]);
    first.chain(last).collect()
}

/// The first and the last third of one chain.
pub(super) fn thirds(chain: &[f64]) -> [&[f64]; 2] {
    let third = chain.len() / 3;
    [&chain[..third], &chain[chain.len() - third..]]
}

pub(super) fn borrow(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    chains.iter().map(Vec::as_slice).collect()
}

pub(super) fn map_chains(chains: &[&[f64]], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    chains.iter().map(|chain| chain.iter().map(|&x| f(x)).collect()).collect()
}

pub(super) fn pool(chains: &[&[f64]]) -> Vec<f64> {
    chains.concat()
}

/// All draws in increasing order.
pub(super) fn sorted(chains: &[&[f64]]) -> Vec<f64> {
    let mut pooled = pool(chains);
    pooled.sort_unstable_by(f64::total_cmp);
    pooled
}

/// The mean of a non-empty slice. Shifted by the first value, so that equal values give exactly
/// that value, and a stuck chain a variance of exactly 0.
pub(super) fn mean(values: &[f64]) -> f64 {
    let shift = values[0];
    shift + values.iter().map(|value| value - shift).sum::<f64>() / values.len() as f64
}

/// Unbiased variance (division by n - 1).
pub(super) fn variance(values: &[f64]) -> f64 {
    let centre = mean(values);
    values.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / (values.len() as f64 - 1.0)
}

/// Chains mapped affinely onto [-1, 1]: ratios of moments do not change, and no square of a
/// finite draw can overflow or vanish.
pub(super) struct Scaled {
    pub(super) chains: Vec<Vec<f64>>,
    /// The draw that became 0.
    pub(super) centre: f64,
    /// The distance that became 1; 0 if all draws are the same but for rounding.
    pub(super) scale: f64,
}

impl Scaled {
    pub(super) fn new(chains: &[&[f64]]) -> Self {
        let all = || chains.iter().flat_map(|chain| chain.iter().copied());
        let low = all().fold(f64::INFINITY, f64::min);
        let high = all().fold(f64::NEG_INFINITY, f64::max);
        let centre = 0.5 * low + 0.5 * high;
        let scale = 0.5 * high - 0.5 * low;
        if scale <= 0.5 * ROUNDING * low.abs().max(high.abs()) {
            let zeros = chains.iter().map(|chain| vec![0.0; chain.len()]).collect();
            return Scaled { chains: zeros, centre, scale: 0.0 };
        }
        Scaled { chains: map_chains(chains, |x| (x - centre) / scale), centre, scale }
    }

    pub(super) fn is_constant(&self) -> bool {
        self.scale <= 0.0
    }

    pub(super) fn views(&self) -> Vec<&[f64]> {
        borrow(&self.chains)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_odd_chain_loses_its_middle_draw() {
        let chain = [1.0, 2.0, 3.0, 4.0, 5.0];
        assert_eq!(split(&[&chain]), [&[1.0, 2.0][..], &[4.0, 5.0][..]]);
        assert_eq!(thirds(&chain), [&[1.0][..], &[5.0][..]]);
    }

    #[test]
    fn unusable_chains_are_refused() {
        let good = vec![1.0, 2.0, 3.0, 4.0];
        assert!(checked(std::slice::from_ref(&good), 1).is_some());
        assert!(checked(std::slice::from_ref(&good), 2).is_none());
        assert!(checked(&[good.clone(), vec![1.0; 5]], 1).is_none());
        assert!(checked(&[vec![1.0; 3]], 1).is_none());
        assert!(checked(&[vec![1.0, 2.0, f64::INFINITY, 3.0]], 1).is_none());
        assert!(checked::<Vec<f64>>(&[], 0).is_none());
    }

    #[test]
    fn the_greatest_finite_draws_are_scaled_without_overflow() {
        let chain = [f64::MAX, -f64::MAX, 0.0, 1.0];
        let scaled = Scaled::new(&[&chain]);
        assert!(is_finite(&scaled.chains[0]));
        assert!((scaled.chains[0][0] - 1.0).abs() < 1e-15);
        assert!(Scaled::new(&[&[0.1, 0.1, 0.1]]).is_constant());
        assert!(!Scaled::new(&[&[0.0, 1e-300]]).is_constant());
    }
}
