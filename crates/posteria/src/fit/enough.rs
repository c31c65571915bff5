//! Judge whether chains have drawn enough for what is asked of them: predictions.

use std::num::NonZero;

use posteria_linalg::Matrix;
use serde::Serialize;

use super::{Inclusion, run_jobs};
use crate::diagnose::{MANY_CHAINS, Mixing, judged_components, judged_rows, r_hat_limit};
use crate::draws::{Draws, Role, Variable};
use crate::model::Posterior;
use crate::model::spec::SamplingSpec;

/// The first numbers of draws per chain at which few chains are judged, and many, whose draws are as
/// many in all; all others are these times powers of two, so that each is about 1.4 times the one
/// before: few enough that the judging costs little, close enough together that chains draw little
/// more than they need.
const CHECKS: [usize; 2] = [175, 250];
const CHECKS_OF_MANY: [usize; 2] = [100, 140];

/// Chains whose predictions have an R-hat above this, and for the most part kept it since they were
/// judged before, are in places of their own: more draws of them will not change that.
pub(super) const APART: f64 = 1.1;
pub(super) const KEPT: f64 = 0.7;

/// Means of predictions that are known to so many standard deviations of f are as good as known: the
/// variance of a prediction is greater by a hundredth.
const AGREED: f64 = 0.1;
/// Densities of single rows that chains whose predictions agree may still take on their way to a
/// goal: about two minutes of a processor for a small network. A number and not a time, so that the same
/// command draws the same.
const AFFORDABLE: f64 = 5e9;

/// What is enough.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Goal {
    /// Largest R-hat of what is judged.
    pub r_hat: f64,
    /// Fewest effective draws of it, of the bulk and of the tails.
    pub ess: f64,
}

impl Goal {
    /// R-hat at most [`r_hat_limit`], 1.01 of few chains [Vehtari et al. 2021, §4], and at least
    /// `ess` effective draws.
    pub fn new(ess: f64, chains: usize) -> Self {
        Goal { r_hat: r_hat_limit(chains), ess }
    }

    /// What a specification asks for, if it asks for a goal and not for a number of draws.
    pub fn of(sampling: &SamplingSpec) -> Option<Self> {
        sampling.ess.map(|ess| Goal::new(ess, sampling.chains))
    }

    /// Whether that is enough.
    pub fn is_met_by(&self, mixing: &Mixing) -> bool {
        let agrees = mixing.r_hat.is_nan() || mixing.r_hat <= self.r_hat;
        agrees && mixing.ess() >= self.ess
    }

    /// The number of draws per chain after which so many `chains` that have `draws` each are judged
    /// next: 175, 250, 350, 500, 700, 1000, 1400, 2000, … (of ten chains or more 100, 140, 200, …) and at
    /// last `most`. `None` if they have as many already.
    ///
    /// The numbers do not depend on what was judged before, on the speed of the machine or on the
    /// number of threads, so neither does what a run draws.
    ///
    /// ```
    /// use posteria::fit::Goal;
    ///
    /// assert_eq!(Goal::next_check(0, 4, 4000), Some(175));
    /// assert_eq!(Goal::next_check(250, 4, 4000), Some(350));
    /// assert_eq!(Goal::next_check(250, 16, 1000), Some(280));
    /// assert_eq!(Goal::next_check(3999, 4, 4000), Some(4000));
    /// assert_eq!(Goal::next_check(4000, 4, 4000), None);
    /// ```
    pub fn next_check(draws: usize, chains: usize, most: usize) -> Option<usize> {
        if draws >= most {
            return None;
        }
        let next = Goal::checks(chains).find(|check| *check > draws);
        Some(next.unwrap_or(most).min(most))
    }

    /// The number of draws per chain after which so many `chains` were judged before they had
    /// `draws` each; `None` if they were not.
    pub fn previous_check(draws: usize, chains: usize) -> Option<usize> {
        Goal::checks(chains).take_while(|check| *check < draws).last()
    }

    /// The last number of draws at which so many `chains` were judged, of those up to `draws`.
    pub(super) fn check_up_to(draws: usize, chains: usize) -> Option<usize> {
        Goal::checks(chains).take_while(|check| *check <= draws).last()
    }

    fn checks(chains: usize) -> impl Iterator<Item = usize> {
        let doubled = (0..usize::BITS).map_while(|power| 1usize.checked_shl(power));
        let first = if chains < MANY_CHAINS { CHECKS } else { CHECKS_OF_MANY };
        doubled.flat_map(move |factor| first.map(|it| it.saturating_mul(factor)))
    }
}

