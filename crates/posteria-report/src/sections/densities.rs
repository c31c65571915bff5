//! Show posteriors of noise, relevance and other parameters as densities.

use crate::density::{Curve, estimate, quantile};
use crate::figure::{Axis, Figure, Hover, Ink, Kind, Mark, Shape, Table};
use crate::number::short;
use crate::page::Section;

/// Figures that are shown without being asked for.
const OPEN: usize = 3;
/// Rows of one figure.
const ROWS: usize = 14;
/// Height of a row of several in pixels, and of a density in rows.
const ROW: f64 = 30.0;
const TALL: f64 = 0.85;

/// Posterior densities.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Densities {
    /// Parameters that belong together.
    pub groups: Vec<DensityGroup>,
}

/// Parameters that belong together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DensityGroup {
    /// A name for files; empty: made from the title.
    pub name: String,
    /// What to see.
    pub title: String,
    /// What a reader must know.
    pub note: String,
    /// What they are, with the unit.
    pub label: String,
    /// How their axis runs.
    pub kind: Kind,
    /// Their draws, in the order they are shown.
    pub samples: Vec<Sample>,
}

/// Draws of one parameter, of all chains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    /// Its name.
    pub name: String,
    /// Its draws.
    pub draws: Vec<f64>,
}

impl Densities {
    /// One figure per group; all but the first few are folded away.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Posterior");
        let shown: Vec<&DensityGroup> =
            self.groups.iter().filter(|group| !group.samples.is_empty()).collect();
        // A fold for one figure saves nothing.
        let open = if shown.len() > OPEN + 1 { OPEN } else { shown.len() };
        let (first, rest) = shown.split_at(open);
        first.iter().for_each(|group| section.figure(group.figure()));
        let mut more = Section::new(format!("Posterior densities of {} more", rest.len()));
        rest.iter().for_each(|group| more.figure(group.figure()));
        section.folded(more);
        section
    }
}

impl DensityGroup {
    /// The densities, one above the other; a single one over an axis of its own.
    pub(crate) fn figure(&self) -> Figure {
        let shown = &self.samples[..self.samples.len().min(ROWS)];
        let mut caption = match shown {
            [_] => String::new(),
            _ => "Curves are scaled to the same height. ".to_string(),
        };
        caption.push_str("Dot: median; bar: from the 5 % to the 95 % quantile.");
        if shown.len() < self.samples.len() {
            caption.push_str(&format!(" {} more are not shown.", self.samples.len() - shown.len()));
        }
        if !self.note.is_empty() {
            let mut letters = self.note.chars();
            let first: String = letters.next().iter().flat_map(|it| it.to_uppercase()).collect();
            caption = format!("{caption} {first}{}", letters.as_str());
        }
        let kind = match self.kind {
            // Where something is not positive, a logarithm shows only a part.
            Kind::Log if shown.iter().flat_map(|s| &s.draws).any(|draw| *draw <= 0.0) => {
                Kind::Linear
            }
            kind => kind,
        };
        let base = Figure {
            name: self.name.clone(),
            title: self.title.clone(),
            caption,
            x: Axis::of(kind, &self.label),
            ..Figure::default()
        };
        match shown {
            [one] => single(one, kind, base),
            _ => rows(shown, kind, base),
        }
    }
}

fn single(sample: &Sample, kind: Kind, base: Figure) -> Figure {
    let [low, median, high] = [0.05, 0.5, 0.95].map(|p| quantile(&sample.draws, p));
    let name = words(&sample.name, [low, median, high]);
    let curve = estimate(&sample.draws, kind).unwrap_or(Curve { x: Vec::new(), y: Vec::new() });
    let zero = vec![0.0; curve.x.len()];
    let interval =
        Shape::Intervals { at: vec![0.0], low: vec![low], high: vec![high], is_horizontal: true };
    Figure {
        y: Axis::new(if kind == Kind::Log { "density (per ln)" } else { "density" })
            .including([0.0]),
        marks: vec![
            Mark::band(&curve.x, &zero, &curve.y).ink(Ink::Series(0)),
            Mark::line(&curve.x, &curve.y).ink(Ink::Series(0)),
            Mark::new(interval).size(3.0),
            Mark::named_points(&[median], &[0.0], vec![name]).size(9.0).opacity(1.0),
        ],
        table: Table::new().numbers(&sample.name, &curve.x).numbers("density", &curve.y),
        hover: Hover::Row,
        ..base
    }
}

fn rows(samples: &[Sample], kind: Kind, base: Figure) -> Figure {
    let mut marks = Vec::new();
    let (mut x, mut y, mut names, mut quantiles) = (vec![], vec![], vec![], vec![]);
    for (row, sample) in samples.iter().enumerate() {
        let at = row as f64;
        quantiles.push([0.05, 0.5, 0.95].map(|p| quantile(&sample.draws, p)));
        let Some(curve) = estimate(&sample.draws, kind) else { continue };
        let top = curve.y.iter().copied().fold(0.0, f64::max);
        let up: Vec<f64> = curve.y.iter().map(|density| at - TALL * density / top).collect();
        let base = vec![at; up.len()];
        marks.push(Mark::band(&curve.x, &base, &up).ink(Ink::Series(0)));
        marks.push(Mark::line(&curve.x, &up).ink(Ink::Series(0)).size(1.2));
        names.extend(vec![sample.name.clone(); up.len()]);
        x.extend(curve.x);
        y.extend(curve.y);
    }
    let each = |index: usize| quantiles.iter().map(|q: &[f64; 3]| q[index]).collect::<Vec<_>>();
    let at: Vec<f64> = (0..samples.len()).map(|row| row as f64).collect();
    let titles = samples.iter().zip(&quantiles).map(|(s, q)| words(&s.name, *q)).collect();
    let interval =
        Shape::Intervals { at: at.clone(), low: each(0), high: each(2), is_horizontal: true };
    marks.push(Mark::new(interval).size(2.0));
    marks.push(Mark::named_points(&each(1), &at, titles).size(6.0).opacity(1.0));
    let categories: Vec<String> = samples.iter().map(|sample| sample.name.clone()).collect();
    let last = samples.len() as f64 - 0.7;
    Figure {
        y: Axis::named("", categories).within(-1.0, last),
        marks,
        table: Table::new().texts("variable", &names).numbers("value", &x).numbers("density", &y),
        height: 60.0 + ROW * (samples.len() as f64 + 0.3),
        ..base
    }
}

fn words(name: &str, [low, median, high]: [f64; 3]) -> String {
    format!("{name}: median {}, 90 % from {} to {}", short(median), short(low), short(high))
}
