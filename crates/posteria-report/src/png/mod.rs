//! Paint figures as PNG: what [`crate::svg`] writes, and nothing else, becomes pixels.

mod path;
mod style;

use roxmltree::{Document, Node};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Rect, Stroke,
    StrokeDash, Transform,
};

use self::style::{Anchor, Ink, Style};
use crate::letters;

/// Pixels per unit of a picture.
const SCALE: f32 = 3.0;
/// Most pixels across or up; taller pictures are painted smaller.
const MOST: f32 = 16_000.0;
/// How much thicker bold letters are, relative to their size.
const BOLD: f32 = 0.045;

/// The pixels of a picture, as a PNG file.
pub fn paint(picture: &str) -> Vec<u8> {
    paint_at(picture, SCALE)
}

/// The same with so many pixels per unit.
pub(crate) fn paint_at(picture: &str, scale: f32) -> Vec<u8> {
    let document = Document::parse(picture).expect("pictures are written well-formed");
    let root = document.root_element();
    let view = path::numbers(root.attribute("viewBox").unwrap_or_default());
    let [_, _, width, height] = view[..] else { unreachable!("every picture has a view box") };
    let scale = scale.min(MOST / width.max(height).max(1.0));
    let [across, up] = [width, height].map(|length| (length * scale).round().max(1.0) as u32);
    let mut pixels = Pixmap::new(across, up).expect("the size is between 1 and the most");
    pixels.fill(Color::WHITE);
    let mut canvas = Canvas { pixels, scale: Transform::from_scale(scale, scale) };
    canvas.children(root, &Style::default().within(root), None);
    canvas.pixels.encode_png().expect("writing to memory does not fail")
}

/// Where is painted.
struct Canvas {
    pixels: Pixmap,
    scale: Transform,
}

impl Canvas {
    fn children(&mut self, node: Node<'_, '_>, style: &Style, window: Option<&Mask>) {
        for child in node.children().filter(Node::is_element) {
            self.element(child, &style.within(child), window);
        }
    }

    fn element(&mut self, node: Node<'_, '_>, style: &Style, window: Option<&Mask>) {
        let number = |name: &str| path::number(node.attribute(name).unwrap_or_default());
        match node.tag_name().name() {
            "g" => self.children(node, style, window),
            // A picture in a picture cuts off what is outside.
            "svg" => {
                let window = self.window(&node);
                self.children(node, style, window.as_ref());
            }
            "path" => {
                self.shape(path::path(node.attribute("d").unwrap_or_default()), style, window)
            }
            "rect" => self.shape(rectangle(&node), style, window),
            "circle" => {
                let circle = PathBuilder::from_circle(number("cx"), number("cy"), number("r"));
                self.shape(circle, style, window);
            }
            "text" => self.text(node, style, window),
            // Titles are for a pointer, and there is none.
            _ => {}
        }
    }

    fn window(&self, node: &Node<'_, '_>) -> Option<Mask> {
        let mut mask = Mask::new(self.pixels.width(), self.pixels.height())?;
        mask.fill_path(&rectangle(node)?, FillRule::Winding, true, self.scale);
        Some(mask)
    }

    fn shape(&mut self, shape: Option<Path>, style: &Style, window: Option<&Mask>) {
        let Some(shape) = shape else { return };
        let transform = self.scale;
        if let Some(ink) = style.fill {
            let paint = paint_of(ink, style.fill_opacity, !style.is_crisp);
            self.pixels.fill_path(&shape, &paint, FillRule::Winding, transform, window);
        }
        if let Some(ink) = style.stroke {
            let stroke = Stroke {
                width: style.stroke_width,
                line_cap: if style.is_round { LineCap::Round } else { LineCap::Butt },
                line_join: LineJoin::Round,
                dash: StrokeDash::new(style.dash.clone(), 0.0),
                ..Stroke::default()
            };
            let paint = paint_of(ink, style.stroke_opacity, true);
            self.pixels.stroke_path(&shape, &paint, &stroke, transform, window);
        }
    }

    fn text(&mut self, node: Node<'_, '_>, style: &Style, window: Option<&Mask>) {
        let number = |name: &str| path::number(node.attribute(name).unwrap_or_default());
        let is_title = |node: &Node<'_, '_>| node.has_tag_name("title");
        let pieces = node.descendants().filter(|piece| piece.is_text());
        let pieces = pieces.filter(|piece| !piece.ancestors().any(|above| is_title(&above)));
        let text: String = pieces.filter_map(|piece| piece.text()).collect();
        let size = f64::from(style.size);
        let Some((ink, outline)) = style.fill.zip(letters::outline(&text, size)) else { return };
        let length = letters::width(&text, size) as f32;
        let back = match style.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => length / 2.0,
            Anchor::End => length,
        };
        let turned = path::transform(node.attribute("transform").unwrap_or_default());
        let place = self.scale.pre_concat(turned).pre_translate(number("x") - back, number("y"));
        let paint = paint_of(ink, style.fill_opacity, true);
        self.pixels.fill_path(&outline, &paint, FillRule::Winding, place, window);
        if style.is_bold {
            let stroke = Stroke { width: BOLD * style.size, ..Stroke::default() };
            self.pixels.stroke_path(&outline, &paint, &stroke, place, window);
        }
    }
}

