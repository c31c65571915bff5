//! Draw the marks of a figure.

use crate::contour::Piece;
use crate::figure::{DASHES, Mark, Shape};
use crate::number::place;

use super::frame::Frame;
use super::writer::Writer;
use super::{LETTERS, Place, surface, width};

/// Points that are elements of their own, each with something to say; more are one path.
const ELEMENTS: usize = 250;

/// The dash of a series; `none` for the first.
pub fn dashed(index: usize) -> &'static str {
    match DASHES[index % DASHES.len()] {
        "" => "none",
        dash => dash,
    }
}

/// Draws one mark.
pub fn draw(writer: &mut Writer, mark: &Mark, frame: &Frame, place_of: Place) {
    let colour = place_of.colour(mark.ink);
    match &mark.shape {
        Shape::Line { x, y } => stroke(writer, mark, &line(x, y, frame), &colour),
        Shape::Band { x, low, high } => {
            let d = band(x, low, high, frame);
            let opacity = hundredths(mark.opacity);
            if !d.is_empty() {
                writer.empty("path", &[("d", &d), ("fill", &colour), ("fill-opacity", &opacity)]);
            }
        }
        Shape::Points { x, y, names } => points(writer, mark, (x, y, names), frame, &colour),
        Shape::Bars { at, to, breadth, is_horizontal, names } => {
            let opacity = hundredths(mark.opacity);
            writer.open("g", &[("fill", &colour), ("fill-opacity", &opacity)]);
            for (index, (at, to)) in at.iter().zip(to).enumerate() {
                let name = names.get(index).map_or("", String::as_str);
                bar(writer, frame, (*at, *to, *breadth), *is_horizontal, name);
            }
            writer.close("g");
        }
        Shape::Intervals { at, low, high, is_horizontal } => {
            let ends = at.iter().zip(low.iter().zip(high));
            let pieces: Vec<Piece> = ends
                .map(|(at, (low, high))| match is_horizontal {
                    true => [[*low, *at], [*high, *at]],
                    false => [[*at, *low], [*at, *high]],
                })
                .collect();
            stroke(writer, mark, &lines(&pieces, frame), &colour);
        }
        Shape::Rule { at, is_horizontal } => {
            let [left, top, right, bottom] = frame.window.map(place);
            let d = match is_horizontal {
                true => frame.y.place(*at).map(|y| format!("M{left} {}H{right}", place(y))),
                false => frame.x.place(*at).map(|x| format!("M{} {top}V{bottom}", place(x))),
            };
            stroke(writer, mark, &d.unwrap_or_default(), &colour);
        }
        Shape::Pieces(pieces) => stroke(writer, mark, &lines(pieces, frame), &colour),
        Shape::Surface { x, y, values, colours } => {
            surface::draw(writer, (x, y, values), colours, (&frame.x, &frame.y));
        }
        Shape::Tiles { columns, values, texts, colours } => {
            // What is no number stays blank.
            for (index, value) in values.iter().enumerate().filter(|(_, v)| !v.is_nan()) {
                let cell = [index % columns.max(&1), index / columns.max(&1)].map(|at| at as f64);
                let text = texts.get(index).map_or("", String::as_str);
                let fill = colours.colour(*value);
                tile(writer, frame, cell, (text, &fill, colours.text_on(*value)));
            }
        }
    }
}

/// An opacity in hundredths.
pub fn hundredths(opacity: f64) -> String {
    format!("{}", (opacity.clamp(0.0, 1.0) * 100.0).round() / 100.0)
}

fn stroke(writer: &mut Writer, mark: &Mark, d: &str, colour: &str) {
    if d.is_empty() {
        return;
    }
    let (width, dash) = (place(mark.size), dashed(mark.dash));
    let opacity = hundredths(mark.opacity);
    writer.empty(
        "path",
        &[
            ("d", &d),
            ("fill", &"none"),
            ("stroke", &colour),
            ("stroke-width", &width),
            ("stroke-dasharray", &dash),
            ("stroke-opacity", &opacity),
            ("stroke-linejoin", &"round"),
        ],
    );
}

fn point(frame: &Frame, x: f64, y: f64) -> Option<[f64; 2]> {
    Some([frame.x.place(x)?, frame.y.place(y)?])
}

fn line(x: &[f64], y: &[f64], frame: &Frame) -> String {
    let mut d = String::new();
    let mut is_begun = false;
    for (x, y) in x.iter().zip(y) {
        let Some([x, y]) = point(frame, *x, *y) else {
            is_begun = false;
            continue;
        };
        d.push(if is_begun { 'L' } else { 'M' });
        d.push_str(&format!("{} {}", place(x), place(y)));
        is_begun = true;
    }
    d
}

fn lines(pieces: &[Piece], frame: &Frame) -> String {
    let ends = pieces.iter().filter_map(|[a, b]| {
        let [[x, y], [to_x, to_y]] = [point(frame, a[0], a[1])?, point(frame, b[0], b[1])?];
        Some(format!("M{} {}L{} {}", place(x), place(y), place(to_x), place(to_y)))
    });
    ends.collect()
}