/// What chains have attained of what predictions depend on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Attained {
    /// Of the fitted values of the rows, of many rows of 50 of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<Mixing>,
    /// By how much the means of the fitted values would differ in other chains of the same length:
    /// their standard error by the spread of the chains' means, in units of the standard deviation
    /// of the fitted value, root mean square over these rows. Two runs differ by √2 of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// Of the residual scales, their slopes or covariances, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub residual_scale: Option<Mixing>,
    /// Of which inputs are in, where that is sampled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inclusion: Option<Inclusion>,
    /// Of the log density of the draws.
    pub log_density: Mixing,
}

impl Attained {
    /// Judges all `draws` of the posterior given data with these (standardised) `inputs`, on at
    /// most `threads` threads.
    pub fn new(
        posterior: &dyn Posterior,
        draws: &Draws,
        inputs: &Matrix,
        threads: NonZero<usize>,
    ) -> Self {
        Attained::of(&judged_functions(posterior, draws, inputs, threads), draws, threads)
    }

    /// The same, by the draws of the functions at the rows that are judged.
    pub(super) fn of(functions: &[Vec<Vec<f64>>], draws: &Draws, threads: NonZero<usize>) -> Self {
        let scales = [Role::ResidualScale, Role::ResidualLogSlope, Role::ResidualCovariance];
        let scales = scales.into_iter().filter_map(|role| draws.layout.of_role(role));
        let scales: Vec<usize> = scales.flat_map(Variable::range).collect();
        let chains = draws.statistics.chunks(draws.draws.max(1));
        let log_densities: Vec<Vec<f64>> =
            chains.map(|chain| chain.iter().map(|draw| draw.log_density).collect()).collect();
        let log_density = Mixing::of(&log_densities);
        let fitted = judged(functions, threads);
        let squares = fitted.iter().map(|(_, square)| square).filter(|square| square.is_finite());
        let count = squares.clone().count();
        let agreement = (count > 0).then(|| (squares.sum::<f64>() / count as f64).sqrt());
        let scales: Vec<_> = scales.into_iter().map(|index| draws.component(index)).collect();
        let scales = judged(&scales, threads);
        let (fitted, residual_scale) = (worst(&fitted), worst(&scales));
        Attained { fitted, agreement, residual_scale, inclusion: Inclusion::of(draws), log_density }
    }

    /// Whether chains differ by more than what they will forget.
    pub fn chains_disagree(&self) -> bool {
        self.r_hat_between() > APART
    }

    /// The largest R-hat of what chains in places of their own disagree about.
    fn r_hat_between(&self) -> f64 {
        let [fitted, inclusion] =
            [self.fitted.map(|it| it.r_hat), self.inclusion.map(|it| it.r_hat)];
        fitted.unwrap_or(f64::NAN).max(inclusion.unwrap_or(f64::NAN))
    }

    /// Whether many chains that miss the goal with `draws` each are to stop all the same, `before`
    /// being what they had attained when they were judged before. Of few chains more draws may show
    /// that they are only slow. They stop if
    ///
    /// - the means of their predictions are known to a tenth of a standard deviation of f (and
    ///   probabilities of inputs to twice the error wanted), so that another run would predict the
    ///   same, and what would bring the chains together takes more than some minutes: `work` is how
    ///   many densities of single rows the draws took;
    /// - or they were judged before, are apart, and `most` draws would not bring them together;
    /// - or they are apart and no nearer than before: each is in a place of its own.
    ///
    /// R-hat² - 1 is the variance between chains in units of that within [Gelman et al. 2013,
    /// eq. 11.4]; where chains do mix it falls in proportion to their draws, and not faster.
    pub fn stops_short(
        &self,
        goal: &Goal,
        (draws, most): (usize, usize),
        work: f64,
        before: impl FnOnce() -> Option<Attained>,
    ) -> bool {
        let r_hat = |of: &Attained| of.fitted.map_or(f64::NAN, |fitted| fitted.r_hat);
        let excess = |r_hat: f64| r_hat * r_hat - 1.0;
        let of_inclusion = self.inclusion.map_or(f64::NAN, |it| it.more(goal));
        let more = (excess(r_hat(self)) / excess(goal.r_hat)).max(of_inclusion);
        let wanted = Inclusion::wanted(goal);
        let agrees = self.agreement.is_some_and(|error| error <= AGREED)
            && self.inclusion.is_none_or(|it| it.error <= 2.0 * wanted);
        if agrees && (more - 1.0) * work > AFFORDABLE {
            return true;
        }
        // The first time nothing is known of how they come together.
        let Some(before) = before().filter(|_| self.chains_disagree()) else { return false };
        let stay = self.r_hat_between() - 1.0 > KEPT * (before.r_hat_between() - 1.0);
        draws as f64 * more > most as f64 || stay
    }

