//! Show the prediction over two inputs.

use super::{named, of_model};
use crate::contour::lines;
use crate::figure::{Axis, Colours, Figure, Ink, Mark, Palette, Shape, Table};
use crate::number::short;
use crate::thin::evenly;

/// Points of data that are drawn, of every set.
const POINTS: usize = 1500;

/// The prediction over two inputs, with the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// The model; empty where there is one only.
    pub model: String,
    /// The inputs: across and up.
    pub inputs: [String; 2],
    /// What is predicted.
    pub output: String,
    /// Grid across, increasing.
    pub x: Vec<f64>,
    /// Grid up, increasing.
    pub y: Vec<f64>,
    /// The prediction on the grid; x runs fastest.
    pub values: Vec<f64>,
    /// Whether it is a probability: then a line is where classes are equally probable.
    pub is_probability: bool,
    /// The level of the line of a decision; NaN: none.
    pub boundary: f64,
    /// The rows of the data, by class.
    pub points: Vec<PointSet>,
}

/// Rows of the data that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointSet {
    /// Their name.
    pub name: String,
    /// The number of every row in the data, from 1; may be empty.
    pub rows: Vec<usize>,
    /// Across.
    pub x: Vec<f64>,
    /// Up.
    pub y: Vec<f64>,
}

impl Surface {
    pub(super) fn figure(&self) -> Figure {
        let colours = match self.is_probability {
            true => Colours { palette: Palette::Diverging, low: 0.0, high: 1.0 },
            false => Colours::over(Palette::Sequential, &self.values),
        };
        let [x, y] = [self.x.clone(), self.y.clone()];
        let shape = Shape::Surface { x, y, values: self.values.clone(), colours };
        let mut marks = vec![Mark::new(shape)];
        if self.boundary.is_finite() {
            let pieces = lines(&self.x, &self.y, &self.values, self.boundary);
            let line = Mark::new(Shape::Pieces(pieces)).ink(Ink::Series(7)).size(2.0);
            // On both colours, in both schemes.
            marks.push(line.called(format!("boundary ({})", short(self.boundary))));
        }
        // The colours of the sides come first.
        let inks = if self.is_probability { [0, 1, 2, 3, 4, 5, 6] } else { [7, 1, 2, 3, 4, 5, 6] };
        for (index, set) in self.points.iter().enumerate() {
            let kept = evenly(set.x.len().min(set.y.len()), POINTS);
            let [x, y] =
                [&set.x, &set.y].map(|own| kept.iter().map(|row| own[*row]).collect::<Vec<_>>());
            // A rim of the ground keeps points apart from the surface.
            marks.push(Mark::points(&x, &y).ink(Ink::Ground).size(6.5).opacity(0.9));
            let ink = Ink::Series(inks[index % inks.len()]);
            let told =
                |row: &usize| set.rows.get(*row).map(|row| format!("row {row}: {}", set.name));
            let names = kept.iter().filter_map(told).collect();
            let points = Mark::named_points(&x, &y, names);
            marks.push(points.ink(ink).size(4.5).opacity(1.0).called(&set.name));
        }
        let places = || self.y.iter().flat_map(|y| self.x.iter().map(move |x| [*x, *y]));
        let [across, up] =
            [0, 1].map(|axis| places().map(|place| place[axis]).collect::<Vec<f64>>());
        let title = match self.is_probability {
            true => format!("{} over {} and {}", self.output, self.inputs[0], self.inputs[1]),
            false => {
                format!(
                    "{} over {} and {}: the fitted surface",
                    self.output, self.inputs[0], self.inputs[1]
                )
            }
        };
        let caption = match self.is_probability {
            true => {
                "Points should be mostly on the side of their colour; beyond the data the colour \
                     should fade."
            }
            false => {
                "Colour: the predicted mean. Points: where there are data; between and beyond \
                      them the surface is the model's alone."
            }
        };
        Figure {
            name: named("surface", &self.output, &self.model),
            title: of_model(title, &self.model),
            caption: caption.into(),
            x: Axis::new(&self.inputs[0]),
            y: Axis::new(&self.inputs[1]),
            marks,
            table: Table::new()
                .numbers(&self.inputs[0], &across)
                .numbers(&self.inputs[1], &up)
                .numbers(&self.output, &self.values),
            height: 400.0,
            hover: crate::figure::Hover::Point,
            ..Figure::default()
        }
    }
}