/// Forth along the upper line and back along the lower one, in stretches without gaps.
fn band(x: &[f64], low: &[f64], high: &[f64], frame: &Frame) -> String {
    let mut d = String::new();
    let mut stretch: Vec<[[f64; 2]; 2]> = Vec::new();
    let mut flush = |stretch: &mut Vec<[[f64; 2]; 2]>| {
        if stretch.len() > 1 {
            let forth = stretch.iter().map(|[_, high]| high);
            let back = stretch.iter().rev().map(|[low, _]| low);
            for (index, [x, y]) in forth.chain(back).enumerate() {
                d.push(if index == 0 { 'M' } else { 'L' });
                d.push_str(&format!("{} {}", place(*x), place(*y)));
            }
            d.push('Z');
        }
        stretch.clear();
    };
    for (x, (low, high)) in x.iter().zip(low.iter().zip(high)) {
        match (point(frame, *x, *low), point(frame, *x, *high)) {
            (Some(low), Some(high)) => stretch.push([low, high]),
            _ => flush(&mut stretch),
        }
    }
    flush(&mut stretch);
    d
}

fn points(
    writer: &mut Writer,
    mark: &Mark,
    (x, y, names): (&[f64], &[f64], &[String]),
    frame: &Frame,
    colour: &str,
) {
    let placed = x.iter().zip(y).enumerate().filter_map(|(index, (x, y))| {
        let inside = frame.x.shows(*x) && frame.y.shows(*y);
        let [x, y] = point(frame, *x, *y).filter(|_| inside)?;
        Some((index, x, y))
    });
    let placed: Vec<(usize, f64, f64)> = placed.collect();
    let opacity = hundredths(mark.opacity);
    if names.is_empty() || placed.len() > ELEMENTS {
        let d: String =
            placed.iter().map(|(_, x, y)| format!("M{} {}h0", place(*x), place(*y))).collect();
        if !d.is_empty() {
            let width = place(mark.size);
            writer.empty(
                "path",
                &[
                    ("d", &d),
                    ("stroke", &colour),
                    ("stroke-width", &width),
                    ("stroke-linecap", &"round"),
                    ("stroke-opacity", &opacity),
                ],
            );
        }
        return;
    }
    writer.open("g", &[("fill", &colour), ("fill-opacity", &opacity)]);
    let radius = place(mark.size / 2.0);
    for (index, x, y) in placed {
        let name = names.get(index).map_or("", String::as_str);
        let (x, y) = (place(x), place(y));
        writer.titled("circle", &[("cx", &x), ("cy", &y), ("r", &radius)], name);
    }
    writer.close("g");
}

fn bar(
    writer: &mut Writer,
    frame: &Frame,
    (at, to, breadth): (f64, f64, f64),
    is_horizontal: bool,
    name: &str,
) {
    let (across, along) = if is_horizontal { (&frame.y, &frame.x) } else { (&frame.x, &frame.y) };
    let sides = [at - breadth / 2.0, at + breadth / 2.0].map(|side| across.place(side));
    // A logarithmic axis has no 0: bars begin at its end.
    let base = along.place(0.0).or_else(|| along.place(along.low));
    let (Some(a), Some(b), Some(from), Some(to)) = (sides[0], sides[1], base, along.place(to))
    else {
        return;
    };
    let [side, thickness] = [a.min(b), (a - b).abs().max(0.5)];
    let [start, length] = [from.min(to), (from - to).abs()];
    let [x, y, width, height] = if is_horizontal {
        [start, side, length, thickness]
    } else {
        [side, start, thickness, length]
    }
    .map(place);
    let attributes: super::writer::Attributes<'_> =
        &[("x", &x), ("y", &y), ("width", &width), ("height", &height)];
    writer.titled("rect", attributes, name);
}

fn tile(
    writer: &mut Writer,
    frame: &Frame,
    [column, row]: [f64; 2],
    (text, fill, ink): (&str, &str, &str),
) {
    let corners = [point(frame, column - 0.5, row - 0.5), point(frame, column + 0.5, row + 0.5)];
    let [Some(a), Some(b)] = corners else { return };
    let [x, y] = [a[0].min(b[0]), a[1].min(b[1])];
    let [wide, high] = [(a[0] - b[0]).abs(), (a[1] - b[1]).abs()];
    let shown = [x + 0.5, y + 0.5, (wide - 1.0).max(0.5), (high - 1.0).max(0.5)].map(place);
    let attributes: super::writer::Attributes<'_> = &[
        ("x", &shown[0]),
        ("y", &shown[1]),
        ("width", &shown[2]),
        ("height", &shown[3]),
        ("fill", &fill),
    ];
    writer.titled("rect", attributes, text);
    if !text.is_empty() && width(text, LETTERS) < wide - 2.0 && high > LETTERS {
        let (x, y) = (place(x + wide / 2.0), place(y + high / 2.0 + 0.35 * LETTERS));
        writer.leaf(
            "text",
            &[("x", &x), ("y", &y), ("text-anchor", &"middle"), ("fill", &ink)],
            text,
        );
    }
}