    /// The worst of what predictions depend on.
    pub fn worst(&self) -> Mixing {
        let others = [self.fitted, self.residual_scale];
        others.into_iter().flatten().fold(self.log_density, Mixing::worse)
    }

    /// Whether that is enough.
    pub fn meets(&self, goal: &Goal) -> bool {
        goal.is_met_by(&self.worst()) && self.inclusion.is_none_or(|it| it.meets(goal))
    }

    /// How many effective draws there are of the worst of all of it.
    pub fn ess(&self) -> f64 {
        let of_predictions = self.worst().ess();
        self.inclusion.map_or(of_predictions, |it| it.ess().min(of_predictions))
    }
}

/// The draws of the functions at the rows that are judged: one entry per function and row, chain by
/// chain; none of a model that predicts nothing.
pub(super) fn judged_functions(
    posterior: &dyn Posterior,
    draws: &Draws,
    inputs: &Matrix,
    threads: NonZero<usize>,
) -> Vec<Vec<Vec<f64>>> {
    match draws.layout.of_role(Role::Fitted) {
        Some(variable) => judged_components(variable).map(|it| draws.component(it)).collect(),
        None => predicted(posterior, draws, inputs, threads).unwrap_or_default(),
    }
}

/// The same of a model whose draws do not hold them.
fn predicted(
    posterior: &dyn Posterior,
    draws: &Draws,
    inputs: &Matrix,
    threads: NonZero<usize>,
) -> Option<Vec<Vec<Vec<f64>>>> {
    let rows = judged_rows(inputs.rows());
    let some =
        Matrix::from_fn(rows.len(), inputs.columns(), |row, column| inputs[(rows[row], column)]);
    let functions = rows.len() * posterior.predictor()?.family().functions();
    let chains = run_jobs(draws.chains, threads, |chain| {
        let mut predictor = posterior.predictor()?;
        let mut values = vec![0.0; draws.draws * functions];
        for (index, values) in values.chunks_mut(functions.max(1)).enumerate() {
            predictor.functions(draws.draw(chain, index), &some, values);
        }
        Some(values)
    });
    let chains = chains.into_iter().collect::<Option<Vec<Vec<f64>>>>()?;
    let of = |function: usize| {
        let each =
            |values: &Vec<f64>| values.iter().skip(function).step_by(functions).copied().collect();
        chains.iter().map(each).collect()
    };
    Some((0..functions).map(of).collect())
}

/// The mixing of quantities, and the square of the standard error of the mean of each.
fn judged(quantities: &[Vec<Vec<f64>>], threads: NonZero<usize>) -> Vec<(Mixing, f64)> {
    run_jobs(quantities.len(), threads, |index| {
        let chains = &quantities[index];
        (Mixing::of(chains), squared_error(chains))
    })
}

/// The variance of the mean of all chains, by the spread of their means, in units of the variance
/// of the draws: Σ (m_c - m)² / (C (C - 1)) / V. NaN for one chain, or if nothing moves.
fn squared_error(chains: &[Vec<f64>]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let means: Vec<f64> = chains.iter().map(|chain| mean(chain)).collect();
    let (centre, count) = (mean(&means), means.len() as f64);
    let between = means.iter().map(|m| (m - centre).powi(2)).sum::<f64>() / (count * (count - 1.0));
    let squares = chains.iter().flatten().map(|value| (value - centre).powi(2));
    let draws: usize = chains.iter().map(Vec::len).sum();
    between / (squares.sum::<f64>() / draws as f64)
}

