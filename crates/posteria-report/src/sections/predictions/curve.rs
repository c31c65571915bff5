//! Show how the prediction runs along one input.

use crate::figure::{Axis, Figure, Hover, Ink, Mark, Span, Table};
use crate::number::{percent, short};
use crate::thin::evenly;

/// Points of data that are drawn.
const POINTS: usize = 3000;
/// Opacity of the bands of several models.
const FAINT: f64 = 0.1;

/// The prediction of a model along one input, with the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// The model; empty where there is one only.
    pub model: String,
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
    /// The curves of one or several models of the same data, at least one.
    pub(super) fn figure(curves: &[&Curve]) -> Figure {
        let first = curves[0];
        let mut marks = Vec::new();
        let mut table = Table::new().numbers(&first.input, &first.x);
        for (index, curve) in curves.iter().enumerate() {
            // All curves of a figure run along the same axis.
            if curve.x.len() != first.x.len() {
                continue;
            }
            let own = if curves.len() > 1 { curve.among(index) } else { curve.alone() };
            marks.extend(own);
            let name = |what: &str| match curves.len() {
                1 => what.to_string(),
                _ => format!("{}: {what}", curve.model),
            };
            table = table.numbers(name(&curve.centre_name), &curve.centre);
            let shown = if curves.len() > 1 {
                &curve.bands[..curve.bands.len().min(1)]
            } else {
                &curve.bands
            };
            for band in shown {
                let percentage = percent(band.probability);
                table = table.numbers(name(&format!("{percentage} from")), &band.low);
                table = table.numbers(name(&format!("{percentage} to")), &band.high);
            }
        }
        marks.extend(first.data());
        let (title, caption) = first.words(curves);
        let axis = Axis::new(&first.output);
        Figure {
            name: format!("curve-{}-{}", first.output, first.input),
            title,
            caption,
            x: Axis::new(&first.input),
            y: if first.is_probability { axis.within(-0.04, 1.04) } else { axis },
            marks,
            table,
            hover: Hover::Row,
            height: 320.0,
            span: Span::Half,
        }
    }

    /// The points of the data, each with its row.
    fn data(&self) -> Vec<Mark> {
        let kept = evenly(self.observed[0].len().min(self.observed[1].len()), POINTS);
        let [x, y] =
            [0, 1].map(|k| kept.iter().map(|row| self.observed[k][*row]).collect::<Vec<_>>());
        if x.is_empty() {
            return Vec::new();
        }
        let (input, output) = (&self.input, &self.output);
        let names = kept.iter().zip(x.iter().zip(&y)).map(|(row, (x, y))| {
            format!("row {}: {input} {}, {output} {}", row + 1, short(*x), short(*y))
        });
        let size = if x.len() > 500 { 3.0 } else { 4.5 };
        let points = Mark::named_points(&x, &y, names.collect());
        vec![points.ink(Ink::Text).size(size).opacity(0.6).called("data")]
    }

    fn alone(&self) -> Vec<Mark> {
        let bands = self.bands.iter().enumerate().map(|(index, band)| {
            let opacity = 0.16 + 0.18 * index as f64;
            let mark = Mark::band(&self.x, &band.low, &band.high).ink(Ink::Series(0));
            mark.opacity(opacity).called(percent(band.probability))
        });
        let line = Mark::line(&self.x, &self.centre).ink(Ink::Series(0)).size(2.0);
        bands.chain([line.called(&self.centre_name)]).collect()
    }

    /// One of several: the widest band, faintly.
    fn among(&self, index: usize) -> Vec<Mark> {
        let band = self.bands.first().map(|band| {
            let mark = Mark::band(&self.x, &band.low, &band.high).ink(Ink::Series(index));
            mark.opacity(FAINT)
        });
        let line = Mark::line(&self.x, &self.centre).series(index).size(2.0);
        band.into_iter().chain([line.called(&self.model)]).collect()
    }

    fn words(&self, curves: &[&Curve]) -> (String, String) {
        let centre = match curves.iter().all(|curve| curve.centre_name == self.centre_name) {
            true => &self.centre_name,
            // Heavy tails need not have a mean.
            false => "mean, or the median where residuals have heavy tails",
        };
        let (input, output) = (&self.input, &self.output);
        let widest = self.bands.first().map_or(String::new(), |band| percent(band.probability));
        match (self.is_probability, curves.len()) {
            (true, 1) => (
                format!("How {output} depends on {input}"),
                "The band is the posterior interval of the probability itself. Points: rows of the \
                 data, 1 if they have the class."
                    .into(),
            ),
            (true, _) => (
                format!("How {output} depends on {input}, by model"),
                format!(
                    "Bands: {widest} posterior intervals of the probability itself. Points: rows of \
                     the data, 1 if they have the class."
                ),
            ),
            (false, 1) => (
                format!("{output} against {input}: the data should fill the bands"),
                "Predictive intervals for new rows, noise included: they should hold the stated \
                 share of points. Axes are in the units of the data."
                    .into(),
            ),
            (false, _) => (
                format!("{output} against {input}, by model"),
                format!(
                    "Lines: the predicted {centre}. Bands: {widest} predictive intervals for new rows, \
                     noise included. Points: the data."
                ),
            ),
        }
    }
}
