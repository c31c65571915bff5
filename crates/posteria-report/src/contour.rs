//! Find lines of equal value on a grid.

/// A piece of a line, from one point to another.
pub type Piece = [[f64; 2]; 2];

/// The line where values on the grid `x` × `y` (x runs fastest) cross `level`, by marching squares:
/// linear along the edges of a square, and saddles resolved by the mean of its corners. Squares
/// with a corner that is no number have no line.
pub fn lines(x: &[f64], y: &[f64], values: &[f64], level: f64) -> Vec<Piece> {
    let mut pieces = Vec::new();
    if values.len() < x.len() * y.len() {
        return pieces;
    }
    for row in 0..y.len().saturating_sub(1) {
        for column in 0..x.len().saturating_sub(1) {
            let at = |dx: usize, dy: usize| {
                ([x[column + dx], y[row + dy]], values[(row + dy) * x.len() + column + dx] - level)
            };
            // Around the square.
            let corners = [at(0, 0), at(1, 0), at(1, 1), at(0, 1)];
            if corners.iter().any(|(_, value)| !value.is_finite()) {
                continue;
            }
            square(&corners, &mut pieces);
        }
    }
    pieces
}

fn square(corners: &[([f64; 2], f64); 4], pieces: &mut Vec<Piece>) {
    let mut crossings = Vec::with_capacity(4);
    for edge in 0..4 {
        let ((p, a), (q, b)) = (corners[edge], corners[(edge + 1) % 4]);
        if (a < 0.0) != (b < 0.0) {
            let t = a / (a - b);
            crossings.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
        }
    }
    match crossings[..] {
        [p, q] => pieces.push([p, q]),
        [p, q, r, s] => {
            let centre = corners.iter().map(|(_, value)| value).sum::<f64>();
            // Crossings are on edges 0, 1, 2, 3: the corner between two of them is cut off.
            let same = (centre < 0.0) == (corners[0].1 < 0.0);
            pieces.extend(if same { [[p, q], [r, s]] } else { [[q, r], [s, p]] });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_is_found() {
        let axis: Vec<f64> = (0..41).map(|i| -2.0 + 0.1 * i as f64).collect();
        let values: Vec<f64> =
            axis.iter().flat_map(|y| axis.iter().map(move |x| x * x + y * y)).collect();
        let pieces = lines(&axis, &axis, &values, 1.0);
        let length: f64 = pieces.iter().map(|[p, q]| (p[0] - q[0]).hypot(p[1] - q[1])).sum();
        assert!((length - std::f64::consts::TAU).abs() < 0.02, "{length}");
        assert!(pieces.iter().flatten().all(|p| (p[0].hypot(p[1]) - 1.0).abs() < 3e-3));
    }

    #[test]
    fn a_saddle_has_two_lines_that_do_not_cross() {
        // The centre belongs with the corners that are below.
        let pieces = lines(&[0.0, 1.0], &[0.0, 1.0], &[-2.0, 1.0, 1.0, -2.0], 0.0);
        assert_eq!(pieces.len(), 2);
        // Both cut off a corner that is above: (1, 0) and (0, 1).
        let cuts = |corner: [f64; 2]| {
            pieces
                .iter()
                .any(|piece| piece.iter().all(|p| (p[0] - corner[0]).hypot(p[1] - corner[1]) < 0.5))
        };
        assert!(cuts([1.0, 0.0]) && cuts([0.0, 1.0]));
        assert!(lines(&[0.0, 1.0], &[0.0, 1.0], &[f64::NAN, 1.0, 1.0, -2.0], 0.0).is_empty());
        assert!(lines(&[], &[], &[], 0.0).is_empty());
    }
}
