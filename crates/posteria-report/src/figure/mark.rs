//! Say what is drawn in a figure.

use super::{Colours, Ink};
use crate::contour::Piece;

/// Something that is drawn.
#[derive(Clone, Debug)]
pub struct Mark {
    /// Its name in the legend; empty: it has none.
    pub label: String,
    /// Its colour.
    pub ink: Ink,
    /// Which dash its lines have; 0 is solid.
    pub dash: usize,
    /// From 0, invisible, to 1.
    pub opacity: f64,
    /// Width of lines and diameter of points in pixels.
    pub size: f64,
    /// Its form and place.
    pub shape: Shape,
}

/// Form and place of a mark, in numbers of the axes. What is no number is left out.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A line through points; broken where one is no number.
    Line {
        /// Across.
        x: Vec<f64>,
        /// Up.
        y: Vec<f64>,
    },
    /// The area between two lines.
    Band {
        /// Across.
        x: Vec<f64>,
        /// The lower line.
        low: Vec<f64>,
        /// The upper line.
        high: Vec<f64>,
    },
    /// Points.
    Points {
        /// Across.
        x: Vec<f64>,
        /// Up.
        y: Vec<f64>,
        /// What each says under the pointer; may be empty.
        names: Vec<String>,
    },
    /// Bars across an axis.
    Bars {
        /// The middles of the bars on the one axis.
        at: Vec<f64>,
        /// Where they end on the other; they begin at 0.
        to: Vec<f64>,
        /// Their breadth on the one axis.
        breadth: f64,
        /// Whether they lie.
        is_horizontal: bool,
        /// What each says under the pointer; may be empty.
        names: Vec<String>,
    },
    /// Lines from low to high.
    Intervals {
        /// Where they are on the other axis.
        at: Vec<f64>,
        /// Where they begin.
        low: Vec<f64>,
        /// Where they end.
        high: Vec<f64>,
        /// Whether they lie.
        is_horizontal: bool,
    },
    /// A line across the whole figure.
    Rule {
        /// Where it is on the other axis.
        at: f64,
        /// Whether it lies.
        is_horizontal: bool,
    },
    /// Pieces of a line, of a contour say.
    Pieces(Vec<Piece>),
    /// A surface over a grid, in steps of colour.
    Surface {
        /// Grid across, increasing.
        x: Vec<f64>,
        /// Grid up, increasing.
        y: Vec<f64>,
        /// Heights; x runs fastest.
        values: Vec<f64>,
        /// Their colours.
        colours: Colours,
    },
    /// A table of tiles between two axes of names.
    Tiles {
        /// Tiles across.
        columns: usize,
        /// Numbers, row by row.
        values: Vec<f64>,
        /// What is written in each.
        texts: Vec<String>,
        /// Their colours.
        colours: Colours,
    },
}

impl Mark {
    /// A mark of a shape, to be named and coloured.
    pub fn new(shape: Shape) -> Self {
        Mark { label: String::new(), ink: Ink::Text, dash: 0, opacity: 1.0, size: 1.5, shape }
    }

    /// A line.
    pub fn line(x: &[f64], y: &[f64]) -> Self {
        Mark::new(Shape::Line { x: x.to_vec(), y: y.to_vec() })
    }

    /// The steps of a histogram: `heights` between successive `edges`.
    pub fn steps(edges: &[f64], heights: &[f64]) -> Self {
        let bins = edges.windows(2).zip(heights);
        let [mut x, mut y] = [Vec::new(), Vec::new()];
        for (edge, height) in bins {
            x.extend_from_slice(edge);
            y.extend([*height; 2]);
        }
        Mark::new(Shape::Line { x, y })
    }

    /// The area between two lines.
    pub fn band(x: &[f64], low: &[f64], high: &[f64]) -> Self {
        let (x, low, high) = (x.to_vec(), low.to_vec(), high.to_vec());
        Mark { opacity: 0.25, size: 0.0, ..Mark::new(Shape::Band { x, low, high }) }
    }

    /// Points.
    pub fn points(x: &[f64], y: &[f64]) -> Self {
        let shape = Shape::Points { x: x.to_vec(), y: y.to_vec(), names: Vec::new() };
        Mark { size: 5.0, opacity: 0.7, ..Mark::new(shape) }
    }

    /// Points that say something.
    pub fn named_points(x: &[f64], y: &[f64], names: Vec<String>) -> Self {
        let shape = Shape::Points { x: x.to_vec(), y: y.to_vec(), names };
        Mark { shape, ..Mark::points(&[], &[]) }
    }

    /// A line across the whole figure at height `at`.
    pub fn level(at: f64) -> Self {
        let shape = Shape::Rule { at, is_horizontal: true };
        Mark { ink: Ink::Muted, dash: 1, size: 1.0, ..Mark::new(shape) }
    }

    /// A line up the whole figure at `at`.
    pub fn upright(at: f64) -> Self {
        Mark { shape: Shape::Rule { at, is_horizontal: false }, ..Mark::level(at) }
    }

    /// The same with a name.
    #[must_use]
    pub fn called(self, label: impl Into<String>) -> Self {
        Mark { label: label.into(), ..self }
    }

    /// The same in another colour.
    #[must_use]
    pub fn ink(self, ink: Ink) -> Self {
        Mark { ink, ..self }
    }

    /// The same in the colour and dash of a series.
    #[must_use]
    pub fn series(self, index: usize) -> Self {
        Mark { ink: Ink::Series(index), dash: index, ..self }
    }

    /// The same with another width.
    #[must_use]
    pub fn size(self, size: f64) -> Self {
        Mark { size, ..self }
    }

    /// The same with another opacity.
    #[must_use]
    pub fn opacity(self, opacity: f64) -> Self {
        Mark { opacity, ..self }
    }

    /// The same with another dash.
    #[must_use]
    pub fn dash(self, dash: usize) -> Self {
        Mark { dash, ..self }
    }

    /// All numbers that it has on the horizontal and on the vertical axis.
    pub(crate) fn extent(&self) -> [Vec<f64>; 2] {
        let lying = |is_horizontal: bool, own: Vec<f64>, other: Vec<f64>| {
            if is_horizontal { [other, own] } else { [own, other] }
        };
        match &self.shape {
            Shape::Line { x, y } | Shape::Points { x, y, .. } => [x.clone(), y.clone()],
            Shape::Band { x, low, high } => [x.clone(), [&low[..], high].concat()],
            Shape::Bars { at, to, breadth, is_horizontal, .. } => {
                let sides = at.iter().flat_map(|at| [at - breadth / 2.0, at + breadth / 2.0]);
                let ends = to.iter().copied().chain([0.0]).collect();
                lying(*is_horizontal, sides.collect(), ends)
            }
            Shape::Intervals { at, low, high, is_horizontal } => {
                lying(*is_horizontal, at.clone(), [&low[..], high].concat())
            }
            Shape::Rule { at, is_horizontal } => lying(*is_horizontal, vec![*at], Vec::new()),
            Shape::Pieces(pieces) => {
                [0, 1].map(|axis| pieces.iter().flatten().map(|point| point[axis]).collect())
            }
            Shape::Surface { x, y, .. } => [x.clone(), y.clone()],
            Shape::Tiles { .. } => [Vec::new(), Vec::new()],
        }
    }
}
