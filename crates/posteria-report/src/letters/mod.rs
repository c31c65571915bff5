//! Measure and outline letters by a font that comes with the program: the same on every machine.
//!
//! The font is DejaVu Sans 2.37, cut down to Latin, Greek and Cyrillic letters, punctuation and
//! mathematical signs; `DejaVuSans-LICENSE.txt` is its licence. It is wider than the usual fonts of
//! screens, so that what fits by its measure fits in a browser.

use std::sync::LazyLock;

use tiny_skia::{Path, PathBuilder, Transform};
use ttf_parser::{Face, GlyphId, OutlineBuilder};

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    Face::parse(include_bytes!("DejaVuSans-subset.ttf"), 0)
        .expect("the font is part of the program")
});

/// How wide `text` is in letters of a size.
pub fn width(text: &str, size: f64) -> f64 {
    let units: f64 = text.chars().map(|c| f64::from(advance(glyph(c)))).sum();
    units * size / f64::from(FACE.units_per_em())
}

/// The outline of `text` in letters of a size, from the origin to the right.
pub fn outline(text: &str, size: f64) -> Option<Path> {
    let mut pen = Pen { path: PathBuilder::new(), at: 0.0 };
    for c in text.chars() {
        let glyph = glyph(c);
        // Blanks have no outline.
        let _ = FACE.outline_glyph(glyph, &mut pen);
        pen.at += f32::from(advance(glyph));
    }
    let scale = (size / f64::from(FACE.units_per_em())) as f32;
    pen.path.finish()?.transform(Transform::from_scale(scale, -scale))
}

/// What is not in the font is shown as a box.
fn glyph(c: char) -> GlyphId {
    FACE.glyph_index(c).unwrap_or(GlyphId(0))
}

fn advance(glyph: GlyphId) -> u16 {
    FACE.glyph_hor_advance(glyph).unwrap_or_default()
}

/// Draws outlines one after the other.
struct Pen {
    path: PathBuilder,
    at: f32,
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(self.at + x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(self.at + x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        self.path.quad_to(self.at + x1, y1, self.at + x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        self.path.cubic_to(self.at + x1, y1, self.at + x2, y2, self.at + x, y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_many_languages_have_widths_and_outlines() {
        for c in "aZ09 éßžŁαΩжЯ₂²…–−∞≤′·τ".chars() {
            assert!(FACE.glyph_index(c).is_some(), "{c}");
        }
        assert!(width("mmm", 10.0) > 2.0 * width("lll", 10.0));
        assert!((width("ab", 20.0) - 2.0 * width("ab", 10.0)).abs() < 1e-9);
        let bounds = outline("Ag", 100.0).expect("an outline").bounds();
        // Capitals are above the line, which is at 0 with y downwards; the tail of g is below.
        assert!(bounds.top() < -60.0 && bounds.bottom() > 10.0, "{bounds:?}");
        assert!(f64::from(bounds.right()) <= width("Ag", 100.0));
        assert!(outline("  ", 10.0).is_none());
        assert!(outline("漢", 10.0).is_some(), "a box");
    }
}
