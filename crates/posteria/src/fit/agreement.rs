//! Tell how far chains are apart where predictions depend on it, and why that is not enough.

use std::num::NonZero;

use posteria_linalg::Matrix;
use serde::Serialize;

use super::enough::{APART, KEPT, judged_functions};
use super::{Attained, Goal, run_jobs};
use crate::diagnose::bulk_effective_size;
use crate::draws::Draws;
use crate::model::Posterior;

/// A chain that has so many effective draws of its own moves freely where it is.
const FREE: f64 = 10.0;

/// R-hat of n effective draws in each of chains that are alike exceeds 1 by about 1/(2n)
/// [Vehtari et al. 2021, §4]; six times that is none of their making.
const BEYOND: f64 = 3.0;

/// Effective draws that grow at least by this when draws are doubled (in proportion: 2) will go on
/// to grow.
const GROWTH: f64 = 1.4;

/// Draws are not extrapolated beyond so many times those there are.
const FARTHEST: f64 = 100.0;

/// Effective draws below which their number says too little to extrapolate from.
const FEWEST_EFFECTIVE: f64 = 5.0;

/// What is added to an extrapolated number of draws, so that it is not missed by a few.
const MARGIN: f64 = 1.1;

/// Why chains have not drawn enough, as far as their draws tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "cause")]
#[non_exhaustive]
pub enum Cause {
    /// Each chain moves freely, but in a place of its own: more draws of them would not help.
    Modes,
    /// Chains agree better and effective draws grow as they go on.
    Slow {
        /// Draws of each chain that would do, by the effective draws so far, to two figures.
        draws: usize,
    },
    /// Neither can be told.
    Unclear,
}

/// How far chains are apart, and why they have not drawn enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// How far the means of f of every chain are from those of all chains: root mean square over
    /// rows of (m_ci - m_i) / s_i, with m_ci the mean of f at row i over the draws of chain c, m_i
    /// and s_i mean and standard deviation over the draws of all chains. Of at most 50 rows, evenly
    /// spaced; NaN where nothing moves. Empty for models that predict nothing.
    pub distances: Vec<f64>,
    /// What the chains have attained.
    pub attained: Attained,
    /// Why that is not enough; `None` if it is.
    pub cause: Option<Cause>,
}

impl Agreement {
    /// Judges all `draws` of the posterior given data with these (standardised) `inputs`, by what
    /// is enough, on at most `threads` threads.
    pub fn new(
        posterior: &dyn Posterior,
        draws: &Draws,
        inputs: &Matrix,
        goal: &Goal,
        threads: NonZero<usize>,
    ) -> Self {
        let functions = judged_functions(posterior, draws, inputs, threads);
        let attained = Attained::of(&functions, draws, threads);
        let cause = (!attained.meets(goal)).then(|| {
            let half = draws.thin(0, 1, Some(draws.draws / 2)).ok();
            let half = half.map(|half| Attained::new(posterior, &half, inputs, threads));
            let alone = alone(&functions, threads);
            Cause::of((&attained, draws.draws), half.as_ref(), alone, goal)
        });
        Agreement { distances: distances(&functions, draws.chains), attained, cause }
    }
}

impl Cause {
    /// Of chains that have `attained` this with so many draws each, and that with `half` of them; a
    /// chain `alone` has so many effective draws of its own functions.
    fn of(
        (attained, draws): (&Attained, usize),
        half: Option<&Attained>,
        alone: f64,
        goal: &Goal,
    ) -> Self {
        let r_hat = attained.fitted.map_or(f64::NAN, |fitted| fitted.r_hat);
        if r_hat > APART && alone >= FREE && r_hat - 1.0 > BEYOND / alone {
            return Cause::Modes;
        }
        let Some(half) = half else { return Cause::Unclear };
        let [now, then] = [attained, half].map(Attained::worst);
        let grows = now.ess() >= GROWTH * then.ess();
        let falls = now.r_hat.is_nan()
            || now.r_hat <= goal.r_hat
            || now.r_hat - 1.0 <= KEPT * (then.r_hat - 1.0);
        // R-hat exceeds 1 by what falls as draws grow.
        let by_r_hat = (now.r_hat - 1.0) / (goal.r_hat - 1.0);
        match extrapolated(draws, (goal.ess / now.ess()).max(by_r_hat).max(1.0)) {
            Some(draws) if grows && falls => Cause::Slow { draws },
            _ => Cause::Unclear,
        }
    }
}

/// Draws of each chain by which `effective_size` effective draws of `draws` become as many as are
/// `needed`: in proportion, a tenth more, rounded up to two figures. `None` where five effective
/// draws or fewer say too little, or a hundred times as many draws would be needed.
pub fn draws_needed(draws: usize, effective_size: f64, needed: f64) -> Option<usize> {
    let is_known = effective_size >= FEWEST_EFFECTIVE;
    extrapolated(draws, needed / effective_size).filter(|_| is_known)
}

/// So many times the draws, and what is added; none beyond what can be said.
fn extrapolated(draws: usize, factor: f64) -> Option<usize> {
    let factor = MARGIN * factor;
    (factor <= FARTHEST).then(|| rounded(draws as f64 * factor))
}

