//! Draw figures as SVG: in a page, whose style holds the colours, or as files that stand alone.

mod frame;
mod legend;
mod marks;
mod surface;
mod writer;

use crate::figure::{Figure, Ink};
use crate::letters::width;
use crate::number::place;

use self::frame::Frame;
use self::writer::Writer;

/// Width of every picture. On a phone that is the width of the screen, so that letters keep their
/// size.
pub const WIDTH: f64 = 440.0;
/// Height of most pictures.
const HEIGHT: f64 = 270.0;
/// Size of letters.
const LETTERS: f64 = 11.5;
/// Size of the letters of a title, which are bold and so a little wider than their measure.
const TITLE: f64 = 13.0;

/// Where a picture will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a page that defines the colours.
    Page,
    /// In a file of its own.
    File,
}

impl Place {
    fn colour(self, ink: Ink) -> String {
        match self {
            Place::Page => ink.variable(),
            Place::File => ink.literal().into(),
        }
    }
}

/// A picture of `figure`.
pub fn draw(figure: &Figure, place_of: Place) -> String {
    let mut writer = Writer::default();
    let lines = match place_of {
        Place::Page => Vec::new(),
        Place::File => wrapped(&figure.title, 1.08 * TITLE, WIDTH - 16.0),
    };
    let top = if lines.is_empty() { 0.0 } else { 18.0 * lines.len() as f64 + 6.0 };
    let height = top + if figure.height > 0.0 { figure.height } else { HEIGHT };
    let frame = Frame::new(figure, [WIDTH, height], top);
    let view = format!("0 0 {} {}", place(WIDTH), place(height));
    let font = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
    let (x, y) = (frame.x_facts(), frame.y_facts());
    let size = place(LETTERS);
    writer.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("viewBox", &view),
            ("role", &"img"),
            ("aria-label", &figure.title),
            ("font-family", &font),
            ("font-size", &size),
            ("data-x", &x),
            ("data-y", &y),
        ],
    );
    if place_of == Place::File {
        let ground = Ink::Ground.literal();
        let [width, height] = [WIDTH, height].map(place);
        writer.empty("rect", &[("width", &width), ("height", &height), ("fill", &ground)]);
        for (index, line) in lines.iter().enumerate() {
            let y = place(16.0 + 18.0 * index as f64);
            let colour = Ink::Text.literal();
            writer.leaf(
                "text",
                &[
                    ("x", &"8"),
                    ("y", &y),
                    ("font-weight", &"600"),
                    ("font-size", &TITLE),
                    ("fill", &colour),
                ],
                line,
            );
        }
    }
    legend::draw(&mut writer, figure, &frame, place_of);
    frame.draw_behind(&mut writer, figure, place_of);
    frame.open_window(&mut writer);
    for mark in &figure.marks {
        marks::draw(&mut writer, mark, &frame, place_of);
    }
    writer.close("svg");
    frame.draw_before(&mut writer, figure, place_of);
    writer.close("svg");
    writer.finish()
}

/// `text` cut to a width, with `…` where something is missing.
fn cut(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.into();
    }
    let mut kept = String::new();
    for c in text.chars() {
        if width(&kept, size) + 1.3 * size > most {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    kept
}

/// `text` cut to a width in its middle, so that both ends tell what it is.
fn cut_middle(text: &str, size: f64, most: f64) -> String {
    if width(text, size) <= most {
        return text.into();
    }
    let letters: Vec<char> = text.chars().collect();
    let shown = |kept: usize| -> String {
        let (front, back) = (kept.div_ceil(2), kept / 2);
        let (front, back) = (&letters[..front], &letters[letters.len() - back..]);
        front.iter().chain(&['…']).chain(back).collect()
    };
    let kept = (0..letters.len()).rev().find(|kept| width(&shown(*kept), size) <= most);
    shown(kept.unwrap_or(0))
}

/// `text` in lines of a width where words allow it.
fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().expect("there is a line");
        if last.is_empty() {
            last.push_str(word);
        } else if width(&format!("{last} {word}"), size) > most {
            lines.push(word.into());
        } else {
            last.extend([" ", word]);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_or_wrapped() {
        assert_eq!(cut("short", 10.0, 100.0), "short");
        assert!(cut("a name that is far too long", 10.0, 60.0).ends_with('…'));
        assert_eq!(cut_middle("short", 10.0, 100.0), "short");
        let middle = cut_middle("variance of x1 by chain one", 10.0, 100.0);
        assert!(middle.starts_with("var") && middle.ends_with("one") && middle.contains('…'));
        assert!(width(&middle, 10.0) <= 100.0);
        assert_eq!(cut_middle("anything", 10.0, 1.0), "…");
        assert_eq!(wrapped("one two three", 10.0, width("one two t", 10.0)), ["one two", "three"]);
        assert_eq!(wrapped("", 10.0, 7.0), [""]);
    }
}
