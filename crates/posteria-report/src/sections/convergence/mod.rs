//! Show whether the chains agree.

mod disagreement;
mod energy;
mod pair;
mod trace;

pub use disagreement::{ChainOnRows, Disagreement};
pub use energy::Energy;
pub use pair::Pair;
pub use trace::Trace;

use super::{count, precise};
use crate::figure::{Axis, Figure, Ink, Mark, Table};
use crate::number::{fixed, short};
use crate::page::{Section, TextTable};

/// Variables whose draws are shown without being asked for.
const OPEN: usize = 2;
/// Rows of the table.
const ROWS: usize = 2000;

/// Whether the chains agree.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Convergence {
    /// Every variable that is judged.
    pub variables: Vec<VariableFacts>,
    /// Variables whose draws are shown, the most telling first.
    pub traces: Vec<Trace>,
    /// Hyperparameters against each other.
    pub pairs: Vec<Pair>,
    /// The energies of the chains, if the sampler has any.
    pub energy: Option<Energy>,
    /// What chains disagree about, if they do.
    pub disagreement: Option<Disagreement>,
    /// How the sampler fared, chain by chain.
    pub chains: Vec<ChainFacts>,
    /// R-hat above which chains disagree [Vehtari et al. 2021].
    pub r_hat_limit: f64,
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
    /// Effective draws for the bulk.
    pub ess_bulk: f64,
    /// Effective draws for the tails.
    pub ess_tail: f64,
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
    /// R-hat and effective draws, the traces of the worst variables, and the rest folded away.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Convergence");
        if self.variables.is_empty() && self.traces.is_empty() {
            return section;
        }
        self.overview().into_iter().for_each(|figure| section.figure(figure));
        self.effective().into_iter().for_each(|figure| section.figure(figure));
        self.disagreement.iter().for_each(|it| section.extend(it.section()));
        let (open, rest) = self.traces.split_at(self.traces.len().min(OPEN));
        for trace in open {
            section.figure(trace.figure(self.r_hat_limit));
            section.figure(trace.rank_figure());
        }
        let mut more =
            Section::new(format!("Traces and ranks of {}", count(rest.len(), "more variable")));
        for trace in rest {
            more.figure(trace.figure(self.r_hat_limit));
            more.figure(trace.rank_figure());
        }
        section.folded(more);
        let mut geometry = Section::new("Pairs of hyperparameters and energy");
        self.pairs.iter().for_each(|pair| geometry.figure(pair.figure()));
        self.energy.iter().for_each(|energy| geometry.figure(energy.figure()));
        // Where trajectories diverge, the pairs are what to look at.
        match self.pairs.iter().any(Pair::has_divergences) {
            true => section.extend(geometry),
            false => section.folded(geometry),
        }
        if !self.chains.is_empty() {
            section.table(self.chain_table());
        }
        section.table(self.variable_table());
        self.notes.iter().for_each(|note| section.text(note));
        section
    }

    /// All variables, the worst first.
    fn variable_table(&self) -> TextTable {
        let mut worst: Vec<&VariableFacts> = self.variables.iter().collect();
        // NaN first: what cannot be judged is looked at, unless it stands still.
        let badness = |v: &VariableFacts| match v.r_hat.is_nan() {
            true if v.sd.abs() <= 0.0 => f64::NEG_INFINITY,
            true => f64::INFINITY,
            false => v.r_hat,
        };
        worst.sort_by(|a, b| badness(b).total_cmp(&badness(a)));
        let kept = worst.len().min(ROWS);
        let title = match worst.len() - kept {
            0 => format!("Posterior and diagnostics of {}, worst first", count(kept, "variable")),
            rest => format!("{kept} variables, worst first ({rest} more are in the run folder)"),
        };
        self.table(title, &worst[..kept])
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
        let limit = self.r_hat_limit;
        let above = x.iter().filter(|r| **r > limit).count();
        let title = match above {
            0 => format!("R-hat: every variable is below {limit}, so the chains agree"),
            _ => {
                format!("R-hat: {} above {limit}, where chains disagree", count(above, "variable"))
            }
        };
        Some(Figure {
            name: "r-hat".into(),
            title,
            caption: "One point per variable. R-hat compares the spread between chains with that \
                      within them: 1 is agreement."
                .into(),
            x: Axis::new("R-hat").including([0.998, limit + 0.002]),
            y: Axis::named("", blocks),
            marks: vec![mark, Mark::upright(limit).ink(Ink::Bad)],
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
            name: "effective-draws".into(),
            title,
            caption: "One point per variable: how many independent draws its draws are worth, for \
                      the bulk or the tails, whichever is fewer."
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

    fn table(&self, title: String, variables: &[&VariableFacts]) -> TextTable {
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
        let noticed = variables.iter().enumerate().filter(|(_, v)| v.r_hat > self.r_hat_limit);
        TextTable {
            title,
            header: header.collect(),
            rows: variables.iter().map(row).collect(),
            noticed: noticed.map(|(index, _)| index).collect(),
            is_folded: true,
        }
    }

    fn chain_table(&self) -> TextTable {
        let names = ["chain", "divergences", "E-BFMI", "acceptance", "step size", "steps"];
        let row = |(index, chain): (usize, &ChainFacts)| {
            vec![
                (index + 1).to_string(),
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
        let noticed: Vec<usize> = numbered().filter(noticed).map(|(index, _)| index).collect();
        TextTable {
            title: "The sampler, chain by chain".into(),
            header: names.map(String::from).into(),
            rows: numbered().map(row).collect(),
            is_folded: noticed.is_empty(),
            noticed,
        }
    }
}
