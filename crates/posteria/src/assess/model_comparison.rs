//! Put models side by side, the best first.

use super::leave_one_out::standard_error;
use super::model_weights::{PointwiseError, checked, pseudo_bma, pseudo_bma_plus};
use super::pointwise::PointwiseUtilities;
use super::stacking::stacking_weights;
use super::subsample::SampledTotal;
use super::utility::ELPD;
use crate::caution::Caution;
use crate::density::special::normal_quantile;
use crate::random::Seed;

/// From this number of models on, the best is judged as the best of many: of fewer, the better half
/// says too little about how equal models differ.
const MANY_MODELS: usize = 6;

/// How models are weighed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Weighting {
    /// [`stacking_weights`].
    #[default]
    Stacking,
    /// [`pseudo_bma`].
    PseudoBma,
    /// [`pseudo_bma_plus`].
    PseudoBmaPlus {
        /// Bayesian bootstraps.
        replicates: usize,
        /// Their seed.
        seed: Seed,
    },
}

/// Models in order of their expected log predictive density.
#[derive(Clone, Debug, PartialEq)]
pub struct ElpdComparison {
    /// The best model first.
    pub models: Vec<ComparedModel>,
    /// Reasons for doubt.
    pub cautions: Vec<Caution>,
}

/// One model of a comparison. Standard errors are √(n Var) with division by n as in ArviZ 0.23;
/// NaN for one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ComparedModel {
    /// Which of the models that were given.
    pub model: usize,
    /// Expected log predictive density.
    pub elpd: f64,
    /// Its standard error.
    pub se: f64,
    /// The best model's elpd less this one's: 0 for the best, never negative, as in ArviZ.
    pub elpd_difference: f64,
    /// Standard error of the difference, from the differences row by row.
    pub difference_se: f64,
    /// Weight in a mixture of all models.
    pub weight: f64,
    /// Standard error of the elpd by the choice of a sample of the rows; 0 where all are known.
    pub subsampling_se: f64,
    /// The same of the difference.
    pub difference_subsampling_se: f64,
}

/// Compares models by their log predictive densities of the same rows, one slice per model, of
/// rows left out ([`PointwiseLoo::elpd`](super::PointwiseLoo)) or otherwise held out.
///
/// # Errors
/// [`PointwiseError`].
pub fn compare_elpds(
    pointwise: &[&[f64]],
    weighting: Weighting,
) -> Result<ElpdComparison, PointwiseError> {
    checked(pointwise)?;
    let weights = match weighting {
        Weighting::Stacking => stacking_weights(pointwise)?,
        Weighting::PseudoBma => pseudo_bma(pointwise)?,
        Weighting::PseudoBmaPlus { replicates, seed } => {
            pseudo_bma_plus(pointwise, replicates, seed)?
        }
    };
    let elpds: Vec<f64> = pointwise.iter().map(|values| values.iter().sum()).collect();
    let mut order: Vec<usize> = (0..pointwise.len()).collect();
    order.sort_by(|a, b| elpds[*b].total_cmp(&elpds[*a]));
    let best = pointwise[order[0]];
    let row = |&model: &usize| {
        let values = pointwise[model];
        let differences: Vec<f64> = best.iter().zip(values).map(|(best, x)| best - x).collect();
        let (elpd_difference, difference_se) = match model == order[0] {
            true => (0.0, 0.0),
            false => (differences.iter().sum(), standard_error(&differences)),
        };
        ComparedModel {
            model,
            elpd: elpds[model],
            se: standard_error(values),
            elpd_difference,
            difference_se,
            weight: weights[model],
            subsampling_se: 0.0,
            difference_subsampling_se: 0.0,
        }
    };
    let models: Vec<ComparedModel> = order.iter().map(row).collect();
    let sorted: Vec<f64> = models.iter().map(|model| model.elpd).collect();
    Ok(ElpdComparison { models, cautions: best_of_many(ELPD, &sorted).into_iter().collect() })
}

