//! Show the draws of one variable, in their order and by rank.

use crate::density::rank_ranges;
use crate::figure::{Axis, Figure, Hover, Ink, Kind, Mark, Table};
use crate::thin::extremes;

/// Points per chain of a trace.
const POINTS: usize = 500;
/// Bins of a rank plot.
const BINS: usize = 20;
/// Diverging draws that are marked in a trace.
const DIVERGING: usize = 200;

/// The draws of one variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Its name.
    pub name: String,
    /// How its axis runs.
    pub kind: Kind,
    /// The draws of every chain.
    pub chains: Vec<Vec<f64>>,
    /// Chain and number of draws whose trajectory diverged.
    pub diverging: Vec<[usize; 2]>,
    /// Rank-normalised split R-hat.
    pub r_hat: f64,
}

impl Trace {
    pub(super) fn figure(&self, r_hat_limit: f64) -> Figure {
        let thinned = extremes(&self.chains, POINTS);
        let mut marks = Vec::new();
        let mut table = Table::new().numbers("draw", &thinned.x);
        for (chain, y) in thinned.y.iter().enumerate() {
            let label = format!("chain {}", chain + 1);
            table = table.numbers(&label, y);
            // Dashes of many short lines are noise.
            let mark = Mark::line(&thinned.x, y).called(label).series(chain).dash(0);
            marks.push(mark.size(0.9).opacity(0.75));
        }
        let value = |[chain, draw]: &[usize; 2]| {
            Some((*draw as f64, *self.chains.get(*chain)?.get(*draw)?))
        };
        let (x, y): (Vec<f64>, Vec<f64>) =
            self.diverging.iter().take(DIVERGING).filter_map(value).unzip();
        if !x.is_empty() {
            let mark = Mark::points(&x, &y).ink(Ink::Bad).size(3.5).opacity(1.0);
            marks.push(mark.called("divergent"));
        }
        let judged = match self.r_hat {
            r_hat if r_hat > r_hat_limit => format!("R-hat {r_hat:.3}, the chains disagree"),
            r_hat if r_hat.is_nan() => "R-hat is not defined".into(),
            r_hat => format!("R-hat {r_hat:.3}, the chains agree"),
        };
        let thinning = match thinned.every {
            1 => String::new(),
            every => format!(" Every {every} draws are shown by their smallest and largest value."),
        };
        Figure {
            name: format!("trace-{}", self.name),
            title: format!("{}: {judged}", self.name),
            caption: format!(
                "The draws in their order: chains should cover the same range and show no trend.{thinning}"
            ),
            x: Axis::new("draw"),
            y: Axis::of(self.kind, &self.name),
            marks,
            table,
            hover: Hover::Row,
            ..Figure::default()
        }
    }

    pub(super) fn rank_figure(&self) -> Figure {
        let all: Vec<f64> = self.chains.concat();
        let ranges = rank_ranges(&all);
        let edges: Vec<f64> = (0..=BINS).map(|edge| edge as f64 / BINS as f64).collect();
        let mut table = Table::new().numbers("rank from", &edges[..BINS]);
        let mut marks = vec![Mark::level(1.0).called("equal")];
        let mut first = 0;
        for (chain, draws) in self.chains.iter().enumerate() {
            let mut heights = vec![0.0; BINS];
            for [low, high] in &ranges[first..first + draws.len()] {
                let [from, to] = [low, high].map(|end| end * BINS as f64);
                for (bin, height) in heights.iter_mut().enumerate() {
                    let inside = to.min(bin as f64 + 1.0) - from.max(bin as f64);
                    // A share of 1 where the ranks of a chain are spread as those of all.
                    if inside > 0.0 {
                        *height += BINS as f64 / draws.len() as f64 * inside / (to - from);
                    }
                }
            }
            first += draws.len();
            let label = format!("chain {}", chain + 1);
            table = table.numbers(&label, &heights);
            marks.push(Mark::steps(&edges, &heights).called(label).series(chain));
        }
        Figure {
            name: format!("ranks-{}", self.name),
            title: format!("{}: ranks of each chain, flat if they agree", self.name),
            caption: "How often the draws of a chain have low, middle and high ranks among all \
                      draws, relative to an equal share. A slope is a shift in location, a \
                      hump or a trough a different spread."
                .into(),
            x: Axis::new("rank among all draws (fraction)").within(0.0, 1.0),
            y: Axis::new("share of draws (1: equal)").including([0.0, 2.0]),
            marks,
            table,
            hover: Hover::Row,
            ..Figure::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_on_a_grid_have_flat_ranks_where_chains_agree() {
        let chain: Vec<f64> = (0..300).map(|draw| f64::from(draw % 3)).collect();
        let trace = Trace { name: "dof".into(), chains: vec![chain; 2], ..Trace::default() };
        let csv = trace.rank_figure().table.csv();
        assert!(csv.lines().next().is_some_and(|header| header.ends_with("chain 1,chain 2")));
        assert_eq!(
            csv.lines().skip(1).filter(|line| line.ends_with(",1,1")).count(),
            BINS,
            "{csv}"
        );
    }
}
