//! Show how the prediction runs along one input.

use crate::figure::{Axis, Figure, Hover, Ink, Mark, Span, Table};
use crate::number::percent;
use crate::thin::evenly;

/// Points of data that are drawn.
const POINTS: usize = 3000;

/// The prediction along one input, with the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The input.
    pub input: String,
    /// What is predicted.
    pub output: String,
    /// Values of the input.
    pub x: Vec<f64>,
    /// The middle of the prediction there.
    pub centre: Vec<f64>,
    /// What the middle is: `mean` or `median`.
    pub centre_name: String,
    /// Where new rows are expected, the widest band first.
    pub bands: Vec<Band>,
    /// The rows of the data: input and target.
    pub observed: [Vec<f64>; 2],
    /// Whether a probability is predicted.
    pub is_probability: bool,
}

/// Where a quantity is with a probability.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Band {
    /// The probability.
    pub probability: f64,
    /// Lower ends.
    pub low: Vec<f64>,
    /// Upper ends.
    pub high: Vec<f64>,
}

impl Curve {
    pub(super) fn figure(&self) -> Figure {
        let mut marks = Vec::new();
        let mut table =
            Table::new().numbers(&self.input, &self.x).numbers(&self.centre_name, &self.centre);
        for (index, band) in self.bands.iter().enumerate() {
            let name = percent(band.probability);
            let opacity = 0.16 + 0.18 * index as f64;
            marks.push(
                Mark::band(&self.x, &band.low, &band.high)
                    .ink(Ink::Series(0))
                    .opacity(opacity)
                    .called(&name),
            );
            table = table.numbers(format!("{name} from"), &band.low);
            table = table.numbers(format!("{name} to"), &band.high);
        }
        marks.push(
            Mark::line(&self.x, &self.centre)
                .ink(Ink::Series(0))
                .size(2.0)
                .called(&self.centre_name),
        );
        let kept = evenly(self.observed[0].len().min(self.observed[1].len()), POINTS);
        let [x, y] =
            [0, 1].map(|k| kept.iter().map(|row| self.observed[k][*row]).collect::<Vec<_>>());
        if !x.is_empty() {
            let size = if x.len() > 500 { 3.0 } else { 4.5 };
            marks.push(Mark::points(&x, &y).ink(Ink::Text).size(size).opacity(0.6).called("data"));
        }
        let axis = Axis::new(&self.output);
        let (title, caption) = if self.is_probability {
            (
                format!("How {} depends on {}", self.output, self.input),
                "The band is where the probability itself is, given the data. Points: rows of the \
                 data, 1 if they have the class.",
            )
        } else {
            (
                format!("{} against {}: the data should fill the bands", self.output, self.input),
                "Bands are for new rows, noise included: they should hold the stated share of points. \
                 Axes are in the units of the data.",
            )
        };
        Figure {
            title,
            caption: caption.into(),
            x: Axis::new(&self.input),
            y: if self.is_probability { axis.within(-0.04, 1.04) } else { axis },
            marks,
            table,
            hover: Hover::Row,
            height: 300.0,
            span: Span::Whole,
        }
    }
}
