//! Does the model reproduce what the data are like? Statistics of replicated data.

use serde::{Deserialize, Serialize};

use super::formula::Statistic;
use super::{AssessError, Assessor, InMemoryRefit, TargetFacts};
use crate::caution::Caution;
use crate::diagnose::mcse_mean;
use crate::fit::Fit;

/// Statistics of the data beside those of data that the model would make, as
/// `posteria check --json` has them.
///
/// Replicated data y_rep are draws of p(y_rep | x, D) at the inputs of the rows: of the posterior
/// predictive distribution, which has seen the rows it is held against and so is too forgiving
/// [Rubin 1984; Gelman, Meng & Stern 1996], and of the leave-one-out predictive distributions
/// p(y_rep_i | x_i, D without i), each row by itself [Gelfand 1996].
///
/// Replicated durations are censored as those of the data are: where a row was watched until it was
/// censored, at that time, and where it was seen to end, at a time from the Kaplan-Meier estimate of the
/// times of censoring beyond its duration; without one where nothing was censored later.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PredictiveCheck {
    /// Number of rows.
    pub rows: usize,
    /// Every statistic.
    pub statistics: Vec<StatisticCheck>,
    /// Rows whose importance weights cannot be trusted: leave-one-out is too forgiving for them.
    pub failing: usize,
    /// What to be careful about.
    #[serde(skip)]
    pub cautions: Vec<Caution>,
}

/// A statistic of the data beside those of replicated data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StatisticCheck {
    /// Its formula.
    pub statistic: String,
    /// T(y).
    #[serde(deserialize_with = "crate::json::nan")]
    pub observed: f64,
    /// T(y_rep) where all rows are drawn together from the posterior predictive distribution.
    pub posterior: ReplicatedStatistic,
    /// T(y_rep) where every row is drawn by itself, from its leave-one-out predictive distribution.
    pub loo: ReplicatedStatistic,
}

/// A statistic of replicated data.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ReplicatedStatistic {
    /// Number of replicated data.
    pub replicates: usize,
    /// Mean.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mean: f64,
    /// Standard deviation.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
    /// The 5 % quantile.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q05: f64,
    /// The 95 % quantile.
    #[serde(deserialize_with = "crate::json::nan")]
    pub q95: f64,
    /// P(T(y_rep) ≥ T(y)), where what is equal counts half.
    #[serde(deserialize_with = "crate::json::nan")]
    pub p: f64,
    /// Its Monte Carlo standard error.
    #[serde(deserialize_with = "crate::json::nan")]
    pub p_mcse: f64,
    /// The values, at most 400 of them, evenly spaced.
    #[serde(deserialize_with = "crate::json::nan")]
    pub values: Vec<f64>,
}

/// Values that are handed out.
const SHOWN: usize = 400;

impl ReplicatedStatistic {
    /// Of the values of chains, beside the one observed.
    pub(super) fn new(chains: &[Vec<f64>], observed: f64) -> Self {
        let all: Vec<f64> = chains.concat();
        let count = all.len() as f64;
        // Nothing is to be said of a statistic that the data do not have.
        let known = if observed.is_finite() { observed } else { f64::NAN };
        let exceeds = |value: &f64| match value.partial_cmp(&known) {
            Some(std::cmp::Ordering::Greater) => 1.0,
            Some(std::cmp::Ordering::Equal) => 0.5,
            Some(std::cmp::Ordering::Less) => 0.0,
            None => f64::NAN,
        };
        let tails: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(exceeds).collect()).collect();
        let p = tails.iter().flatten().map(|tail| tail / count).sum::<f64>();
        let constant = tails.iter().flatten().all(|tail| (tail - p).abs() <= 1e-12);
        // Where none exceeds, one of as many more might have.
        let p_mcse = if constant { 1.0 / count } else { mcse_mean(&tails) };
        let mean = all.iter().map(|value| value / count).sum::<f64>();
        let square = all.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let mut sorted = all.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = |p: f64| sorted[(p * (count - 1.0)).round() as usize];
        let step = all.len().div_ceil(SHOWN);
        ReplicatedStatistic {
            replicates: all.len(),
            mean,
            sd: (square / (count - 1.0)).sqrt(),
            q05: quantile(0.05),
            q95: quantile(0.95),
            p,
            p_mcse,
            values: all.into_iter().step_by(step).collect(),
        }
    }

    /// Whether hardly any replicated data have so large, or so small, a statistic.
    pub fn is_extreme(&self) -> bool {
        self.p < 0.01 || self.p > 0.99
    }
}

