//! Predictions averaged over models, none of which is chosen.

use serde::{Deserialize, Serialize};

use super::comparison::check_averageable;
use super::leave_one_out::standard_error;
use super::{
    AssessError, CompareOptions, ComparedFit, Method, PointwiseError, PredictOptions, Predictions,
    RowPrediction, Utility, compare_fits, stacking_weights,
};
use crate::caution::Caution;
use crate::data::{EncodedRows, Table};
use crate::fit::{AveragedModel, Fit, average_rows};
use crate::predict::LogSum;
use crate::random::{Purpose, Seed};

/// Parts of the rows that weights are judged by.
const PARTS: usize = 10;

/// Fits of the same rows and targets, and the share of each in the average of their predictions,
/// p(y | x, D) = Σ_k w_k p(y | x, M_k, D) [Hoeting et al. 1999; Yao et al. 2018].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # use posteria::assess::ModelAverage;
/// # use posteria::data::TextFormat;
/// # use posteria::{FitOptions, Linear, Table};
/// # let rows: String = (0..30).map(|i| format!("{},{}\n", i, (i * 7) % 5 + i)).collect();
/// # let text = "x,y\n".to_string() + &rows;
/// # let table = Table::from_text("curve.csv", text.as_bytes(), &TextFormat::default())?;
/// # let short = FitOptions { warmup: Some(50), draws: std::num::NonZero::new(50), ..FitOptions::default() };
/// let line = posteria::fit(&table, "y", Linear::default(), &short)?;
/// let curve = posteria::fit(&table, "y", Linear::default().basis("polynomial:2".parse()?), &short)?;
/// let average = ModelAverage::stacked(&[("line", &line), ("curve", &curve)])?;
/// let predicted = average.predict(&table, &Default::default())?;
/// # assert_eq!(predicted.predictions.rows.len(), 30);
/// # Ok(())
/// # }
/// ```
pub struct ModelAverage<'a> {
    members: Vec<(f64, &'a Fit)>,
}

/// Predictions of an average over models.
pub struct AveragedPredictions {
    /// Those of the average.
    pub predictions: Predictions,
    /// Mean log density of a row under every model, where the table has targets.
    pub mean_log_densities: Option<Vec<f64>>,
}

