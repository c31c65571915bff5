//! Chains of a network that an accelerator moves, all of them together.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use super::posterior::MlpPosterior;
use crate::data::Dataset;
use crate::model::StateDensity;
use crate::model::accelerator::{
    self, AcceleratedNetwork, Accelerator, AcceleratorError, ChainName, Placement,
};
use crate::model::spec::{DeviceChoice, InferenceChoice, KernelChoice, Spec, StartChoice};
use crate::random::Stream;
use crate::sample::{Adapt, ForeignMemory, MemoryReader, Stage, Step, Sweep, Update};
use crate::target::Infeasible;

/// Most iterations that are made at once: those of one turn of a chain.
const BATCH: usize = 20;
/// Chains that nobody has asked about for so many iterations wait until somebody does.
const MOST_AHEAD: usize = 3 * BATCH;

/// Where the chains of one posterior are on the device, and what they have done that nobody has asked for yet.
pub(super) struct OnDevice {
    network: Box<dyn AcceleratedNetwork>,
    /// Chains that begin together, from number 0 on.
    count: usize,
    chains: Mutex<BTreeMap<ChainName, Queue>>,
    failure: OnceLock<AcceleratorError>,
}

/// Iterations that were made ahead of a chain.
struct Queue {
    /// Iterations done, and the state after them.
    done: usize,
    state: Vec<f64>,
    ahead: VecDeque<Vec<f64>>,
    /// Whether step sizes were learned in them.
    adapt: bool,
}

impl Queue {
    fn at(state: Vec<f64>, adapt: bool) -> Self {
        Queue { done: 0, state, ahead: VecDeque::new(), adapt }
    }
}

impl OnDevice {
    /// The next iteration of a chain that has done so many and is in this state. If it is not there yet, it is
    /// made, with up to `most` that follow, for all chains that are as far.
    fn next(
        &self,
        (name, state): (ChainName, &[f64]),
        done: usize,
        (most, adapt): (usize, bool),
    ) -> Result<Vec<f64>, AcceleratorError> {
        let mut chains = lock(&self.chains);
        let is_own = chains.get(&name).is_some_and(|queue| {
            let asked = queue.done - queue.ahead.len();
            let fits = match queue.ahead.is_empty() {
                true => queue.state == state,
                false => queue.adapt == adapt,
            };
            asked == done && fits
        });
        if !is_own {
            let (state, ahead) = (state.to_vec(), VecDeque::new());
            let queue = Queue { done, state, ahead, adapt };
            chains.insert(name, queue);
            for chain in (0..self.count as u64).filter(|_| done == 0) {
                let other = ChainName { chain, ..name };
                let begun = || self.network.start(other);
                chains.entry(other).or_insert_with(|| Queue::at(begun(), adapt));
            }
        }
        if let Some(step) = chains.get_mut(&name).and_then(|queue| queue.ahead.pop_front()) {
            return Ok(step);
        }
        let beside = |other: &ChainName| (other.seed, other.fold) == (name.seed, name.fold);
        let together: Vec<(ChainName, &[f64])> = chains
            .iter()
            .filter(|(other, queue)| beside(other) && queue.done == done)
            .filter(|(_, queue)| queue.ahead.len() < MOST_AHEAD)
            .map(|(other, queue)| (*other, &queue.state[..]))
            .collect();
        let made = self.network.run(&together, done, most, adapt)?;
        let names: Vec<ChainName> = together.iter().map(|(name, _)| *name).collect();
        let mut own = None;
        for (other, steps) in names.into_iter().zip(made) {
            let (Some(queue), Some(last)) = (chains.get_mut(&other), steps.last()) else {
                continue;
            };
            queue.done += steps.len();
            queue.adapt = adapt;
            queue.state.clone_from(last);
            queue.ahead.extend(steps);
            if other == name {
                own = queue.ahead.pop_front();
            }
        }
        own.ok_or_else(|| AcceleratorError::Failed { what: "no iteration was made".into() })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Moves everything in a state as the device has moved the chain.
struct DeviceUpdate<'p> {
    posterior: &'p MlpPosterior,
    device: &'p OnDevice,
    /// The state as the device has it; empty before the first iteration.
    own: Vec<f64>,
    done: usize,
    /// Iterations left in the stage; none where it has no end.
    left: Option<usize>,
    adapt: bool,
}

impl<'p> DeviceUpdate<'p> {
    fn new(posterior: &'p MlpPosterior, device: &'p OnDevice) -> Self {
        DeviceUpdate { posterior, device, own: Vec::new(), done: 0, left: None, adapt: false }
    }
}

impl Update for DeviceUpdate<'_> {
    fn name(&self) -> &str {
        "trajectories on the device"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let [seed, _, chain, fold] = stream.position().key;
        let name = ChainName { seed, fold, chain };
        let network = &*self.device.network;
        if self.own.is_empty() {
            self.own = network.start(name);
        }
        let most = self.left.filter(|left| *left > 0).map_or(BATCH, |left| left.min(BATCH));
        if self.device.failure.get().is_some() {
            return Step::stayed(Infeasible::NotFinite);
        }
        let made = self.device.next((name, &self.own), self.done, (most, self.adapt));
        self.own = match made {
            Ok(own) => own,
            Err(error) => {
                // The first one says most.
                let _ = self.device.failure.set(error);
                return Step::stayed(Infeasible::NotFinite);
            }
        };
        self.done += 1;
        self.left = self.left.map(|left| left.saturating_sub(1));
        // A trajectory that was rejected leaves all weights as they were.
        let weights = self.posterior.shape.len();
        let Some(found) = self.posterior.state_of(&network.parameters(&self.own)) else {
            return Step::stayed(Infeasible::NotFinite);
        };
        let mut pairs = state[..weights].iter().zip(&found[..weights]);
        let moved = pairs.any(|(before, after)| before.to_bits() != after.to_bits());
        state.copy_from_slice(&found);
        let steps = network.leapfrog_steps() as u32;
        Step {
            accepted: moved,
            acceptance: f64::from(u8::from(moved)),
            energy: f64::NAN,
            step_size: network.log_step_size(&self.own).exp(),
            evaluations: steps + 1,
            leapfrog_steps: steps,
            ..Step::default()
        }
    }