/// A number rounded up to two figures.
fn rounded(number: f64) -> usize {
    let unit = 10_f64.powi((number.log10().floor() as i32 - 1).max(0));
    ((number / unit).ceil() * unit) as usize
}

/// Effective draws of a chain by itself: the mean over chains, the median over functions. NaN
/// without functions.
fn alone(functions: &[Vec<Vec<f64>>], threads: NonZero<usize>) -> f64 {
    let mut sizes = run_jobs(functions.len(), threads, |index| {
        let chains = &functions[index];
        let sum: f64 = chains.iter().map(|chain| bulk_effective_size(&[chain])).sum();
        sum / chains.len() as f64
    });
    sizes.retain(|size| size.is_finite());
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() / 2).copied().unwrap_or(f64::NAN)
}

fn distances(functions: &[Vec<Vec<f64>>], chains: usize) -> Vec<f64> {
    if functions.is_empty() {
        return Vec::new();
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mut sums, mut count) = (vec![0.0; chains], 0.0);
    for function in functions {
        let means: Vec<f64> = function.iter().map(|chain| mean(chain)).collect();
        let centre = mean(&means);
        let squares: Vec<f64> =
            function.iter().flatten().map(|value| (value - centre).powi(2)).collect();
        let variance = mean(&squares);
        if variance > 0.0 && variance.is_finite() {
            let each = sums.iter_mut().zip(&means);
            each.for_each(|(sum, own)| *sum += (own - centre).powi(2) / variance);
            count += 1.0;
        }
    }
    sums.into_iter().map(|sum| (sum / count).sqrt()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnose::Mixing;
    use crate::random::{Purpose, Seed};

    fn attained(r_hat: f64, ess: f64) -> Attained {
        let mixing = Mixing { r_hat, ess_bulk: ess, ess_tail: ess };
        Attained {
            fitted: Some(mixing),
            agreement: None,
            residual_scale: None,
            inclusion: None,
            log_density: mixing,
        }
    }

    #[test]
    fn causes_are_told_apart() {
        let goal = Goal::new(400.0, 4);
        let of = |now: (f64, f64), half: (f64, f64), alone: f64| {
            let [now, half] = [now, half].map(|(r_hat, ess)| attained(r_hat, ess));
            Cause::of((&now, 500), Some(&half), alone, &goal)
        };
        // Each chain has 40 effective draws of its own, and yet they are far apart.
        assert_eq!(of((1.8, 7.0), (1.75, 7.0), 40.0), Cause::Modes);
        // The same R-hat where a chain has moved but twice says nothing of modes.
        assert_eq!(of((1.8, 7.0), (1.75, 7.0), 2.0), Cause::Unclear);
        // Half of the 400 that are wanted, growing in proportion: twice the draws and a tenth.
        assert_eq!(of((1.008, 200.0), (1.02, 110.0), 60.0), Cause::Slow { draws: 1100 });
        // R-hat has farther to go than effective draws have: (1.05 - 1) / 0.01 times as many.
        assert_eq!(of((1.05, 200.0), (1.09, 100.0), 12.0), Cause::Slow { draws: 2800 });
        // Effective draws that do not grow, and an R-hat that does not fall.
        assert_eq!(of((1.05, 200.0), (1.05, 190.0), 12.0), Cause::Unclear);
        assert_eq!(of((1.09, 100.0), (1.08, 50.0), 12.0), Cause::Unclear);
        // One chain has no R-hat; its effective draws tell.
        assert_eq!(of((f64::NAN, 100.0), (f64::NAN, 50.0), 100.0), Cause::Slow { draws: 2200 });
        assert_eq!(of((f64::NAN, f64::NAN), (f64::NAN, 50.0), 1.0), Cause::Unclear);
        assert_eq!(draws_needed(1000, 200.0, 400.0), Some(2200));
        assert_eq!((draws_needed(1000, 4.9, 400.0), draws_needed(1000, 6.0, 4e4)), (None, None));
        assert_eq!([1.0, 99.1, 1001.0, 25_300.0].map(rounded), [1, 100, 1100, 26_000]);
    }

    #[test]
    fn distances_are_those_of_means_and_add_up_to_the_error_of_the_mean() {
        // Two rows: chains at 0, 0 and 3, spread 1 within; and a row where all are alike.
        let mut stream = Seed(6).stream(Purpose::Chain, [0, 0]);
        let mut chain =
            |centre: f64| -> Vec<f64> { (0..2000).map(|_| centre + stream.normal()).collect() };
        let apart: Vec<Vec<f64>> = [0.0, 0.0, 3.0].map(&mut chain).into();
        let alike: Vec<Vec<f64>> = [0.0; 3].map(&mut chain).into();
        let still = vec![vec![5.0; 2000]; 3];
        let found = distances(&[apart, alike, still], 3);
        // Means are 1, 1 and 2 from the centre; all draws have the variance 1 + 2. Over both rows that
        // move: √(1/3 / 2), √(4/3 / 2). Means of 2000 draws have the error 0.022: four times that.
        for (found, exact) in found.iter().zip([1.0, 1.0, 2.0]) {
            assert!((found - exact / 6.0_f64.sqrt()).abs() < 0.09, "{found}");
        }
        assert!(distances(&[], 3).is_empty());
        assert!(distances(&[vec![vec![1.0; 9]; 2]], 2).iter().all(|it| it.is_nan()));
    }
}
