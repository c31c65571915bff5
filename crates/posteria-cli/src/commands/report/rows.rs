//! Predict every row of the data without itself, or say that it was not left out.

use posteria::assess::calibration::{Coverage, ProbabilityIntegralTransform, share_of_jump};
use posteria::assess::{Discrimination, Smoothing, pareto_shape_limit, weights_leaving_out};
use posteria::data::Targets;
use posteria::fit::{PosteriorPredictive, PredictedRows};
use posteria::predict::Predictive;
use posteria_linalg::Matrix;
use posteria_report::sections::{
    Basis, ClassifiedRows, FittedRows, Pit, Predictions, RankedRows, Rates, Replicated,
};

use super::effects::evenly;
use super::predictions::{OUTPUTS, Source};
use crate::failure::Result;
use crate::text;

/// Rows that are predicted.
const ROWS: usize = 1000;
/// Bins of a histogram of probability integral transforms.
const BINS: usize = 10;
/// The central interval whose coverage is told.
const MASS: f64 = 0.9;
/// Tables that are drawn from the model.
const TABLES: usize = 30;

/// The predictions of rows of the data.
pub struct Rows {
    basis: Basis,
    /// Their numbers, from 0.
    kept: Vec<usize>,
    /// Their targets.
    observed: Vec<Vec<f64>>,
    found: Vec<Found>,
}

/// The prediction of a row.
struct Found {
    /// Of every real target: the middle, 5 % and 95 % quantiles, P(target ≤ observed).
    outputs: Vec<[f64; 4]>,
    probabilities: Vec<f64>,
    /// Whether the importance weights of the row can be trusted.
    is_reliable: bool,
}

/// How rows were predicted.
#[derive(Clone, Copy, Debug)]
pub struct RowNote {
    basis: Basis,
    /// Rows that were predicted, of how many.
    shown: usize,
    all: usize,
    /// Draws that predicted them.
    draws: usize,
    /// Rows whose importance weights cannot be trusted.
    unreliable: usize,
}

impl RowNote {
    /// Whether each row was predicted without itself.
    pub fn is_left_out(&self) -> bool {
        self.basis == Basis::LeaveOneOut
    }

    /// In words, of the only run.
    pub fn words(&self) -> String {
        let mut words = match (self.basis, self.unreliable) {
            (Basis::Fit, _) => {
                "Rows are those of the fit, which the model has seen; posteria predict \
                                and posteria assess --method kfold tell what to expect of new rows."
                    .to_string()
            }
            (Basis::LeaveOneOut, 0) => format!(
                "Rows are predicted leave-one-out, by Pareto-smoothed importance weights of {} draws.",
                self.draws
            ),
            (Basis::LeaveOneOut, count) => format!(
                "Rows are predicted leave-one-out, by Pareto-smoothed importance weights of {} draws. \
                 For {} these weights are unreliable (Pareto k too high) and predictions too good; \
                 posteria assess repairs such rows.",
                self.draws,
                text::count(count, "row")
            ),
        };
        if self.shown < self.all {
            words.push_str(&format!(" {} of {} rows are shown.", self.shown, self.all));
        }
        words
    }

    /// In words, of several runs.
    pub fn of_several(notes: &[(&str, RowNote)]) -> String {
        let named = |is: &dyn Fn(&RowNote) -> bool| -> Vec<&str> {
            notes.iter().filter(|(_, note)| is(note)).map(|(name, _)| *name).collect()
        };
        let mut words = String::new();
        let left_out = named(&|note| note.basis == Basis::LeaveOneOut);
        if !left_out.is_empty() {
            words.push_str(
                "Rows are predicted leave-one-out, by Pareto-smoothed importance weights.",
            );
        }
        let unreliable: Vec<String> = notes
            .iter()
            .filter(|(_, note)| note.unreliable > 0)
            .map(|(name, note)| format!("{} of {name}", text::count(note.unreliable, "row")))
            .collect();
        if !unreliable.is_empty() {
            words.push_str(&format!(
                " These weights are unreliable (Pareto k too high), and predictions too good, for {}; \
                 posteria compare repairs such rows.",
                unreliable.join(", ")
            ));
        }
        let seen = named(&|note| note.basis == Basis::Fit);
        if !seen.is_empty() {
            words.push_str(&format!(
                " Rows of {} are those of the fit, which it has seen.",
                seen.join(", ")
            ));
        }
        words.trim_start().to_string()
    }
}

