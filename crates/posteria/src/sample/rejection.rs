//! Draw independently from a density under a known envelope.

use crate::random::Stream;
use crate::target::LogDensity;

/// By how much the target may exceed its bound before it counts as a violation: rounding of
/// two log densities.
const BOUND_TOLERANCE: f64 = 1e-9;

/// A distribution that can be drawn from and, scaled up, lies above the target.
pub trait Envelope: Send {
    /// Draws `position`.
    fn draw(&mut self, position: &mut [f64], stream: &mut Stream);

    /// Log density at `position`.
    fn log_density(&mut self, position: &[f64]) -> f64;
}

/// Why rejection sampling gave no draw.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RejectionError {
    /// The target is above its envelope somewhere, so all draws so far follow a wrong
    /// distribution.
    #[error(
        "at {position:?} the log density exceeds the envelope with log bound {log_bound} by \
         {excess}; discard the draws, raise the log bound by more than that and start again"
    )]
    BoundViolated {
        /// Where.
        position: Vec<f64>,
        /// The bound that does not hold.
        log_bound: f64,
        /// log target - log envelope - log bound there.
        excess: f64,
    },
    /// Nothing was accepted.
    #[error(
        "none of {attempts} proposals was accepted; the envelope is too far above the density: \
         fit it better or lower the log bound {log_bound}"
    )]
    Exhausted {
        /// Proposals made for this draw.
        attempts: u64,
        /// The bound.
        log_bound: f64,
    },
}

/// Rejection sampling: a draw x of the envelope g is kept with probability
/// f(x) / (M g(x)), where f(x) ≤ M g(x) everywhere [von Neumann 1951]. Draws are independent
/// and exact; if f and g are normalised, the acceptance is 1/M on average.
#[derive(Clone, Debug)]
pub struct Rejection<E> {
    envelope: E,
    log_bound: f64,
    max_attempts: u64,
    accepted: u64,
    proposals: u64,
    infeasible: u64,
}

impl<E: Envelope> Rejection<E> {
    /// Draws under `envelope` times exp(`log_bound`). Gives up on a draw after a million
    /// proposals.
    ///
    /// # Panics
    /// If the bound is not finite.
    pub fn new(envelope: E, log_bound: f64) -> Self {
        assert!(log_bound.is_finite(), "a log bound must be finite, got {log_bound}");
        Rejection {
            envelope,
            log_bound,
            max_attempts: 1_000_000,
            accepted: 0,
            proposals: 0,
            infeasible: 0,
        }
    }

    /// Gives up on a draw after so many proposals.
    #[must_use]
    pub fn max_attempts(mut self, attempts: u64) -> Self {
        self.max_attempts = attempts;
        self
    }

    /// Puts one draw of `target` into `position`. Proposals where the target is
    /// [`Infeasible`](crate::target::Infeasible) have density zero: they are rejected and
    /// counted.
    ///
    /// # Errors
    /// [`RejectionError::BoundViolated`] wherever the envelope turns out to be below the
    /// target, [`RejectionError::Exhausted`] if no proposal is accepted.
    pub fn draw(
        &mut self,
        target: &mut dyn LogDensity,
        position: &mut [f64],
        stream: &mut Stream,
    ) -> Result<(), RejectionError> {
        for _ in 0..self.max_attempts {
            self.envelope.draw(position, stream);
            self.proposals += 1;
            let value = target.log_density(position).unwrap_or(f64::NAN);
            let log_ratio = value - self.envelope.log_density(position) - self.log_bound;
            if log_ratio > BOUND_TOLERANCE {
                return Err(RejectionError::BoundViolated {
                    position: position.to_vec(),
                    log_bound: self.log_bound,
                    excess: log_ratio,
                });
            }
            if !log_ratio.is_finite() {
                self.infeasible += 1;
            } else if -stream.exponential() < log_ratio {
                self.accepted += 1;
                return Ok(());
            }
        }
        Err(RejectionError::Exhausted { attempts: self.max_attempts, log_bound: self.log_bound })
    }

    /// Share of proposals accepted so far; NaN before the first.
    pub fn acceptance(&self) -> f64 {
        self.accepted as f64 / self.proposals as f64
    }

    /// Proposals made so far.
    pub fn proposals(&self) -> u64 {
        self.proposals
    }

    /// Proposals so far without a usable density.
    pub fn infeasible(&self) -> u64 {
        self.infeasible
    }
}
