//! The prior of input sets, hence of the number of inputs.

use super::heredity::Heredity;
use crate::density::BetaBinomial;
use crate::density::special::ln_beta;
use crate::model::spec::InclusionPriorSpec;
use crate::random::Stream;

/// A normalised prior of the subsets of K candidates.
///
/// | kind | P(one set of size k) |
/// |---|---|
/// | uniform over sets | 2^-K |
/// | uniform over sizes | 1 / ((K + 1) C(K, k)) |
/// | beta-binomial | B(k + a, K - k + b) / B(a, b) |
/// | binomial | π^k (1 - π)^(K - k) |
/// | sizes | p_k / C(K, k) |
/// | probabilities | Π_in π_j Π_out (1 - π_j) |
///
/// Where candidates require others, the last product is over those whose required ones are in, and
/// other candidates are out [Chipman 1996, §3].
///
/// [Vehtari 2001, §4.2.1], whose eq. 4.6 prints 1 - k for K - k.
#[derive(Clone, Debug, PartialEq)]
pub struct InclusionPrior(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// log P of one set of every size.
    BySize(Vec<f64>),
    /// log π_j and log(1 - π_j) of every candidate, given that all it requires are in.
    Each(Vec<[f64; 2]>, Heredity),
}

/// A prior that does not fit the number of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongLength {
    /// Numbers given.
    pub found: usize,
}

impl InclusionPrior {
    /// The prior of sets of `count` candidates.
    ///
    /// # Errors
    /// [`WrongLength`] if a list does not have one number per candidate (probabilities), or per
    /// size from 0 or from 1 on (sizes), or gives no usable probabilities, or no beta-binomial
    /// distribution has the expected moments.
    pub fn new(spec: &InclusionPriorSpec, count: usize) -> Result<Self, WrongLength> {
        let sizes = |log: &dyn Fn(f64) -> f64| {
            let logs = (0..=count).map(|k| log(k as f64)).collect();
            InclusionPrior(Kind::BySize(logs))
        };
        let n = count as f64;
        Ok(match spec {
            InclusionPriorSpec::UniformModels => sizes(&|_| -n * std::f64::consts::LN_2),
            InclusionPriorSpec::UniformSizes => sizes(&|k| ln_beta(k + 1.0, n - k + 1.0)),
            InclusionPriorSpec::BetaBinomial([a, b]) => {
                sizes(&|k| ln_beta(k + a, n - k + b) - ln_beta(*a, *b))
            }
            InclusionPriorSpec::Expected([mean, sd]) => {
                let shapes = beta_binomial_shapes(count, *mean, sd * sd);
                let shapes = shapes.ok_or(WrongLength { found: 2 })?;
                return InclusionPrior::new(&InclusionPriorSpec::BetaBinomial(shapes), count);
            }
            InclusionPriorSpec::Binomial(p) => sizes(&|k| k * p.ln() + (n - k) * (-p).ln_1p()),
            InclusionPriorSpec::Sizes(weights) => {
                let found = weights.len();
                // From 1 on, as input sets were first sampled [MCMCstuff manual §3.2.3].
                let first = (count + 1).checked_sub(found).filter(|first| *first < 2);
                let first = first.ok_or(WrongLength { found })?;
                let total: f64 = weights.iter().sum();
                if !(total > 0.0 && total.is_finite()) {
                    return Err(WrongLength { found });
                }
                sizes(&|k| match (k as usize).checked_sub(first) {
                    // 1 / C(n, k) = (n + 1) B(k + 1, n - k + 1).
                    Some(index) => {
                        let log_choices = -(n + 1.0).ln() - ln_beta(k + 1.0, n - k + 1.0);
                        (weights[index] / total).ln() - log_choices
                    }
                    None => f64::NEG_INFINITY,
                })
            }
            InclusionPriorSpec::Probabilities(each) => {
                if each.len() != count {
                    return Err(WrongLength { found: each.len() });
                }
                InclusionPrior::each(each, Heredity::none(count))
            }
        })
    }

