//! Show what one input does to the prediction.

use crate::figure::{Axis, Figure, Hover, Ink, Mark, Shape, Table};
use crate::number::short;
use crate::thin::evenly;

/// Values of the data that are marked.
const MARKED: usize = 200;

/// The average prediction as one input changes and all else stays as in the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effect {
    /// The input.
    pub input: String,
    /// What is predicted.
    pub output: String,
    /// Values of the input, or 0, 1, … for classes.
    pub x: Vec<f64>,
    /// The names of its classes; none for numbers.
    pub classes: Vec<String>,
    /// Posterior mean of the average prediction.
    pub mean: Vec<f64>,
    /// Its 5 % and 95 % quantiles.
    pub interval: [Vec<f64>; 2],
    /// The values of the data.
    pub values: Vec<f64>,
    /// Range of the vertical axis, the same for all inputs of an output; NaN: by the data.
    pub range: [f64; 2],
}

impl Effect {
    pub(super) fn figure(&self) -> Figure {
        let [low, high] = &self.interval;
        let ends = self.mean.iter().copied().filter(|value| value.is_finite());
        let change =
            ends.clone().fold(f64::NEG_INFINITY, f64::max) - ends.fold(f64::INFINITY, f64::min);
        let table = match self.classes.is_empty() {
            true => Table::new().numbers(&self.input, &self.x),
            false => Table::new().texts(&self.input, &self.classes),
        };
        let table = table.numbers("mean", &self.mean).numbers("5 %", low).numbers("95 %", high);
        let mut y = Axis::new(format!("mean {}", self.output));
        if self.range.iter().all(|end| end.is_finite()) {
            y = y.including(self.range);
        }
        let base = Figure {
            title: format!("{} changes {} by {}", self.input, self.output, short(change)),
            caption: "Posterior mean, 5 % to 95 %.".into(),
            y,
            table,
            height: 240.0,
            ..Figure::default()
        };
        if self.classes.is_empty() {
            let mut marks = vec![
                Mark::band(&self.x, low, high).ink(Ink::Series(0)),
                Mark::line(&self.x, &self.mean).ink(Ink::Series(0)).size(2.0),
            ];
            let kept = evenly(self.values.len(), MARKED);
            let values: Vec<f64> = kept.iter().map(|row| self.values[*row]).collect();
            marks.push(ticks(&values, &base.y, low, high));
            return Figure { x: Axis::new(&self.input), marks, hover: Hover::Row, ..base };
        }
        let (low, high) = (low.clone(), high.clone());
        let shape = Shape::Intervals { at: self.x.clone(), low, high, is_horizontal: false };
        let names =
            self.classes.iter().zip(&self.mean).map(|(name, y)| format!("{name}: {}", short(*y)));
        let points = Mark::named_points(&self.x, &self.mean, names.collect());
        let marks = vec![
            Mark::new(shape).ink(Ink::Series(0)).size(2.0),
            points.ink(Ink::Series(0)).size(8.0).opacity(1.0),
        ];
        Figure { x: Axis::named(&self.input, self.classes.clone()), marks, ..base }
    }
}

/// Short lines at the foot of the figure where there are rows of the data.
fn ticks(values: &[f64], axis: &Axis, low: &[f64], high: &[f64]) -> Mark {
    let all = || low.iter().chain(high).chain(&axis.include).copied().filter(|end| end.is_finite());
    let bottom = all().fold(f64::INFINITY, f64::min);
    let top = all().fold(f64::NEG_INFINITY, f64::max);
    let foot = bottom + 0.04 * (top - bottom);
    let pieces = values.iter().map(|value| [[*value, bottom], [*value, foot]]).collect();
    Mark::new(Shape::Pieces(pieces)).ink(Ink::Muted).size(0.7).opacity(0.5)
}
