//! Show how far importance weights can be trusted.

use super::{Doubt, count};
use crate::figure::{Axis, Figure, Hover, Ink, Mark, Table};
use crate::number::fixed;
use crate::page::{Alert, Block, Level, Section};
use crate::thin::evenly;

/// Shape above which a mean of weighted draws cannot be trusted [Vehtari et al. 2024].
const GREATEST: f64 = 0.7;
/// Rows that are drawn.
const ROWS: usize = 5000;
/// Rows that have a line.
const LINES: usize = 100;

/// How far the importance weights of rows that are left out can be trusted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WeightReliability {
    /// Pareto shape k of every row.
    pub pareto_shapes: Vec<f64>,
    /// Effective number of weighted draws of every row.
    pub effective_sizes: Vec<f64>,
    /// How much few weights carry.
    pub mass_of_largest: MassOfLargest,
    /// Number of draws that are weighted.
    pub draws: usize,
}

/// The mass of the largest weights of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MassOfLargest {
    /// Numbers of largest weights.
    pub counts: Vec<usize>,
    /// Of every row the mass of so many.
    pub rows: Vec<Vec<f64>>,
}

impl WeightReliability {
    /// What the verdict of the page must say.
    pub fn doubts(&self) -> Vec<Doubt> {
        let bad = self.pareto_shapes.iter().filter(|k| **k > GREATEST).count();
        let largest = self.pareto_shapes.iter().copied().fold(f64::NAN, f64::max);
        let doubt = Doubt {
            level: Level::Bad,
            text: format!(
                "Pareto k is above {GREATEST} for {} of {} (largest {largest:.2}): the posterior \
                 without such a row differs too much for importance weights, and leave-one-out is \
                 optimistic there; refit without these rows (posteria assess --refit N), or use k-fold \
                 cross-validation",
                bad,
                count(self.pareto_shapes.len(), "row")
            ),
        };
        (bad > 0).then_some(doubt).into_iter().collect()
    }

    /// Shapes and effective sizes, row by row.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Reliability of leave-one-out");
        for Doubt { level, text } in self.doubts() {
            let title = "Some rows cannot be left out by importance weights".into();
            section.blocks.push(Block::Alert(Alert { level, title, lines: vec![text] }));
        }
        let bad = self.pareto_shapes.iter().filter(|k| **k > GREATEST).count();
        if !self.pareto_shapes.is_empty() {
            let title = match bad {
                0 => "Pareto k: every row is below 0.7, so the weights can be trusted".into(),
                _ => format!("Pareto k: {} above 0.7, not to be trusted", count(bad, "row")),
            };
            let caption = "How heavy the tail of a row's importance weights is: below 0.5 is good, \
                           above 0.7 the weighted mean is dominated by a few draws.";
            let rules = [(0.5, Ink::Muted), (GREATEST, Ink::Bad)];
            let marks = rules.map(|(at, ink)| Mark::level(at).ink(ink));
            let figure = by_row(title, caption, ("Pareto k", &self.pareto_shapes), marks.into());
            section.figure(Figure { name: "pareto-k".into(), ..figure });
        }
        if !self.effective_sizes.is_empty() {
            let least = self.effective_sizes.iter().copied().fold(f64::NAN, f64::min);
            let title = format!(
                "Effective draws of a left-out row: at least {} of {}",
                fixed(least, 0),
                self.draws
            );
            let caption = "How many draws of equal weight the weighted draws are worth.";
            let sizes = ("effective draws", &self.effective_sizes[..]);
            let figure = by_row(title, caption, sizes, vec![Mark::level(self.draws as f64)]);
            section.figure(Figure { name: "loo-effective-draws".into(), ..figure });
        }
        if !self.mass_of_largest.rows.is_empty() {
            section.figure(self.mass_of_largest.figure(self.draws));
        }
        section
    }
}

impl MassOfLargest {
    /// One line per row [Vehtari 2001, fig. 3.3].
    fn figure(&self, draws: usize) -> Figure {
        let counts: Vec<f64> = self.counts.iter().map(|count| (*count).min(draws) as f64).collect();
        let mut rows: Vec<usize> = (0..self.rows.len()).collect();
        // Those that fewest weights carry are drawn for certain.
        let half = self.counts.len() / 2;
        rows.sort_by(|a, b| self.rows[*b][half].total_cmp(&self.rows[*a][half]));
        let worst = rows.first().map_or(f64::NAN, |row| self.rows[*row][0]);
        let shown = rows.iter().take(LINES);
        let line = |row: &usize| {
            Mark::line(&counts, &self.rows[*row]).ink(Ink::Series(0)).size(0.8).opacity(0.4)
        };
        let even: Vec<f64> = counts.iter().map(|count| count / draws as f64).collect();
        let mut marks: Vec<Mark> = shown.map(line).collect();
        marks.push(Mark::line(&counts, &even).ink(Ink::Muted).dash(1).called("equal weights"));
        let median = |place: usize| {
            let mut own: Vec<f64> = self.rows.iter().map(|row| row[place]).collect();
            own.sort_unstable_by(f64::total_cmp);
            own[own.len() / 2]
        };
        let medians: Vec<f64> = (0..counts.len()).map(median).collect();
        let greatest: Vec<f64> = (0..counts.len())
            .map(|place| self.rows.iter().map(|row| row[place]).fold(f64::NAN, f64::max))
            .collect();
        Figure {
            name: "loo-weight-mass".into(),
            title: format!(
                "Mass of the largest weights: one draw carries at most {} of a row",
                fixed(worst.max(greatest[0]), 2)
            ),
            caption: format!(
                "The share of the total weight that the k largest importance weights of a left-out row \
                 have, a line per row{}. Lines that rise at once are carried by few draws.",
                if self.rows.len() > LINES { ", the steepest of them" } else { "" }
            ),
            x: Axis::log("largest weights"),
            y: Axis::new("mass").within(0.0, 1.0),
            marks,
            table: Table::new()
                .numbers("largest weights", &counts)
                .numbers("median row", &medians)
                .numbers("steepest row", &greatest),
            height: 320.0,
            ..Figure::default()
        }
    }
}

fn by_row(
    title: String,
    caption: &str,
    (name, values): (&str, &[f64]),
    mut marks: Vec<Mark>,
) -> Figure {
    // All that are too large, and as many others as there is room for.
    let mut kept = evenly(values.len(), ROWS);
    kept.extend((0..values.len()).filter(|row| values[*row] > GREATEST && values.len() > ROWS));
    kept.sort_unstable();
    kept.dedup();
    let x: Vec<f64> = kept.iter().map(|row| (row + 1) as f64).collect();
    let y: Vec<f64> = kept.iter().map(|row| values[*row]).collect();
    marks.push(Mark::points(&x, &y).ink(Ink::Series(0)).size(4.5));
    let rows: Vec<f64> = (1..=values.len()).map(|row| row as f64).collect();
    Figure {
        title,
        caption: caption.into(),
        x: Axis::new("row of the data"),
        y: Axis::new(name).including([0.0]),
        marks,
        table: Table::new().numbers("row", &rows).numbers(name, values),
        hover: Hover::Point,
        ..Figure::default()
    }
}
