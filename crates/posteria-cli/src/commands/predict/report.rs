//! Show predictions: as JSON, as CSV, as text.

use std::io;
use std::path::Path;

use posteria::assess::{Predictions, StackedChains};
use posteria::fit::NamedEffect;
use serde::Serialize;

use super::averaged::Averaged;
use super::effects;
use crate::args;
use crate::chains;
use crate::failure::{Failure, Result};
use crate::file::write_whole;
use crate::output::{Table, heading};
use crate::text::{self, decimals_for, fixed, significant};

/// Rows that are shown as text.
const SHOWN: usize = 20;

/// All that a prediction gives.
#[derive(Serialize)]
pub struct Report {
    /// The predictions.
    #[serde(flatten)]
    pub found: Predictions,
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws_out: Option<String>,
    /// What weighted draws were worth, where predictions are their mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// How much every chain counts, where that is not alike.
    #[serde(rename = "stacking", skip_serializing_if = "Option::is_none")]
    pub chains: Option<StackedChains>,
    /// How much every run counts, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<Averaged>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effects: Option<Vec<NamedEffect>>,
}

/// What weighted draws are worth.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Importance {
    /// How many there are.
    pub draws: usize,
    /// Their effective number.
    pub effective_size: f64,
}

impl Report {
    /// Of predictions, and of what inputs do if that was asked for.
    pub fn new(
        arguments: &args::Predict,
        found: Predictions,
        effects: Option<Vec<NamedEffect>>,
    ) -> Self {
        let shown =
            |path: &Option<_>| path.as_deref().map(|path: &Path| path.display().to_string());
        Report {
            found,
            out: shown(&arguments.out),
            draws_out: shown(&arguments.draws_out),
            importance: None,
            chains: None,
            average: None,
            effects,
        }
    }

    /// Writes every row to a file, which appears when it is whole.
    pub fn write_csv(&self, path: &Path) -> Result<()> {
        write_whole(path, |writer| {
            let mut writer = csv::Writer::from_writer(writer);
            self.records(|record| writer.write_record(record))
                .and_then(|()| Ok(writer.flush()?))
                .map_err(|error| Failure::Running(io::Error::from(error).into()))
        })
    }

    /// Hands over the header and every row as text; numbers with all their digits, what does not
    /// exist as an empty cell.
    fn records(&self, mut record: impl FnMut(&[String]) -> csv::Result<()>) -> csv::Result<()> {
        let scored = self.found.mean_log_density.is_some();
        let mut header = vec!["row".to_string()];
        for target in if self.found.is_real() { &self.found.targets[..] } else { &[] } {
            let several = self.found.targets.len() > 1;
            let name = |what: &str| if several { format!("{what}[{target}]") } else { what.into() };
            header.extend(["mean", "sd"].map(name));
            header.extend(self.found.quantiles.iter().map(|quantile| name(quantile)));
            header.extend((several && scored).then(|| name("log_density")));
        }
        header.extend(self.found.survival.iter().cloned());
        if !self.found.is_real() {
            header.push("predicted".into());
            header.extend(self.found.labels.iter().map(|label| format!("prob[{label}]")));
        }
        header.extend(scored.then(|| "log_density".into()));
        header.extend(self.decision_columns().map(String::from));
        record(&header)?;
        for (number, row) in self.found.numbers.iter().zip(&self.found.rows) {
            let mut cells = vec![number.to_string()];
            for output in &row.outputs {
                cells.extend([output.mean, output.sd].map(cell));
                cells.extend(output.quantiles.iter().copied().map(cell));
                let alone = output.score.filter(|_| row.outputs.len() > 1);
                cells.extend(alone.map(|score| cell(score.log_density)));
            }
            cells.extend(row.survival.iter().copied().map(cell));
            cells.extend(row.predicted.map(|class| self.found.labels[class].clone()));
            cells.extend(row.probabilities.iter().copied().map(cell));
            cells.extend(row.log_density.map(cell));
            if let Some(decision) = row.decision {
                cells.push(self.found.actions[decision.action].clone());
                cells.push(cell(decision.expected_cost));
                cells.extend(decision.worst_cost.map(cell));
            }
            record(&cells)?;
        }
        Ok(())
    }

