//! Say what a figure shows, before anything is drawn: axes, marks, and the table behind them.

mod ink;
mod mark;
mod table;

pub(crate) use ink::DASHES;
pub use ink::{Colours, Ink, Palette};
pub use mark::{Mark, Shape};
pub use table::Table;

use crate::escape::slug;
pub use crate::scale::Kind;
use crate::{png, svg};

/// A figure.
#[derive(Clone, Debug, Default)]
pub struct Figure {
    /// A name that stays the same whatever the numbers are, for files; empty: made from the title.
    pub name: String,
    /// What to see in it, in one line.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, from back to front.
    pub marks: Vec<Mark>,
    /// The numbers behind it.
    pub table: Table,
    /// Height in pixels of a picture 440 wide; 0: the usual.
    pub height: f64,
    /// How much room it takes on a wide screen.
    pub span: Span,
    /// What the pointer finds.
    pub hover: Hover,
}

impl Figure {
    /// A short name of small letters, digits and hyphens, for files.
    pub fn file_name(&self) -> String {
        slug(if self.name.is_empty() { &self.title } else { &self.name })
    }

    /// A picture that stands alone, with its title, on light ground.
    pub fn svg(&self) -> String {
        svg::draw(self, svg::Place::File)
    }

    /// The same in pixels, as a PNG file; its letters are the same on every machine.
    pub fn png(&self) -> Vec<u8> {
        png::paint(&self.svg())
    }
}

/// How much room a figure takes on a wide screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Span {
    /// As many in a row as there is room for.
    #[default]
    Usual,
    /// Two in a row: figures that belong together.
    Half,
    /// A row of its own.
    Whole,
}

/// What the pointer finds in the table of a figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hover {
    /// Only what marks tell themselves.
    #[default]
    Marks,
    /// The row whose first column, which is x, is nearest.
    Row,
    /// The row whose first two columns, which are x and y, are nearest.
    Point,
}

/// An axis of a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// How it runs.
    pub kind: Kind,
    /// Numbers that must be within it whatever the data are.
    pub include: Vec<f64>,
    /// The range, in place of that of the data.
    pub limits: Option<[f64; 2]>,
    /// Names of the places 0, 1, …, where these are no numbers. On a vertical axis the first is on top.
    pub categories: Vec<String>,
}

impl Axis {
    /// An axis with a label.
    pub fn new(label: impl Into<String>) -> Self {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// A logarithmic axis.
    pub fn log(label: impl Into<String>) -> Self {
        Axis { kind: Kind::Log, ..Axis::new(label) }
    }

    /// An axis of the kind.
    pub fn of(kind: Kind, label: impl Into<String>) -> Self {
        Axis { kind, ..Axis::new(label) }
    }

    /// An axis of names.
    pub fn named(label: impl Into<String>, categories: Vec<String>) -> Self {
        let limits = Some([-0.5, categories.len().max(1) as f64 - 0.5]);
        Axis { categories, limits, ..Axis::new(label) }
    }

    /// The same with a given range.
    #[must_use]
    pub fn within(self, low: f64, high: f64) -> Self {
        Axis { limits: Some([low, high]), ..self }
    }

    /// The same, showing these numbers too.
    #[must_use]
    pub fn including(mut self, values: impl IntoIterator<Item = f64>) -> Self {
        self.include.extend(values);
        self
    }
}