/// Compares models by the log predictive densities of the same random sample of the rows: sums and
/// differences are estimated with what is known of all rows
/// ([`RowSample::difference_total`](super::RowSample)), those of pairs from differences row by row.
///
/// # Errors
/// [`PointwiseError`], also if a model is not of a sample of the rows.
pub fn compare_sampled_elpds(
    models: &[&PointwiseUtilities],
    weighting: Weighting,
) -> Result<ElpdComparison, PointwiseError> {
    let values: Vec<Vec<f64>> = models.iter().map(|model| model.values()).collect();
    let views: Vec<&[f64]> = values.iter().map(Vec::as_slice).collect();
    checked(&views)?;
    let sampled = models.iter().map(|model| model.sampled()).collect::<Option<Vec<_>>>();
    let sampled = sampled.ok_or(PointwiseError::Empty)?;
    let sample = &sampled[0].sample;
    let total =
        |model: usize| sample.difference_total(&sampled[model].approximations, views[model]);
    let totals: Vec<SampledTotal> = (0..models.len()).map(total).collect();
    let weights = match weighting {
        Weighting::Stacking => stacking_weights(&views)?,
        // The weights are of the sums alone: one row that holds all.
        Weighting::PseudoBma => {
            let sums: Vec<[f64; 1]> = totals.iter().map(|it| [it.total]).collect();
            pseudo_bma(&sums.iter().map(<[f64; 1]>::as_slice).collect::<Vec<_>>())?
        }
        // Each row of the sample counts for as many as it stands for.
        Weighting::PseudoBmaPlus { replicates, seed } => {
            let scaled = |it: &Vec<f64>| it.iter().map(|x| x / sample.share()).collect();
            let scaled: Vec<Vec<f64>> = values.iter().map(scaled).collect();
            pseudo_bma_plus(
                &scaled.iter().map(Vec::as_slice).collect::<Vec<_>>(),
                replicates,
                seed,
            )?
        }
    };
    let mut order: Vec<usize> = (0..models.len()).collect();
    order.sort_by(|a, b| totals[*b].total.total_cmp(&totals[*a].total));
    let best = order[0];
    let minus =
        |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a - b).collect() };
    let row = |&model: &usize| {
        let difference = sample.difference_total(
            &minus(&sampled[best].approximations, &sampled[model].approximations),
            &minus(views[best], views[model]),
        );
        let of_best = |value: f64| if model == best { 0.0 } else { value };
        ComparedModel {
            model,
            elpd: totals[model].total,
            se: totals[model].se,
            elpd_difference: of_best(difference.total),
            difference_se: of_best(difference.se),
            weight: weights[model],
            subsampling_se: totals[model].subsampling_se,
            difference_subsampling_se: of_best(difference.subsampling_se),
        }
    };
    let models: Vec<ComparedModel> = order.iter().map(row).collect();
    let sorted: Vec<f64> = models.iter().map(|model| model.elpd).collect();
    Ok(ElpdComparison { models, cautions: best_of_many(ELPD, &sorted).into_iter().collect() })
}

