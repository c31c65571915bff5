//! Show probabilities of classes beside the classes themselves.

use super::Basis;
use crate::figure::{Axis, Colours, Figure, Hover, Ink, Mark, Palette, Shape, Span, Table};
use crate::number::{percent, short};

/// Bins of probabilities.
const BINS: usize = 10;
/// Classes with a line of their own, and in the table of confusions.
const LINES: usize = 4;
const CLASSES: usize = 12;

/// Probabilities of classes beside the classes themselves.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassifiedRows {
    /// The model; empty where there is one only.
    pub model: String,
    /// The target.
    pub target: String,
    /// How the rows were predicted.
    pub basis: Basis,
    /// The names of the classes.
    pub labels: Vec<String>,
    /// The class of every row.
    pub observed: Vec<usize>,
    /// The probability of every class, row by row.
    pub probabilities: Vec<Vec<f64>>,
}

impl ClassifiedRows {
    fn is_shown(&self) -> bool {
        !self.observed.is_empty() && self.labels.len() > 1
    }

    /// The calibration of one model, or of several if there are two classes.
    pub(super) fn calibration(all: &[&ClassifiedRows]) -> Option<Figure> {
        match all {
            [one] => one.is_shown().then(|| one.reliability_figure()),
            [first, ..] if first.is_shown() && first.labels.len() == 2 => {
                let lines = all.iter().map(|rows| (*rows, 1, rows.model.clone())).collect();
                Some(first.reliability(lines))
            }
            _ => None,
        }
    }

    /// The classes beside the most probable ones.
    pub(super) fn confusion(&self) -> Option<Figure> {
        (self.is_shown() && self.labels.len() <= CLASSES).then(|| self.confusion_figure())
    }

    /// The share of rows whose most probable class is their class.
    pub fn accuracy(&self) -> f64 {
        let right = self.observed.iter().zip(&self.probabilities);
        let right = right.filter(|(observed, p)| most_probable(p) == **observed).count();
        right as f64 / self.observed.len().max(1) as f64
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
        let lines = self.shown().into_iter().map(|class| (self, class, self.labels[class].clone()));
        self.reliability(lines.collect())
    }

    /// Lines of rows, a class, and a name each.
    fn reliability(&self, lines: Vec<(&ClassifiedRows, usize, String)>) -> Figure {
        let mut marks =
            vec![Mark::line(&[0.0, 1.0], &[0.0, 1.0]).ink(Ink::Muted).dash(1).size(1.0)];
        let (mut names, mut columns) = (Vec::new(), [const { Vec::new() }; 3]);
        for (line, (rows, class, name)) in lines.into_iter().enumerate() {
            let bins = rows.bins(class);
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
            marks.push(Mark::line(&x, &y).called(&name).series(line));
            let points = Mark::named_points(&x, &y, titles.collect());
            marks.push(points.ink(Ink::Series(line)).opacity(1.0));
            names.extend(vec![name; bins.len()]);
            (0..3).for_each(|k| columns[k].extend(of(k)));
        }
        Figure {
            name: format!("calibration-{}", self.target),
            title: format!(
                "{}: are predicted probabilities right? ({})",
                self.target,
                self.basis.title()
            ),
            caption: format!(
                "Calibration: rows with about the same predicted probability, and the share of them \
                 that has the class, with 95 % intervals. {}",
                self.basis.caption()
            ),
            x: Axis::new("predicted probability").within(0.0, 1.0),
            y: Axis::new("share of rows with the class").within(-0.03, 1.03),
            marks,
            table: Table::new()
                .numbers("predicted", &columns[0])
                .numbers("observed", &columns[1])
                .numbers("rows", &columns[2])
                .texts("line", &names),
            height: 340.0,
            hover: Hover::Point,
            span: Span::Half,
        }
    }

    fn confusion_figure(&self) -> Figure {
        let classes = self.labels.len();
        let mut counts = vec![0.0; classes * classes];
        for (observed, probabilities) in self.observed.iter().zip(&self.probabilities) {
            let predicted = most_probable(probabilities).min(classes - 1);
            if let Some(count) = counts.get_mut(observed * classes + predicted) {
                *count += 1.0;
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
        let accuracy = percent(self.accuracy());
        Figure {
            name: format!("confusion-{}", self.target),
            title: match self.basis {
                Basis::LeaveOneOut => {
                    format!(
                        "{}: {accuracy} of the rows classified right, leave-one-out",
                        self.target
                    )
                }
                Basis::Fit => {
                    format!("{}: {accuracy} of the rows of the fit classified right", self.target)
                }
            },
            caption: format!(
                "Confusion matrix: rows by their class and by their most probable class; the colour is \
                 the share of the class. {}",
                self.basis.caption()
            ),
            x: Axis::named("most probable class", self.labels.clone()),
            y: Axis::named("class", self.labels.clone()),
            marks: vec![Mark::new(tiles)],
            table,
            height: (100.0 + 60.0 * classes as f64).min(340.0),
            span: Span::Half,
            ..Figure::default()
        }
    }
}

/// The class with the largest probability, the first of several.
fn most_probable(probabilities: &[f64]) -> usize {
    let better = |best: usize, class: usize| {
        if probabilities[class] > probabilities[best] { class } else { best }
    };
    (0..probabilities.len()).fold(0, better)
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
            ..ClassifiedRows::default()
        };
        let bins = rows.bins(1);
        assert_eq!(bins.len(), 1);
        assert!((bins[0][0] - 0.9675).abs() < 1e-12 && (bins[0][1] - 0.5).abs() < 1e-12);
        // Reference: 0 of 10 gives (0, 0.2775).
        assert!((share_end(&[0.1, 0.0, 10.0], 1.0) - 0.2775).abs() < 1e-3);
        assert!(share_end(&[0.1, 0.0, 10.0], -1.0).abs() < 1e-12);
        let title = rows.confusion_figure().title;
        assert!(title.contains("50 % of the rows of the fit"), "{title}");
        let left_out = ClassifiedRows { basis: Basis::LeaveOneOut, ..rows.clone() };
        assert!(left_out.confusion_figure().title.contains("leave-one-out"));
        assert!(left_out.reliability_figure().title.contains("leave-one-out"));
        assert!(rows.confusion_figure().table.csv().contains("no,0,2\nyes,0,2\n"));
    }
}
