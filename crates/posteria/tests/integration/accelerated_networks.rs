//! Chains of networks on an accelerator: a reference one, whose iterations are cheap.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use posteria::fit::{Fit, FitError, Prepared, ResumeOptions, Workers};
use posteria::model::accelerator::{
    AcceleratedNetwork, AcceleratorError, ChainName, Placement, bring,
};
use posteria::model::spec::Spec;
use posteria::random::{Purpose, Seed};

use crate::accelerator::{Devices, placement, table, workers};

/// Moves every number of a state by a normal number that the chain and the iteration name.
pub struct ReferenceNetwork {
    launches: AtomicUsize,
    most: usize,
}

impl ReferenceNetwork {
    /// One that works, or one that is lost after a few launches.
    pub fn of(is_lost: bool) -> Self {
        let most = if is_lost { 4 } else { usize::MAX };
        ReferenceNetwork { launches: AtomicUsize::new(0), most }
    }
}

/// More parameters than a draw of the networks here begins with.
const PARAMETERS: usize = 40;

impl AcceleratedNetwork for ReferenceNetwork {
    fn state_len(&self) -> usize {
        PARAMETERS
    }

    fn leapfrog_steps(&self) -> usize {
        7
    }

    fn start(&self, name: ChainName) -> Vec<f64> {
        vec![0.01 * (1.0 + name.chain as f64); PARAMETERS]
    }

    fn parameters(&self, state: &[f64]) -> Vec<f64> {
        state.iter().map(|x| x.exp()).collect()
    }

    fn log_step_size(&self, state: &[f64]) -> f64 {
        state[0]
    }

    fn run(
        &self,
        chains: &[(ChainName, &[f64])],
        begun: usize,
        iterations: usize,
        adapt: bool,
    ) -> Result<Vec<Vec<Vec<f64>>>, AcceleratorError> {
        if self.launches.fetch_add(1, Ordering::Relaxed) >= self.most {
            return Err(AcceleratorError::Failed { what: "it fell off the bus".into() });
        }
        let of_chain = |(name, state): &(ChainName, &[f64])| {
            let mut state = state.to_vec();
            let step = |iteration: usize| {
                let mut stream =
                    Seed(name.seed).stream(Purpose::Data, [name.chain, (begun + iteration) as u64]);
                let size = if adapt { 0.2 } else { 0.1 };
                state.iter_mut().for_each(|x| *x = 0.9 * *x + size * stream.normal());
                state.clone()
            };
            (0..iterations).map(step).collect()
        };
        Ok(chains.iter().map(of_chain).collect())
    }
}

/// A network of two hidden units and these further keys, by so many threads.
fn network(keys: &str, draws: usize, threads: usize) -> Result<Fit, FitError> {
    bring(Arc::new(Devices));
    let text = format!(
        "[data]\nexclude = ['class']\ntarget = ['y']\n[model]\nkind = 'mlp'\n[sampling]\nchains = 3\n\
         draws = {draws}\n{keys}"
    );
    let mut spec = Spec::from_toml(&text).expect("a specification");
    spec.model.hidden = spec.model.hidden.or(Some(2));
    let workers = Workers { threads: NonZero::new(threads).expect("some"), ..Workers::default() };
    Prepared::new(spec, &table(25), None).expect("prepared").fit(&workers)
}

#[track_caller]
fn assert_same_draws(a: &Fit, b: &Fit) {
    for component in 0..a.draws.layout.len() {
        let [a, b] = [a, b].map(|fit| fit.draws.component(component).concat());
        assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()) && a.len() == b.len());
    }
}

/// However iterations are made together, ahead of chains that are behind or after a pause: those of a chain are its own.
#[test]
fn chains_of_networks_are_the_same_alone_together_and_resumed() {
    for warmup in ["warmup = 47\n", ""] {
        let keys = format!("{warmup}device = 'cuda'\n");
        let fit = network(&keys, 65, 1).expect("a fit");
        assert!(matches!(placement(&fit), Placement::Device(_)), "{:?}", placement(&fit));
        assert_same_draws(&fit, &network(&keys, 65, 3).expect("a fit"));
        let mut shorter = network(&keys, 33, 2).expect("a fit");
        let options = ResumeOptions { draws: NonZero::new(65), ..ResumeOptions::default() };
        shorter.resume(&options, &workers()).expect("more draws");
        assert_same_draws(&fit, &shorter);
    }
    let alone = network("warmup = 47\nonly_chain = 2\ndevice = 'cuda'\n", 65, 1).expect("a fit");
    let fit = network("warmup = 47\ndevice = 'cuda'\n", 65, 1).expect("a fit");
    let weight = |fit: &Fit, chain: usize| fit.draws.component(3)[chain].clone();
    assert_eq!(weight(&alone, 0), weight(&fit, 1));
    // Weights are exp of what the device moves, and the draws are those states.
    assert!(weight(&fit, 0).iter().all(|weight| *weight > 0.0));
}

#[test]
fn networks_that_no_device_does_are_done_by_the_processor_and_said() {
    for (keys, what) in [
        ("kernel = 'nuts'\n", "kernel"),
        ("temperatures = 2\n", "temperatures"),
        ("start = 'prior'\n", "start"),
    ] {
        let keys = format!("warmup = 5\n{keys}device = 'cuda'\n");
        let fit = network(&keys, 4, 1).expect("a fit");
        let words = placement(&fit).description().expect("words");
        assert!(words.starts_with("computed by the CPU") && words.contains(what), "{words}");
    }
    let lost = network("warmup = 50\ndevice = 'cuda:300'\n", 50, 1).err().expect("lost");
    assert!(matches!(lost, FitError::DeviceFailed { .. }), "{lost}");
}
