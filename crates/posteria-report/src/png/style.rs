//! Say how an element is painted: what it has itself, and else what is around it.

use roxmltree::Node;

use super::path::{number, numbers};

/// Red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink(pub [u8; 3]);

/// Which end of a text is at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The first letter.
    Start,
    /// The middle.
    Middle,
    /// The last letter.
    End,
}

/// How an element is painted.
#[derive(Clone, Debug, PartialEq)]
pub struct Style {
    /// Colour of areas, if they have one.
    pub fill: Option<Ink>,
    /// Opacity of areas.
    pub fill_opacity: f32,
    /// Colour of lines, if there are any.
    pub stroke: Option<Ink>,
    /// Opacity of lines.
    pub stroke_opacity: f32,
    /// Width of lines.
    pub stroke_width: f32,
    /// Lengths of dashes and gaps; none for solid lines.
    pub dash: Vec<f32>,
    /// Whether lines end in half circles, so that a line of no length is a dot.
    pub is_round: bool,
    /// Whether edges are not smoothed, so that areas side by side leave no seam.
    pub is_crisp: bool,
    /// Where texts begin.
    pub anchor: Anchor,
    /// Size of letters.
    pub size: f32,
    /// Whether letters are bold.
    pub is_bold: bool,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            fill: Some(Ink([0; 3])),
            fill_opacity: 1.0,
            stroke: None,
            stroke_opacity: 1.0,
            stroke_width: 1.0,
            dash: Vec::new(),
            is_round: false,
            is_crisp: false,
            anchor: Anchor::Start,
            size: 12.0,
            is_bold: false,
        }
    }
}

impl Style {
    /// That of an element within one of this style.
    #[must_use]
    pub fn within(&self, node: Node<'_, '_>) -> Self {
        let mut style = self.clone();
        for attribute in node.attributes() {
            let value = attribute.value();
            match attribute.name() {
                "fill" => style.fill = ink(value),
                "fill-opacity" => style.fill_opacity = number(value).clamp(0.0, 1.0),
                "stroke" => style.stroke = ink(value),
                "stroke-opacity" => style.stroke_opacity = number(value).clamp(0.0, 1.0),
                "stroke-width" => style.stroke_width = number(value),
                "stroke-dasharray" => style.dash = numbers(value),
                "stroke-linecap" => style.is_round = value == "round",
                "shape-rendering" => style.is_crisp = value == "crispEdges",
                "text-anchor" => {
                    style.anchor = match value {
                        "middle" => Anchor::Middle,
                        "end" => Anchor::End,
                        _ => Anchor::Start,
                    }
                }
                "font-size" => style.size = number(value),
                "font-weight" => style.is_bold = number(value) >= 600.0,
                _ => {}
            }
        }
        style
    }
}

/// `#rrggbb`; anything else is no colour.
fn ink(value: &str) -> Option<Ink> {
    let digits = value.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    let [_, r, g, b] = number.to_be_bytes();
    Some(Ink([r, g, b]))
}
