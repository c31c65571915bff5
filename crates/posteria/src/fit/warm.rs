//! Begin chains where others ended, or where an approximation says.

use super::{Chain, ChainMemory, FitError};
use crate::approximate::Approximation;
use crate::model::Posterior;
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Adapt, Plan, Stage};

/// Part of the usual warm-up that is left for a chain that begins in the right place with the
/// right step sizes.
const SHORTER: usize = 5;

/// Fewest sweeps of that warm-up, if the usual one has as many.
const FEWEST: usize = 50;

/// Chains that begin where others ended.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmStart {
    /// Where each chain begins.
    pub memories: Vec<ChainMemory>,
    /// As the plan it was made from, with a shorter warm-up.
    pub plan: Plan,
}

/// Where the chains of `part` begin, the posterior given the rows `kept` of the data of `whole`,
/// whose chains ended with `memories`: at their states, with all that their kernels have learned.
/// The posterior given most of the rows is close to the posterior given all of them, so a fifth
/// of the warm-up is enough [Vehtari 2001, §3.2.3, asks for such a saving]. The streams are those
/// of `seed`.
///
/// `None` if there are fewer memories than chains, or states or kernels do not fit: kernels that
/// have learned something of every row.
pub fn warm_start(
    (whole, memories): (&dyn Posterior, &[ChainMemory]),
    (part, kept): (&dyn Posterior, &[usize]),
    plan: &Plan,
    seed: Seed,
) -> Option<WarmStart> {
    let usual = plan.warmup_iterations();
    let iterations = (usual / SHORTER).max(FEWEST).min(usual);
    let warmup = match iterations {
        0 => Vec::new(),
        _ => vec![Stage { iterations, adapt: Adapt::StepSize, ..Stage::default() }],
    };
    let begin = |chain: usize| {
        let number = (plan.first_chain + chain) as u64;
        let memory = memories.get(chain)?;
        let state = restrict(whole, part, kept, &memory.state)?;
        let mut sweep = part.sweep(1.0);
        sweep.enter(&plan.sampling);
        sweep.recall(&memory.updates).ok()?;
        let (mut draw, mut rows) = (vec![0.0; part.layout().len()], vec![0.0; part.rows()]);
        let terms = part.evaluator().evaluate(&state, &mut draw, &mut rows).ok()?;
        terms.at(1.0).is_finite().then(|| ChainMemory {
            iteration: 0,
            state,
            stream: seed.stream(Purpose::Chain, [number, plan.fold]).position(),
            updates: memory.updates.clone(),
            window: Vec::new(),
        })
    };
    let memories = (0..plan.chains).map(begin).collect::<Option<Vec<_>>>()?;
    Some(WarmStart { memories, plan: Plan { warmup, settle: false, ..plan.clone() } })
}

/// Where the chains of `plan` begin: at draws of an approximation of the posterior, with nothing
/// learned. The streams are those of `seed`.
///
/// # Errors
/// [`FitError::Start`] if none of a hundred draws has a usable density.
pub fn begin_with(
    (posterior, approximation): (&dyn Posterior, &dyn Approximation),
    plan: &Plan,
    seed: Seed,
) -> Result<Vec<ChainMemory>, FitError> {
    let draw = |stream: &mut Stream| {
        let mut state = vec![0.0; posterior.state_len()];
        approximation.draw(&mut state, stream);
        state
    };
    let begin = |index| Chain::start_at(posterior, plan, seed, index, &draw);
    (0..plan.chains).map(|index| begin(index).map(|chain| chain.memory())).collect()
}

/// The state of `part` that is `state` of `whole` without the rows that are not `kept`.
fn restrict(
    whole: &dyn Posterior,
    part: &dyn Posterior,
    kept: &[usize],
    state: &[f64],
) -> Option<Vec<f64>> {
    let (all, rows) = (whole.rows(), part.rows());
    let own = whole.row_parts();
    if state.len() != whole.state_len() || kept.len() != rows || own.len() != part.row_parts().len()
    {
        return None;
    }
    let mut restricted = Vec::with_capacity(part.state_len());
    let mut next = 0;
    for range in own {
        restricted.extend_from_slice(&state[next..range.start]);
        for each in state[range.clone()].chunks(all) {
            restricted.extend(kept.iter().map(|row| each[*row]));
        }
        next = range.end;
    }
    restricted.extend_from_slice(&state[next..]);
    (restricted.len() == part.state_len()).then_some(restricted)
}
