//! Show whether the chains agree.

use super::{count, precise};
use crate::density::ranks;
use crate::figure::{Axis, Figure, Hover, Ink, Kind, Mark, Span, Table};
use crate::number::{fixed, short};
use crate::page::{Section, TextTable};
use crate::thin::extremes;

/// Points per chain of a trace.
const POINTS: usize = 500;
/// Bins of a rank plot.
const BINS: usize = 20;
/// Rows of the table that is not folded.
const WORST: usize = 8;
/// Rows of the full table.
const ROWS: usize = 2000;
/// Diverging draws that are marked in a trace.
const DIVERGING: usize = 200;
/// R-hat above which chains disagree [Vehtari et al. 2021].
const R_HAT: f64 = 1.01;

/// Whether the chains agree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Convergence {
    /// Every variable that is judged.
    pub variables: Vec<VariableFacts>,
    /// Variables whose draws are shown, the most telling first.
    pub traces: Vec<Trace>,
    /// How the sampler fared, chain by chain.
    pub chains: Vec<ChainFacts>,
    /// Effective draws that are needed; NaN if unknown.
    pub needed: f64,
    /// The names of the interval's ends, such as `hdi_3%`.
    pub interval: [String; 2],
    /// What is not in the table, a sentence each.
    pub notes: Vec<String>,
}

/// Posterior and convergence of one variable.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VariableFacts {
    /// Its name.
    pub name: String,
    /// What it belongs to, such as `fitted`.
    pub block: String,
    /// Posterior mean.
    pub mean: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// Ends of the interval.
    pub interval: [f64; 2],
    /// Monte Carlo standard error of the mean.
    pub mcse_mean: f64,
    /// Effective draws for its middle.
    pub ess_bulk: f64,
    /// Effective draws for its tails.
    pub ess_tail: f64,
    /// Rank-normalised split R-hat.
    pub r_hat: f64,
}

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

/// How the sampler fared in one chain; NaN where that does not apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainFacts {
    /// Draws in which a trajectory diverged.
    pub divergences: usize,
    /// Energy Bayesian fraction of missing information.
    pub energy_fraction: f64,
    /// Mean acceptance probability.
    pub acceptance: f64,
    /// Mean step size.
    pub step_size: f64,
    /// Mean number of steps of a trajectory.
    pub steps: f64,
}