/// The statistics that are looked at if none is asked for: middle, spread, ends and shape of real
/// targets, shares of classes; of durations that may be censored the share that is, and how long rows
/// were watched.
pub fn usual_statistics(targets: &TargetFacts) -> Vec<String> {
    match targets {
        TargetFacts::Real { names, .. } => {
            let of = |target: usize| match names.len() {
                1 => "y".to_string(),
                _ => format!("y({})", target + 1),
            };
            let each = ["median", "sd", "min", "max", "skewness"];
            let one = |target: usize| each.map(|name| format!("{name}({})", of(target)));
            (0..names.len()).flat_map(one).collect()
        }
        TargetFacts::Classes { labels } | TargetFacts::Ordered { labels, .. } => {
            labels.iter().map(|label| format!("mean(y == \"{label}\")")).collect()
        }
        TargetFacts::Censored { .. } => {
            ["mean(censored)", "median(y)", "sd(y)", "min(y)", "max(y)"].map(String::from).into()
        }
        TargetFacts::Absent => Vec::new(),
    }
}

impl Fit {
    /// Whether replicated data have these statistics of the data.
    ///
    /// # Errors
    /// [`AssessError`] if the model has no targets, or rows cannot be left out.
    pub fn check(&self, statistics: &[Statistic]) -> Result<PredictiveCheck, AssessError> {
        let (seed, workers) = (self.prepared.spec.sampling.seed(), &self.workers);
        let refit = &InMemoryRefit { fit: self, workers, groups: None, fitted: None };
        Assessor { fit: self, utilities: &[], held_out: None, seed, workers, refit }
            .check(statistics)
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZero;

    use super::*;
    use crate::data::{Column, Table};
    use crate::fit::FitOptions;
    use crate::model::Linear;
    use crate::model::spec::Spec;
    use crate::random::{Purpose, Seed};

    fn fitted(noise: impl Fn(f64, f64) -> f64) -> Fit {
        let mut stream = Seed(5).stream(Purpose::Data, [0, 0]);
        let x: Vec<f64> = (0..120).map(|_| stream.normal()).collect();
        let y = x.iter().map(|x| 2.0 * x + noise(stream.normal(), stream.exponential())).collect();
        let columns = vec![("x".into(), Column::numbers(x)), ("y".into(), Column::numbers(y))];
        let table = Table::new("memory", columns).expect("a table");
        let draws = NonZero::new(500);
        let options = FitOptions { draws, ..FitOptions::default() };
        crate::fit(&table, "y", Linear::default(), &options).expect("a fit")
    }

    fn checked(fit: &Fit, texts: &[&str]) -> PredictiveCheck {
        let targets = TargetFacts::of(&fit.prepared.data);
        let parse = |text: &&str| Statistic::parse(text, &targets).expect("a statistic");
        fit.check(&texts.iter().map(parse).collect::<Vec<_>>()).expect("a check")
    }

    #[test]
    fn what_the_model_describes_is_reproduced_and_what_it_does_not_is_named() {
        let (mean, least) = ("mean(y)", "min(y)");
        let good = checked(&fitted(|normal, _| normal), &[mean, "sd(y)", least, "max(y)"]);
        for it in &good.statistics {
            assert!(!it.posterior.is_extreme() && !it.loo.is_extreme(), "{it:?}");
        }
        assert_eq!((good.rows, good.failing), (120, 0));
        // Residuals that are all above a bound: normal ones would go far below.
        let bad =
            checked(&fitted(|_, exponential| 6.0 * exponential), &[mean, "skewness(y)", least]);
        assert!(!bad.statistics[0].loo.is_extreme(), "{:?}", bad.statistics[0]);
        assert!(bad.statistics[1].loo.is_extreme() && bad.statistics[1].posterior.is_extreme());
        assert!(bad.statistics[2].loo.p < 0.01 && bad.statistics[2].posterior.p < 0.01);
    }

    /// Exponential durations that all are watched until 1: of a Weibull model a share of censored rows,
    /// middle and end like those of the data. Where rows fail either at once or late, no Weibull
    /// distribution is like them.
    #[test]
    fn replicated_durations_are_censored_as_those_of_the_data() {
        let checked_of = |duration: fn(f64, usize) -> f64| {
            let mut stream = Seed(9).stream(Purpose::Data, [0, 0]);
            let x: Vec<f64> = (0..150).map(|_| stream.normal()).collect();
            let each = x.iter().enumerate();
            let lasts: Vec<f64> = each
                .map(|(row, x)| duration(stream.exponential(), row) * (0.3 * x).exp())
                .collect();
            let ended = lasts.iter().map(|t| f64::from(u8::from(*t < 1.0))).collect();
            let seen = lasts.iter().map(|t| t.min(1.0)).collect();
            let columns = vec![
                ("x".into(), Column::numbers(x)),
                ("y".into(), Column::numbers(seen)),
                ("ended".into(), Column::numbers(ended)),
            ];
            let table = Table::new("memory", columns).expect("a table");
            let model = Spec::from_toml("[data]\nevent = 'ended'").expect("a specification");
            let options = FitOptions { draws: NonZero::new(500), ..FitOptions::default() };
            let fit = crate::fit(&table, "y", model, &options).expect("a fit");
            let statistics = usual_statistics(&TargetFacts::of(&fit.prepared.data));
            assert_eq!(statistics[0], "mean(censored)");
            checked(&fit, &statistics.iter().map(String::as_str).collect::<Vec<_>>())
        };
        let good = checked_of(|exponential, _| exponential);
        for it in &good.statistics {
            assert!(!it.posterior.is_extreme() && !it.loo.is_extreme(), "{it:?}");
        }
        // All ends are known: none is watched for longer than 1.
        let most = good.statistics.last().expect("the maximum");
        assert!((most.observed - 1.0).abs() < 1e-12 && (most.posterior.q95 - 1.0).abs() < 1e-12);
        let bad = checked_of(|exponential, row| match row % 2 {
            0 => 0.02 + 1e-4 * exponential,
            _ => 0.9 + 1e-3 * exponential,
        });
        let strange = bad.statistics.iter().filter(|it| it.posterior.is_extreme());
        assert!(strange.count() > 1, "{:?}", bad.statistics);
    }

    /// The mean of rows drawn one by one has the mean of their leave-one-out predictive means and the
    /// mean of their variances over n; that of rows drawn together has besides what all share.
    #[test]
    fn rows_by_themselves_vary_less_than_rows_together() {
        let found = checked(&fitted(|normal, _| normal), &["mean(y)"]);
        let StatisticCheck { posterior, loo, .. } = &found.statistics[0];
        let alone = 1.0 / 120_f64.sqrt();
        // 1000 replicates know a deviation to 2.2 %; four of these, and 10 % for the residual scale.
        assert!((loo.sd / alone - 1.0).abs() < 0.2, "{}", loo.sd);
        // The mean of f has the variance σ²/n besides.
        assert!((posterior.sd / (alone * 2_f64.sqrt()) - 1.0).abs() < 0.2, "{}", posterior.sd);
    }

    #[test]
    fn ties_count_half_and_what_does_not_exist_nothing() {
        let chains = [vec![0.0, 1.0, 1.0, 2.0], vec![1.0, 1.0, 0.0, 2.0]];
        let found = ReplicatedStatistic::new(&chains, 1.0);
        assert!((found.p - 0.5).abs() < 1e-12 && found.replicates == 8);
        assert!(ReplicatedStatistic::new(&chains, f64::INFINITY).p.is_nan());
        let none = ReplicatedStatistic::new(&chains, 9.0);
        assert!(none.p.abs() <= 0.0 && (none.p_mcse - 0.125).abs() < 1e-12 && none.is_extreme());
    }
}
