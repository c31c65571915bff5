//! Read places: numbers, turns, and lines made of them.

use tiny_skia::{Path, PathBuilder, Transform};

/// A number; 0 where there is none.
pub fn number(text: &str) -> f32 {
    text.trim().parse().unwrap_or(0.0)
}

/// Numbers with blanks between them; none where one is no number.
pub fn numbers(text: &str) -> Vec<f32> {
    text.split_whitespace().map(str::parse).collect::<Result<_, _>>().unwrap_or_default()
}

/// A line, of straight pieces as all of ours are.
pub fn path(d: &str) -> Option<Path> {
    let mut path = PathBuilder::new();
    let mut at = [0.0; 2];
    let mut rest = d;
    while let Some(command) = rest.chars().next() {
        let after = &rest[command.len_utf8()..];
        let end = after.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(after.len());
        let values = numbers(&after[..end]);
        rest = &after[end..];
        match (command, values[..].first_chunk::<2>(), values.first()) {
            ('M', Some(place), _) => {
                at = *place;
                path.move_to(at[0], at[1]);
                continue;
            }
            ('L', Some(place), _) => at = *place,
            ('H', _, Some(x)) => at[0] = *x,
            ('V', _, Some(y)) => at[1] = *y,
            ('h', _, Some(by)) => at[0] += by,
            ('v', _, Some(by)) => at[1] += by,
            ('Z' | 'z', ..) => {
                path.close();
                continue;
            }
            // What is no number ends the line.
            _ => break,
        }
        path.line_to(at[0], at[1]);
    }
    path.finish()
}

/// Moves and turns, one after the other.
pub fn transform(text: &str) -> Transform {
    let mut all = Transform::identity();
    for part in text.split(')').map(str::trim).filter(|part| !part.is_empty()) {
        let (name, values) = part.split_once('(').unwrap_or((part, ""));
        let values = numbers(values);
        all = match (name.trim(), &values[..]) {
            ("translate", [x, y]) => all.pre_translate(*x, *y),
            ("rotate", [angle]) => all.pre_rotate(*angle),
            _ => all,
        };
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_go_where_they_are_told() {
        let bounds = |d: &str| {
            let bounds = path(d).expect("a line").bounds();
            [bounds.left(), bounds.top(), bounds.right(), bounds.bottom()].map(f64::from)
        };
        let close = |found: [f64; 4], wanted: [f64; 4]| {
            found.iter().zip(wanted).all(|(found, wanted)| (found - wanted).abs() < 1e-6)
        };
        assert!(close(bounds("M1 2L3.5 -4H7V9"), [1.0, -4.0, 7.0, 9.0]));
        assert!(close(bounds("M1 2h3v-4.5h-6z"), [-2.0, -2.5, 4.0, 2.0]));
        assert!(path("").is_none());
        let mut turned = tiny_skia::Point::from_xy(1.0, 0.0);
        transform("translate(10 20) rotate(-90)").map_point(&mut turned);
        assert!((turned.x - 10.0).abs() < 1e-5 && (turned.y - 19.0).abs() < 1e-5);
    }
}
