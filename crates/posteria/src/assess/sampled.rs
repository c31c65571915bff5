//! The distribution of an expected utility that is known for a random sample of the rows.

use super::bootstrap::{Bootstrap, Distribution, FIRST_MODEL, ROWS, SAMPLE, dirichlet, variance};
use super::pointwise::PointwiseUtilities;
use super::subsample::RowSample;
use super::utility::Summary;
use crate::random::Purpose;

/// What is known of all rows where utilities are known for a sample of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled {
    /// The rows that utilities are known for.
    pub sample: RowSample,
    /// An approximation to the utility of every row.
    pub approximations: Vec<f64>,
}

/// The standard error by the rows of a summary, as of all rows.
pub(super) fn normal_sd(pointwise: &PointwiseUtilities, sampled: &Sampled, by_sample: f64) -> f64 {
    let total = || sampled.sample.difference_total(&sampled.approximations, &pointwise.values());
    let all = sampled.sample.all() as f64;
    match pointwise.summary {
        Summary::Mean => total().se / all,
        Summary::RootMean => {
            let found = total();
            found.se / all / (2.0 * (found.total / all).max(0.0).sqrt())
        }
        // Concordance is not by importance weights, of which samples are.
        Summary::Quantile(_) | Summary::Concordance { .. } => {
            by_sample * sampled.sample.share().sqrt()
        }
    }
}

/// Draws the distribution of an expected utility from a sample of m of n rows.
///
/// Where rows are averaged, the mean is that of the difference estimator. In every replicate the
/// rows of the sample get two sets of weights from Dirichlet(1, …, 1): the deviation that the first
/// gives to the mean of the utilities stands for other future rows, times √(m/n) since n rows are
/// known; the deviation that the second gives to the mean of the errors of the approximation stands
/// for other samples, times √(1 - m/n). Both are linear in the utilities, so that differences of
/// models with common weights have the distribution of differences by rows. A quantile takes its
/// weights from the first set as it is, which stands for both.
pub(super) fn sampled_distribution(
    (model, sampled): (&PointwiseUtilities, &Sampled),
    bootstrap: &Bootstrap,
    number: usize,
) -> Distribution {
    let evaluation = &model.repetitions()[0];
    let sample = &sampled.sample;
    let at_sample = sample.pick(&sampled.approximations);
    let usable = sampled.approximations.iter().all(|it| it.is_finite());
    let level = |values: &[f64]| {
        let found = match usable {
            true => sample.difference_total(&sampled.approximations, values),
            false => sample.total(values),
        };
        found.total / sample.all() as f64
    };
    let version = |values: &[f64]| Version {
        values: values.to_vec(),
        errors: match usable {
            true => values.iter().zip(&at_sample).map(|(x, a)| x - a).collect(),
            false => values.to_vec(),
        },
        level: level(values),
    };
    let terms = version(&evaluation.terms.values);
    let others: Vec<Version> =
        evaluation.draw_replicates.iter().map(|it| version(&it.values)).collect();
    let (summary, share) = (model.summary, sample.share());
    let plain = vec![1.0 / sample.rows().len() as f64; sample.rows().len()];
    let estimate = terms.at(summary, share, &plain, &plain);
    let of_draws: Vec<f64> =
        others.iter().map(|it| it.at(summary, share, &plain, &plain)).collect();
    let mut found = Distribution {
        estimate,
        bias: None,
        replicates: Vec::with_capacity(bootstrap.replicates),
        rows_only: Vec::with_capacity(bootstrap.replicates),
        samples_only: Vec::with_capacity(bootstrap.replicates),
        biases: None,
        by_repetition: vec![estimate],
        monte_carlo: vec![(of_draws.len() > 1).then(|| variance(&of_draws))],
        by_unit: evaluation.terms.values.clone(),
    };
    let (mut weights, mut of_sample) = (plain.clone(), plain.clone());
    for replicate in 0..bootstrap.replicates {
        let stream =
            |index: u64| bootstrap.seed.stream(Purpose::Bootstrap, [replicate as u64, index]);
        dirichlet(&mut stream(ROWS), &mut weights);
        dirichlet(&mut stream(SAMPLE), &mut of_sample);
        let own = match others.len() {
            0 => &terms,
            count => &others[stream(FIRST_MODEL + number as u64).index(count)],
        };
        found.replicates.push(own.at(summary, share, &weights, &of_sample));
        match summary {
            // Both parts of one deviation, by their share of its variance.
            Summary::Quantile(_) => {
                let deviation = summary.of(&terms.values, &weights) - estimate;
                found.rows_only.push(estimate + share.sqrt() * deviation);
                found.samples_only.push(estimate + (1.0 - share).sqrt() * deviation);
            }
            _ => {
                found.rows_only.push(terms.at(summary, share, &weights, &plain));
                found.samples_only.push(terms.at(summary, share, &plain, &of_sample));
            }
        }
    }
    found
}

/// Utilities of the sample, as all draws or some weighting of them have it.
struct Version {
    values: Vec<f64>,
    /// What approximations are wrong by.
    errors: Vec<f64>,
    /// The mean over all rows, as estimated.
    level: f64,
}

