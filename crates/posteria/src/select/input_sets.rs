//! Models with some of the inputs of a run.

use std::ops::Range;

use crate::data::{Encoder, InputColumn};
use crate::model::selection::Candidates;
use crate::model::spec::{SamplingSpec, Spec};

/// Most chains of a set, and their longest warm-up, where the run has more of them: sets are many,
/// and each is fitted once for every fold.
const CHAINS: usize = 8;
const WARMUP: usize = 150;
/// Draws of a set by all of its chains: its utility is blurred by the rows far more than by the
/// draws.
const DRAWS: usize = 2000;

/// Sets of the candidates of a run, and the models with them.
#[derive(Clone, Debug)]
pub struct InputSets<'a> {
    /// The model with all inputs and without jumps.
    spec: Spec,
    candidates: &'a Candidates,
    /// The columns of the table, and the inputs that each became.
    columns: Vec<(String, Range<usize>)>,
}

impl<'a> InputSets<'a> {
    /// Those of a run with this specification, to be fitted by chains of so many draws.
    pub fn new(spec: &Spec, encoder: &Encoder, candidates: &'a Candidates, draws: usize) -> Self {
        let mut spec = spec.clone();
        spec.selection = None;
        spec.data.test = None;
        // Warm-up ends when the chains have settled, as that of the run.
        let settle = spec.sampling.settle;
        let (warmup, chains) = (InputSets::warmup(&spec), InputSets::chains(&spec));
        let own = spec.sampling.without_goal(spec.model.kind);
        spec.sampling = SamplingSpec { settle, draws, warmup, chains, ..own };
        let columns = encoder.input_columns().into_iter().map(|it| (column_name(&it), it.inputs));
        InputSets { spec, candidates, columns: columns.collect() }
    }

    /// How many chains fit a set of the inputs of a run with this specification.
    pub fn chains(spec: &Spec) -> usize {
        spec.sampling.chains.clamp(1, CHAINS)
    }

    /// Most sweeps of their warm-up.
    pub fn warmup(spec: &Spec) -> usize {
        let most = if spec.sampling.chains > CHAINS { WARMUP } else { usize::MAX };
        spec.sampling.warmup.min(most)
    }

    /// Draws of each of them, unless a number is given.
    pub fn draws(spec: &Spec) -> usize {
        let usual = spec.sampling.expected_draws(spec.model.kind);
        (DRAWS / InputSets::chains(spec)).min(usual).max(1)
    }

    /// The set of all candidates.
    pub fn all(&self) -> Vec<bool> {
        vec![true; self.candidates.len()]
    }

    /// The names of the candidates of a set.
    pub fn names(&self, set: &[bool]) -> Vec<String> {
        let names = self.candidates.names().iter().zip(set);
        names.filter(|(_, is_in)| **is_in).map(|(name, _)| name.clone()).collect()
    }

    /// Whether anything is left to predict from.
    pub fn has_columns(&self, set: &[bool]) -> bool {
        !self.columns_of(set).is_empty()
    }

    /// The columns of the table that a set needs, with those that are always in.
    fn columns_of(&self, set: &[bool]) -> Vec<String> {
        let mut is_in = vec![true; self.candidates.inputs()];
        for (candidate, present) in set.iter().enumerate() {
            self.candidates.members(candidate).iter().for_each(|input| is_in[*input] = *present);
        }
        let needed =
            self.columns.iter().filter(|(_, inputs)| is_in[inputs.clone()].contains(&true));
        needed.map(|(name, _)| name.clone()).collect()
    }

    /// The specification of the model with a set alone. An input that is not measured cannot tell
    /// which residual scale or degrees of freedom a row has.
    pub fn spec_of(&self, set: &[bool]) -> Spec {
        let mut spec = self.spec.clone();
        let columns = self.columns_of(set);
        if let Some(residual) = &mut spec.residual {
            let column = |name: &str| name.split_once('[').map_or(name, |it| it.0).to_string();
            let keep = |names: &mut Option<Vec<String>>| {
                let Some(named) = names else { return false };
                named.retain(|name| columns.contains(name) || columns.contains(&column(name)));
                let is_empty = named.is_empty();
                if is_empty {
                    *names = None;
                }
                is_empty
            };
            if keep(&mut residual.by) {
                residual.top_dof = None;
            }
            if keep(&mut residual.slopes) {
                residual.slope_sd = None;
            }
            keep(&mut residual.dof_by);
        }
        spec.data.inputs = Some(columns);
        spec
    }
}

/// The name of a column in the table, not that of its indicator.
fn column_name(column: &InputColumn) -> String {
    let indicator = (!column.is_number && column.inputs.len() == 1).then(|| {
        column.name.strip_suffix(']').and_then(|name| name.split_once('[')).map(|(name, _)| name)
    });
    indicator.flatten().unwrap_or(&column.name).to_string()
}
