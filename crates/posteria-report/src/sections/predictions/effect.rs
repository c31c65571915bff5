//! Show what one input does to the prediction.

use crate::figure::{Axis, Figure, Hover, Ink, Mark, Shape, Table};
use crate::number::short;
use crate::thin::evenly;

/// Values of the data that are marked.
const MARKED: usize = 200;

/// The average prediction as one input changes and all else stays as in the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Effect {
    /// The model; empty where there is one only.
    pub model: String,
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
    /// How much the mean changes over the values of the input.
    pub fn change(&self) -> f64 {
        let ends = self.mean.iter().copied().filter(|value| value.is_finite());
        ends.clone().fold(f64::NEG_INFINITY, f64::max) - ends.fold(f64::INFINITY, f64::min)
    }

    /// The effects of one or several models, at least one.
    pub(super) fn figure(effects: &[&Effect]) -> Figure {
        let first = effects[0];
        let several = effects.len() > 1;
        let mut table = match first.classes.is_empty() {
            true => Table::new().numbers(&first.input, &first.x),
            false => Table::new().texts(&first.input, &first.classes),
        };
        let mut marks = Vec::new();
        let mut ends = Vec::new();
        // All effects of a figure are of the same values.
        let shown = effects.iter().filter(|effect| effect.x.len() == first.x.len());
        for (index, effect) in shown.enumerate() {
            let [low, high] = &effect.interval;
            let name = |what: &str| match several {
                true => format!("{}: {what}", effect.model),
                false => what.to_string(),
            };
            table = table.numbers(name("mean"), &effect.mean);
            table = table.numbers(name("5 %"), low).numbers(name("95 %"), high);
            ends.extend([low.clone(), high.clone()].concat());
            marks.extend(effect.marks(index, effects.len()));
        }
        let mut y = Axis::new(format!("mean {}", first.output));
        if first.range.iter().all(|end| end.is_finite()) {
            y = y.including(first.range);
        }
        if first.classes.is_empty() {
            let kept = evenly(first.values.len(), MARKED);
            let values: Vec<f64> = kept.iter().map(|row| first.values[*row]).collect();
            marks.push(ticks(&values, &y, &ends));
        }
        let title = match several {
            true => format!("{}: how mean {} changes with it", first.input, first.output),
            false => {
                format!("{} changes {} by {}", first.input, first.output, short(first.change()))
            }
        };
        Figure {
            name: format!("effect-{}-{}", first.output, first.input),
            title,
            caption: "Posterior mean, and from the 5 % to the 95 % quantile.".into(),
            x: match first.classes.is_empty() {
                true => Axis::new(&first.input),
                false => Axis::named(&first.input, first.classes.clone()),
            },
            y,
            marks,
            table,
            height: 240.0,
            hover: if first.classes.is_empty() { Hover::Row } else { Hover::Marks },
            ..Figure::default()
        }
    }

    fn marks(&self, index: usize, models: usize) -> Vec<Mark> {
        let [low, high] = &self.interval;
        let label = if models > 1 { self.model.clone() } else { String::new() };
        if self.classes.is_empty() {
            let line = Mark::line(&self.x, &self.mean).series(index).size(2.0).called(label);
            let band = Mark::band(&self.x, low, high).ink(Ink::Series(index));
            return vec![if models > 1 { band.opacity(0.1) } else { band }, line];
        }
        // Side by side.
        let shift = 0.12 * (index as f64 - 0.5 * (models as f64 - 1.0));
        let at: Vec<f64> = self.x.iter().map(|x| x + shift).collect();
        let (low, high) = (low.clone(), high.clone());
        let shape = Shape::Intervals { at: at.clone(), low, high, is_horizontal: false };
        let named = |(class, y): (&String, &f64)| match &self.model[..] {
            "" => format!("{class}: {}", short(*y)),
            model => format!("{model}, {class}: {}", short(*y)),
        };
        let names = self.classes.iter().zip(&self.mean).map(named).collect();
        let points = Mark::named_points(&at, &self.mean, names).ink(Ink::Series(index));
        vec![
            Mark::new(shape).ink(Ink::Series(index)).size(2.0),
            points.size(8.0).opacity(1.0).called(label),
        ]
    }
}

/// Short lines at the foot of the figure where there are rows of the data.
fn ticks(values: &[f64], axis: &Axis, ends: &[f64]) -> Mark {
    let all = || ends.iter().chain(&axis.include).copied().filter(|end| end.is_finite());
    let bottom = all().fold(f64::INFINITY, f64::min);
    let top = all().fold(f64::NEG_INFINITY, f64::max);
    let foot = bottom + 0.04 * (top - bottom);
    let pieces = values.iter().map(|value| [[*value, bottom], [*value, foot]]).collect();
    Mark::new(Shape::Pieces(pieces)).ink(Ink::Muted).size(0.7).opacity(0.5)
}
