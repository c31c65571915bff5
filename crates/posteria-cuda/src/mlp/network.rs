//! The chains of a network as the library asks for them: all that are as far, in one launch.

use std::sync::{Arc, Mutex, PoisonError};

use posteria::data::Dataset;
use posteria::model::accelerator::{AcceleratedNetwork, AcceleratorError, ChainName};
use posteria::model::spec::{Dof, Spec};
use posteria::random::Seed;

use super::problem::{MlpFold, MlpLikelihood, MlpModel, MlpOptions};
use super::sampler::MlpSampler;
use crate::{CudaError, Device};

/// Folds whose random numbers have names of their own.
const FOLDS: u64 = 1 << 12;
/// Leapfrog steps of a trajectory, unless the specification says how many.
const STEPS: usize = 100;
/// Threads of a chain, whatever the number of chains: sums depend on it in the last digits.
const THREADS: usize = 128;

/// A network and its rows, whose chains the device moves.
pub(crate) struct CudaNetwork {
    device: Arc<Device>,
    model: MlpModel,
    fold: MlpFold,
    steps: usize,
    /// Standard deviation of the target in the user's unit.
    unit: f64,
    /// Whether degrees of freedom are among the parameters of a draw.
    has_dof: bool,
    last: Mutex<Option<Launched>>,
}

/// The sampler of the last launch, for as many chains of the same names.
struct Launched {
    names: Vec<ChainName>,
    sampler: MlpSampler,
}

impl CudaNetwork {
    pub(crate) fn new(
        device: &Arc<Device>,
        spec: &Spec,
        data: &Dataset,
    ) -> Result<Self, CudaError> {
        let model = MlpModel::of_spec(spec, data)?;
        let steps = spec.sampling.leapfrog_steps.unwrap_or(STEPS);
        let unit = data.target_scaling.first().map_or(1.0, |scaling| scaling.scale);
        let dof = spec.residual.as_ref().and_then(|residual| residual.dof.as_ref());
        let is_known = matches!(dof, Some(Dof::Known(_)));
        let has_dof = model.likelihood == MlpLikelihood::StudentT && !is_known;
        let fold = MlpFold::of_data(data, None, 0);
        let network = CudaNetwork {
            device: device.clone(),
            model,
            fold,
            steps,
            unit,
            has_dof,
            last: Mutex::default(),
        };
        // What cannot be launched is known at once, and the kernel is compiled.
        network.sampler(&[ChainName { seed: 0, fold: 0, chain: 0 }])?;
        Ok(network)
    }

    fn sampler(&self, names: &[ChainName]) -> Result<MlpSampler, CudaError> {
        let first = names.first().copied().unwrap_or(ChainName { seed: 0, fold: 0, chain: 0 });
        let options = MlpOptions {
            steps: self.steps,
            adapting: 0,
            threads: THREADS,
            ..MlpOptions::default()
        };
        let fold = MlpFold { label: label(first), ..self.fold.clone() };
        let folds = std::slice::from_ref(&fold);
        let seed = Seed(first.seed);
        let sampler =
            MlpSampler::new(&self.device, &self.model, folds, names.len(), options, seed)?;
        let numbers: Vec<u32> = names.iter().map(|name| name.chain as u32).collect();
        sampler.numbered(&numbers)
    }

    fn launch(
        &self,
        chains: &[(ChainName, &[f64])],
        begun: usize,
        (iterations, adapt): (usize, bool),
    ) -> Result<Vec<Vec<Vec<f64>>>, CudaError> {
        self.device.bind()?;
        let names: Vec<ChainName> = chains.iter().map(|(name, _)| *name).collect();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let mut launched = match last.take() {
            Some(launched) if launched.names == names => launched,
            _ => Launched { sampler: self.sampler(&names)?, names },
        };
        let states: Vec<f64> = chains.iter().flat_map(|(_, state)| state.iter().copied()).collect();
        let sampler = &mut launched.sampler;
        sampler.resume(&states, begun)?;
        sampler.adapt_until(if adapt { begun + iterations } else { 0 });
        let made = sampler.run(iterations, 1)?;
        let len = self.model.layout().state();
        let state = |chain: usize, iteration: usize| {
            made.draws[(iteration * chains.len() + chain) * len..][..len].to_vec()
        };
        let of_chain = |chain| (0..iterations).map(|iteration| state(chain, iteration)).collect();
        let all = (0..chains.len()).map(of_chain).collect();
        *last = Some(launched);
        Ok(all)
    }
}

/// The name of a fold in random numbers. Those of other fits may share it.
fn label(name: ChainName) -> u32 {
    (name.fold % FOLDS) as u32
}

impl AcceleratedNetwork for CudaNetwork {
    fn state_len(&self) -> usize {
        self.model.layout().state()
    }

    fn leapfrog_steps(&self) -> usize {
        self.steps
    }

    fn start(&self, name: ChainName) -> Vec<f64> {
        self.model.start(Seed(name.seed), label(name), name.chain as u32)
    }

    fn parameters(&self, state: &[f64]) -> Vec<f64> {
        parameters(&self.model, state, (self.unit, self.has_dof))
    }

    fn log_step_size(&self, state: &[f64]) -> f64 {
        state[self.model.layout().step()]
    }

    fn run(
        &self,
        chains: &[(ChainName, &[f64])],
        begun: usize,
        iterations: usize,
        adapt: bool,
    ) -> Result<Vec<Vec<Vec<f64>>>, AcceleratorError> {
        Ok(self.launch(chains, begun, (iterations, adapt))?)
    }
}

/// Weights; of every group whose scales are sampled these, and the one above; the residual scale in the user's
/// unit, and its degrees of freedom.
pub(super) fn parameters(
    model: &MlpModel,
    state: &[f64],
    (unit, has_dof): (f64, bool),
) -> Vec<f64> {
    let layout = model.layout();
    let mut all = state[..layout.weights].to_vec();
    // State and draw have log precisions and standard deviations.
    let deviation = |log_precision: f64| (-0.5 * log_precision).exp();
    let parts = model.parts();
    let of_inputs = if model.is_per_input() { model.inputs } else { 1 };
    for (index, part) in parts.iter().enumerate() {
        if part.spread.abs() > 0.0 {
            all.push(deviation(state[layout.weights + index]));
        }
        if index + 1 == of_inputs {
            let aboves = layout.weights + layout.parts;
            all.extend(state[aboves..aboves + layout.aboves].iter().map(|log| (0.5 * log).exp()));
        }
    }
    if matches!(model.likelihood, MlpLikelihood::Normal | MlpLikelihood::StudentT) {
        all.push(unit * deviation(state[layout.residual()]));
        if has_dof {
            all.push(model.residual.dofs[state[layout.dof()] as usize]);
        }
    }
    all
}