    /// The same where candidates require others, if each is in with a probability of its own, or
    /// all with the same; else `None`.
    pub(super) fn requiring(spec: &InclusionPriorSpec, heredity: Heredity) -> Option<Self> {
        match spec {
            InclusionPriorSpec::Binomial(p) => {
                let each = vec![*p; heredity.order().len()];
                Some(InclusionPrior::each(&each, heredity))
            }
            InclusionPriorSpec::Probabilities(each) => Some(InclusionPrior::each(each, heredity)),
            _ => None,
        }
    }

    /// Every candidate is in with a probability of its own, given that all it requires are.
    fn each(probabilities: &[f64], heredity: Heredity) -> Self {
        let logs = probabilities.iter().map(|p| [p.ln(), (-p).ln_1p()]).collect();
        InclusionPrior(Kind::Each(logs, heredity))
    }

    /// Number of candidates.
    pub fn candidates(&self) -> usize {
        match &self.0 {
            Kind::BySize(logs) => logs.len() - 1,
            Kind::Each(each, _) => each.len(),
        }
    }

    /// Log probability of a set, given which candidates are in it.
    ///
    /// # Panics
    /// If there are more or fewer candidates.
    pub fn log_probability(&self, present: &[bool]) -> f64 {
        assert_eq!(present.len(), self.candidates(), "one entry per candidate");
        match &self.0 {
            Kind::BySize(logs) => logs[present.iter().filter(|is_in| **is_in).count()],
            Kind::Each(each, heredity) => {
                let of_candidate = |(index, logs): (usize, &[f64; 2])| match (
                    heredity.allows(index, present),
                    present[index],
                ) {
                    (true, is_in) => logs[usize::from(!is_in)],
                    (false, true) => f64::NEG_INFINITY,
                    (false, false) => 0.0,
                };
                each.iter().enumerate().map(of_candidate).sum()
            }
        }
    }

    /// The smallest and the largest number of candidates that the prior allows.
    pub(super) fn extremes(&self) -> [usize; 2] {
        match &self.0 {
            Kind::BySize(logs) => {
                let possible = |log: &f64| *log > f64::NEG_INFINITY;
                let first = logs.iter().position(possible).unwrap_or(0);
                [first, logs.iter().rposition(possible).unwrap_or(logs.len() - 1)]
            }
            Kind::Each(each, _) => [0, each.len()],
        }
    }

    /// Probabilities of the numbers 0, …, K of candidates.
    pub fn sizes(&self) -> Vec<f64> {
        match &self.0 {
            Kind::BySize(logs) => {
                let n = (logs.len() - 1) as f64;
                let choices = |k: f64| -(n + 1.0).ln() - ln_beta(k + 1.0, n - k + 1.0);
                logs.iter().enumerate().map(|(k, log)| (log + choices(k as f64)).exp()).collect()
            }
            Kind::Each(each, heredity) => heredity.sizes(&probabilities(each)),
        }
    }

    /// The probability of every candidate to be in the set.
    pub fn inclusion_probabilities(&self) -> Vec<f64> {
        match &self.0 {
            Kind::BySize(logs) => {
                let n = logs.len() - 1;
                let mean: f64 = self.sizes().iter().enumerate().map(|(k, p)| k as f64 * p).sum();
                vec![mean / (n as f64).max(1.0); n]
            }
            Kind::Each(each, heredity) => heredity.inclusion_probabilities(&probabilities(each)),
        }
    }

