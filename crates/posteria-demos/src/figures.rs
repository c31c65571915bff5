//! Draw what a demonstration shows, for its page.

use posteria_report::figure::{
    Axis, Colours, Figure, Hover, Ink, Mark, Palette, Shape, Span, Table,
};

use super::picture::Grid;

/// Heights over the cells of a grid.
pub struct Map<'m> {
    pub title: &'m str,
    pub caption: &'m str,
    pub inputs: [&'m str; 2],
    /// What the heights are.
    pub output: &'m str,
    /// Line by line from the top left, as [`Grid::points`].
    pub values: &'m [f64],
    /// Which heights have the first and the last colour.
    pub range: (f64, f64),
    pub palette: Palette,
    /// Points on it: a name, places across and up.
    pub points: Vec<(&'m str, Vec<f64>, Vec<f64>)>,
}

impl Map<'_> {
    /// The map as a figure.
    pub fn figure(&self, grid: &Grid) -> Figure {
        let places = grid.points();
        let x: Vec<f64> = places[..grid.columns].iter().map(|place| place[0]).collect();
        // From the bottom up.
        let rows = || (0..grid.rows).rev();
        let y: Vec<f64> = rows().map(|row| places[row * grid.columns][1]).collect();
        let lines = rows().map(|row| &self.values[row * grid.columns..][..grid.columns]);
        let values: Vec<f64> = lines.flatten().copied().collect();
        let (low, high) = self.range;
        let colours = Colours { palette: self.palette, low, high };
        let [across, up] =
            [0, 1].map(|axis| places.iter().map(|place| place[axis]).collect::<Vec<_>>());
        let table = Table::new()
            .numbers(self.inputs[0], &across)
            .numbers(self.inputs[1], &up)
            .numbers(self.output, self.values);
        let mut marks = vec![Mark::new(Shape::Surface { x, y, values, colours })];
        for (index, (name, x, y)) in self.points.iter().enumerate() {
            // A rim of the ground keeps points apart from the surface.
            marks.push(Mark::points(x, y).ink(Ink::Ground).size(6.5).opacity(0.9));
            // Classes have the colours of the two sides.
            let ink = Ink::Series(if self.points.len() > 1 { index } else { 7 });
            marks.push(Mark::points(x, y).ink(ink).size(4.5).opacity(1.0).called(*name));
        }
        Figure {
            title: self.title.into(),
            caption: self.caption.into(),
            x: Axis::new(self.inputs[0]),
            y: Axis::new(self.inputs[1]),
            marks,
            table,
            height: 380.0,
            hover: Hover::Point,
            span: Span::Half,
            ..Figure::default()
        }
    }
}

/// Lines over one input.
pub struct Lines<'l> {
    pub title: &'l str,
    pub caption: &'l str,
    pub input: &'l str,
    pub output: &'l str,
    pub x: &'l [f64],
    /// A name and values at `x`.
    pub lines: Vec<(&'l str, Vec<f64>)>,
    /// Points: a name, places across and up.
    pub points: Option<(&'l str, Vec<f64>, Vec<f64>)>,
    pub span: Span,
}

impl Lines<'_> {
    /// The lines as a figure.
    pub fn figure(&self) -> Figure {
        let mut marks = Vec::new();
        if let Some((name, x, y)) = &self.points {
            marks.push(Mark::points(x, y).ink(Ink::Muted).size(4.5).called(*name));
        }
        let mut table = Table::new().numbers(self.input, self.x);
        for (index, (name, y)) in self.lines.iter().enumerate() {
            marks.push(Mark::line(self.x, y).series(index).size(2.0).called(*name));
            table = table.numbers(*name, y);
        }
        Figure {
            title: self.title.into(),
            caption: self.caption.into(),
            x: Axis::new(self.input),
            y: Axis::new(self.output),
            marks,
            table,
            height: 300.0,
            hover: Hover::Row,
            span: self.span,
            ..Figure::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_top_of_a_grid_is_the_top_of_its_map() {
        let grid = Grid { x: (0.0, 2.0), y: (0.0, 2.0), columns: 2, rows: 2 };
        let map = Map {
            title: "a map",
            caption: "",
            inputs: ["a", "b"],
            output: "f",
            // The upper line is the higher one.
            values: &[10.0, 11.0, 0.0, 1.0],
            range: (0.0, 11.0),
            palette: Palette::Sequential,
            points: Vec::new(),
        };
        let figure = map.figure(&grid);
        let Shape::Surface { x, y, values, .. } = &figure.marks[0].shape else { panic!() };
        assert_eq!((x, y), (&vec![0.5, 1.5], &vec![0.5, 1.5]));
        assert_eq!(values, &[0.0, 1.0, 10.0, 11.0]);
        assert!(figure.table.csv().starts_with("a,b,f\n0.5,1.5,10\n"));
    }
}
