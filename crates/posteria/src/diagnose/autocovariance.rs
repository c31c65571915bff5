//! Estimate autocovariances, by sums at short lags and by Fourier transforms at long ones.

use posteria_linalg::dot;

use super::chains::{self, Scaled, is_finite, mean};
use super::fourier::Fourier;

/// Lags computed one by one before all are computed at once. A good chain needs a handful, for
/// which sums are cheapest; a chain that needs this many is likely to need very many. The costs meet
/// near 125 lags for 8 half chains of 500 draws and near 190 for 8 of 5000.
const LAGS_BY_SUMS: usize = 96;

/// Mean over chains of γ̂_t = 1/n Σ_i (x_i - x̄)(x_(i+t) - x̄), x̄ the mean of the same chain,
/// computed lag by lag on demand.
pub(super) struct Autocovariance {
    centred: Vec<Vec<f64>>,
    draws: usize,
    all: Vec<f64>,
}

impl Autocovariance {
    pub(super) fn new(chains: &[&[f64]]) -> Self {
        let draws = chains.first().map_or(0, |chain| chain.len());
        let centred = chains
            .iter()
            .map(|chain| {
                let centre = mean(chain);
                chain.iter().map(|x| x - centre).collect()
            })
            .collect();
        Autocovariance { centred, draws, all: Vec::new() }
    }

    /// The mean autocovariance at one lag; 0 from the length of the chains on.
    pub(super) fn at(&mut self, lag: usize) -> f64 {
        if lag >= self.draws {
            return 0.0;
        }
        if lag < LAGS_BY_SUMS {
            return self.by_sum(lag);
        }
        if self.all.is_empty() {
            self.all = self.by_fourier();
        }
        self.all[lag]
    }

    fn normalisation(&self) -> f64 {
        (self.draws * self.centred.len()) as f64
    }

    fn by_sum(&self, lag: usize) -> f64 {
        let products = self.centred.iter().map(|x| dot(&x[..x.len() - lag], &x[lag..]));
        products.sum::<f64>() / self.normalisation()
    }

    /// All lags through the power spectrum. Two chains x and y travel as one complex sequence
    /// x + iy: the real part of its autocovariance is the sum of theirs.
    fn by_fourier(&self) -> Vec<f64> {
        // Twice the length, so that the circular sums do not wrap around.
        let len = (2 * self.draws).next_power_of_two();
        let fourier = Fourier::new(len);
        let mut power = vec![0.0; len];
        let (mut real, mut imaginary) = (vec![0.0; len], vec![0.0; len]);
        for pair in self.centred.chunks(2) {
            real.fill(0.0);
            imaginary.fill(0.0);
            real[..self.draws].copy_from_slice(&pair[0]);
            if let Some(second) = pair.get(1) {
                imaginary[..self.draws].copy_from_slice(second);
            }
            fourier.forward(&mut real, &mut imaginary);
            for ((power, re), im) in power.iter_mut().zip(&real).zip(&imaginary) {
                *power += re * re + im * im;
            }
        }
        imaginary.fill(0.0);
        fourier.forward(&mut power, &mut imaginary);
        power.truncate(self.draws);
        let factor = len as f64 * self.normalisation();
        power.iter_mut().for_each(|value| *value /= factor);
        power
    }
}

/// Autocorrelations ρ̂_0 … ρ̂_lags of one chain,
/// ρ̂_t = Σ_i (x_i - x̄)(x_(i+t) - x̄) / Σ_i (x_i - x̄)².
///
/// Lags beyond the chain are left out. All are NaN for a constant chain and for one with a draw
/// that is not finite.
pub fn autocorrelation(chain: &[f64], lags: usize) -> Vec<f64> {
    let lags = lags.min(chain.len().saturating_sub(1));
    if chain.is_empty() || !is_finite(chain) {
        return vec![f64::NAN; if chain.is_empty() { 0 } else { lags + 1 }];
    }
    let scaled = Scaled::new(&[chain]);
    if scaled.is_constant() {
        return vec![f64::NAN; lags + 1];
    }
    let mut autocovariance = Autocovariance::new(&chains::borrow(&scaled.chains));
    let variance = autocovariance.at(0);
    (0..=lags).map(|lag| autocovariance.at(lag) / variance).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn transforms_and_sums_agree() {
        let mut stream = Seed(1).stream(Purpose::Chain, [0, 0]);
        for (chains, draws) in [(1, 5), (2, 64), (3, 300), (4, 1001)] {
            let chains: Vec<Vec<f64>> = (0..chains)
                .map(|_| {
                    let mut x = 0.0;
                    (0..draws)
                        .map(|_| {
                            x = 0.9 * x + stream.normal();
                            x
                        })
                        .collect()
                })
                .collect();
            let autocovariance = Autocovariance::new(&super::chains::borrow(&chains));
            let all = autocovariance.by_fourier();
            for (lag, value) in all.iter().enumerate() {
                assert!((value - autocovariance.by_sum(lag)).abs() < 1e-12 * all[0]);
            }
        }
    }

    #[test]
    fn edges_are_defined() {
        assert!(autocorrelation(&[], 3).is_empty());
        assert_eq!(autocorrelation(&[1.0, 2.0], 9).len(), 2);
        assert!(autocorrelation(&[0.1; 9], 3).iter().all(|rho| rho.is_nan()));
        assert!(autocorrelation(&[0.1, f64::NAN, 2.0], 1).iter().all(|rho| rho.is_nan()));
    }
}
