//! Show functions drawn from the prior beside the data.

use crate::figure::{Axis, Figure, Ink, Mark, Span, Table};
use crate::number::short;
use crate::thin::evenly;

/// Points of data that are drawn.
const POINTS: usize = 1000;
/// How far the picture reaches beyond the data on either side, in ranges of the data: farther
/// functions of a vague prior would press the data together.
const BEYOND: f64 = 2.0;

/// Functions drawn from the prior along one input, with the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PriorDraws {
    /// The input.
    pub input: String,
    /// What the functions are of: a target, or a probability.
    pub output: String,
    /// Values of the input.
    pub x: Vec<f64>,
    /// One function each.
    pub functions: Vec<Vec<f64>>,
    /// The rows of the data: input, and target or whether the row is of the class.
    pub observed: [Vec<f64>; 2],
    /// Whether probabilities are drawn.
    pub is_probability: bool,
    /// How large functions and residuals are, a sentence each.
    pub sizes: Vec<String>,
}

impl PriorDraws {
    /// The functions, faint, over the data; `None` if there is none.
    pub fn figure(&self) -> Option<Figure> {
        if self.functions.is_empty() || self.x.is_empty() {
            return None;
        }
        let [low, high] = self.window();
        let is_outside = |draw: &&Vec<f64>| draw.iter().any(|y| !(low..=high).contains(y));
        let outside = self.functions.iter().filter(is_outside).count();
        let mut marks: Vec<Mark> = self
            .functions
            .iter()
            .enumerate()
            .map(|(index, draw)| {
                let line = Mark::line(&self.x, draw).ink(Ink::Series(0)).opacity(0.55).size(1.2);
                if index == 0 { line.called("prior draws of the function") } else { line }
            })
            .collect();
        marks.extend(self.data());
        let mut table = Table::new().numbers(&self.input, &self.x);
        for (index, draw) in self.functions.iter().enumerate() {
            table = table.numbers(format!("draw {}", index + 1), draw);
        }
        let count = self.functions.len();
        let beyond = match outside {
            0 => String::new(),
            outside => format!(": {outside} of {count} draws leave the picture"),
        };
        let caption = format!(
            "{count} functions as the prior has them before any row is seen, without residuals; other \
             inputs at their means. {}",
            self.sizes.join(" ")
        );
        Some(Figure {
            name: format!("prior-{}-{}", self.output, self.input),
            title: format!("What the prior says about {}, beside the data{beyond}", self.output),
            caption: caption.trim_end().into(),
            x: Axis::new(&self.input),
            y: Axis::new(&self.output).within(low, high),
            marks,
            table,
            height: 300.0,
            span: Span::Half,
            ..Figure::default()
        })
    }

    /// The range of the picture: that of the data and somewhat more.
    fn window(&self) -> [f64; 2] {
        if self.is_probability {
            return [-0.04, 1.04];
        }
        let finite = self.observed[1].iter().copied().filter(|y| y.is_finite());
        let (low, high) = finite
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
        match high - low {
            range if range > 0.0 && range.is_finite() => {
                [low - BEYOND * range, high + BEYOND * range]
            }
            _ if low.is_finite() => [low - 1.0, low + 1.0],
            _ => [-1.0, 1.0],
        }
    }

    fn data(&self) -> Option<Mark> {
        let kept = evenly(self.observed[0].len().min(self.observed[1].len()), POINTS);
        let [x, y] =
            [0, 1].map(|k| kept.iter().map(|row| self.observed[k][*row]).collect::<Vec<_>>());
        let names = kept.iter().zip(x.iter().zip(&y)).map(|(row, (x, y))| {
            format!("row {}: {} {}, {} {}", row + 1, self.input, short(*x), self.output, short(*y))
        });
        let names = names.collect();
        let points = Mark::named_points(&x, &y, names).ink(Ink::Text).size(3.0).opacity(0.6);
        (!kept.is_empty()).then(|| points.called("data"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_that_of_the_data_and_functions_that_leave_it_are_counted() {
        let draws = PriorDraws {
            input: "x".into(),
            output: "y".into(),
            x: vec![0.0, 1.0],
            functions: vec![vec![0.0, 1.0], vec![-1e300, f64::INFINITY], vec![0.5, 12.0]],
            observed: [vec![0.2, 0.8], vec![0.0, 2.0]],
            ..PriorDraws::default()
        };
        let figure = draws.figure().expect("a figure");
        assert_eq!(figure.y.limits, Some([-4.0, 6.0]));
        assert!(figure.title.contains("2 of 3 draws leave the picture"), "{}", figure.title);
        assert_eq!(figure.marks.len(), 4);
        assert!(figure.svg().contains("prior draws of the function"));
        assert!(PriorDraws::default().figure().is_none());
    }
}