fn paint_of(Ink([r, g, b]): Ink, opacity: f32, anti_alias: bool) -> Paint<'static> {
    let mut paint = Paint { anti_alias, ..Paint::default() };
    paint.set_color_rgba8(r, g, b, (255.0 * opacity).round() as u8);
    paint
}

fn rectangle(node: &Node<'_, '_>) -> Option<Path> {
    let number = |name: &str| path::number(node.attribute(name).unwrap_or_default());
    let rect = Rect::from_xywh(number("x"), number("y"), number("width"), number("height"))?;
    Some(PathBuilder::from_rect(rect))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pixels(body: &str) -> Pixmap {
        let picture =
            format!("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 20 10\">{body}</svg>");
        Pixmap::decode_png(&paint(&picture)).expect("a PNG")
    }

    /// Red, green and blue at a place of the picture.
    fn at(pixels: &Pixmap, x: f32, y: f32) -> [u8; 3] {
        let [x, y] = [x, y].map(|place| (place * SCALE) as u32);
        let colour = pixels.pixel(x, y).expect("inside").demultiply();
        [colour.red(), colour.green(), colour.blue()]
    }

    const WHITE: [u8; 3] = [255; 3];
    const RED: [u8; 3] = [255, 0, 0];

    #[test]
    fn shapes_have_their_places_and_colours() {
        let found = pixels(
            "<rect x=\"2\" y=\"2\" width=\"4\" height=\"4\" fill=\"#ff0000\"/>\
             <g fill=\"#0000ff\" fill-opacity=\"0.5\"><circle cx=\"12\" cy=\"5\" r=\"2\"/></g>\
             <path d=\"M15 1h3v3h-3z\" fill=\"none\" stroke=\"#ff0000\" stroke-width=\"1\"/>",
        );
        assert_eq!((found.width(), found.height()), (60, 30));
        assert_eq!([at(&found, 4.0, 4.0), at(&found, 7.0, 4.0)], [RED, WHITE]);
        let [r, g, b] = at(&found, 12.0, 5.0);
        assert!(r.abs_diff(127) < 3 && g.abs_diff(127) < 3 && b == 255, "{r} {g} {b}");
        assert_eq!([at(&found, 16.5, 1.0), at(&found, 16.5, 2.5)], [RED, WHITE]);
    }

    #[test]
    fn windows_cut_off_and_dots_are_seen() {
        let found = pixels(
            "<svg x=\"5\" y=\"0\" width=\"5\" height=\"10\" viewBox=\"5 0 5 10\">\
             <path d=\"M0 5H20\" fill=\"none\" stroke=\"#ff0000\" stroke-width=\"2\"/></svg>\
             <path d=\"M15 5h0M18 5h0\" stroke=\"#ff0000\" stroke-width=\"2\" \
             stroke-linecap=\"round\"/>",
        );
        let line: Vec<[u8; 3]> =
            [2.0, 7.0, 12.0, 15.0, 16.5, 18.0].map(|x| at(&found, x, 5.0)).into();
        assert_eq!(line, [WHITE, RED, WHITE, RED, WHITE, RED]);
    }

    #[test]
    fn letters_stand_where_they_are_anchored() {
        let ink = |attributes: &str| {
            let found =
                pixels(&format!("<text {attributes} font-size=\"6\" fill=\"#000000\">HH</text>"));
            let dark = |x: &u32| {
                (0..30).any(|y| found.pixel(*x, y).expect("inside").demultiply().red() < 128)
            };
            let columns: Vec<u32> = (0..60).filter(dark).collect();
            [columns[0], columns[columns.len() - 1]].map(|column| f64::from(column) / 3.0)
        };
        let length = letters::width("HH", 6.0);
        let [left, right] = ink("x=\"1\" y=\"8\"");
        // There is a tenth of the size of blank on either side.
        assert!((left - 1.6).abs() < 0.5 && (right - 0.4 - length).abs() < 0.5, "{left} {right}");
        let [left, right] = ink("x=\"10\" y=\"8\" text-anchor=\"middle\"");
        assert!(((left + right) / 2.0 - 10.0).abs() < 0.5, "{left} {right}");
        let [_, right] = ink("x=\"19\" y=\"8\" text-anchor=\"end\"");
        assert!((right - 18.4).abs() < 0.5, "{right}");
        // Upright: as wide as capitals are high.
        let [left, right] = ink("transform=\"translate(12 9) rotate(-90)\"");
        assert!(right < 12.2 && (right - left - 0.73 * 6.0).abs() < 0.6, "{left} {right}");
    }
}
