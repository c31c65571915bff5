//! Show probabilities of classes beside the classes themselves.

use crate::figure::{Axis, Colours, Figure, Hover, Ink, Mark, Palette, Shape, Table};
use crate::number::{percent, short};

/// Bins of probabilities.
const BINS: usize = 10;
/// Classes with a line of their own, and in the table of confusions.
const LINES: usize = 4;
const CLASSES: usize = 12;

/// Probabilities of classes beside the classes themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassifiedRows {
    /// The target.
    pub target: String,
    /// The names of the classes.
    pub labels: Vec<String>,
    /// The class of every row.
    pub observed: Vec<usize>,
    /// The probability of every class, row by row.
    pub probabilities: Vec<Vec<f64>>,
}

impl ClassifiedRows {
    pub(super) fn figures(&self) -> Vec<Figure> {
        if self.observed.is_empty() || self.labels.len() < 2 {
            return Vec::new();
        }
        let mut figures = vec![self.reliability_figure()];
        if self.labels.len() <= CLASSES {
            figures.push(self.confusion_figure());
        }
        figures
    }

    /// Classes with a line: the second of two, else the first few.
    fn shown(&self) -> Vec<usize> {
        if self.labels.len() == 2 { vec![1] } else { (0..self.labels.len().min(LINES)).collect() }
    }

    /// Mean probability, share of rows with the class, and number of rows of every bin that has any.
    fn bins(&self, class: usize) -> Vec<[f64; 3]> {
        let mut sums = [[0.0; 3]; BINS];
        for (observed, probabilities) in self.observed.iter().zip(&self.probabilities) {
            let p = probabilities.get(class).copied().unwrap_or(f64::NAN);
            if p.is_nan() {
                continue;
            }
            let bin = &mut sums[((p * BINS as f64) as usize).min(BINS - 1)];
            bin[0] += p;
            bin[1] += f64::from(u8::from(*observed == class));
            bin[2] += 1.0;
        }
        let filled = sums.into_iter().filter(|bin| bin[2] > 0.0);
        filled.map(|[p, hits, n]| [p / n, hits / n, n]).collect()
    }

    fn reliability_figure(&self) -> Figure {
        let mut marks =
            vec![Mark::line(&[0.0, 1.0], &[0.0, 1.0]).ink(Ink::Muted).dash(1).size(1.0)];
        let (mut names, mut columns) = (Vec::new(), [const { Vec::new() }; 3]);
        for (line, class) in self.shown().into_iter().enumerate() {
            let bins = self.bins(class);
            let of = |k: usize| bins.iter().map(|bin| bin[k]).collect::<Vec<_>>();
            let (x, y) = (of(0), of(1));
            let end = |sign: f64| bins.iter().map(|bin| share_end(bin, sign)).collect();
            let shape = Shape::Intervals {
                at: x.clone(),
                low: end(-1.0),
                high: end(1.0),
                is_horizontal: false,
            };
            let titles = bins.iter().map(|[p, share, n]| {
                format!("predicted {}, observed {} of {n} rows", short(*p), short(*share))
            });
            marks.push(Mark::new(shape).ink(Ink::Series(line)).opacity(0.6));
            marks.push(Mark::line(&x, &y).called(&self.labels[class]).series(line));
            let points = Mark::named_points(&x, &y, titles.collect());
            marks.push(points.ink(Ink::Series(line)).opacity(1.0));
            names.extend(vec![self.labels[class].clone(); bins.len()]);
            (0..3).for_each(|k| columns[k].extend(of(k)));
        }
        Figure {
            title: format!("{}: are probabilities as frequent as they say?", self.target),
            caption:
                "Rows with about the same predicted probability, and how many of them have the \
                      class, with 95 % intervals. The model has seen these rows."
                    .into(),
            x: Axis::new("predicted probability").within(0.0, 1.0),
            y: Axis::new("share of rows with the class").within(-0.03, 1.03),
            marks,
            table: Table::new()
                .numbers("predicted", &columns[0])
                .numbers("observed", &columns[1])
                .numbers("rows", &columns[2])
                .texts("class", &names),
            height: 340.0,
            hover: Hover::Point,
            ..Figure::default()
        }
    }

    fn confusion_figure(&self) -> Figure {
        let classes = self.labels.len();
        let mut counts = vec![0.0; classes * classes];
        let mut right = 0.0;
        for (observed, probabilities) in self.observed.iter().zip(&self.probabilities) {
            let better = |best: usize, class: usize| {
                if probabilities[class] > probabilities[best] { class } else { best }
            };
            let predicted = (0..probabilities.len().min(classes)).fold(0, better);
            if let Some(count) = counts.get_mut(observed * classes + predicted) {
                *count += 1.0;
                right += f64::from(u8::from(*observed == predicted));
            }
        }
        let total =
            |row: usize| counts[row * classes..(row + 1) * classes].iter().sum::<f64>().max(1.0);
        let shares = counts.iter().enumerate().map(|(index, count)| count / total(index / classes));
        let tiles = Shape::Tiles {
            columns: classes,
            values: shares.collect(),
            texts: counts.iter().map(|count| format!("{count}")).collect(),
            colours: Colours { palette: Palette::Sequential, low: 0.0, high: 1.0 },
        };
        let mut table = Table::new().texts("observed", &self.labels);
        for (column, name) in self.labels.iter().enumerate() {
            let own: Vec<f64> = (0..classes).map(|row| counts[row * classes + column]).collect();
            table = table.numbers(format!("predicted {name}"), &own);
        }
        let accuracy = right / self.observed.len().max(1) as f64;
        Figure {
            title: format!(
                "{}: {} of the rows are classified right",
                self.target,
                percent(accuracy)
            ),
            caption:
                "Rows by their class and by their most probable class; the colour is the share \
                      of the row. The model has seen these rows."
                    .into(),
            x: Axis::named("most probable class", self.labels.clone()),
            y: Axis::named("class", self.labels.clone()),
            marks: vec![Mark::new(tiles)],
            table,
            height: (100.0 + 60.0 * classes as f64).min(340.0),
            ..Figure::default()
        }
    }
}

/// An end of the 95 % score interval of a share, which is not empty where all or none of few rows
/// have the class [Wilson 1927].
fn share_end([_, share, n]: &[f64; 3], sign: f64) -> f64 {
    const Z: f64 = 1.96;
    let middle = share + Z * Z / (2.0 * n);
    let half = Z * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    (middle + sign * half) / (1.0 + Z * Z / n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_hold_shares() {
        let rows = ClassifiedRows {
            target: "t".into(),
            labels: vec!["no".into(), "yes".into()],
            observed: vec![1, 1, 0, 0],
            probabilities: [0.92, 0.98, 0.97, 1.0].map(|p| vec![1.0 - p, p]).into(),
        };
        let bins = rows.bins(1);
        assert_eq!(bins.len(), 1);
        assert!((bins[0][0] - 0.9675).abs() < 1e-12 && (bins[0][1] - 0.5).abs() < 1e-12);
        // Reference: 0 of 10 gives (0, 0.2775).
        assert!((share_end(&[0.1, 0.0, 10.0], 1.0) - 0.2775).abs() < 1e-3);
        assert!(share_end(&[0.1, 0.0, 10.0], -1.0).abs() < 1e-12);
        assert!(rows.confusion_figure().title.contains("50 %"));
        assert!(rows.confusion_figure().table.csv().contains("no,0,2\nyes,0,2\n"));
    }
}