impl Version {
    /// The summary under weights of the rows and of the sample, each summing to 1.
    fn at(&self, summary: Summary, share: f64, weights: &[f64], of_sample: &[f64]) -> f64 {
        if let Summary::Quantile(_) = summary {
            return summary.of(&self.values, weights);
        }
        let deviation = |values: &[f64], weights: &[f64]| {
            let even = 1.0 / values.len() as f64;
            let each = values.iter().zip(weights);
            each.map(|(value, weight)| (weight - even) * value).sum::<f64>()
        };
        let mean = self.level
            + share.sqrt() * deviation(&self.values, weights)
            + (1.0 - share).sqrt() * deviation(&self.errors, of_sample);
        match summary {
            Summary::RootMean => mean.max(0.0).sqrt(),
            _ => mean,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::utility::{AbsoluteError, Elpd, SquaredError, UtilityFunction};
    use crate::assess::{Evaluation, Terms, bayesian_bootstrap, difference};
    use crate::density::checks::assert_relative;
    use crate::random::Seed;

    /// Utilities of all rows and their approximations.
    fn population(seed: u64, count: usize) -> (Vec<f64>, Vec<f64>) {
        let mut stream = Seed(seed).stream(Purpose::Data, [0, 0]);
        let exact: Vec<f64> = (0..count).map(|_| stream.normal().powi(2)).collect();
        let approximations = exact.iter().map(|x| x + 0.1 * stream.normal()).collect();
        (exact, approximations)
    }

    fn sampled(
        utility: &dyn UtilityFunction,
        (exact, approximations): &(Vec<f64>, Vec<f64>),
        sample: &RowSample,
    ) -> PointwiseUtilities {
        let evaluation = Evaluation::from(Terms::from(sample.pick(exact)));
        PointwiseUtilities::new(utility, evaluation)
            .of_sample(Sampled { sample: sample.clone(), approximations: approximations.clone() })
    }

    #[test]
    fn a_sample_of_all_rows_changes_nothing() {
        let known = population(1, 60);
        let sample = RowSample::draw(60, 60, Seed(1));
        let bootstrap = Bootstrap { replicates: 200, ..Bootstrap::new(Seed(4)) };
        let utilities: [Box<dyn UtilityFunction>; 3] = [
            Box::new(Elpd),
            Box::new(SquaredError::rmse()),
            Box::new(AbsoluteError::quantile(0.9)),
        ];
        for utility in &utilities {
            let usual = PointwiseUtilities::new(&**utility, Terms::from(known.0.clone()));
            let usual = bayesian_bootstrap(&usual, &bootstrap).expect("usual");
            let found = sampled(&**utility, &known, &sample);
            let found = bayesian_bootstrap(&found, &bootstrap).expect("sampled");
            assert_relative(found.estimate, usual.estimate, 1e-12);
            for (one, other) in found.replicates.iter().zip(&usual.replicates) {
                assert_relative(*one, *other, 1e-10);
            }
            let none = found.components.subsampling.expect("a sample");
            assert!(none.abs() < 1e-12, "{none}");
        }
    }

    #[test]
    fn distributions_have_the_parts_that_they_are_made_of() {
        let known = population(2, 20_000);
        let sample = RowSample::draw(20_000, 500, Seed(3));
        let bootstrap = Bootstrap::new(Seed(4));
        let found = sampled(&Elpd, &known, &sample);
        let found = bayesian_bootstrap(&found, &bootstrap).expect("a distribution");
        let total = sample.difference_total(&known.1, &sample.pick(&known.0));
        assert_relative(found.estimate, total.total / 20_000.0, 1e-12);
        assert_eq!(found.rows, 20_000);
        // By 4000 replicates a standard deviation is known to 1.1 %, and that of the weights of 500
        // rows is that of their own variance; five times that, and 5 % by the choice of the sample.
        let parts = found.components;
        let of_sample = parts.subsampling.expect("a sample");
        assert_relative(of_sample, total.subsampling_se / 20_000.0, 0.06);
        assert_relative(found.normal.sd, (2.0_f64 / 20_000.0).sqrt(), 0.1);
        assert_relative(found.sd(), parts.data.hypot(of_sample), 0.08);
        // A quantile has no approximation: both parts are of one deviation.
        let quantile = AbsoluteError::quantile(0.5);
        let found = sampled(&quantile, &known, &sample);
        let found = bayesian_bootstrap(&found, &bootstrap).expect("a distribution");
        let parts = found.components;
        let both = parts.data.hypot(parts.subsampling.expect("a sample"));
        assert_relative(found.sd(), both, 0.01);
    }

    #[test]
    fn differences_of_models_are_by_rows() {
        // What both models find hard, with sd 1.4 over rows, cancels: they differ by 0.05.
        let first = population(5, 10_000);
        let shift = |values: &[f64]| values.iter().map(|x| x + 0.05).collect::<Vec<f64>>();
        let second = (shift(&first.0), shift(&first.1));
        let sample = RowSample::draw(10_000, 300, Seed(1));
        let bootstrap = Bootstrap::new(Seed(9));
        let [one, two] = [first, second].map(|it| sampled(&Elpd, &it, &sample));
        let found = difference(&two, &one, &bootstrap).expect("comparable");
        assert_relative(found.estimate, 0.05, 1e-9);
        assert!(found.sd() < 1e-9, "{}", found.sd());
        let factor = found.pseudo_bayes_factor().expect("of elpd");
        assert_relative(factor.log, 500.0, 1e-9);
    }
}
