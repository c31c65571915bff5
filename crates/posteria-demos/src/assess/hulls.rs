//! Tell which places of the robot arm lie among its training rows [Vehtari 2001, figure 3.5].

use posteria::data::Table;

use super::numbers;

/// The convex hulls of training inputs on either side of x1, which leaves its middle out.
pub struct Hulls([Vec<[f64; 2]>; 2]);

impl Hulls {
    /// Those of the rows of a table with columns `x1` and `x2`.
    pub fn of(table: &Table) -> Self {
        let of = |side: bool| {
            hull(places(table).into_iter().filter(|place| (place[0] > 0.0) == side).collect())
        };
        Hulls([of(false), of(true)])
    }

    /// Whether each row of another table is within one of them.
    pub fn hold(&self, table: &Table) -> Vec<bool> {
        let is_inside = |place: &[f64; 2]| self.0.iter().any(|hull| holds(hull, *place));
        places(table).iter().map(is_inside).collect()
    }
}

fn places(table: &Table) -> Vec<[f64; 2]> {
    numbers(table, "x1").iter().zip(numbers(table, "x2")).map(|(x1, x2)| [*x1, *x2]).collect()
}

/// Twice the area of a triangle, positive if its corners go around to the left.
fn turn(a: [f64; 2], b: [f64; 2], c: [f64; 2]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

/// The corners of the convex hull, going around to the left: the lower chain from left to right, and
/// then the upper one back [Andrew 1979].
fn hull(mut places: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    places.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    let chain = |places: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut corners: Vec<[f64; 2]> = Vec::new();
        for place in places {
            while let [.., a, b] = corners[..]
                && turn(a, b, place) <= 0.0
            {
                corners.pop();
            }
            corners.push(place);
        }
        // Where it ends the other one begins.
        corners.pop();
        corners
    };
    let mut corners = chain(&mut places.iter().copied());
    corners.extend(chain(&mut places.iter().rev().copied()));
    corners
}

/// Whether a place is within a hull, or on its border.
fn holds(corners: &[[f64; 2]], place: [f64; 2]) -> bool {
    let next = corners.iter().cycle().skip(1);
    corners.len() > 2 && corners.iter().zip(next).all(|(a, b)| turn(*a, *b, place) >= 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::table_of;

    #[test]
    fn hulls_hold_what_is_between_their_rows_and_nothing_else() {
        // A triangle to the left with a row inside, a square to the right with a row on its border.
        let x1 = vec![-3.0, -1.0, -2.0, -2.0, 1.0, 2.0, 2.0, 1.0, 1.5];
        let x2 = vec![0.0, 0.0, 2.0, 0.5, 0.0, 0.0, 1.0, 1.0, 0.0];
        let hulls = Hulls::of(&table_of([("x1", x1), ("x2", x2)]));
        assert_eq!(hulls.0[0], [[-3.0, 0.0], [-1.0, 0.0], [-2.0, 2.0]]);
        assert_eq!(hulls.0[1], [[1.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0]]);
        let places = [
            ([-2.0, 1.9], true),
            ([-2.9, 0.5], false),
            ([0.0, 0.5], false),
            ([1.2, 0.9], true),
            ([1.5, 0.0], true),
            ([1.5, -0.1], false),
            ([2.1, 0.5], false),
        ];
        let column = |k: usize| places.iter().map(|(place, _)| place[k]).collect();
        let found = hulls.hold(&table_of([("x1", column(0)), ("x2", column(1))]));
        assert_eq!(found, places.map(|(_, inside)| inside));
    }

    #[test]
    fn too_few_rows_hold_nothing() {
        let line = Hulls::of(&table_of([("x1", vec![1.0, 2.0]), ("x2", vec![0.0, 0.0])]));
        assert_eq!(line.hold(&table_of([("x1", vec![1.5]), ("x2", vec![0.0])])), [false]);
    }
}
