//! Draw with characters: shaded maps and curves.

use posteria::data::Table;

use super::study::table_of;

/// From low to high.
const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// A rectangle of the plane, divided into cells.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Range to the right.
    pub x: (f64, f64),
    /// Range upwards.
    pub y: (f64, f64),
    /// Cells to the right.
    pub columns: usize,
    /// Cells downwards.
    pub rows: usize,
}

impl Grid {
    /// Midpoints of the cells, line by line from the top left.
    pub fn points(&self) -> Vec<[f64; 2]> {
        let x = |column: usize| between(self.x, (column as f64 + 0.5) / self.columns as f64);
        let y = |row: usize| between(self.y, 1.0 - (row as f64 + 0.5) / self.rows as f64);
        (0..self.rows * self.columns)
            .map(|cell| [x(cell % self.columns), y(cell / self.columns)])
            .collect()
    }

    /// A table of the midpoints.
    pub fn table(&self, names: [&'static str; 2]) -> Table {
        let points = self.points();
        let column = |k: usize| points.iter().map(|point| point[k]).collect();
        table_of([(names[0], column(0)), (names[1], column(1))])
    }

    /// Lines of characters that are the darker, the higher a value is in `range`.
    pub fn shade(&self, values: &[f64], range: (f64, f64)) -> Vec<String> {
        let shade = |value: &f64| {
            let level = (value - range.0) / (range.1 - range.0) * SHADES.len() as f64;
            SHADES[(level.max(0.0) as usize).min(SHADES.len() - 1)]
        };
        values.chunks(self.columns).map(|line| line.iter().map(shade).collect()).collect()
    }
}

/// Two pictures with titles, next to each other.
pub fn beside(titles: [&str; 2], left: &[String], right: &[String]) -> String {
    let width = left.first().map_or(0, |line| line.chars().count()).max(titles[0].chars().count());
    let mut text = format!("{:<width$}   {}\n", titles[0], titles[1]);
    for (left, right) in left.iter().zip(right) {
        text.push_str(format!("{left:<width$} | {right}").trim_end());
        text.push('\n');
    }
    text
}

/// Points and curves on a rectangle of characters.
pub struct Plot {
    grid: Grid,
    cells: Vec<char>,
}

impl Plot {
    /// An empty plot.
    pub fn new(grid: Grid) -> Self {
        Plot { grid, cells: vec![' '; grid.rows * grid.columns] }
    }

    /// Marks a point; one outside is left out.
    pub fn put(&mut self, x: f64, y: f64, mark: char) {
        let part = |value: f64, (low, high): (f64, f64)| (value - low) / (high - low);
        let (right, down) = (part(x, self.grid.x), 1.0 - part(y, self.grid.y));
        if (0.0..1.0).contains(&right) && (0.0..1.0).contains(&down) {
            let column = (right * self.grid.columns as f64) as usize;
            let row = (down * self.grid.rows as f64) as usize;
            self.cells[row * self.grid.columns + column] = mark;
        }
    }

    /// The plot with the ends of its axes.
    pub fn render(&self) -> String {
        let mut text = String::new();
        for (row, line) in self.cells.chunks(self.grid.columns).enumerate() {
            let label = match row {
                0 => format!("{:5.1}", self.grid.y.1),
                row if row + 1 == self.grid.rows => format!("{:5.1}", self.grid.y.0),
                _ => " ".repeat(5),
            };
            let line: String = line.iter().collect();
            text.push_str(format!("{label} |{line}").trim_end());
            text.push('\n');
        }
        let (low, high) = self.grid.x;
        let width = self.grid.columns.saturating_sub(5);
        text.push_str(&format!("{:6}{low:<5.1}{high:>width$.1}\n", ""));
        text
    }
}

fn between((low, high): (f64, f64), part: f64) -> f64 {
    low + (high - low) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: Grid = Grid { x: (0.0, 4.0), y: (0.0, 2.0), columns: 4, rows: 2 };

    #[test]
    fn midpoints_begin_at_the_top_left() {
        let points = GRID.points();
        assert_eq!(points.len(), 8);
        for (at, x, y) in [(0, 0.5, 1.5), (3, 3.5, 1.5), (4, 0.5, 0.5), (7, 3.5, 0.5)] {
            let [px, py] = points[at];
            assert!((px - x).abs() < 1e-12 && (py - y).abs() < 1e-12, "{at}: {px}, {py}");
        }
    }

    #[test]
    fn shades_rise_and_stay_within_their_range() {
        let lines = GRID.shade(&[-5.0, 0.0, 0.15, 0.49, 0.51, 0.95, 1.0, 9.0], (0.0, 1.0));
        assert_eq!(lines, ["  .=", "+@@@"]);
        assert_eq!(beside(["a", "b"], &lines, &lines), "a      b\n  .= |   .=\n+@@@ | +@@@\n");
    }

    #[test]
    fn points_land_in_their_cells_and_outside_ones_nowhere() {
        let mut plot = Plot::new(GRID);
        plot.put(0.1, 1.9, 'a');
        plot.put(3.9, 0.1, 'b');
        plot.put(4.1, 1.0, 'c');
        plot.put(1.0, f64::NAN, 'd');
        let text = plot.render();
        assert!(text.starts_with("  2.0 |a\n  0.0 |   b\n"), "{text}");
        assert!(!text.contains(['c', 'd']));
    }
}
