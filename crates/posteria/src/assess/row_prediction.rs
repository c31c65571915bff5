//! The figures of predictions: of every row, and over all rows where targets are known.

use super::FitChains;
use super::decision::{Costs, Decision, Rule};
use crate::data::Missing;
use crate::predict::Predictive;

/// The prediction for one row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowPrediction {
    /// One per real target; none for classes.
    pub outputs: Vec<TargetPrediction>,
    /// Of a duration: the probability that it is longer than each time that was asked for.
    pub survival: Vec<f64>,
    /// The probability of every class; none for real targets.
    pub probabilities: Vec<f64>,
    /// Index of the most probable class.
    pub predicted: Option<usize>,
    /// Whether that is the class of the row, where it is known.
    pub right: Option<bool>,
    /// Log density of the targets together, where they are known.
    pub log_density: Option<f64>,
    /// What to do, where costs are given.
    pub decision: Option<Decision>,
    /// What that costs in fact, where the target is known.
    pub cost: Option<f64>,
}

/// What is wanted of every row.
#[derive(Clone, Copy)]
pub struct PredictOptions<'a> {
    /// Probabilities of the quantiles of real targets.
    pub quantiles: &'a [f64],
    /// Times that a duration is longer than with a probability that is wanted.
    pub at: &'a [f64],
    /// By which costs and which rule an action is chosen.
    pub decide: Option<(&'a Costs, Rule)>,
    /// What happens to rows of a table that lack inputs.
    pub missing: Missing,
    /// By what weights chains predict, where they do not count alike.
    pub chains: Option<&'a FitChains>,
}

impl Default for PredictOptions<'_> {
    /// The median and a 90 % interval, no action, and all chains alike.
    fn default() -> Self {
        let (quantiles, missing) = (&[0.05, 0.5, 0.95], Missing::Error);
        PredictOptions { quantiles, at: &[], decide: None, missing, chains: None }
    }
}

/// The prediction for one real target of a row.
#[derive(Clone, Debug, PartialEq)]
pub struct TargetPrediction {
    /// The mean; NaN if it does not exist.
    pub mean: f64,
    /// The standard deviation; NaN if it does not exist.
    pub sd: f64,
    /// One per probability asked for.
    pub quantiles: Vec<f64>,
    /// How it compares with the target, where that is known.
    pub score: Option<Score>,
}

/// A prediction beside the target itself.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score {
    /// Log density of this target alone; of a censored duration, log probability of a longer one.
    pub log_density: f64,
    /// Target minus predicted mean; NaN of a censored duration.
    pub from_mean: f64,
    /// Target minus predicted median; NaN of a censored duration.
    pub from_median: f64,
}

impl RowPrediction {
    /// Whether every figure is finite that exists: means and standard deviations need not, and the
    /// log density of an impossible target is -inf.
    pub fn is_finite(&self) -> bool {
        let output = |output: &TargetPrediction| {
            !output.mean.is_infinite()
                && !output.sd.is_infinite()
                && output.quantiles.iter().all(|value| value.is_finite())
        };
        let is_lost = |density: f64| density.is_nan() || density > f64::MAX;
        self.outputs.iter().all(output)
            && self.probabilities.iter().all(|value| value.is_finite())
            && !self.log_density.is_some_and(is_lost)
    }