/// Doubts the best of many models by a utility, `estimates` from the best to the worst with more
/// for better, if K equal ones whose estimates
/// scatter as these do would bring forth as good a best: if all were N(m, σ²), the largest of them
/// would be expected at m + σ Φ⁻¹((K - 3/8) / (K + 1/4)). m is the median and σ² the mean square
/// distance to it of those above, among which a few really better models weigh little.
/// [McLatchie & Vehtari 2024; Blom 1958]
pub(super) fn best_of_many(utility: &str, estimates: &[f64]) -> Option<Caution> {
    let models = estimates.len();
    if models < MANY_MODELS || !estimates.iter().all(|it| it.is_finite()) {
        return None;
    }
    let half = models / 2;
    let median = 0.5 * (estimates[half] + estimates[models - 1 - half]);
    let squares: f64 = estimates[..half].iter().map(|it| (it - median).powi(2)).sum();
    let scatter = (squares / half as f64).sqrt();
    let count = models as f64;
    let expected = scatter * normal_quantile((count - 0.375) / (count + 0.25));
    let advantage = estimates[0] - median;
    (advantage <= expected).then_some(Caution::BestOfMany {
        utility: utility.to_string(),
        models,
        advantage,
        expected,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed, Stream};

    fn equal_models(stream: &mut Stream, models: usize) -> Vec<Vec<f64>> {
        let common: Vec<f64> = (0..50).map(|_| stream.normal()).collect();
        let model = |stream: &mut Stream| -> Vec<f64> {
            common.iter().map(|x| x + 0.2 * stream.normal()).collect()
        };
        (0..models).map(|_| model(stream)).collect()
    }

    fn is_doubted(models: &[Vec<f64>]) -> bool {
        let views: Vec<&[f64]> = models.iter().map(Vec::as_slice).collect();
        let found = compare_elpds(&views, Weighting::PseudoBma).expect("comparable");
        assert_eq!(found.models.len(), models.len());
        matches!(found.cautions[..], [Caution::BestOfMany { .. }])
    }

    #[test]
    fn the_best_of_many_equal_models_is_doubted_and_a_better_one_is_not() {
        // The largest of 30 equal ones is below its expectation somewhat more often than not: of
        // 200 comparisons at least 80 (at 54 % that many are missed once in 1e4), and never where
        // one model is better by ten standard errors.
        let mut stream = Seed(6).stream(Purpose::Data, [0, 0]);
        let mut doubted = 0;
        for _ in 0..200 {
            let mut models = equal_models(&mut stream, 30);
            doubted += usize::from(is_doubted(&models));
            models[3].iter_mut().for_each(|x| *x += 10.0 * 0.2 / 50_f64.sqrt());
            assert!(!is_doubted(&models));
        }
        assert!((80..200).contains(&doubted), "{doubted} of 200");
        let few = equal_models(&mut stream, 5);
        assert!(!is_doubted(&few));
    }

    #[test]
    fn a_sample_of_all_rows_compares_as_all_rows_do() {
        use crate::assess::utility::Elpd;
        use crate::assess::{RowSample, Sampled, Terms};
        let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
        let models = equal_models(&mut stream, 3);
        let views: Vec<&[f64]> = models.iter().map(Vec::as_slice).collect();
        let of = |sample: &RowSample| -> Vec<PointwiseUtilities> {
            let each = models.iter().map(|values| {
                let approximations = values.iter().map(|x| x + 0.01).collect();
                let known = Terms::from(sample.pick(values));
                let sampled = Sampled { sample: sample.clone(), approximations };
                PointwiseUtilities::new(&Elpd, known).of_sample(sampled)
            });
            each.collect()
        };
        let all = of(&RowSample::draw(50, 50, Seed(1)));
        for weighting in [Weighting::Stacking, Weighting::PseudoBma] {
            let usual = compare_elpds(&views, weighting).expect("comparable");
            let found = compare_sampled_elpds(&all.iter().collect::<Vec<_>>(), weighting);
            let found = found.expect("comparable");
            for (one, other) in found.models.iter().zip(&usual.models) {
                assert_eq!((one.model, one.elpd.to_bits()), (other.model, other.elpd.to_bits()));
                assert!((one.elpd_difference - other.elpd_difference).abs() < 1e-12);
                assert!((one.difference_se - other.difference_se).abs() < 1e-12);
                assert!((one.weight - other.weight).abs() < 1e-9);
                assert!(one.subsampling_se.abs() + one.difference_subsampling_se.abs() < 1e-12);
            }
        }
        // Approximations that are all wrong by the same amount leave nothing to the sample.
        let part = of(&RowSample::draw(50, 10, Seed(1)));
        let found = compare_sampled_elpds(&part.iter().collect::<Vec<_>>(), Weighting::Stacking);
        let usual = compare_elpds(&views, Weighting::Stacking).expect("comparable");
        for (one, other) in found.expect("comparable").models.iter().zip(&usual.models) {
            assert!((one.elpd - other.elpd).abs() < 1e-10, "{one:?} {other:?}");
            assert!((one.elpd_difference - other.elpd_difference).abs() < 1e-10);
            assert!((one.se / other.se - 1.0).abs() < 0.02 && one.subsampling_se < 1e-10);
        }
    }

    #[test]
    fn one_model_and_impossible_rows_are_answered() {
        let one = compare_elpds(&[&[-1.0, -2.0, -4.0]], Weighting::Stacking).expect("a model");
        let [model] = one.models[..] else { panic!("one model") };
        assert!((model.weight - 1.0).abs() < 1e-15 && model.difference_se.abs() < 1e-15);
        let two = compare_elpds(&[&[f64::NEG_INFINITY, -1.0], &[-1.0, -1.0]], Weighting::Stacking);
        let two = two.expect("comparable").models;
        assert_eq!([two[0].model, two[1].model], [1, 0]);
        assert!(two[1].elpd_difference == f64::INFINITY && two[1].difference_se.is_nan());
    }
}
