//! Let networks trained with early stopping take the place of a posterior.

use crate::draws::Layout;
use crate::model::mlp::{EarlyStoppedNetwork, MlpPosterior};
use crate::model::{Evaluator, Posterior};
use crate::predict::Predictor;
use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Step, Sweep, Update};
use crate::target::Infeasible;

/// Trains one member of a committee [Vehtari 2001, §2.2.5]: a network with its own
/// first weights and its own random division of the rows into those it is trained on and those
/// that stop the training; see [`MlpPosterior::early_stopped`].
///
/// Members depend on `seed` and their index alone, not on how many there are.
///
/// # Errors
/// [`Infeasible`] if the targets are too large to be squared.
pub fn member(
    posterior: &MlpPosterior,
    seed: Seed,
    index: usize,
) -> Result<EarlyStoppedNetwork, Infeasible> {
    posterior.early_stopped(&mut seed.stream(Purpose::Start, [index as u64, 0]))
}

/// The members of a committee in the shape of a posterior whose only chain visits them in order.
///
/// A committee predicts with the mean of its members' predictive distributions, as a set of
/// draws does, so draws of a posterior are what it is kept and predicted as: one per member.
/// The spread of the members is no posterior distribution, and their scales have no meaning of
/// their own: they are the size of the weights.
pub struct Committee<'p> {
    posterior: &'p MlpPosterior,
    networks: Vec<EarlyStoppedNetwork>,
}

impl<'p> Committee<'p> {
    /// These members, which were trained on the data of `posterior`.
    ///
    /// # Panics
    /// If there are none.
    pub fn new(posterior: &'p MlpPosterior, networks: Vec<EarlyStoppedNetwork>) -> Self {
        assert!(!networks.is_empty(), "a committee has members");
        Committee { posterior, networks }
    }
}

impl Posterior for Committee<'_> {
    fn layout(&self) -> &Layout {
        self.posterior.layout()
    }

    fn rows(&self) -> usize {
        self.posterior.rows()
    }

    fn state_len(&self) -> usize {
        self.posterior.state_len()
    }

    /// The first member.
    fn start(&self, _stream: &mut Stream) -> Vec<f64> {
        self.networks[0].state.clone()
    }

    /// The next member, from the first on; no temperature changes it.
    fn sweep<'s>(&'s self, _inverse_temperature: f64) -> Sweep<'s> {
        Sweep::new(vec![Box::new(NextMember { networks: self.networks.iter() })])
    }

    fn evaluator<'s>(&'s self) -> Box<dyn Evaluator + 's> {
        self.posterior.evaluator()
    }

    fn predictor<'s>(&'s self) -> Option<Box<dyn Predictor + 's>> {
        self.posterior.predictor()
    }
}

struct NextMember<'s> {
    networks: std::slice::Iter<'s, EarlyStoppedNetwork>,
}

impl Update for NextMember<'_> {
    fn name(&self) -> &str {
        "member"
    }

    fn update(&mut self, state: &mut [f64], _stream: &mut Stream) -> Step {
        match self.networks.next() {
            Some(network) => {
                state.copy_from_slice(&network.state);
                let evaluations = u32::try_from(network.evaluations).unwrap_or(u32::MAX);
                Step { evaluations, ..Step::default() }
            }
            // Beyond the last one there is nobody.
            None => Step::stayed(Infeasible::OutsideSupport),
        }
    }
}
