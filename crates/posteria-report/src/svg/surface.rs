//! Draw a surface over a grid in steps of colour.

use crate::figure::Colours;
use crate::number::{place, significant};
use crate::scale::Scale;

use super::writer::Writer;

/// Steps of colour.
pub const STEPS: usize = 12;
/// Cells that are drawn across and up, whatever the grid is.
const CELLS: usize = 96;

/// Draws values on the grid `x` × `y`, linear between its points.
pub fn draw(
    writer: &mut Writer,
    (x, y, values): (&[f64], &[f64], &[f64]),
    colours: &Colours,
    (across, up): (&Scale, &Scale),
) {
    let fits = x.len() > 1 && y.len() > 1 && values.len() >= x.len() * y.len();
    let ends = |grid: &[f64], scale: &Scale| -> Option<[f64; 2]> {
        Some([scale.place(*grid.first()?)?, scale.place(*grid.last()?)?])
    };
    let (true, Some([left, right]), Some([bottom, top])) = (fits, ends(x, across), ends(y, up))
    else {
        return;
    };
    let [width, height] = [(right - left) / CELLS as f64, (bottom - top) / CELLS as f64];
    // One path per colour: runs of cells in a row are one rectangle.
    let mut paths = vec![String::new(); STEPS];
    for row in 0..CELLS {
        let fy = (row as f64 + 0.5) / CELLS as f64;
        let step = |cell: usize| {
            let value = between(x.len(), values, [(cell as f64 + 0.5) / CELLS as f64, fy], y.len());
            let at = (colours.fraction(value) * STEPS as f64).floor() as usize;
            value.is_finite().then_some(at.min(STEPS - 1))
        };
        let edge = place(bottom - (row + 1) as f64 * height);
        let mut cell = 0;
        while cell < CELLS {
            let own = step(cell);
            let end = (cell + 1..CELLS).find(|next| step(*next) != own).unwrap_or(CELLS);
            if let Some(own) = own {
                let [from, run] = [left + cell as f64 * width, (end - cell) as f64 * width];
                let (from, run, height) = (place(from), place(run + 0.2), place(height + 0.2));
                paths[own].push_str(&format!("M{from} {edge}h{run}v{height}h-{run}z"));
            }
            cell = end;
        }
    }
    for (index, d) in paths.iter().enumerate().filter(|(_, d)| !d.is_empty()) {
        let range = colours.high - colours.low;
        let [low, middle, high] =
            [0.0, 0.5, 1.0].map(|part| colours.low + range * (index as f64 + part) / STEPS as f64);
        let fill = colours.colour(middle);
        let title = format!("{} to {}", significant(low, 3), significant(high, 3));
        writer.titled(
            "path",
            &[("d", d), ("fill", &fill), ("shape-rendering", &"crispEdges")],
            &title,
        );
    }
}

/// The value at fractions of the way across and up, linear between four grid points.
fn between(columns: usize, values: &[f64], [fx, fy]: [f64; 2], rows: usize) -> f64 {
    let at = |fraction: f64, count: usize| {
        let at = fraction * (count - 1) as f64;
        let below = (at.floor() as usize).min(count - 2);
        (below, at - below as f64)
    };
    let ((column, s), (row, t)) = (at(fx, columns), at(fy, rows));
    let value = |dx: usize, dy: usize| values[(row + dy) * columns + column + dx];
    let low = value(0, 0) * (1.0 - s) + value(1, 0) * s;
    let high = value(0, 1) * (1.0 - s) + value(1, 1) * s;
    low * (1.0 - t) + high * t
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plane_stays_a_plane() {
        let values: Vec<f64> =
            (0..4).flat_map(|y| (0..3).map(move |x| f64::from(2 * x + 5 * y))).collect();
        let value = between(3, &values, [0.3, 0.8], 4);
        assert!((value - (2.0 * 0.6 + 5.0 * 2.4)).abs() < 1e-12);
        assert!((between(3, &values, [1.0, 1.0], 4) - 19.0).abs() < 1e-12);
    }
}
