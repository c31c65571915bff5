//! Hold the draws of all chains with the statistics of every draw.

use super::Layout;
use super::Role;

/// What is stored with every draw besides its variables. Names follow ArviZ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Statistics {
    /// Log prior density plus log likelihood, `lp`.
    pub log_density: f64,
    /// Log prior density.
    pub log_prior: f64,
    /// Log likelihood.
    pub log_likelihood: f64,
    /// Energy after the last trajectory; without trajectories, after the last proposal that
    /// has one (else NaN).
    pub energy: f64,
    /// Its step size.
    pub step_size: f64,
    /// Mean acceptance probability of the sweep's trajectories; without any, of its proposals.
    pub acceptance_rate: f64,
    /// Density evaluations of the sweep.
    pub n_steps: f64,
    /// Depth of the last NUTS tree.
    pub tree_depth: f64,
    /// 1 if any trajectory of the sweep diverged, else 0.
    pub diverging: f64,
    /// Number of proposals of the sweep without a usable density.
    pub infeasible: f64,
}

impl Statistics {
    /// Number of statistics.
    pub const LEN: usize = 10;

    /// Their names, in the order of [`Statistics::to_array`].
    pub const NAMES: [&'static str; Self::LEN] = [
        "lp",
        "log_prior",
        "log_lik",
        "energy",
        "step_size",
        "acceptance_rate",
        "n_steps",
        "tree_depth",
        "diverging",
        "infeasible",
    ];

    /// The statistics as an array.
    pub fn to_array(self) -> [f64; Self::LEN] {
        [
            self.log_density,
            self.log_prior,
            self.log_likelihood,
            self.energy,
            self.step_size,
            self.acceptance_rate,
            self.n_steps,
            self.tree_depth,
            self.diverging,
            self.infeasible,
        ]
    }

    /// The statistics from such an array.
    pub fn from_array(values: [f64; Self::LEN]) -> Self {
        let [
            log_density,
            log_prior,
            log_likelihood,
            energy,
            step_size,
            acceptance_rate,
            n_steps,
            tree_depth,
            diverging,
            infeasible,
        ] = values;
        Statistics {
            log_density,
            log_prior,
            log_likelihood,
            energy,
            step_size,
            acceptance_rate,
            n_steps,
            tree_depth,
            diverging,
            infeasible,
        }
    }
}

/// The draws of all chains. Every chain has the same number of draws.
#[derive(Clone, Debug, PartialEq)]
pub struct Draws {
    /// Names of the components.
    pub layout: Layout,
    /// Number of chains.
    pub chains: usize,
    /// Number of draws per chain.
    pub draws: usize,
    /// Components of every draw: index `(chain * draws + draw) * layout.len() + component`.
    pub values: Vec<f64>,
    /// Statistics of every draw, index `chain * draws + draw`; empty for draws that came
    /// without (someone else's CSV).
    pub statistics: Vec<Statistics>,
    /// Rows of data; 0 if pointwise log likelihoods were not kept.
    pub rows: usize,
    /// Log likelihood of every row: index `(chain * draws + draw) * rows + row`.
    pub log_likelihood: Vec<f64>,
}

impl Draws {
    /// The same draws as `layout`, which [reads](Layout::reads) theirs, has them: what earlier versions
    /// called `fitted` is [`Role::FittedMean`](super::Role) too.
    ///
    /// # Panics
    /// If it does not read theirs.
    pub fn laid_out_as(self, layout: &Layout) -> Self {
        assert!(layout.reads(&self.layout), "draws of another model");
        if layout.len() == self.layout.len() {
            return Draws { layout: layout.clone(), ..self };
        }
        let mut values = Vec::with_capacity(self.chains * self.draws * layout.len());
        for draw in self.values.chunks_exact(self.layout.len()) {
            for variable in layout.variables() {
                let own = self.layout.variable(&variable.name);
                let own = own.or_else(|| self.layout.of_role(Role::Fitted));
                values.extend_from_slice(&draw[own.map_or(0..0, |own| own.range())]);
            }
        }
        Draws { layout: layout.clone(), values, ..self }
    }

    /// No draws yet, of `chains` chains.
    pub fn empty(layout: Layout, chains: usize, rows: usize) -> Self {
        Draws {
            layout,
            chains,
            draws: 0,
            values: Vec::new(),
            statistics: Vec::new(),
            rows,
            log_likelihood: Vec::new(),
        }
    }

    /// One draw.
    ///
    /// # Panics
    /// If there is no such draw.
    pub fn draw(&self, chain: usize, draw: usize) -> &[f64] {
        assert!(chain < self.chains && draw < self.draws, "no draw {draw} of chain {chain}");
        let start = (chain * self.draws + draw) * self.layout.len();
        &self.values[start..start + self.layout.len()]
    }

    /// One component of every draw, chain by chain.
    ///
    /// # Panics
    /// If there is no such component.
    pub fn component(&self, component: usize) -> Vec<Vec<f64>> {
        assert!(component < self.layout.len(), "no component {component}");
        (0..self.chains)
            .map(|chain| (0..self.draws).map(|draw| self.draw(chain, draw)[component]).collect())
            .collect()
    }
}
