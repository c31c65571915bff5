//! Predictions of the rows of a table, with what their columns are called.

mod json;

use super::{PredictOptions, PredictionFigures, RowPrediction, mean_cost, share_right};
use crate::caution::Caution;
use crate::data::Encoder;

/// Predictions of the rows of a table; as JSON they have the names of `posteria predict --json`.
#[derive(Clone, Debug)]
pub struct Predictions {
    /// Names of the targets; none if rows have a density alone.
    pub targets: Vec<String>,
    /// Labels of the classes, or numbers of the components of a mixture; none for real targets.
    pub labels: Vec<String>,
    /// Names of the quantiles of real targets: `q05`, `q50`, …
    pub quantiles: Vec<String>,
    /// What survival probabilities of durations are called: `survival[T]` for every time that was asked for.
    pub survival: Vec<String>,
    /// What there is to choose from; none without costs.
    pub actions: Vec<String>,
    /// Number of every row in its table, from 1.
    pub numbers: Vec<usize>,
    /// One per row.
    pub rows: Vec<RowPrediction>,
    /// Mean log density of a row, where the table has targets.
    pub mean_log_density: Option<f64>,
    /// How good they are, where the table has real targets.
    pub figures: Option<PredictionFigures>,
    /// The same for every real target by itself.
    pub by_target: Vec<Option<PredictionFigures>>,
    /// The share of rows whose most probable class is theirs, where the table has classes.
    pub accuracy: Option<f64>,
    /// The mean cost of the actions, where costs are given and the table has targets.
    pub mean_cost: Option<f64>,
    /// What to be careful about: rows unlike those of the fit, and predictions that are no numbers.
    pub cautions: Vec<Caution>,
}

impl Predictions {
    /// Of rows with these numbers in their table, from 1, which the encoder of the fit has read with
    /// these cautions.
    pub fn new(
        encoder: &Encoder,
        asked: &PredictOptions<'_>,
        (numbers, rows): (Vec<usize>, Vec<RowPrediction>),
        mut cautions: Vec<Caution>,
    ) -> Self {
        let targets = encoder.target_names();
        let classes = rows.first().map_or(0, |row| row.probabilities.len());
        let labels: Vec<String> = match targets.is_empty() {
            // Components of a mixture go by their numbers.
            true => (1..=classes).map(|component| component.to_string()).collect(),
            false => encoder.labels().to_vec(),
        };
        cautions.extend(not_finite(&numbers, &rows));
        let is_real = labels.is_empty();
        let joint = PredictionFigures::joint(&rows);
        let of_target = |target: usize| PredictionFigures::of_target(&rows, target);
        let alone = if is_real { targets.len() } else { 0 };
        Predictions {
            quantiles: asked.quantiles.iter().map(|it| quantile_name(*it)).collect(),
            survival: match rows.first().is_some_and(|row| !row.survival.is_empty()) {
                true => asked.at.iter().map(|time| format!("survival[{time}]")).collect(),
                false => Vec::new(),
            },
            actions: asked.decide.map_or_else(Vec::new, |(costs, _)| costs.actions().to_vec()),
            mean_log_density: joint.map(|it| it.mean_log_density),
            figures: joint.filter(|_| is_real),
            by_target: (0..alone).map(of_target).collect(),
            accuracy: share_right(&rows).filter(|_| !is_real),
            mean_cost: mean_cost(&rows),
            targets,
            labels,
            numbers,
            rows,
            cautions,
        }
    }

    /// Whether targets are numbers, or there are none.
    pub fn is_real(&self) -> bool {
        self.labels.is_empty()
    }

    /// Whether a row has no target, and nothing but a density.
    pub fn is_density(&self) -> bool {
        self.is_real() && self.targets.is_empty()
    }
}

/// What a quantile of this probability is called, by its decimals: `q05`, `q50`, `q025`.
pub fn quantile_name(probability: f64) -> String {
    // A number below 1 is written out in full: 0.05, 0.0000001.
    let digits = probability.to_string();
    let decimals = digits.strip_prefix("0.").unwrap_or(&digits);
    format!("q{decimals:0<2}")
}

/// That predictions of rows with these numbers are not finite.
fn not_finite(numbers: &[usize], rows: &[RowPrediction]) -> Option<Caution> {
    let mut bad = rows.iter().zip(numbers).filter(|(row, _)| !row.is_finite());
    let (_, number) = bad.next()?;
    Some(Caution::PredictionsNotFinite { count: 1 + bad.count(), row: number - 1 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::{Score, TargetPrediction};

    #[test]
    fn quantiles_are_called_by_their_decimals() {
        for (probability, name) in
            [(0.05, "q05"), (0.5, "q50"), (0.025, "q025"), (0.1, "q10"), (1e-7, "q0000001")]
        {
            assert_eq!(quantile_name(probability), name);
        }
    }

    #[test]
    fn several_targets_have_figures_of_their_own_and_joint_ones() {
        let output = |mean: f64, error: f64| TargetPrediction {
            mean,
            sd: f64::NAN,
            quantiles: vec![mean - 1.0],
            score: Some(Score { log_density: -error, from_mean: error, from_median: error }),
        };
        let row = |first: f64, second: f64| RowPrediction {
            outputs: vec![output(first, 3.0), output(second, 4.0)],
            survival: Vec::new(),
            probabilities: Vec::new(),
            predicted: None,
            right: None,
            log_density: Some(-7.5),
            decision: None,
            cost: None,
        };
        let rows = vec![row(1.0, 10.0), row(2.0, 20.0)];
        let found = Predictions {
            targets: vec!["u".into(), "v, w".into()],
            labels: Vec::new(),
            quantiles: vec![quantile_name(0.05)],
            survival: Vec::new(),
            actions: Vec::new(),
            numbers: vec![1, 3],
            mean_log_density: Some(-7.5),
            figures: PredictionFigures::joint(&rows),
            by_target: (0..2).map(|target| PredictionFigures::of_target(&rows, target)).collect(),
            accuracy: None,
            mean_cost: None,
            rows,
            cautions: Vec::new(),
        };
        let json = serde_json::to_value(&found).expect("JSON");
        let row = &json["rows"][1];
        assert_eq!(row["row"], 3);
        assert_eq!(row["mean"], serde_json::json!({"u": 2.0, "v, w": 20.0}));
        assert_eq!(row["q05"]["v, w"], 19.0);
        assert!(row["sd"]["u"].is_null());
        assert_eq!(row["log_density"], -7.5);
        assert_eq!(row["log_densities"], serde_json::json!({"u": -3.0, "v, w": -4.0}));
        assert_eq!(json["mean_log_density"], -7.5);
        // √((9 + 16) / 2), and each target alone.
        let rmse = json["rmse"].as_f64().expect("a number");
        assert!((rmse - 12.5_f64.sqrt()).abs() < 1e-12);
        assert_eq!(json["mae"], 3.5);
        assert_eq!(json["targets"]["v, w"]["rmse"], 4.0);
        assert_eq!(json["targets"]["u"]["mean_log_density"], -3.0);
    }
}