    fn enter(&mut self, stage: &Stage) {
        self.adapt = stage.adapt != Adapt::Nothing;
        self.left = (stage.iterations > 0).then_some(stage.iterations);
    }

    fn memory(&self) -> Vec<f64> {
        let left = self.left.map_or(0.0, |left| left as f64 + 1.0);
        let head = [self.done as f64, left, f64::from(u8::from(self.adapt))];
        head.into_iter().chain(self.own.iter().copied()).collect()
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut reader = MemoryReader::new("an update on a device", memory);
        self.done = reader.count()?;
        self.left = reader.count()?.checked_sub(1);
        self.adapt = reader.flag()?;
        let len = if memory.len() == 3 { 0 } else { self.device.network.state_len() };
        self.own = reader.take(len)?.to_vec();
        reader.finish()
    }
}

impl MlpPosterior {
    /// The same, with chains where `spec` says, if that is possible; given the data that it was conditioned on.
    #[must_use]
    pub fn placed(mut self, spec: &Spec, data: &Dataset) -> Self {
        let asked = spec.sampling.device();
        let too_little = |device: &dyn Accelerator| {
            let fewest = device.fewest_chains();
            let says = || format!("fewer than {fewest} chains of a network faster than the CPU");
            (spec.sampling.chains < fewest).then(says)
        };
        match accelerator::find(asked, beyond_devices(spec), too_little) {
            Ok(device) => self.on(asked, &*device, (spec, data)),
            Err(placement) => {
                self.placement = placement;
                self
            }
        }
    }

    fn on(
        mut self,
        asked: DeviceChoice,
        device: &dyn Accelerator,
        (spec, data): (&Spec, &Dataset),
    ) -> Self {
        match device.network(spec, data) {
            Ok(network) => {
                self.placement = Placement::Device(device.name().clone());
                let (chains, failure) = (Mutex::default(), OnceLock::new());
                let alone = spec.sampling.only_chain.is_some();
                let count = if alone { 0 } else { spec.sampling.chains };
                self.device = Some(OnDevice { network, count, chains, failure });
            }
            Err(why) => self.placement = Placement::Instead { asked, why },
        }
        self
    }

    /// Where its chains are computed.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// What the device does in place of a sweep; at other temperatures than one the processor does it.
    pub(super) fn device_sweep(&self, inverse_temperature: f64) -> Option<Sweep<'_>> {
        let device = self.device.as_ref()?;
        let own = inverse_temperature.to_bits() == 1.0_f64.to_bits();
        own.then(|| Sweep::new(vec![Box::new(DeviceUpdate::new(self, device))]))
    }

    /// Why chains cannot go on.
    pub(super) fn failure(&self) -> Option<&AcceleratorError> {
        self.device.as_ref().and_then(|device| device.failure.get())
    }
}

/// What of the way of sampling no device does.
fn beyond_devices(spec: &Spec) -> Option<&'static str> {
    let sampling = &spec.sampling;
    let start = sampling.start.is_some_and(|start| start != StartChoice::Dispersed);
    let kernel = sampling.kernel.is_some_and(|kernel| kernel != KernelChoice::Auto);
    let exchange = sampling.temperatures.is_some_and(|count| count > 1);
    [
        (sampling.inference() != InferenceChoice::Mcmc, "inference other than by chains"),
        (kernel, "kernel in [sampling] other than \"auto\""),
        (start, "start in [sampling] other than \"dispersed\""),
        (exchange, "temperatures in [sampling]"),
        (sampling.tempered().is_some(), "inverse_temperature in [sampling]"),
        (sampling.staged == Some(true), "staged in [sampling]"),
    ]
    .into_iter()
    .find_map(|(asked, what)| asked.then_some(what))
}
