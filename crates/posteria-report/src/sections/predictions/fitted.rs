//! Show predictions of rows beside their real targets.

use super::{Basis, named, of_model};
use crate::figure::{Axis, Figure, Hover, Ink, Mark, Shape, Span, Table};
use crate::thin::evenly;

/// Rows that are drawn.
const ROWS: usize = 2000;

/// Predictions of rows beside their targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FittedRows {
    /// The model; empty where there is one only.
    pub model: String,
    /// The target.
    pub target: String,
    /// How the rows were predicted.
    pub basis: Basis,
    /// The number of every row in the data, from 1.
    pub rows: Vec<usize>,
    /// What was observed.
    pub observed: Vec<f64>,
    /// The middle of the prediction.
    pub predicted: Vec<f64>,
    /// Ends of the central 90 % of the prediction.
    pub interval: [Vec<f64>; 2],
}

impl FittedRows {
    pub(super) fn figure(&self) -> Option<Figure> {
        (!self.observed.is_empty()).then(|| self.observed_figure())
    }

    pub(super) fn residuals(&self) -> Option<Figure> {
        (!self.observed.is_empty()).then(|| self.residual_figure())
    }

    fn kept(&self, values: &[f64]) -> Vec<f64> {
        let rows = evenly(self.observed.len(), ROWS);
        rows.iter().map(|row| values.get(*row).copied().unwrap_or(f64::NAN)).collect()
    }

    fn row_numbers(&self) -> Vec<String> {
        self.rows.iter().map(usize::to_string).collect()
    }

    fn size(&self) -> f64 {
        if self.observed.len() > 400 { 3.2 } else { 4.5 }
    }

    fn observed_figure(&self) -> Figure {
        let (x, y) = (self.kept(&self.predicted), self.kept(&self.observed));
        let ends = x.iter().chain(&y).copied().filter(|value| value.is_finite());
        let low = ends.clone().fold(f64::INFINITY, f64::min);
        let high = ends.fold(f64::NEG_INFINITY, f64::max);
        Figure {
            name: named("observed-predicted", &self.target, &self.model),
            title: of_model(
                format!("{}: observed against predicted ({})", self.target, self.basis.title()),
                &self.model,
            ),
            caption: format!(
                "One point per row of the data, on the line if predicted right. {}",
                self.basis.caption()
            ),
            x: Axis::new(format!("predicted {}", self.target)),
            y: Axis::new(format!("observed {}", self.target)),
            marks: vec![
                Mark::line(&[low, high], &[low, high]).ink(Ink::Muted).dash(1).size(1.0),
                Mark::points(&x, &y).ink(Ink::Series(0)).size(self.size()).opacity(0.55),
            ],
            table: Table::new()
                .numbers("predicted", &self.predicted)
                .numbers("observed", &self.observed)
                .texts("row", &self.row_numbers())
                .numbers("5 %", &self.interval[0])
                .numbers("95 %", &self.interval[1]),
            height: 320.0,
            hover: Hover::Point,
            span: Span::Half,
        }
    }

    fn residual_figure(&self) -> Figure {
        let each = self.observed.iter().zip(&self.predicted);
        let residual: Vec<f64> = each.map(|(observed, predicted)| observed - predicted).collect();
        let (x, y) = (self.kept(&self.predicted), self.kept(&residual));
        let half = |interval: &[f64]| {
            let each = interval.iter().zip(&self.predicted);
            self.kept(&each.map(|(end, predicted)| end - predicted).collect::<Vec<_>>())
        };
        let intervals = Shape::Intervals {
            at: x.clone(),
            low: half(&self.interval[0]),
            high: half(&self.interval[1]),
            is_horizontal: false,
        };
        let opacity = (60.0 / x.len().max(1) as f64).clamp(0.06, 0.35);
        Figure {
            name: named("residuals", &self.target, &self.model),
            title: of_model(
                format!(
                    "{}: residuals, without pattern if right ({})",
                    self.target,
                    self.basis.title()
                ),
                &self.model,
            ),
            caption: format!(
                "Observed minus predicted. Bars: 90 % predictive intervals. A bend, a funnel or points \
                 far out are signs of a wrong model or of outliers. {}",
                self.basis.caption()
            ),
            x: Axis::new(format!("predicted {}", self.target)),
            y: Axis::new(format!("residual of {}", self.target)),
            marks: vec![
                Mark::new(intervals).ink(Ink::Series(0)).opacity(opacity),
                Mark::level(0.0),
                Mark::points(&x, &y).ink(Ink::Series(0)).size(self.size()).opacity(0.7),
            ],
            table: Table::new()
                .numbers("predicted", &self.predicted)
                .numbers("residual", &residual)
                .texts("row", &self.row_numbers()),
            height: 320.0,
            hover: Hover::Point,
            span: Span::Half,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_and_training_rows_are_called_so() {
        let rows = FittedRows {
            target: "y".into(),
            rows: vec![3, 7],
            observed: vec![1.0, 2.0],
            predicted: vec![1.5, 1.5],
            ..FittedRows::default()
        };
        let figure = rows.observed_figure();
        assert!(figure.table.csv().contains("1.5,2,7"), "{}", figure.table.csv());
        assert!(figure.title.contains("rows of the fit") && figure.caption.contains("has seen"));
        assert!(rows.residual_figure().table.csv().contains("1.5,-0.5,3"));
        let left_out = FittedRows { basis: Basis::LeaveOneOut, ..rows };
        let figure = left_out.observed_figure();
        assert!(figure.title.contains("leave-one-out") && !figure.caption.contains("has seen"));
    }
}