impl Source<'_> {
    /// Predicts rows of the data by the draws of `work`.
    pub fn rows(&self, work: &PosteriorPredictive<'_>, basis: Basis) -> Result<Rows> {
        let kept = evenly(self.data.rows(), ROWS);
        let all = self.encoder.observed(&self.data.targets);
        let observed: Vec<Vec<f64>> = kept.iter().map(|row| all[*row].clone()).collect();
        let all_inputs = self.data.inputs_and_offsets();
        let columns = all_inputs.columns();
        let inputs = Matrix::from_fn(kept.len(), columns, |row, k| all_inputs[(kept[row], k)]);
        let found = match basis {
            Basis::Fit => self.map(&inputs, |row, predictive| {
                self.found(row, predictive, &observed[row], true)
            })?,
            Basis::LeaveOneOut => {
                // Rows of a process depend on each other given a draw, those of others do not.
                let source = match work.is_open {
                    true => PredictedRows::LeaveOneOut(self.data.rows(), &kept),
                    false => PredictedRows::New(&inputs),
                };
                let limit = pareto_shape_limit(work.total());
                work.for_rows("rows left out", source, |row, table, index| {
                    let target = &observed[row][..];
                    let weights =
                        weights_leaving_out((table, index), target, Smoothing::Pareto, 1.0);
                    match weights {
                        Ok(weights) => {
                            let left_out = table.weighted(index, &weights.log_weights);
                            self.found(row, &left_out, target, weights.pareto_shape <= limit)
                        }
                        Err(_) => self.found(row, &table.predictive(index), target, false),
                    }
                })?
            }
        };
        Ok(Rows { basis, kept, observed, found })
    }

    fn found(
        &self,
        row: usize,
        predictive: &Predictive<'_>,
        observed: &[f64],
        is_reliable: bool,
    ) -> Found {
        let family = predictive.family();
        // An even spread over rows in no order: what is counted of the jump at a count.
        let share = share_of_jump(row);
        let output = |target: usize| {
            let [low, high] = [0.05, 0.95].map(|p| predictive.quantile(target, p));
            let transform = predictive.transform(target, observed[target], share);
            [self.centre(predictive, target), low, high, transform]
        };
        let mut probabilities = vec![0.0; family.classes()];
        if family.classes() > 0 {
            predictive.probabilities(&mut probabilities);
        }
        let outputs = (0..family.outputs()).map(output).collect();
        Found { outputs, probabilities, is_reliable }
    }

    /// Tables drawn from the model at the rows of the fit: every row from its predictive
    /// distribution given one draw.
    pub fn replicated(&self) -> Result<Vec<Replicated>> {
        let kept = evenly(self.data.rows(), ROWS);
        let all_inputs = self.data.inputs_and_offsets();
        let columns = all_inputs.columns();
        let inputs = Matrix::from_fn(kept.len(), columns, |row, k| all_inputs[(kept[row], k)]);
        let source = match self.work.is_open {
            true => PredictedRows::Training(self.data.rows()),
            false => PredictedRows::New(&inputs),
        };
        let place = |row: usize| match self.work.is_open {
            true => kept.binary_search(&row).ok(),
            false => Some(row),
        };
        let chosen = evenly(self.work.total(), TABLES);
        let (family, seed) = (self.work.family, self.work.seed);
        let targets = family.outputs().max(1);
        let drawn = self.work.for_rows("tables", source, |row, table, index| {
            place(row)?;
            let parameters = table.parameters(index);
            let of_draw = |draw: &usize| {
                let own = &parameters[draw * family.width()..][..family.width()];
                let indices = [*draw as u64, 2 + row as u64];
                let mut stream = seed.stream(posteria::random::Purpose::Functions, indices);
                let mut target = vec![0.0; targets];
                Predictive::new(family, own).draw(&mut stream, &mut target);
                target
            };
            Some(chosen.iter().map(of_draw).collect::<Vec<Vec<f64>>>())
        })?;
        let drawn: Vec<Vec<Vec<f64>>> = drawn.into_iter().flatten().collect();
        let all = self.encoder.observed(&self.data.targets);
        let labels = self.encoder.labels();
        let names = match &self.data.targets {
            Targets::Real { names, .. } => names.clone(),
            // Replicated durations are not censored, and cannot be held against those that are.
            Targets::Durations { censored: Some(_), .. } => Vec::new(),
            Targets::Classes { name, .. }
            | Targets::Counts { name, .. }
            | Targets::Durations { name, .. } => vec![name.clone()],
        };
        let of_target = |(target, name): (usize, String)| Replicated {
            target: name,
            labels: labels.to_vec(),
            observed: kept.iter().map(|row| all[*row][target]).collect(),
            tables: (0..chosen.len())
                .map(|table| drawn.iter().map(|row| row[table][target]).collect())
                .collect(),
        };
        Ok(names.into_iter().enumerate().take(OUTPUTS).map(of_target).collect())
    }
}