/// The worst mixing; `None` of nothing.
fn worst(judged: &[(Mixing, f64)]) -> Option<Mixing> {
    judged.iter().map(|(mixing, _)| *mixing).reduce(Mixing::worse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    #[test]
    fn checks_are_at_fixed_numbers_up_to_the_most() {
        let all = |most| {
            let next = move |draws: usize| Goal::next_check(draws, 4, most);
            std::iter::successors(next(0), move |n| next(*n)).collect::<Vec<_>>()
        };
        assert_eq!(all(4000), [175, 250, 350, 500, 700, 1000, 1400, 2000, 2800, 4000]);
        assert_eq!(all(1100), [175, 250, 350, 500, 700, 1000, 1100]);
        assert_eq!((all(100), all(175), all(176)), (vec![100], vec![175], vec![175, 176]));
        assert!(all(0).is_empty());
        // Whoever stopped between two checks goes on to the next of all.
        assert_eq!(Goal::next_check(317, 4, 4000), Some(350));
        assert_eq!((Goal::previous_check(250, 4), Goal::previous_check(175, 4)), (Some(175), None));
        assert_eq!(Goal::previous_check(600, 16), Some(560));
        assert_eq!(Goal::next_check(usize::MAX - 1, 4, usize::MAX), Some(usize::MAX));
    }

    #[test]
    fn the_worst_quantity_decides() {
        let good = Mixing { r_hat: 1.001, ess_bulk: 900.0, ess_tail: 500.0 };
        let poor = Mixing { r_hat: 1.02, ess_bulk: 700.0, ess_tail: 600.0 };
        let goal = Goal::new(400.0, 4);
        assert!(goal.is_met_by(&good) && !goal.is_met_by(&poor));
        assert!(!Goal::new(501.0, 4).is_met_by(&good));
        let attained = Attained {
            fitted: Some(good),
            agreement: Some(0.03),
            residual_scale: None,
            inclusion: None,
            log_density: good,
        };
        assert!(attained.meets(&goal));
        let attained = Attained { residual_scale: Some(poor), ..attained };
        assert!(!attained.meets(&goal));
        assert_eq!(attained.worst(), Mixing { r_hat: 1.02, ess_bulk: 700.0, ess_tail: 500.0 });
    }

    #[test]
    fn many_chains_stop_short_where_more_draws_are_of_no_use() {
        let good = Mixing { r_hat: 1.001, ess_bulk: 900.0, ess_tail: 500.0 };
        let of = |r_hat: f64, agreement: f64| Attained {
            fitted: Some(Mixing { r_hat, ..good }),
            agreement: Some(agreement),
            residual_scale: None,
            inclusion: None,
            log_density: good,
        };
        let goal = Goal::new(400.0, 16);
        let stops = |now: Attained, most: usize, before: Option<Attained>| {
            now.stops_short(&goal, (140, most), 4e9, || before)
        };
        // 0.44 between chains that may have 0.0404: eleven times as many draws.
        let far = Some(of(1.4, 0.2));
        assert!(stops(of(1.2, 0.2), 1400, far) && !stops(of(1.2, 0.2), 1600, far));
        assert!(!stops(of(1.2, 0.2), 1400, None), "the first time");
        // As far apart as before, or nearer.
        assert!(stops(of(1.2, 0.2), 1600, Some(of(1.22, 0.2))));
        // Known well enough: stop, unless the goal is near or costs little.
        assert!(stops(of(1.2, 0.09), 1600, None) && stops(of(1.05, 0.09), 1600, None));
        assert!(!stops(of(1.03, 0.09), 1600, None) && !stops(of(1.05, 0.11), 150, None));
        assert!(!of(1.2, 0.09).stops_short(&goal, (140, 1600), 4e8, || None));
        let nothing = Attained { fitted: None, ..of(2.0, 0.2) };
        assert!(!nothing.stops_short(&goal, (140, 150), 4e9, || far));
    }

    #[test]
    fn what_stands_still_is_enough_and_what_is_not_finite_never_is() {
        let goal = Goal::new(400.0, 4);
        assert!(goal.is_met_by(&Mixing::of(&vec![vec![3.0; 250]; 4])));
        let mut stream = Seed(3).stream(Purpose::Chain, [0, 0]);
        let mut chains = vec![vec![0.0; 250]; 4];
        chains.iter_mut().for_each(|chain| stream.fill_normal(chain));
        let independent = Mixing::of(&chains);
        assert!(goal.is_met_by(&independent), "{independent:?}");
        // One chain alone has no R-hat: its effective draws decide.
        let one = Mixing::of(&chains[..1]);
        assert!(one.r_hat.is_nan() && Goal::new(100.0, 4).is_met_by(&one), "{one:?}");
        chains[2][7] = f64::NAN;
        let broken = Mixing::of(&chains);
        for mixing in [broken, independent.worse(broken), broken.worse(independent)] {
            assert!(!goal.is_met_by(&mixing));
        }
    }
}