    /// By the predictive distribution of the row, whose targets may be known.
    pub fn new(
        predictive: &Predictive<'_>,
        observed: Option<&[f64]>,
        asked: &PredictOptions<'_>,
    ) -> Self {
        let quantiles = asked.quantiles;
        let family = predictive.family();
        // A row without target has a density of its own.
        let observed = if family.is_density() { Some(&[][..]) } else { observed };
        let output = |output: usize| {
            let quantile = |p: f64| predictive.quantile(output, p);
            let mean = predictive.mean(output).unwrap_or(f64::NAN);
            let asked: Vec<f64> = quantiles.iter().map(|p| quantile(*p)).collect();
            let is_median = |p: &f64| (p - 0.5).abs() <= 0.0;
            let known = quantiles.iter().position(is_median).map(|index| asked[index]);
            // What is censored has no distance from anything.
            let is_known = |y: f64| family.duration().is_none() || y > 0.0;
            let score = observed.map(|observed| observed[output]).map(|y| Score {
                log_density: predictive.log_density_of(output, y),
                from_mean: if is_known(y) { y - mean } else { f64::NAN },
                from_median: match is_known(y) {
                    true => y - known.unwrap_or_else(|| quantile(0.5)),
                    false => f64::NAN,
                },
            });
            TargetPrediction {
                mean,
                sd: predictive.sd(output).unwrap_or(f64::NAN),
                quantiles: asked,
                score,
            }
        };
        let mut probabilities = vec![0.0; family.classes()];
        let mut predicted = None;
        if family.classes() > 0 {
            predictive.probabilities(&mut probabilities);
            predicted = Some(predictive.most_probable());
        }
        let first = observed.and_then(|observed| observed.first()).copied();
        let class = first.map(|class| class as usize);
        let decision = asked.decide.map(|(costs, rule)| costs.decide(predictive, rule));
        let cost = |(costs, _): (&Costs, Rule)| Some(costs.cost(decision?.action, first?));
        RowPrediction {
            outputs: (0..family.outputs()).map(output).collect(),
            survival: match family.duration() {
                Some(_) => asked.at.iter().map(|t| predictive.probability_above(0, *t)).collect(),
                None => Vec::new(),
            },
            probabilities,
            right: predicted.zip(class).map(|(predicted, class)| predicted == class),
            predicted,
            log_density: observed.map(|observed| predictive.log_density(observed)),
            cost: asked.decide.and_then(cost),
            decision,
        }
    }
}

/// How good the predictions of all rows are, where the targets are known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionFigures {
    /// Mean log density of a row.
    pub mean_log_density: f64,
    /// Root mean square of target minus predicted mean, over rows and targets; NaN where a duration is
    /// censored.
    pub rmse: f64,
    /// Mean distance of target and predicted median, over rows and targets; NaN likewise.
    pub mae: f64,
}

impl PredictionFigures {
    /// Of all targets together.
    pub fn joint(rows: &[RowPrediction]) -> Option<Self> {
        let densities: Option<Vec<f64>> = rows.iter().map(|row| row.log_density).collect();
        let scores = rows.iter().flat_map(|row| &row.outputs).map(|output| output.score);
        Some(PredictionFigures::of(&densities?, &scores.collect::<Option<Vec<_>>>()?))
    }

    /// Of one target.
    pub fn of_target(rows: &[RowPrediction], target: usize) -> Option<Self> {
        let scores = rows.iter().map(|row| row.outputs[target].score);
        let scores = scores.collect::<Option<Vec<_>>>()?;
        let densities: Vec<f64> = scores.iter().map(|score| score.log_density).collect();
        Some(PredictionFigures::of(&densities, &scores))
    }

    fn of(densities: &[f64], scores: &[Score]) -> Self {
        let errors = scores.iter().map(|score| score.from_mean);
        // Relative to the largest, so that no square over- or underflows.
        let largest = errors.clone().fold(0.0_f64, |most, error| most.max(error.abs()));
        let unit = if largest > 0.0 { largest } else { 1.0 };
        let squares = mean(errors.map(|error| (error / unit).powi(2)));
        PredictionFigures {
            mean_log_density: mean(densities.iter().copied()),
            rmse: unit * squares.sqrt(),
            mae: mean(scores.iter().map(|score| score.from_median.abs())),
        }
    }
}

/// The fraction of rows whose most probable class is theirs.
pub fn share_right(rows: &[RowPrediction]) -> Option<f64> {
    let right: Option<Vec<bool>> = rows.iter().map(|row| row.right).collect();
    right.map(|right| right.iter().filter(|right| **right).count() as f64 / right.len() as f64)
}

/// The mean cost of the actions, where all targets are known.
pub fn mean_cost(rows: &[RowPrediction]) -> Option<f64> {
    let costs: Option<Vec<f64>> = rows.iter().map(|row| row.cost).collect();
    costs.filter(|costs| !costs.is_empty()).map(|costs| mean(costs.into_iter()))
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.map(|value| value / count).sum()
}
