//! Show two hyperparameters against each other, with divergences.

use crate::figure::{Axis, Figure, Hover, Ink, Kind, Mark, Table};
use crate::number::fixed;
use crate::thin::evenly;

/// Draws that are drawn, divergent ones apart.
const DRAWS: usize = 800;
/// Divergent draws that are drawn.
const DIVERGING: usize = 400;

/// The draws of two hyperparameters.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// Their names: across and up.
    pub names: [String; 2],
    /// How their axes run.
    pub kinds: [Kind; 2],
    /// Their draws, of all chains.
    pub draws: [Vec<f64>; 2],
    /// Whether the trajectory of a draw diverged; may be empty.
    pub diverging: Vec<bool>,
    /// Their rank correlation.
    pub correlation: f64,
}

impl Pair {
    pub(super) fn has_divergences(&self) -> bool {
        self.diverging.contains(&true)
    }

    pub(super) fn figure(&self) -> Figure {
        let [across, up] = &self.names;
        let count = self.draws[0].len().min(self.draws[1].len());
        let diverged = |draw: &usize| self.diverging.get(*draw) == Some(&true);
        let good: Vec<usize> = (0..count).filter(|draw| !diverged(draw)).collect();
        let bad: Vec<usize> = (0..count).filter(diverged).take(DIVERGING).collect();
        let good: Vec<usize> = evenly(good.len(), DRAWS).into_iter().map(|k| good[k]).collect();
        let of = |draws: &[usize], axis: usize| -> Vec<f64> {
            draws.iter().map(|draw| self.draws[axis][*draw]).collect()
        };
        let mut marks = vec![
            Mark::points(&of(&good, 0), &of(&good, 1)).ink(Ink::Series(0)).size(3.0).opacity(0.45),
        ];
        if !bad.is_empty() {
            let points = Mark::points(&of(&bad, 0), &of(&bad, 1)).ink(Ink::Bad).size(4.5);
            marks.push(points.opacity(1.0).called("divergent"));
        }
        let shown = [good, bad].concat();
        let kinds: Vec<&str> =
            shown.iter().map(|draw| if diverged(draw) { "yes" } else { "no" }).collect();
        let found = if self.has_divergences() {
            "Divergences that gather in one place show where the sampler cannot go."
        } else {
            "No trajectory diverged."
        };
        Figure {
            name: format!("pair-{across}-{up}"),
            title: format!("{across} and {up}: rank correlation {}", fixed(self.correlation, 2)),
            caption: format!("Joint posterior draws. {found} A narrow ridge is slow to explore."),
            x: self.axis(0),
            y: self.axis(1),
            marks,
            table: Table::new()
                .numbers(across, &of(&shown, 0))
                .numbers(up, &of(&shown, 1))
                .texts("divergent", &kinds),
            height: 320.0,
            hover: Hover::Point,
            ..Figure::default()
        }
    }

    fn axis(&self, axis: usize) -> Axis {
        // Where something is not positive, a logarithm shows only a part.
        let is_positive = self.draws[axis].iter().all(|draw| *draw > 0.0);
        let kind = if is_positive { self.kinds[axis] } else { Kind::Linear };
        Axis::of(kind, &self.names[axis])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn divergences_are_marked_and_never_thinned_away() {
        let draws: Vec<f64> = (0..5000).map(|i| 1.0 + f64::from(i)).collect();
        let mut pair = Pair {
            names: ["a".into(), "b".into()],
            kinds: [Kind::Log; 2],
            draws: [draws.clone(), draws],
            ..Pair::default()
        };
        assert_eq!(pair.figure().marks.len(), 1);
        pair.diverging = vec![false; 5000];
        pair.diverging[4321] = true;
        let figure = pair.figure();
        assert_eq!(figure.marks.len(), 2);
        assert!(figure.table.csv().contains("4322,4322,yes"));
        assert_eq!(figure.table.rows(), DRAWS + 1);
    }
}