    /// What a decision adds to a row.
    fn decision_columns(&self) -> impl Iterator<Item = &'static str> + use<> {
        let decision = self.found.rows.first().and_then(|row| row.decision);
        let basic = decision.map(|_| ["action", "expected_cost"]);
        let worst = decision.and_then(|it| it.worst_cost).map(|_| "worst_cost");
        basic.into_iter().flatten().chain(worst)
    }

    /// The first rows and the figures over all, as text.
    pub fn render(&self) -> String {
        let mut text = String::new();
        if let Some(out) = &self.out {
            let rows = text::count(self.found.rows.len(), "row");
            text.push_str(&format!("{}: {rows}\n", text::printable(out)));
        } else {
            text.push_str(&self.table().render());
            if self.found.rows.len() > SHOWN {
                let all = text::count(self.found.rows.len(), "row");
                text.push_str(&format!("… the first {SHOWN} of {all}; --out FILE has all\n"));
            }
        }
        if self.found.rows.iter().flat_map(|row| &row.outputs).any(|output| output.sd.is_nan()) {
            text.push_str(
                "no sd where the predictive distribution has none: some draws have Student-t \
                 residuals of at\nmost 2 degrees of freedom; its quantiles exist\n",
            );
        }
        if let Some(draws_out) = &self.draws_out {
            text.push_str(&format!("{}: draws of the function\n", text::printable(draws_out)));
        }
        if let Some(figures) = self.figures() {
            text.push_str(&heading(&figures));
        }
        if let Some(Importance { draws, effective_size }) = self.importance {
            let size = text::fixed(effective_size, 1);
            text.push_str(&format!(
                "{draws} weighted draws, worth {size} draws of the posterior\n"
            ));
        }
        text.push_str(&self.chains.as_ref().map(chains::render).unwrap_or_default());
        text.push_str(&self.average.as_ref().map(Averaged::render).unwrap_or_default());
        text.push_str(&self.effects.as_deref().map(effects::render).unwrap_or_default());
        text
    }

    fn table(&self) -> Table {
        let several = self.found.targets.len() > 1;
        let mut header = vec!["row"];
        if self.found.is_density() {
            // The density itself follows.
        } else if self.found.is_real() {
            header.extend(several.then_some("target"));
            header.extend(["mean", "sd"]);
            header.extend(self.found.quantiles.iter().map(String::as_str));
            header.extend(self.found.survival.iter().map(String::as_str));
        } else {
            header.push("predicted");
            header.extend(self.found.labels.iter().map(String::as_str));
        }
        header.extend(self.found.mean_log_density.map(|_| "log_density"));
        self.decision_columns().for_each(|name| header.push(name));
        let mut table = Table::new(&header);
        for (number, row) in self.found.numbers.iter().zip(&self.found.rows).take(SHOWN) {
            let decision = row.decision.map(|decision| {
                let costs = [Some(decision.expected_cost), decision.worst_cost];
                let costs = costs.into_iter().flatten().map(|cost| significant(cost, 4));
                std::iter::once(self.found.actions[decision.action].clone()).chain(costs)
            });
            let density = row.log_density.map(|density| fixed(density, 3));
            let last: Vec<String> =
                density.into_iter().chain(decision.into_iter().flatten()).collect();
            if let Some(class) = row.predicted {
                let mut cells = vec![number.to_string(), self.found.labels[class].clone()];
                cells.extend(row.probabilities.iter().map(|probability| fixed(*probability, 3)));
                table.row(cells.into_iter().chain(last));
                continue;
            }
            if self.found.is_density() {
                table.row([number.to_string()].into_iter().chain(last));
                continue;
            }
            for (target, output) in self.found.targets.iter().zip(&row.outputs) {
                let mut cells = vec![number.to_string()];
                cells.extend(several.then(|| target.clone()));
                // As precisely as the spread deserves.
                let decimals = decimals_for(output.sd, 3);
                cells.extend([output.mean, output.sd].map(|value| fixed(value, decimals)));
                cells.extend(output.quantiles.iter().map(|value| fixed(*value, decimals)));
                cells.extend(row.survival.iter().map(|probability| fixed(*probability, 3)));
                table.row(cells.into_iter().chain(last.iter().cloned()));
            }
        }
        table
    }

    /// One line about all rows, if their targets are known.
    fn figures(&self) -> Option<String> {
        let density = self.found.mean_log_density?;
        let mut line = format!(
            "{}, mean log density {}",
            text::count(self.found.rows.len(), "row"),
            fixed(density, 3)
        );
        match (self.found.accuracy, self.found.figures) {
            _ if self.found.targets.is_empty() => {}
            (Some(accuracy), _) => line.push_str(&format!(", accuracy {}", fixed(accuracy, 3))),
            (None, Some(figures)) if figures.rmse.is_nan() => {
                line.push_str(" (of a censored row, that of the probability that it lasts longer)")
            }
            (None, Some(figures)) => line.push_str(&format!(
                ", rmse {}, mae {}",
                significant(figures.rmse, 4),
                significant(figures.mae, 4)
            )),
            (None, None) => {}
        }
        if let Some(cost) = self.found.mean_cost {
            line.push_str(&format!(", mean cost {}", significant(cost, 4)));
        }
        Some(line)
    }
}

/// A number with all its digits, or nothing.
fn cell(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { String::new() }
}

#[cfg(test)]
mod tests {
    use posteria::assess::{PredictionFigures, RowPrediction, Score, TargetPrediction};

    use super::*;

    fn two_targets() -> Report {
        let output = |mean: f64, error: f64| TargetPrediction {
            mean,
            sd: f64::NAN,
            quantiles: vec![mean - 1.0],
            score: Some(Score { log_density: -error, from_mean: error, from_median: error }),
        };
        let row = |first: f64, second: f64| RowPrediction {
            survival: Vec::new(),
            outputs: vec![output(first, 3.0), output(second, 4.0)],
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
            quantiles: vec!["q05".into()],
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
        let (out, draws_out) = (None, None);
        Report {
            found,
            out,
            draws_out,
            importance: None,
            chains: None,
            average: None,
            effects: None,
        }
    }

    #[test]
    fn several_targets_have_columns_of_their_own() {
        let report = two_targets();
        let mut writer = csv::Writer::from_writer(Vec::new());
        report.records(|record| writer.write_record(record)).expect("written");
        let text = String::from_utf8(writer.into_inner().expect("whole")).expect("UTF-8");
        assert_eq!(
            text,
            "row,mean[u],sd[u],q05[u],log_density[u],\"mean[v, w]\",\"sd[v, w]\",\"q05[v, w]\",\
             \"log_density[v, w]\",log_density\n\
             1,1.0,,0.0,-3.0,10.0,,9.0,-4.0,-7.5\n3,2.0,,1.0,-3.0,20.0,,19.0,-4.0,-7.5\n"
        );
        let table = report.render();
        assert!(table.contains("target") && table.contains("rmse 3.536"), "{table}");
    }
}