impl Rows {
    /// What the page shows of them.
    pub fn shown(&self, source: &Source<'_>) -> Predictions {
        match &source.data.targets {
            Targets::Real { names, .. } => {
                let each = || names.iter().enumerate().take(OUTPUTS);
                Predictions {
                    fitted: each().map(|(target, name)| self.fitted(target, name)).collect(),
                    pits: each().map(|(target, name)| self.pit(target, name)).collect(),
                    ..Predictions::default()
                }
            }
            // What is censored has no place beside its prediction.
            Targets::Durations { name, censored: Some(_), .. } => {
                Predictions { pits: vec![self.pit(0, name)], ..Predictions::default() }
            }
            Targets::Counts { name, .. } | Targets::Durations { name, .. } => Predictions {
                fitted: vec![self.fitted(0, name)],
                pits: vec![self.pit(0, name)],
                ..Predictions::default()
            },
            Targets::Classes { name, labels, codes } => Predictions {
                classified: vec![self.classified(name, labels, codes)],
                calibrated: vec![self.classified(name, labels, codes)],
                ranked: self.ranked(name, labels, codes).into_iter().collect(),
                ..Predictions::default()
            },
        }
    }

    /// How they were predicted: so many of all rows, by so many draws.
    pub fn note(&self, all: usize, draws: usize) -> RowNote {
        let unreliable = self.found.iter().filter(|row| !row.is_reliable).count();
        RowNote { basis: self.basis, shown: self.kept.len(), all, draws, unreliable }
    }

    fn of(&self, target: usize, k: usize) -> Vec<f64> {
        self.found.iter().map(|row| row.outputs[target][k]).collect()
    }

    fn fitted(&self, target: usize, name: &str) -> FittedRows {
        FittedRows {
            model: String::new(),
            target: name.into(),
            basis: self.basis,
            rows: self.kept.iter().map(|row| row + 1).collect(),
            observed: self.observed.iter().map(|own| own[target]).collect(),
            predicted: self.of(target, 0),
            interval: [self.of(target, 1), self.of(target, 2)],
        }
    }

    fn pit(&self, target: usize, name: &str) -> Pit {
        let found = ProbabilityIntegralTransform::new(name.into(), self.of(target, 3));
        let coverage = found.coverage.iter().find(|it| (it.mass - MASS).abs() < 1e-9);
        Pit {
            model: String::new(),
            target: name.into(),
            basis: self.basis,
            at: found.ecdf.iter().map(|point| point.at).collect(),
            difference: found.ecdf.iter().map(|point| point.difference).collect(),
            band: found.band,
            histogram: found.histogram(BINS),
            histogram_band: found.histogram_band(BINS),
            coverage: coverage.map_or(f64::NAN, |Coverage { observed, .. }| observed.value),
        }
    }

    fn classes(&self, codes: &[usize]) -> Vec<usize> {
        self.kept.iter().map(|row| codes[*row]).collect()
    }

    fn classified(&self, name: &str, labels: &[String], codes: &[usize]) -> ClassifiedRows {
        ClassifiedRows {
            model: String::new(),
            target: name.into(),
            basis: self.basis,
            labels: labels.to_vec(),
            observed: self.classes(codes),
            probabilities: self.found.iter().map(|row| row.probabilities.clone()).collect(),
        }
    }

    /// How well the second of two classes is told from the first.
    fn ranked(&self, name: &str, labels: &[String], codes: &[usize]) -> Option<RankedRows> {
        let [_, class] = labels else { return None };
        let probabilities: Vec<f64> = self.found.iter().map(|row| row.probabilities[1]).collect();
        let is: Vec<bool> = self.classes(codes).iter().map(|code| *code == 1).collect();
        let found = Discrimination::new(&probabilities, &is)?;
        let rates = found.thresholds.iter().map(|it| Rates {
            threshold: it.at,
            true_positive: it.true_positive_rate,
            false_positive: it.false_positive_rate,
            precision: it.precision,
        });
        Some(RankedRows {
            model: String::new(),
            target: name.into(),
            class: format!("P({class})"),
            basis: self.basis,
            rates: rates.collect(),
            area: found.area,
            area_se: found.area_se,
            average_precision: found.average_precision,
            prevalence: found.prevalence,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_were_seen_are_called_so() {
        let note = |basis, unreliable| RowNote { basis, shown: 9, all: 9, draws: 50, unreliable };
        let (fit, good) = (note(Basis::Fit, 0), note(Basis::LeaveOneOut, 0));
        let poor = note(Basis::LeaveOneOut, 2);
        assert!(fit.words().contains("has seen") && !good.words().contains("has seen"));
        assert!(poor.words().contains("2 rows") && poor.words().contains("Pareto k too high"));
        let all = RowNote::of_several(&[("a", good), ("b", poor), ("c", fit)]);
        assert!(
            all.contains("2 rows of b") && all.contains("Rows of c are those of the fit"),
            "{all}"
        );
        assert_eq!(RowNote::of_several(&[]), "");
    }
}
