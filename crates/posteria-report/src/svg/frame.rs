//! Place the axes of a figure, and draw what is around its marks.

use crate::figure::{Axis, Figure, Ink, Shape, Span};
use crate::number::place;
use crate::scale::{Kind, Scale, Tick};

use super::legend;
use super::writer::Writer;
use super::{LETTERS, Place, WIDTH, cut, cut_middle, width};

/// Widest column of names on the left, and in a figure with a row of its own.
const NAMES: f64 = 150.0;
const WIDE_NAMES: f64 = 220.0;

/// Where everything is.
#[derive(Clone, Debug)]
pub struct Frame {
    /// Places across.
    pub x: Scale,
    /// Places up.
    pub y: Scale,
    /// Left, top, right and bottom of the window.
    pub window: [f64; 4],
    /// Top of the legend.
    pub top: f64,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    height: f64,
}

impl Frame {
    /// Makes room for the labels of `figure` in a picture of a size, below `top`.
    pub fn new(figure: &Figure, [total, height]: [f64; 2], top: f64) -> Self {
        let extents: Vec<[Vec<f64>; 2]> = figure.marks.iter().map(|mark| mark.extent()).collect();
        let values = |axis: usize| extents.iter().flat_map(move |extent| extent[axis].clone());
        let is_tight = |axis: &Axis| {
            let surface = |mark: &crate::figure::Mark| matches!(mark.shape, Shape::Surface { .. });
            axis.limits.is_some() || figure.marks.iter().any(surface)
        };
        let scale = |axis: &Axis, of: usize, range: [f64; 2]| {
            let shown: Vec<f64> = match axis.limits {
                Some(limits) => limits.to_vec(),
                None => values(of).chain(axis.include.iter().copied()).collect(),
            };
            Scale::around(axis.kind, shown, range, is_tight(axis))
        };
        let bottom = height - if figure.x.label.is_empty() { 24.0 } else { 40.0 };
        let above = top + legend::height(figure) + 8.0;
        // Names run down, numbers run up.
        let up = if figure.y.categories.is_empty() { [bottom, above] } else { [above, bottom] };
        let y = scale(&figure.y, 1, up);
        let y_ticks = ticks(&y, &figure.y, ((bottom - above) / 45.0).clamp(3.0, 7.0) as usize);
        let widest = y_ticks.iter().map(|tick| width(&tick.label, LETTERS)).fold(0.0, f64::max);
        let left = if figure.y.label.is_empty() { 10.0 } else { 26.0 } + widest.min(names(figure));
        let right = total - 14.0;
        let x = scale(&figure.x, 0, [left, right]);
        let longest = |ticks: &[Tick]| {
            ticks.iter().map(|tick| width(&tick.label, LETTERS)).fold(0.0, f64::max)
        };
        let mut count = 6;
        let mut x_ticks = ticks(&x, &figure.x, count);
        while count > 2 && x_ticks.len() as f64 * (longest(&x_ticks) + 12.0) > right - left {
            count -= 1;
            x_ticks = ticks(&x, &figure.x, count);
        }
        if figure.x.categories.is_empty() {
            x_ticks = apart(x_ticks, &x);
        }
        Frame { x, y, window: [left, above, right, bottom], top, x_ticks, y_ticks, height }
    }

    /// The horizontal scale for the script.
    pub fn x_facts(&self) -> String {
        facts(&self.x, [self.window[0], self.window[2]])
    }

    /// The vertical scale for the script.
    pub fn y_facts(&self) -> String {
        facts(&self.y, [self.window[3], self.window[1]])
    }

    /// Begins the part of the picture that cuts off what is outside.
    pub fn open_window(&self, writer: &mut Writer) {
        let [left, top, right, bottom] = self.window;
        let [x, y, width, height] = [left, top, right - left, bottom - top].map(place);
        let view = format!("{x} {y} {width} {height}");
        writer.open(
            "svg",
            &[("x", &x), ("y", &y), ("width", &width), ("height", &height), ("viewBox", &view)],
        );
    }

    /// Draws grid lines.
    pub fn draw_behind(&self, writer: &mut Writer, figure: &Figure, place_of: Place) {
        let [left, top, right, bottom] = self.window;
        let mut lines = String::new();
        if figure.x.categories.is_empty() {
            for at in self.x_ticks.iter().filter_map(|tick| self.x.place(tick.value)) {
                lines.push_str(&format!("M{} {}V{}", place(at), place(top), place(bottom)));
            }
        }
        for at in self.y_ticks.iter().filter_map(|tick| self.y.place(tick.value)) {
            lines.push_str(&format!("M{} {}H{}", place(left), place(at), place(right)));
        }
        let grid = place_of.colour(Ink::Grid);
        if !lines.is_empty() {
            writer.empty("path", &[("d", &lines), ("stroke", &grid), ("fill", &"none")]);
        }
    }