impl Convergence {
    /// Traces, ranks, and the table of diagnostics.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Convergence");
        if self.variables.is_empty() && self.traces.is_empty() {
            return section;
        }
        let mut worst: Vec<&VariableFacts> = self.variables.iter().collect();
        // NaN first: what cannot be judged is looked at, unless it stands still.
        let badness = |v: &VariableFacts| match v.r_hat.is_nan() {
            true if v.sd.abs() <= 0.0 => f64::NEG_INFINITY,
            true => f64::INFINITY,
            false => v.r_hat,
        };
        worst.sort_by(|a, b| badness(b).total_cmp(&badness(a)));
        if let Some(figure) = self.overview() {
            section.figure(figure);
        }
        if let Some(figure) = self.effective() {
            section.figure(figure);
        }
        for trace in &self.traces {
            section.figure(trace.figure());
            section.figure(trace.rank_figure());
        }
        let title =
            format!("The {} that converge worst", count(worst.len().min(WORST), "variable"));
        section.table(self.table(title, &worst[..worst.len().min(WORST)], false));
        if worst.len() > WORST {
            let kept = worst.len().min(ROWS);
            let title = match worst.len() - kept {
                0 => format!("All {}, worst first", count(kept, "variable")),
                rest => {
                    format!("{kept} variables, worst first ({rest} more are in the run folder)")
                }
            };
            section.table(self.table(title, &worst[..kept], true));
        }
        if !self.chains.is_empty() {
            section.table(self.chain_table());
        }
        self.notes.iter().for_each(|note| section.text(note));
        section
    }

    fn blocks(&self) -> Vec<String> {
        let mut blocks: Vec<String> = Vec::new();
        for variable in &self.variables {
            if !blocks.contains(&variable.block) {
                blocks.push(variable.block.clone());
            }
        }
        blocks
    }

    /// One point per variable, by block, at `value`.
    fn strip(&self, value: impl Fn(&VariableFacts) -> f64) -> (Vec<f64>, Mark, f64, Vec<String>) {
        let blocks = self.blocks();
        let place = |variable: &VariableFacts| {
            blocks.iter().position(|block| *block == variable.block).unwrap_or(0) as f64
        };
        let x: Vec<f64> = self.variables.iter().map(&value).collect();
        let y: Vec<f64> = self.variables.iter().map(place).collect();
        let names = self.variables.iter().map(|v| format!("{}: {}", v.name, short(value(v))));
        let mark = Mark::named_points(&x, &y, names.collect()).ink(Ink::Series(0)).opacity(0.5);
        let height = 70.0 + 19.0 * blocks.len() as f64;
        (x, mark, height.max(130.0), blocks)
    }

    fn overview(&self) -> Option<Figure> {
        let (x, mark, height, blocks) = self.strip(|v| v.r_hat);
        if self.variables.is_empty() || x.iter().all(|r| r.is_nan()) {
            return None;
        }
        let above = x.iter().filter(|r| **r > R_HAT).count();
        let title = match above {
            0 => "R-hat: every variable is below 1.01, so the chains agree".into(),
            _ => format!("R-hat: {} above 1.01, where chains disagree", count(above, "variable")),
        };
        Some(Figure {
            title,
            caption: "One point per variable. R-hat compares the spread between chains with that \
                      within them: 1 is agreement."
                .into(),
            x: Axis::new("R-hat").including([0.998, 1.012]),
            y: Axis::named("", blocks),
            marks: vec![mark, Mark::upright(R_HAT).ink(Ink::Bad)],
            table: self.names().numbers("r_hat", &x),
            height,
            ..Figure::default()
        })
    }

    fn effective(&self) -> Option<Figure> {
        let smaller = |v: &VariableFacts| v.ess_bulk.min(v.ess_tail);
        let (x, mark, height, blocks) = self.strip(smaller);
        if self.variables.is_empty() || x.iter().all(|size| size.is_nan()) {
            return None;
        }
        let below = x.iter().filter(|size| **size < self.needed).count();
        let needed = short(self.needed);
        let title = match below {
            0 => format!("Effective draws: at least {needed} of every variable, enough"),
            _ => format!(
                "Effective draws: {} below the {needed} that are needed",
                count(below, "variable")
            ),
        };
        let of =
            |value: fn(&VariableFacts) -> f64| self.variables.iter().map(value).collect::<Vec<_>>();
        let mut marks = vec![mark];
        marks.extend(self.needed.is_finite().then(|| Mark::upright(self.needed).ink(Ink::Bad)));
        Some(Figure {
            title,
            caption: "One point per variable: how many independent draws its draws are worth, for \
                      its middle or its tails, whichever is fewer."
                .into(),
            x: Axis::log("effective draws").including([self.needed]),
            y: Axis::named("", blocks),
            marks,
            table: self
                .names()
                .numbers("ess_bulk", &of(|v| v.ess_bulk))
                .numbers("ess_tail", &of(|v| v.ess_tail)),
            height,
            ..Figure::default()
        })
    }

    fn names(&self) -> Table {
        let names: Vec<&str> = self.variables.iter().map(|v| &v.name[..]).collect();
        Table::new().texts("variable", &names)
    }

    fn table(&self, title: String, variables: &[&VariableFacts], is_folded: bool) -> TextTable {
        let [low, high] = self.interval.clone();
        let fixed_names = ["mcse_mean", "ess_bulk", "ess_tail", "r_hat"];
        let header = ["variable", "mean", "sd"].into_iter().map(String::from);
        let header = header.chain([low, high]).chain(fixed_names.map(String::from));
        let row = |v: &&VariableFacts| {
            let of_spread = [v.mean, v.sd, v.interval[0], v.interval[1]];
            let mut cells = vec![v.name.clone()];
            cells.extend(of_spread.map(|value| precise(value, v.sd)));
            cells.push(precise(v.mcse_mean, v.mcse_mean));
            cells.extend([fixed(v.ess_bulk, 0), fixed(v.ess_tail, 0), fixed(v.r_hat, 3)]);
            cells
        };
        let noticed = variables.iter().enumerate().filter(|(_, v)| v.r_hat > R_HAT);
        TextTable {
            title,
            header: header.collect(),
            rows: variables.iter().map(row).collect(),
            noticed: noticed.map(|(index, _)| index).collect(),
            is_folded,
        }
    }

    fn chain_table(&self) -> TextTable {
        let names = ["chain", "divergences", "E-BFMI", "acceptance", "step size", "steps"];
        let row = |(index, chain): (usize, &ChainFacts)| {
            vec![
                index.to_string(),
                chain.divergences.to_string(),
                fixed(chain.energy_fraction, 2),
                fixed(chain.acceptance, 3),
                short(chain.step_size),
                fixed(chain.steps, 1),
            ]
        };
        let noticed = |(_, chain): &(usize, &ChainFacts)| {
            chain.divergences > 0 || chain.energy_fraction < 0.3
        };
        let numbered = || self.chains.iter().enumerate();
        TextTable {
            title: "The sampler, chain by chain".into(),
            header: names.map(String::from).into(),
            rows: numbered().map(row).collect(),
            noticed: numbered().filter(noticed).map(|(index, _)| index).collect(),
            is_folded: false,
        }
    }
}

