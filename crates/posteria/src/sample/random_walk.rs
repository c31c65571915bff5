//! Propose normal steps from where the chain is, with widths tuned in warm-up.

use posteria_linalg::{Cholesky, Matrix};

use super::memory::{ForeignMemory, MemoryReader};
use super::moments::Moments;
use super::{Adapt, MetropolisHastings, Proposal, Stage, Step};
use crate::random::Stream;

/// Random-walk Metropolis: [`MetropolisHastings`] with a [`RandomWalk`].
pub type Metropolis = MetropolisHastings<RandomWalk>;

/// The best scale for a normal target of known covariance is 2.38 / √dim
/// [Gelman, Roberts & Gilks 1996].
const BEST_SCALE: f64 = 2.38;

/// The gain of the scale's recursion falls as t^-0.6: slowly enough to cross orders of
/// magnitude, quickly enough to settle [Andrieu & Thoms 2008 §4.2].
const GAIN_POWER: f64 = -0.6;

/// A normal step from the present position:
/// to = from + scale · widths ∘ z, or from + scale · L z once a covariance L Lᵀ is learned.
///
/// In stages that adapt, the common scale follows a Robbins–Monro recursion towards the target
/// acceptance; with [`RandomWalk::learn_covariance`], stages with [`Adapt::Metric`] collect the
/// covariance, which shapes the proposal from the next stage on
/// [Haario, Saksman & Tamminen 2001]. Outside such stages nothing changes.
#[derive(Clone, Debug)]
pub struct RandomWalk {
    widths: Vec<f64>,
    scale: f64,
    target_acceptance: f64,
    adapt: Adapt,
    /// Steps of the recursion so far.
    tuned: f64,
    learning: Option<Learning>,
}

/// The covariance that is being collected, and the one in use.
#[derive(Clone, Debug)]
struct Learning {
    moments: Moments,
    fitted: bool,
    mean: Vec<f64>,
    covariance: Matrix,
    factor: Cholesky,
    /// Whether they are known from the density itself, so that nothing is left to learn.
    known: bool,
}

impl Learning {
    /// Takes `covariance` into use; answers whether it could be factorised.
    fn shape(&mut self, covariance: Matrix) -> bool {
        match Cholesky::new(&covariance) {
            Ok(factor) => {
                self.factor = factor;
                self.covariance = covariance;
                true
            }
            Err(_) => false,
        }
    }
}

impl RandomWalk {
    /// Steps of these widths (standard deviations), coordinates independent. The target
    /// acceptance is 0.44 in one dimension, else 0.234.
    ///
    /// # Panics
    /// If there is no width, or one is not positive and finite.
    pub fn new(widths: &[f64]) -> Self {
        assert!(!widths.is_empty(), "a random walk needs at least one coordinate");
        assert!(
            widths.iter().all(|width| *width > 0.0 && width.is_finite()),
            "widths must be positive and finite, got {widths:?}"
        );
        RandomWalk {
            widths: widths.to_vec(),
            scale: 1.0,
            target_acceptance: if widths.len() == 1 { 0.44 } else { 0.234 },
            adapt: Adapt::Nothing,
            tuned: 0.0,
            learning: None,
        }
    }

    /// Learns the covariance of the target in stages with [`Adapt::Metric`].
    #[must_use]
    pub fn learn_covariance(mut self) -> Self {
        let dim = self.widths.len();
        self.learning = Some(Learning {
            moments: Moments::new(dim),
            fitted: false,
            mean: vec![0.0; dim],
            covariance: Matrix::identity(dim),
            factor: Cholesky::identity(dim),
            known: false,
        });
        self
    }

    /// Tunes the scale towards this acceptance.
    ///
    /// # Panics
    /// If it is not strictly between 0 and 1.
    #[must_use]
    pub fn target_acceptance(mut self, acceptance: f64) -> Self {
        assert!(acceptance > 0.0 && acceptance < 1.0, "an acceptance in (0, 1), got {acceptance}");
        self.target_acceptance = acceptance;
        self
    }

    /// Mean and covariance factor, once they are learned.
    pub(super) fn fit(&self) -> Option<(&[f64], &Cholesky)> {
        let learning = self.learning.as_ref().filter(|learning| learning.fitted)?;
        Some((&learning.mean, &learning.factor))
    }

    /// Collects a position towards the covariance, where the stage asks for it.
    pub(super) fn collect(&mut self, position: &[f64], moved: bool) {
        if let (Adapt::Metric, Some(learning)) = (self.adapt, &mut self.learning) {
            learning.moments.add(position, moved);
        }
    }

    /// Another shape needs another scale: begins at the one that is best for a normal.
    fn restart(&mut self) {
        self.scale = BEST_SCALE / (self.widths.len() as f64).sqrt();
        self.tuned = 0.0;
    }

    fn tune(&mut self, acceptance: f64) {
        if self.adapt != Adapt::Nothing {
            self.tuned += 1.0;
            let gain = self.tuned.powf(GAIN_POWER);
            self.scale *= (gain * (acceptance - self.target_acceptance)).exp();
        }
    }
}

impl Proposal for RandomWalk {
    fn name(&self) -> &'static str {
        "random-walk Metropolis"
    }

    fn propose(&mut self, from: &[f64], to: &mut [f64], stream: &mut Stream) {
        stream.fill_normal(to);
        match &self.learning {
            Some(learning) if learning.fitted => learning.factor.multiply_lower(to),
            _ => to.iter_mut().zip(&self.widths).for_each(|(to, width)| *to *= width),
        }
        for (to, from) in to.iter_mut().zip(from) {
            *to = from + self.scale * *to;
        }
    }

    fn width(&self) -> f64 {
        self.scale
    }

    fn learn(&mut self, position: &[f64], step: &Step) {
        self.tune(step.acceptance);
        self.collect(position, step.accepted);
    }

    fn enter(&mut self, stage: &Stage) {
        if let Some(learning) = &mut self.learning
            && !learning.known
            && let Some(covariance) = learning.moments.covariance()
            && learning.shape(covariance)
        {
            learning.mean.copy_from_slice(learning.moments.mean());
            learning.moments.clear();
            learning.fitted = true;
            self.restart();
        }
        if let Some(scale) = stage.step_size {
            self.scale = scale;
            self.tuned = 0.0;
        }
        self.adapt = stage.adapt;
    }

    fn shape(&mut self, mode: &[f64], covariance: &Matrix) {
        if let Some(learning) = &mut self.learning
            && learning.shape(covariance.clone())
        {
            learning.mean.copy_from_slice(mode);
            (learning.fitted, learning.known) = (true, true);
            self.restart();
        }
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![self.scale, self.tuned];
        if let Some(learning) = &self.learning {
            memory.push(f64::from(u8::from(learning.fitted)));
            memory.extend(&learning.mean);
            memory.extend(learning.covariance.values());
            learning.moments.write(&mut memory);
            memory.push(f64::from(u8::from(learning.known)));
        }
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let dim = self.widths.len();
        let mut memory = MemoryReader::new("random-walk Metropolis", memory);
        self.scale = memory.number()?;
        self.tuned = memory.number()?;
        if let Some(learning) = &mut self.learning {
            learning.fitted = memory.flag()?;
            memory.fill(&mut learning.mean)?;
            // The factor is computed anew: the same covariance gives the same bits.
            let mut covariance = Matrix::zeros(dim, dim);
            memory.fill(covariance.values_mut())?;
            if !learning.shape(covariance) {
                return Err(memory.foreign());
            }
            learning.moments.read(&mut memory)?;
            learning.known = memory.flag()?;
        }
        memory.finish()
    }
}
