//! Bridge neighbouring temperatures by the optimal estimator of ratios of constants.

use super::energies::Energies;
use super::estimate::{LogEvidence, Method, error_of_influence};

/// Bisections of a log ratio: from any bracket to rounding.
const BISECTIONS: usize = 200;

/// Which function bridges two neighbouring distributions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bridging {
    /// The square root of the product of their densities.
    Geometric,
    /// The optimal one, found by iteration [Bennett 1976; Meng & Wong 1996].
    Optimal,
}

/// A log ratio of normalising constants, and where its influence begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ratio {
    pub(super) log_ratio: f64,
    bridging: Bridging,
    step: f64,
    /// Factors of the influence of draws at the hotter and at the colder rung.
    scale: [f64; 2],
    /// Means of the bridge function at both rungs (geometric), shifted.
    shift: [f64; 2],
}

/// log Σ over intervals of Z(β_{k+1}) / Z(β_k), each by a bridge α between its two rungs
/// [Fabricius 1999, eq. 5.11 and 5.17]: r = E_k[q_{k+1} α] / E_{k+1}[q_k α].
///
/// With the optimal α = 1 / (q_k + q_{k+1}/r), for as many draws of each, r is the root of
/// Σ_k σ(hU - log r) = Σ_{k+1} σ(log r - hU), h being the step of β and σ the logistic function:
/// only log likelihoods are needed. It exists for heavy-tailed priors, where their mean does
/// not, and a likelihood of zero is a value like any other.
pub fn bridge(energies: &Energies, bridging: Bridging) -> LogEvidence {
    let mut influence = energies.influence();
    let mut value = 0.0;
    for interval in 0..energies.rungs() - 1 {
        let ratio = Ratio::new(energies, interval, bridging);
        value += ratio.log_ratio;
        ratio.add_influence(energies, interval, &mut influence);
    }
    LogEvidence::new(Method::Bridge, value, error_of_influence(&influence))
}

impl Ratio {
    /// log Z(β_{k+1}) / Z(β_k) for the interval k.
    pub(super) fn new(energies: &Energies, interval: usize, bridging: Bridging) -> Self {
        let betas = &energies.inverse_temperatures;
        let step = betas[interval + 1] - betas[interval];
        let hot = || energies.values[interval].iter().flatten().map(|u| step * u);
        let cold = || energies.values[interval + 1].iter().flatten().map(|u| step * u);
        let count = (energies.ladders() * energies.draws()) as f64;
        // Shifted by the largest, so that no sum overflows.
        let top = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::NEG_INFINITY, f64::max);
        let up = top(&mut hot().map(|x| 0.5 * x));
        let down = top(&mut cold().map(|x| -0.5 * x));
        let mean_up = hot().map(|x| (0.5 * x - up).exp()).sum::<f64>() / count;
        let mean_down = cold().map(|x| (-0.5 * x - down).exp()).sum::<f64>() / count;
        let geometric = up + mean_up.ln() - down - mean_down.ln();
        if bridging == Bridging::Geometric {
            let (scale, shift) = ([mean_up.recip(), mean_down.recip()], [up, down]);
            return Ratio { log_ratio: geometric, bridging, step, scale, shift };
        }
        let excess = |log_ratio: f64| {
            hot().map(|x| logistic(x - log_ratio)).sum::<f64>()
                - cold().map(|x| logistic(log_ratio - x)).sum::<f64>()
        };
        let finite = || hot().chain(cold()).filter(|x| x.is_finite());
        // Below all values the sum over hot draws is larger, above all of them the other.
        let mut high = finite().fold(f64::NEG_INFINITY, f64::max) + 40.0;
        let mut low = high - 1.0;
        if geometric.is_finite() && excess(geometric + 1.0) < 0.0 {
            (low, high) = (geometric - 1.0, geometric + 1.0);
        }
        // Log likelihoods of a prior with heavy tails may be below -1e80: a bracket that reached
        // down to them would have no digit left for the root.
        let mut width = 1.0;
        while excess(low) <= 0.0 && width < f64::MAX {
            width *= 2.0;
            (low, high) = (low - width, low);
        }
        for _ in 0..BISECTIONS {
            let middle = 0.5 * (low + high);
            if high - low <= 1e-12 * middle.abs().max(1.0) {
                break;
            }
            if excess(middle) > 0.0 {
                low = middle;
            } else {
                high = middle;
            }
        }
        let log_ratio = 0.5 * (low + high);
        let slope = |x: f64| logistic(x - log_ratio) * logistic(log_ratio - x);
        let slopes = (hot().map(slope).sum::<f64>() + cold().map(slope).sum::<f64>()) / count;
        Ratio { log_ratio, bridging, step, scale: [slopes.recip(); 2], shift: [0.0; 2] }
    }

    /// What a draw with log likelihood `u` at the hotter rung adds to the log ratio.
    fn of_hot(&self, u: f64) -> f64 {
        let x = self.step * u;
        match self.bridging {
            Bridging::Optimal => self.scale[0] * logistic(x - self.log_ratio),
            Bridging::Geometric => self.scale[0] * (0.5 * x - self.shift[0]).exp(),
        }
    }

    /// What one at the colder rung takes from it.
    fn of_cold(&self, u: f64) -> f64 {
        let x = self.step * u;
        match self.bridging {
            Bridging::Optimal => self.scale[1] * logistic(self.log_ratio - x),
            Bridging::Geometric => self.scale[1] * (-0.5 * x - self.shift[1]).exp(),
        }
    }

    /// Adds what every draw contributes to the error of the log ratio.
    pub(super) fn add_influence(
        &self,
        energies: &Energies,
        interval: usize,
        influence: &mut [Vec<f64>],
    ) {
        let pairs = energies.values[interval].iter().zip(&energies.values[interval + 1]);
        for (slots, (hot, cold)) in influence.iter_mut().zip(pairs) {
            for (slot, (hot, cold)) in slots.iter_mut().zip(hot.iter().zip(cold)) {
                *slot += self.of_hot(*hot) - self.of_cold(*cold);
            }
        }
    }
}

/// 1 / (1 + exp(-x)), 0 at -∞.
fn logistic(x: f64) -> f64 {
    (1.0 + (-x).exp()).recip()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A distribution with half of its mass where the likelihood is 1, the rest where its logarithm
    /// is `low`, bridged to its posterior.
    #[test]
    fn values_far_below_leave_the_digits_of_the_ratio() {
        for low in [-1e3, -1e80, -1e300, f64::NEG_INFINITY] {
            let energies = Energies {
                inverse_temperatures: vec![0.0, 1.0],
                values: vec![vec![[0.0, low, low, 0.0].repeat(5)], vec![vec![0.0; 20]]],
                acceptance: vec![f64::NAN],
                round_trips: vec![0],
            };
            let ratio = Ratio::new(&energies, 0, Bridging::Optimal);
            assert!((ratio.log_ratio - 0.5_f64.ln()).abs() < 1e-11, "{low}: {ratio:?}");
            let found = bridge(&energies, Bridging::Optimal);
            assert!(found.standard_error.is_finite(), "{low}: {found:?}");
        }
    }
}