impl Trace {
    fn figure(&self) -> Figure {
        let thinned = extremes(&self.chains, POINTS);
        let mut marks = Vec::new();
        let mut table = Table::new().numbers("draw", &thinned.x);
        for (chain, y) in thinned.y.iter().enumerate() {
            let label = format!("chain {chain}");
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
            marks.push(mark.called("trajectory diverged"));
        }
        let judged = match self.r_hat {
            r_hat if r_hat > R_HAT => format!("R-hat {r_hat:.3}, the chains disagree"),
            r_hat if r_hat.is_nan() => "R-hat is not defined".into(),
            r_hat => format!("R-hat {r_hat:.3}, the chains agree"),
        };
        let thinning = match thinned.every {
            1 => String::new(),
            every => format!(" Every {every} draws are shown by their smallest and largest value."),
        };
        Figure {
            title: format!("{}: {judged}", self.name),
            caption: format!(
                "The draws in their order: chains should cover the same range and show no trend.{thinning}"
            ),
            x: Axis::new("draw"),
            y: Axis::of(self.kind, &self.name),
            marks,
            table,
            hover: Hover::Row,
            span: Span::Half,
            ..Figure::default()
        }
    }

    fn rank_figure(&self) -> Figure {
        let all: Vec<f64> = self.chains.concat();
        let ranks = ranks(&all);
        let total = ranks.len().max(1) as f64;
        let edges: Vec<f64> = (0..=BINS).map(|edge| edge as f64 / BINS as f64).collect();
        let mut table = Table::new().numbers("rank from", &edges[..BINS]);
        let mut marks = vec![Mark::level(1.0).called("equal")];
        let mut first = 0;
        for (chain, draws) in self.chains.iter().enumerate() {
            let mut heights = vec![0.0; BINS];
            for rank in &ranks[first..first + draws.len()] {
                let bin = ((rank - 0.5) / total * BINS as f64) as usize;
                // A share of 1 where the ranks of a chain are spread as those of all.
                heights[bin.min(BINS - 1)] += BINS as f64 / draws.len() as f64;
            }
            first += draws.len();
            let label = format!("chain {chain}");
            table = table.numbers(&label, &heights);
            marks.push(Mark::steps(&edges, &heights).called(label).series(chain));
        }
        Figure {
            title: format!("{}: ranks of each chain, flat if they agree", self.name),
            caption: "How often the draws of a chain have low, middle and high ranks among all \
                      draws, relative to an equal share. A slope is a shift, a hump or a trough \
                      another spread."
                .into(),
            x: Axis::new("rank among all draws (fraction)").within(0.0, 1.0),
            y: Axis::new("share of draws (1: equal)").including([0.0, 2.0]),
            marks,
            table,
            hover: Hover::Row,
            span: Span::Half,
            ..Figure::default()
        }
    }
}