    /// A draw of a set.
    pub fn draw(&self, present: &mut [bool], stream: &mut Stream) {
        match &self.0 {
            Kind::Each(each, heredity) => {
                for &index in heredity.order() {
                    let wanted = stream.uniform().ln() < each[index][0];
                    present[index] = wanted && heredity.allows(index, present);
                }
            }
            Kind::BySize(_) => {
                let [_, last] = self.extremes();
                let mut left = stream.uniform();
                let mut size = last;
                for (k, probability) in self.sizes().into_iter().enumerate() {
                    left -= probability;
                    if left < 0.0 {
                        size = k;
                        break;
                    }
                }
                // Candidates in turn, each with its probability given those before it.
                let (mut wanted, count) = (size, present.len());
                for (index, is_in) in present.iter_mut().enumerate() {
                    *is_in = stream.index(count - index) < wanted;
                    wanted -= usize::from(*is_in);
                }
            }
        }
    }
}

/// π_j of every candidate.
fn probabilities(each: &[[f64; 2]]) -> Vec<f64> {
    each.iter().map(|[log_in, _]| log_in.exp()).collect()
}

/// The shapes (a, b) of the beta-binomial prior of `candidates` inputs whose number k has this mean
/// and variance: with m = E\[k\]/K and c = Var\[k\] / (K m (1 - m)), a + b = (K - c) / (c - 1).
///
/// `None` if there is none: the variance must lie between the binomial's, K m (1 - m), and
/// K² m (1 - m).
pub fn beta_binomial_shapes(candidates: usize, mean: f64, variance: f64) -> Option<[f64; 2]> {
    let n = candidates as f64;
    let share = mean / n;
    if !(share > 0.0 && share < 1.0) {
        return None;
    }
    let excess = variance / (n * share * (1.0 - share));
    let sum = (n - excess) / (excess - 1.0);
    let shapes = [share * sum, (1.0 - share) * sum];
    // A distribution with these shapes exists, and numbers do not overflow.
    let exists = excess > 1.0 && excess < n && BetaBinomial::new(1, shapes[0], shapes[1]).is_ok();
    exists.then_some(shapes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::density::checks::{assert_counts_follow, assert_relative};
    use crate::random::{Purpose, Seed};

    fn all(count: usize) -> Vec<InclusionPrior> {
        let probabilities: Vec<f64> =
            (0..count).map(|k| 0.15 + 0.6 * k as f64 / count as f64).collect();
        // The last requires the first two, the second the last but one: 3 of 5 are required.
        let mut required = vec![Vec::new(); count];
        if count > 2 {
            required[count - 1] = vec![0, 1];
            required[1] = vec![count - 2].into_iter().filter(|it| *it != 1).collect();
        }
        let names: Vec<String> = (0..count).map(|k| format!("x{k}")).collect();
        let heredity = Heredity::new(required, &names).unwrap();
        let each = InclusionPriorSpec::Probabilities(probabilities.clone());
        let inherited = [each, InclusionPriorSpec::Binomial(0.4)]
            .map(|spec| InclusionPrior::requiring(&spec, heredity.clone()).unwrap());
        let mut priors = Vec::from(inherited);
        let others = [
            InclusionPriorSpec::UniformModels,
            InclusionPriorSpec::UniformSizes,
            InclusionPriorSpec::BetaBinomial([5.0, 10.0]),
            InclusionPriorSpec::Binomial(0.3),
            InclusionPriorSpec::Sizes((0..=count).map(|k| 1.0 + k as f64).collect()),
            InclusionPriorSpec::Sizes((1..=count).map(|k| 1.0 / k as f64).collect()),
            InclusionPriorSpec::Probabilities(probabilities),
        ]
        .map(|spec| InclusionPrior::new(&spec, count).unwrap());
        priors.extend(others);
        priors
    }

    fn mask(bits: usize, count: usize) -> Vec<bool> {
        (0..count).map(|k| bits >> k & 1 == 1).collect()
    }

    #[test]
    fn probabilities_of_all_sets_sum_to_one_by_size_and_by_candidate() {
        for count in [1, 2, 5] {
            for prior in all(count) {
                let (mut sizes, mut each, mut total) =
                    (vec![0.0; count + 1], vec![0.0; count], 0.0);
                for bits in 0..1 << count {
                    let set = mask(bits, count);
                    let p = prior.log_probability(&set).exp();
                    total += p;
                    sizes[set.iter().filter(|is_in| **is_in).count()] += p;
                    each.iter_mut().zip(&set).for_each(|(e, is_in)| *e += f64::from(*is_in) * p);
                }
                assert_relative(total, 1.0, 1e-12);
                for (k, (found, expected)) in prior.sizes().iter().zip(&sizes).enumerate() {
                    assert!((found - expected).abs() < 1e-13, "{prior:?}, size {k}");
                }
                for (found, expected) in prior.inclusion_probabilities().iter().zip(&each) {
                    assert_relative(*found, *expected, 1e-12);
                }
            }
        }
    }

    #[test]
    fn the_beta_binomial_prior_is_that_of_the_density() {
        let prior = InclusionPrior::new(&InclusionPriorSpec::BetaBinomial([5.0, 10.0]), 27);
        let density = BetaBinomial::new(27, 5.0, 10.0).unwrap();
        for (k, p) in prior.unwrap().sizes().iter().enumerate() {
            assert_relative(*p, density.log_density(k as u64).exp(), 1e-11);
        }
    }

    #[test]
    fn draws_have_the_probability_of_their_set() {
        let mut stream = Seed(3).stream(Purpose::Data, [1, 0]);
        for prior in all(3) {
            let mut counts = [0; 8];
            let mut present = [false; 3];
            for _ in 0..20_000 {
                prior.draw(&mut present, &mut stream);
                counts[present.iter().rev().fold(0, |bits, b| 2 * bits + usize::from(*b))] += 1;
            }
            let probabilities: Vec<f64> =
                (0..8).map(|bits| prior.log_probability(&mask(bits, 3)).exp()).collect();
            // Some sets may be impossible.
            let (possible, never): (Vec<_>, Vec<_>) =
                counts.iter().zip(&probabilities).partition(|(_, p)| **p > 0.0);
            assert!(never.iter().all(|(count, _)| **count == 0));
            let (counts, probabilities): (Vec<u64>, Vec<f64>) = possible.into_iter().unzip();
            assert_counts_follow(&counts, &probabilities);
        }
    }

    #[test]
    fn shapes_give_the_moments_asked_for() {
        let [a, b] = beta_binomial_shapes(27, 9.0, 15.0).unwrap();
        let prior = InclusionPrior::new(&InclusionPriorSpec::BetaBinomial([a, b]), 27).unwrap();
        let moment = |power: i32| -> f64 {
            prior.sizes().iter().enumerate().map(|(k, p)| (k as f64).powi(power) * p).sum()
        };
        assert_relative(moment(1), 9.0, 1e-10);
        assert_relative(moment(2) - moment(1).powi(2), 15.0, 1e-9);
        let expected = InclusionPriorSpec::Expected([9.0, 15f64.sqrt()]);
        let by_moments = InclusionPrior::new(&expected, 27).unwrap();
        for (one, other) in by_moments.sizes().iter().zip(prior.sizes()) {
            assert_relative(*one, other, 1e-9);
        }
        assert!(InclusionPrior::new(&InclusionPriorSpec::Expected([9.0, 1.0]), 27).is_err());
        // Narrower than a binomial, wider than all or nothing, and no share of inputs.
        for (mean, variance) in [(9.0, 5.9), (9.0, 200.0), (0.0, 1.0), (27.0, 1.0)] {
            assert_eq!(beta_binomial_shapes(27, mean, variance), None);
        }
    }

    #[test]
    fn lists_of_another_length_are_refused() {
        for spec in [
            InclusionPriorSpec::Sizes(vec![1.0; 2]),
            InclusionPriorSpec::Sizes(vec![1.0; 6]),
            InclusionPriorSpec::Probabilities(vec![0.5; 3]),
        ] {
            assert!(InclusionPrior::new(&spec, 4).is_err(), "{spec:?}");
        }
    }
}
