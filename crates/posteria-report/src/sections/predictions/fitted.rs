//! Show predictions of rows beside their real targets.

use crate::figure::{Axis, Figure, Hover, Ink, Mark, Shape, Table};
use crate::number::percent;
use crate::thin::evenly;

/// Rows that are drawn.
const ROWS: usize = 2000;

/// Predictions of rows beside their targets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FittedRows {
    /// The target.
    pub target: String,
    /// What was observed.
    pub observed: Vec<f64>,
    /// The middle of the prediction.
    pub predicted: Vec<f64>,
    /// Ends of the central 90 % of the prediction.
    pub interval: [Vec<f64>; 2],
    /// P(target ≤ observed) by the prediction.
    pub level: Vec<f64>,
}

impl FittedRows {
    pub(super) fn figures(&self) -> Vec<Figure> {
        if self.observed.is_empty() {
            return Vec::new();
        }
        let mut figures = vec![self.observed_figure(), self.residual_figure()];
        if self.level.iter().any(|level| level.is_finite()) {
            figures.push(self.coverage_figure());
        }
        figures
    }

    fn kept(&self, values: &[f64]) -> Vec<f64> {
        let rows = evenly(self.observed.len(), ROWS);
        rows.iter().map(|row| values.get(*row).copied().unwrap_or(f64::NAN)).collect()
    }

    fn table(&self) -> Table {
        Table::new()
            .numbers("predicted", &self.predicted)
            .numbers("observed", &self.observed)
            .numbers("5 %", &self.interval[0])
            .numbers("95 %", &self.interval[1])
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
            title: format!("{}: observed against predicted, on the line if right", self.target),
            caption: "One point per row of the data. The model has seen these rows: for new ones \
                      expect more scatter."
                .into(),
            x: Axis::new(format!("predicted {}", self.target)),
            y: Axis::new(format!("observed {}", self.target)),
            marks: vec![
                Mark::line(&[low, high], &[low, high]).ink(Ink::Muted).dash(1).size(1.0),
                Mark::points(&x, &y).ink(Ink::Series(0)).size(self.size()).opacity(0.55),
            ],
            table: self.table(),
            height: 320.0,
            hover: Hover::Point,
            ..Figure::default()
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
            title: format!("{}: residuals should show no pattern", self.target),
            caption:
                "Observed minus predicted. Bars: where 90 % of new rows are expected. A bend, a \
                      funnel or points far out are signs of a wrong model or of outliers."
                    .into(),
            x: Axis::new(format!("predicted {}", self.target)),
            y: Axis::new(format!("residual of {}", self.target)),
            marks: vec![
                Mark::new(intervals).ink(Ink::Series(0)).opacity(opacity),
                Mark::level(0.0),
                Mark::points(&x, &y).ink(Ink::Series(0)).size(self.size()).opacity(0.7),
            ],
            table: Table::new()
                .numbers("predicted", &self.predicted)
                .numbers("residual", &residual),
            height: 320.0,
            hover: Hover::Point,
            ..Figure::default()
        }
    }

    /// The share of rows inside central intervals of every probability.
    fn coverage_figure(&self) -> Figure {
        let levels: Vec<f64> =
            self.level.iter().copied().filter(|level| level.is_finite()).collect();
        let n = levels.len().max(1) as f64;
        let share =
            |p: f64| levels.iter().filter(|u| (2.0 * **u - 1.0).abs() <= p).count() as f64 / n;
        let x: Vec<f64> = (0..=40).map(|step| f64::from(step) / 40.0).collect();
        let y: Vec<f64> = x.iter().map(|p| share(*p)).collect();
        // Where the share of independent rows is with 95 %.
        let spread = |p: f64| 1.96 * (p * (1.0 - p) / n).sqrt();
        let low: Vec<f64> = x.iter().map(|p| (p - spread(*p)).max(0.0)).collect();
        let high: Vec<f64> = x.iter().map(|p| (p + spread(*p)).min(1.0)).collect();
        Figure {
            title: format!("{}: the 90 % intervals hold {} of the rows", self.target, percent(share(0.9))),
            caption: "The share of rows inside intervals of every probability. Above the diagonal \
                      intervals are too wide, below too narrow; grey: chance. Rows of the fit itself \
                      lie rather above."
                .into(),
            x: Axis::new("probability of the interval").within(0.0, 1.0),
            y: Axis::new("share of rows inside").within(0.0, 1.0),
            marks: vec![
                Mark::band(&x, &low, &high).ink(Ink::Muted),
                Mark::line(&[0.0, 1.0], &[0.0, 1.0]).ink(Ink::Muted).dash(1).size(1.0),
                Mark::line(&x, &y).ink(Ink::Series(0)).size(2.0),
            ],
            table: Table::new().numbers("probability", &x).numbers("share", &y),
            height: 320.0,
            hover: Hover::Row,
            ..Figure::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coverage_counts_central_intervals() {
        // Levels spread evenly: a share p of them is inside the central interval p.
        let level: Vec<f64> = (0..1000).map(|i| (f64::from(i) + 0.5) / 1000.0).collect();
        let rows = FittedRows { level, observed: vec![0.0; 1000], ..FittedRows::default() };
        let csv = rows.coverage_figure().table.csv();
        let shares = csv.lines().skip(1).map(|line| {
            let (p, share) = line.split_once(',').expect("two columns");
            (p.parse::<f64>().expect("a number"), share.parse::<f64>().expect("a number"))
        });
        assert!(shares.into_iter().all(|(p, share)| (p - share).abs() < 2e-3));
    }
}