impl<'a> ModelAverage<'a> {
    /// With these shares of the average, in any unit.
    ///
    /// # Errors
    /// [`AssessError`] if there is no fit, a share is negative or none is positive, or fits are not
    /// of the same rows and targets.
    pub fn new(fits: &[(&str, &'a Fit)], shares: &[f64]) -> Result<Self, AssessError> {
        let compared = fits.iter();
        let compared =
            compared.map(|(name, fit)| ComparedFit { name, fit, observed: &fit.observed });
        check_averageable(&compared.collect::<Vec<_>>())?;
        let total: f64 = shares.iter().sum();
        let is_share = |share: &f64| *share >= 0.0 && share.is_finite();
        if shares.len() != fits.len() || !shares.iter().all(is_share) || total <= 0.0 {
            return Err(AssessError::Shares);
        }
        let members = fits.iter().zip(shares).map(|((_, fit), share)| (share / total, *fit));
        Ok(ModelAverage { members: members.collect() })
    }

    /// With shares that make the average predict rows that are left out best.
    ///
    /// # Errors
    /// [`AssessError`] if fits are not of the same rows and targets, or one cannot be assessed.
    pub fn stacked(fits: &[(&str, &'a Fit)]) -> Result<Self, AssessError> {
        let (method, options) = (Method::leave_one_out(), CompareOptions::default());
        let found = compare_fits(fits, &method, &[Utility::Elpd], &options)?;
        ModelAverage::new(fits, &found.stacking_weights())
    }

    /// The shares, which sum to 1.
    pub fn shares(&self) -> Vec<f64> {
        self.members.iter().map(|(share, _)| *share).collect()
    }

    /// Predicts every row of `table`, which has the inputs of all models and may have the targets.
    ///
    /// # Errors
    /// [`AssessError`] if the table lacks inputs, or a model predicts nothing.
    pub fn predict(
        &self,
        table: &Table,
        options: &PredictOptions<'_>,
    ) -> Result<AveragedPredictions, AssessError> {
        let encode = |(_, fit): &(f64, &Fit)| fit.prepared.encoder.encode(table, options.missing);
        let mut encoded = self.members.iter().map(encode).collect::<Result<Vec<_>, _>>()?;
        keep_common(&mut encoded);
        let mut cautions: Vec<Caution> = Vec::new();
        let mut models = Vec::with_capacity(self.members.len());
        for ((share, fit), new) in self.members.iter().zip(&mut encoded) {
            let encoder = &fit.prepared.encoder;
            let beyond = encoder.extrapolation(&fit.prepared.data, &new.inputs);
            let all = new.cautions.drain(..).chain(beyond.map(Caution::Extrapolation));
            // Models of the same inputs say the same.
            for caution in all {
                if !cautions.contains(&caution) {
                    cautions.push(caution);
                }
            }
            let predictive = fit.predictive()?.ok_or(AssessError::NoTargets)?;
            models.push(AveragedModel {
                share: *share,
                predictive,
                inputs: new.inputs_and_offsets().into_owned(),
            });
        }
        let (encoder, new) = (&self.members[0].1.prepared.encoder, &encoded[0]);
        let observed = new.targets.as_ref().map(|targets| encoder.observed(targets));
        let rows = average_rows(&models, |row, average, each| {
            let observed = observed.as_ref().map(|observed| &observed[row][..]);
            let densities: Option<Vec<f64>> =
                observed.map(|y| each.iter().map(|it| it.predictive.log_density(y)).collect());
            (RowPrediction::new(average, observed, options), densities)
        })?;
        let (rows, densities): (Vec<RowPrediction>, Vec<Option<Vec<f64>>>) =
            rows.into_iter().unzip();
        let densities = densities.into_iter().collect::<Option<Vec<_>>>();
        let mean = |model: usize, all: &[Vec<f64>]| {
            all.iter().map(|row| row[model] / all.len() as f64).sum()
        };
        let means = |all: Vec<Vec<f64>>| (0..models.len()).map(|it| mean(it, &all)).collect();
        let numbers = new.rows.iter().map(|row| row + 1).collect();
        Ok(AveragedPredictions {
            predictions: Predictions::new(encoder, options, (numbers, rows), cautions),
            mean_log_densities: densities.map(means),
        })
    }
}

/// Leaves out rows that lack the inputs of any of the models.
fn keep_common(encoded: &mut [EncodedRows]) {
    let lists: Vec<Vec<usize>> = encoded.iter().map(|it| it.rows.clone()).collect();
    let is_common = |row: &usize| lists.iter().all(|rows| rows.binary_search(row).is_ok());
    for new in encoded {
        let places = (0..new.rows.len()).filter(|place| is_common(&new.rows[*place]));
        let places: Vec<usize> = places.collect();
        if places.len() < new.rows.len() {
            *new = new.select(&places);
        }
    }
}

/// What an average with stacking weights is worth: the weights that a row is judged by come from
/// the other nine tenths of the rows, since weights flatter the rows they were found by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StackedScore {
    /// Sum over rows of the log predictive density of the average.
    #[serde(deserialize_with = "crate::json::nan")]
    pub elpd: f64,
    /// Its standard error over rows.
    #[serde(deserialize_with = "crate::json::nan")]
    pub se: f64,
    /// By how much it exceeds the best single model; below 0 if it does not.
    #[serde(deserialize_with = "crate::json::nan")]
    pub gain: f64,
    /// Standard error of that over rows.
    #[serde(deserialize_with = "crate::json::nan")]
    pub gain_se: f64,
}

impl StackedScore {
    /// Of models by their log predictive densities of the same rows, each left out; rows are divided
    /// at random with this seed. `None` for fewer rows than parts.
    ///
    /// # Errors
    /// [`PointwiseError`].
    pub fn new(pointwise: &[&[f64]], seed: Seed) -> Result<Option<Self>, PointwiseError> {
        let rows = pointwise.first().map_or(0, |it| it.len());
        if rows < 2 * PARTS || pointwise.len() < 2 {
            return Ok(None);
        }
        let mut order: Vec<usize> = (0..rows).collect();
        seed.stream(Purpose::Folds, [0, 1]).shuffle(&mut order);
        let mut scores = vec![0.0; rows];
        for part in 0..PARTS {
            let is_own = |place: &usize| place % PARTS == part;
            let others = (0..rows).filter(|place| !is_own(place)).map(|place| order[place]);
            let others: Vec<usize> = others.collect();
            let of_others = |it: &&[f64]| others.iter().map(|row| it[*row]).collect::<Vec<_>>();
            let learnt: Vec<Vec<f64>> = pointwise.iter().map(of_others).collect();
            let weights = stacking_weights(&learnt.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
            for row in (0..rows).filter(is_own).map(|place| order[place]) {
                let mut sum = LogSum::EMPTY;
                let each = pointwise.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0);
                each.for_each(|(densities, weight)| sum.add(weight.ln() + densities[row]));
                scores[row] = sum.value();
            }
        }
        let total = |values: &[f64]| values.iter().sum::<f64>();
        let best = pointwise.iter().max_by(|a, b| total(a).total_cmp(&total(b)));
        let best = best.expect("two models at least");
        let gains: Vec<f64> = scores.iter().zip(*best).map(|(own, best)| own - best).collect();
        Ok(Some(StackedScore {
            elpd: total(&scores),
            se: standard_error(&scores),
            gain: total(&gains),
            gain_se: standard_error(&gains),
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two models, each right where the other is wrong: densities e⁰ and e⁻² in turn. The best
    /// weights are ½ each, whatever rows they come from, and every row has log (1 + e⁻²)/2.
    #[test]
    fn an_average_of_opposites_is_better_than_either() {
        let rows = 400;
        let density = |first: usize| {
            (0..rows).map(|row| if row % 2 == first { 0.0 } else { -2.0 }).collect::<Vec<f64>>()
        };
        let (one, two) = (density(0), density(1));
        let found = StackedScore::new(&[&one, &two], Seed(1)).expect("densities").expect("rows");
        let each = (0.5 * (1.0 + (-2.0_f64).exp())).ln();
        // Parts of random rows are not halved exactly.
        assert!((found.elpd - rows as f64 * each).abs() < 2.0, "{found:?}");
        assert!((found.gain - (rows as f64 * each + rows as f64)).abs() < 2.0, "{found:?}");
        // Half of the rows lose log (1 + e⁻²)/2, the others gain 2 more than that.
        assert!((found.gain_se - 20.0).abs() < 0.5, "{found:?}");
    }

    /// Weights found by the rows they are judged by would gain from noise alone; these lose.
    #[test]
    fn models_that_differ_by_chance_gain_nothing() {
        let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
        let noise: Vec<Vec<f64>> =
            (0..6).map(|_| (0..60).map(|_| 0.05 * stream.normal()).collect()).collect();
        let views: Vec<&[f64]> = noise.iter().map(Vec::as_slice).collect();
        let found = StackedScore::new(&views, Seed(1)).expect("densities").expect("rows");
        assert!(found.gain < 0.0, "{found:?}");
        assert!(StackedScore::new(&[&[0.0; 19], &[0.0; 19]], Seed(1)) == Ok(None));
    }
}