    /// Draws labels and names of the axes.
    pub fn draw_before(&self, writer: &mut Writer, figure: &Figure, place_of: Place) {
        let [left, top, right, bottom] = self.window;
        let (muted, text) = (place_of.colour(Ink::Muted), place_of.colour(Ink::Text));
        let base = format!("M{} {}H{}", place(left), place(bottom), place(right));
        writer.empty("path", &[("d", &base), ("stroke", &muted), ("fill", &"none")]);
        let y = place(bottom + 15.0);
        writer.open("g", &[("fill", &muted), ("text-anchor", &"middle")]);
        let room = (right - left) / self.x_ticks.len().max(1) as f64;
        for tick in &self.x_ticks {
            let Some(at) = self.x.place(tick.value) else { continue };
            // A label at the end stays inside the picture.
            let half = width(&tick.label, LETTERS) / 2.0;
            let x = place(at.min(WIDTH - 1.0 - half));
            label(writer, &[("x", &x), ("y", &y)], &tick.label, room.max(40.0));
        }
        writer.close("g");
        writer.open("g", &[("fill", &muted), ("text-anchor", &"end")]);
        let x = place(left - 6.0);
        for tick in &self.y_ticks {
            let Some(at) = self.y.place(tick.value) else { continue };
            let y = place(at + 0.35 * LETTERS);
            let shown = cut_middle(&tick.label, LETTERS, names(figure));
            told(writer, &[("x", &x), ("y", &y)], &tick.label, &shown);
        }
        writer.close("g");
        if !figure.x.label.is_empty() {
            let (x, y) = (place((left + right) / 2.0), place(self.height - 8.0));
            let attributes: super::writer::Attributes<'_> =
                &[("x", &x), ("y", &y), ("text-anchor", &"middle"), ("fill", &text)];
            label(writer, attributes, &figure.x.label, right - 10.0);
        }
        if !figure.y.label.is_empty() {
            let turn = format!("translate(12 {}) rotate(-90)", place((top + bottom) / 2.0));
            let attributes: super::writer::Attributes<'_> =
                &[("transform", &turn), ("text-anchor", &"middle"), ("fill", &text)];
            label(writer, attributes, &figure.y.label, bottom - top + 30.0);
        }
    }
}

fn names(figure: &Figure) -> f64 {
    if figure.span == Span::Whole { WIDE_NAMES } else { NAMES }
}

fn facts(scale: &Scale, [from, to]: [f64; 2]) -> String {
    let kind = if scale.kind == Kind::Log { 1 } else { 0 };
    format!("{:e} {:e} {} {} {kind}", scale.low, scale.high, place(from), place(to))
}

/// The names of an axis, or round numbers.
fn ticks(scale: &Scale, axis: &Axis, count: usize) -> Vec<Tick> {
    if axis.categories.is_empty() {
        return scale.ticks(count);
    }
    let named = axis.categories.iter().enumerate();
    named.map(|(index, name)| Tick { value: index as f64, label: name.clone() }).collect()
}

/// Ticks whose labels do not touch: on a logarithmic axis they are closer the higher they are.
fn apart(ticks: Vec<Tick>, scale: &Scale) -> Vec<Tick> {
    let mut end = f64::NEG_INFINITY;
    let mut keep = |tick: &Tick| {
        let half = width(&tick.label, LETTERS) / 2.0;
        let Some(at) = scale.place(tick.value).map(|at| at.min(WIDTH - 1.0 - half)) else {
            return false;
        };
        let is_free = at - half > end + 6.0;
        if is_free {
            end = at + half;
        }
        is_free
    };
    ticks.into_iter().filter(|tick| keep(tick)).collect()
}

/// A text that is cut where there is no room.
fn label(writer: &mut Writer, attributes: super::writer::Attributes<'_>, text: &str, room: f64) {
    told(writer, attributes, text, &cut(text, LETTERS, room));
}

/// A text as it is shown; under the pointer as it is.
fn told(writer: &mut Writer, attributes: super::writer::Attributes<'_>, text: &str, shown: &str) {
    if shown == text {
        return writer.leaf("text", attributes, text);
    }
    writer.open("text", attributes);
    writer.leaf("title", &[], text);
    writer.leaf("tspan", &[], shown);
    writer.close("text");
}
