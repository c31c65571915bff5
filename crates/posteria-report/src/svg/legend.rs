//! Draw the legend of a figure: names of its marks, and the numbers behind its colours.

use crate::figure::{Colours, Figure, Ink, Mark, Shape};
use crate::number::{place, significant};

use super::frame::Frame;
use super::marks::{dashed, hundredths};
use super::writer::Writer;
use super::{LETTERS, Place, WIDTH, cut, width};

/// Height of a line of names.
const LINE: f64 = 17.0;
/// Length of the sample of a mark.
const SAMPLE: f64 = 18.0;
/// Widest name.
const NAME: f64 = 300.0;
/// Left end of the legend.
const LEFT: f64 = 10.0;
/// Width of the colours.
const KEY: f64 = 180.0;

/// How high the legend is.
pub fn height(figure: &Figure) -> f64 {
    let names = placed(figure).last().map_or(0.0, |(_, _, y)| y + LINE);
    names + if colours(figure).is_some() { 24.0 } else { 0.0 }
}

/// Draws the legend.
pub fn draw(writer: &mut Writer, figure: &Figure, frame: &Frame, place_of: Place) {
    let text = place_of.colour(Ink::Text);
    for (mark, x, y) in placed(figure) {
        sample(writer, mark, [x, frame.top + y + LINE / 2.0], place_of);
        let (x, y) = (place(x + SAMPLE + 5.0), place(frame.top + y + LINE / 2.0 + 0.35 * LETTERS));
        writer.leaf(
            "text",
            &[("x", &x), ("y", &y), ("fill", &text)],
            &cut(&mark.label, LETTERS, NAME),
        );
    }
    if let Some(colours) = colours(figure) {
        let names = height(figure) - 24.0;
        key(writer, colours, frame.top + names + 4.0, place_of);
    }
}

/// Marks with a name, and where they are.
fn placed(figure: &Figure) -> Vec<(&Mark, f64, f64)> {
    let (mut x, mut y) = (LEFT, 0.0);
    let mut placed = Vec::new();
    for mark in figure.marks.iter().filter(|mark| !mark.label.is_empty()) {
        let needs = SAMPLE + 19.0 + width(&mark.label, LETTERS).min(NAME);
        if x > LEFT && x + needs > WIDTH {
            (x, y) = (LEFT, y + LINE);
        }
        placed.push((mark, x, y));
        x += needs;
    }
    placed
}

fn sample(writer: &mut Writer, mark: &Mark, [x, y]: [f64; 2], place_of: Place) {
    let colour = place_of.colour(mark.ink);
    // Bands lie on each other, their samples do not.
    let opacity = hundredths(1.3 * mark.opacity);
    match mark.shape {
        Shape::Band { .. } | Shape::Bars { .. } => {
            let [x, y, width] = [x, y - 5.0, SAMPLE].map(place);
            writer.empty(
                "rect",
                &[
                    ("x", &x),
                    ("y", &y),
                    ("width", &width),
                    ("height", &"10"),
                    ("fill", &colour),
                    ("fill-opacity", &opacity),
                ],
            );
        }
        Shape::Points { .. } => {
            let [x, y] = [x + SAMPLE / 2.0, y].map(place);
            writer.empty("circle", &[("cx", &x), ("cy", &y), ("r", &"3.5"), ("fill", &colour)]);
        }
        _ => {
            let d = format!("M{} {}h{}", place(x), place(y), place(SAMPLE));
            let (width, dash) = (place(mark.size.clamp(1.0, 3.0)), dashed(mark.dash));
            writer.empty(
                "path",
                &[
                    ("d", &d),
                    ("stroke", &colour),
                    ("stroke-width", &width),
                    ("stroke-dasharray", &dash),
                ],
            );
        }
    }
}

fn colours(figure: &Figure) -> Option<&Colours> {
    figure.marks.iter().find_map(|mark| match &mark.shape {
        Shape::Surface { colours, .. } => Some(colours),
        _ => None,
    })
}

/// A bar of colours with its numbers.
fn key(writer: &mut Writer, colours: &Colours, y: f64, place_of: Place) {
    const STEPS: usize = super::surface::STEPS;
    let left = WIDTH - KEY - 60.0;
    let step = (colours.high - colours.low) / STEPS as f64;
    for index in 0..STEPS {
        let value = colours.low + (index as f64 + 0.5) * step;
        let x = place(left + KEY * index as f64 / STEPS as f64);
        let (y, width) = (place(y), place(KEY / STEPS as f64 + 0.3));
        let fill = colours.colour(value);
        let attributes: super::writer::Attributes<'_> =
            &[("x", &x), ("y", &y), ("width", &width), ("height", &"10"), ("fill", &fill)];
        let [low, high] = [0.0, 1.0].map(|end| colours.low + (index as f64 + end) * step);
        let title = format!("{} to {}", significant(low, 3), significant(high, 3));
        writer.titled("rect", attributes, &title);
    }
    let muted = place_of.colour(Ink::Muted);
    for (anchor, x, value) in
        [("end", left - 6.0, colours.low), ("start", left + KEY + 6.0, colours.high)]
    {
        let (x, y) = (place(x), place(y + 9.0));
        let attributes: super::writer::Attributes<'_> =
            &[("x", &x), ("y", &y), ("text-anchor", &anchor), ("fill", &muted)];
        writer.leaf("text", attributes, &significant(value, 3));
    }
}
