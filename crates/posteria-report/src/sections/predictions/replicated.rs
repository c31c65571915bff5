//! Show the data beside tables that are drawn from the posterior predictive distribution.

use crate::density::estimate;
use crate::figure::{Axis, Figure, Ink, Kind, Mark, Shape, Span, Table};

/// One target in the data, and in tables drawn from the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replicated {
    /// The target.
    pub target: String,
    /// The names of classes; empty for real targets.
    pub labels: Vec<String>,
    /// What was observed; classes as their indices.
    pub observed: Vec<f64>,
    /// The same drawn from the posterior predictive distribution, a table each.
    pub tables: Vec<Vec<f64>>,
}

impl Replicated {
    /// `None` where there is nothing to draw.
    pub(super) fn figure(&self) -> Option<Figure> {
        if self.tables.is_empty() || self.observed.is_empty() {
            return None;
        }
        if self.labels.is_empty() { self.densities() } else { Some(self.counts()) }
    }

    fn densities(&self) -> Option<Figure> {
        let observed = estimate(&self.observed, Kind::Linear)?;
        let mut marks: Vec<Mark> = Vec::new();
        for curve in self.tables.iter().filter_map(|table| estimate(table, Kind::Linear)) {
            let line = Mark::line(&curve.x, &curve.y).ink(Ink::Series(0)).size(0.8).opacity(0.35);
            marks.push(if marks.is_empty() { line.called("replicated") } else { line });
        }
        let line = Mark::line(&observed.x, &observed.y).ink(Ink::Text).size(2.2);
        marks.push(line.called("data"));
        // Far draws of heavy tails would leave no room for the rest.
        let [low, high] = [observed.x[0], observed.x[observed.x.len() - 1]];
        let margin = 0.25 * (high - low);
        Some(Figure {
            name: format!("predictive-density-{}", self.target),
            title: format!("{}: do replicated data look like the data?", self.target),
            caption: format!(
                "Posterior predictive check: kernel densities of {} data sets drawn from the posterior \
                 predictive distribution at the rows of the fit, and of the data.",
                self.tables.len()
            ),
            x: Axis::new(&self.target).within(low - margin, high + margin),
            y: Axis::new("density").including([0.0]),
            marks,
            table: Table::new().numbers(&self.target, &observed.x).numbers("density", &observed.y),
            height: 320.0,
            span: Span::Half,
            ..Figure::default()
        })
    }

    /// How often every class is there, and how often in tables drawn from the model.
    fn counts(&self) -> Figure {
        let count = |values: &[f64], class: usize| {
            values.iter().filter(|value| (**value - class as f64).abs() < 0.5).count() as f64
        };
        let classes = self.labels.len();
        let at: Vec<f64> = (0..classes).map(|class| class as f64).collect();
        let observed: Vec<f64> = (0..classes).map(|class| count(&self.observed, class)).collect();
        let ends = |p: f64| -> Vec<f64> {
            let of = |class: usize| {
                let own: Vec<f64> = self.tables.iter().map(|table| count(table, class)).collect();
                crate::density::quantile(&own, p)
            };
            (0..classes).map(of).collect()
        };
        let (low, high) = (ends(0.05), ends(0.95));
        let bars = Shape::Bars {
            at: at.clone(),
            to: observed.clone(),
            breadth: 0.6,
            is_horizontal: false,
            names: Vec::new(),
        };
        let spread =
            Shape::Intervals { at, low: low.clone(), high: high.clone(), is_horizontal: false };
        Figure {
            name: format!("predictive-counts-{}", self.target),
            title: format!("{}: rows of each class, in the data and replicated", self.target),
            caption: format!(
                "Posterior predictive check: bars count the data, lines are the 5 % to 95 % quantiles of \
                 {} data sets drawn from the posterior predictive distribution.",
                self.tables.len()
            ),
            x: Axis::named(&self.target, self.labels.clone()),
            y: Axis::new("rows").including([0.0]),
            marks: vec![
                Mark::new(bars).ink(Ink::Series(0)).opacity(0.6).called("data"),
                Mark::new(spread).ink(Ink::Text).size(2.5).called("replicated"),
            ],
            table: Table::new()
                .texts("class", &self.labels)
                .numbers("rows", &observed)
                .numbers("5 %", &low)
                .numbers("95 %", &high),
            height: 320.0,
            span: Span::Half,
            ..Figure::default()
        }
    }
}
