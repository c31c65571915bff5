//! Predictions as JSON.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::Predictions;
use crate::assess::{PredictionFigures, RowPrediction, TargetPrediction};

impl Serialize for Predictions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let rows: Vec<RowObject<'_>> = self
            .numbers
            .iter()
            .zip(&self.rows)
            .map(|(number, row)| RowObject { number: *number, row, all: self })
            .collect();
        map.serialize_entry("rows", &rows)?;
        let real = self.figures.filter(|_| !self.is_density());
        map.serialize_entry("mean_log_density", &self.mean_log_density)?;
        map.serialize_entry("rmse", &real.map(|it| it.rmse))?;
        map.serialize_entry("mae", &real.map(|it| it.mae))?;
        map.serialize_entry("accuracy", &self.accuracy)?;
        if !self.actions.is_empty() {
            map.serialize_entry("mean_cost", &self.mean_cost)?;
        }
        if self.by_target.len() > 1 {
            let of = |(index, figures): (usize, &Option<PredictionFigures>)| {
                (index, FigureObject(*figures))
            };
            let all: Vec<_> = self.by_target.iter().enumerate().map(of).collect();
            let named = all.iter().map(|(index, it)| (self.targets[*index].as_str(), it));
            map.serialize_entry("targets", &Entries(named.collect()))?;
        }
        map.end()
    }
}

struct FigureObject(Option<PredictionFigures>);

impl Serialize for FigureObject {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("mean_log_density", &self.0.map(|it| it.mean_log_density))?;
        map.serialize_entry("rmse", &self.0.map(|it| it.rmse))?;
        map.serialize_entry("mae", &self.0.map(|it| it.mae))?;
        map.end()
    }
}

/// Named values, in their order.
struct Entries<'a, T>(Vec<(&'a str, T)>);

impl<T: Serialize> Serialize for Entries<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// One row: a figure is a number for one target, an object of numbers by target for several.
struct RowObject<'a> {
    number: usize,
    row: &'a RowPrediction,
    all: &'a Predictions,
}

impl Serialize for RowObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RowObject { number, row, all } = self;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("row", number)?;
        let mut figure = |name: &str, value: &dyn Fn(&TargetPrediction) -> f64| match &row.outputs[..]
        {
            [] => Ok(()),
            [output] => map.serialize_entry(name, &value(output)),
            several => {
                let by_target = all.targets.iter().zip(several);
                let entries = by_target.map(|(target, output)| (target.as_str(), value(output)));
                map.serialize_entry(name, &Entries(entries.collect()))
            }
        };
        figure("mean", &|output| output.mean)?;
        figure("sd", &|output| output.sd)?;
        for (index, quantile) in all.quantiles.iter().enumerate() {
            figure(quantile, &|output| output.quantiles[index])?;
        }
        let scored = row.outputs.first().is_some_and(|output| output.score.is_some());
        if row.outputs.len() > 1 && scored {
            let alone = |output: &TargetPrediction| {
                output.score.map_or(f64::NAN, |score| score.log_density)
            };
            figure("log_densities", &alone)?;
        }
        for (name, value) in all.survival.iter().zip(&row.survival) {
            map.serialize_entry(name, value)?;
        }
        if let Some(class) = row.predicted {
            map.serialize_entry("predicted", &all.labels[class])?;
            let probabilities = all.labels.iter().map(String::as_str);
            let probabilities = probabilities.zip(row.probabilities.iter().copied());
            map.serialize_entry("prob", &Entries(probabilities.collect()))?;
        }
        if let Some(log_density) = row.log_density {
            map.serialize_entry("log_density", &log_density)?;
        }
        if let Some(decision) = row.decision {
            map.serialize_entry("action", &all.actions[decision.action])?;
            map.serialize_entry("expected_cost", &decision.expected_cost)?;
            if let Some(cost) = decision.worst_cost {
                map.serialize_entry("worst_cost", &cost)?;
            }
        }
        map.end()
    }
}
