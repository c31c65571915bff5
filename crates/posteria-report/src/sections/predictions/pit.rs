//! Show where targets fall in their predictive distributions.

use super::Basis;
use crate::figure::{Axis, Figure, Hover, Ink, Mark, Shape, Span, Table};
use crate::number::percent;

/// Probability integral transforms P(target ≤ observed) of one target under one model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pit {
    /// The model; empty where there is one only.
    pub model: String,
    /// The target.
    pub target: String,
    /// How the rows were predicted.
    pub basis: Basis,
    /// Where the distribution function of the transforms is told.
    pub at: Vec<f64>,
    /// That function minus that of a uniform variable.
    pub difference: Vec<f64>,
    /// Half the width of the band that holds the difference everywhere with 95 %.
    pub band: f64,
    /// Counts in bins of equal width over what is expected.
    pub histogram: Vec<f64>,
    /// Where the height of one bin is with 95 % if predictions are calibrated.
    pub histogram_band: [f64; 2],
    /// Share of rows inside their central 90 % predictive intervals.
    pub coverage: f64,
}

impl Pit {
    /// The distribution functions of one or several models, at least one.
    pub(super) fn figure(pits: &[&Pit]) -> Figure {
        let Pit { target, basis, at, band, .. } = pits[0];
        let x: Vec<f64> = [&[0.0], &at[..], &[1.0]].concat();
        let (low, high) = (vec![-band; x.len()], vec![*band; x.len()]);
        let mut marks = vec![
            Mark::band(&x, &low, &high).ink(Ink::Muted).called("95 % if calibrated"),
            Mark::level(0.0),
        ];
        let mut table = Table::new().numbers("transform", &x);
        for (index, pit) in pits.iter().enumerate() {
            let y = [&[0.0], &pit.difference[..], &[0.0]].concat();
            let name = if pits.len() > 1 { &pit.model } else { "difference" };
            table = table.numbers(name, &y);
            let line = Mark::line(&x, &y).series(index).size(2.0);
            marks.push(if pits.len() > 1 { line.called(&pit.model) } else { line });
        }
        let title = match pits {
            [one] => format!(
                "{target}: 90 % intervals hold {} of the rows ({})",
                percent(one.coverage),
                basis.title()
            ),
            _ => format!("{target}: are the intervals right? ({} PIT)", basis.title()),
        };
        let mut caption = format!(
            "ECDF of the probability integral transforms minus the uniform one: inside the band if \
             predictions are calibrated. A dip then a rise: intervals too wide; a rise then a dip: \
             too narrow; all on one side: biased. {}",
            basis.caption()
        );
        if pits.len() > 1 {
            let shares: Vec<String> =
                pits.iter().map(|pit| format!("{} {}", pit.model, percent(pit.coverage))).collect();
            caption.push_str(&format!(" 90 % intervals hold: {}.", shares.join(", ")));
        }
        Figure {
            name: format!("pit-ecdf-{target}"),
            title,
            caption,
            x: Axis::new("probability integral transform").within(0.0, 1.0),
            y: Axis::new("ECDF difference").including([-1.2 * band, 1.2 * band]),
            marks,
            table,
            height: 320.0,
            hover: Hover::Row,
            span: Span::Half,
        }
    }

    pub(super) fn histogram_figure(&self) -> Figure {
        let bins = self.histogram.len();
        let breadth = 1.0 / bins.max(1) as f64;
        let at: Vec<f64> = (0..bins).map(|bin| (bin as f64 + 0.5) * breadth).collect();
        let [low, high] = self.histogram_band.map(|end| vec![end; 2]);
        let bars = Shape::Bars {
            at: at.clone(),
            to: self.histogram.clone(),
            breadth: 0.92 * breadth,
            is_horizontal: false,
            names: Vec::new(),
        };
        Figure {
            name: format!("pit-histogram-{}", self.target),
            title: format!("{}: PIT histogram, flat if calibrated", self.target),
            caption: format!(
                "U: predictions too narrow; hump: too wide; slope: biased. Grey: where a bar is with \
                 95 % by chance. {}",
                self.basis.caption()
            ),
            x: Axis::new("probability integral transform").within(0.0, 1.0),
            y: Axis::new("rows over expected").including([0.0, 1.5]),
            marks: vec![
                Mark::new(bars).ink(Ink::Series(0)).opacity(0.75),
                Mark::band(&[0.0, 1.0], &low, &high).ink(Ink::Text).opacity(0.15),
                Mark::level(1.0),
            ],
            table: Table::new().numbers("middle", &at).numbers("over expected", &self.histogram),
            height: 320.0,
            hover: Hover::Row,
            span: Span::Half,
        }
    }
}
