//! Tune a step size to an acceptance target by dual averaging, then freeze it.

use super::memory::{ForeignMemory, MemoryReader};

/// Dual averaging of log ε [Hoffman & Gelman 2014, §3.2]: the acceptance statistic is driven
/// to `target`; the weighted average of the iterates is what is used afterwards.
#[derive(Clone, Debug)]
pub struct DualAveraging {
    target: f64,
    step_size: f64,
    averaged: f64,
    anchor: f64,
    shrinkage: f64,
    error: f64,
    count: f64,
}

/// γ: how strongly iterates are shrunk towards the anchor.
const SHRINKAGE: f64 = 0.05;
/// γ where the anchor is about right: iterates that swing less settle in fewer steps.
const SHRINKAGE_NEARBY: f64 = 0.2;
/// t₀: how much the first iterations are damped.
const DELAY: f64 = 10.0;
/// κ: how quickly old iterates are forgotten by the average.
const FORGETTING: f64 = 0.75;

impl DualAveraging {
    /// Starts from `step_size`, aiming at an acceptance of `target`.
    pub fn new(step_size: f64, target: f64) -> Self {
        let mut averaging = DualAveraging {
            target,
            step_size,
            averaged: step_size,
            anchor: 0.0,
            shrinkage: SHRINKAGE,
            error: 0.0,
            count: 0.0,
        };
        averaging.restart(step_size);
        averaging
    }

    /// Forgets what was learned and starts again from `step_size`.
    pub fn restart(&mut self, step_size: f64) {
        self.step_size = step_size;
        self.averaged = step_size;
        // Larger steps are cheaper to try than smaller ones: anchor at ten times the start.
        self.anchor = (10.0 * step_size).ln();
        self.shrinkage = SHRINKAGE;
        self.error = 0.0;
        self.count = 0.0;
    }

    /// As [`DualAveraging::restart`], where the best step size is known to be about `step_size`.
    pub fn restart_about(&mut self, step_size: f64) {
        self.restart(step_size);
        self.anchor = step_size.ln();
        self.shrinkage = SHRINKAGE_NEARBY;
    }

    /// Learns from the acceptance of one step.
    pub fn learn(&mut self, acceptance: f64) {
        // A trajectory without a usable density counts as one that was surely rejected.
        let acceptance = if acceptance.is_finite() { acceptance.clamp(0.0, 1.0) } else { 0.0 };
        self.count += 1.0;
        let gain = 1.0 / (self.count + DELAY);
        self.error = (1.0 - gain) * self.error + gain * (self.target - acceptance);
        let log_step = self.anchor - self.error * self.count.sqrt() / self.shrinkage;
        let weight = self.count.powf(-FORGETTING);
        self.averaged = (weight * log_step + (1.0 - weight) * self.averaged.ln()).exp();
        self.step_size = log_step.exp();
    }

    /// The step size to try next while learning.
    pub fn step_size(&self) -> f64 {
        self.step_size
    }

    /// The step size to use once learning is over.
    pub fn averaged(&self) -> f64 {
        self.averaged
    }

    /// Uses the averaged step size from now on.
    pub fn freeze(&mut self) {
        self.step_size = self.averaged;
    }

    pub(super) fn write(&self, memory: &mut Vec<f64>) {
        memory.extend([self.step_size, self.averaged, self.anchor, self.shrinkage]);
        memory.extend([self.error, self.count]);
    }

    pub(super) fn read(&mut self, memory: &mut MemoryReader<'_>) -> Result<(), ForeignMemory> {
        self.step_size = memory.number()?;
        self.averaged = memory.number()?;
        self.anchor = memory.number()?;
        self.shrinkage = memory.number()?;
        self.error = memory.number()?;
        self.count = memory.number()?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_size_settles_where_the_acceptance_meets_its_target() {
        // A noiseless acceptance exp(-ε²) meets 0.8 at ε = √(-log 0.8).
        let mut averaging = DualAveraging::new(0.01, 0.8);
        for _ in 0..2000 {
            let step_size = averaging.step_size();
            averaging.learn((-step_size * step_size).exp());
        }
        averaging.freeze();
        assert!((averaging.step_size() - (-(0.8_f64.ln())).sqrt()).abs() < 0.01);
    }

    #[test]
    fn an_unusable_step_makes_the_next_one_smaller() {
        let mut averaging = DualAveraging::new(1.0, 0.8);
        averaging.learn(f64::NAN);
        averaging.learn(f64::NAN);
        assert!(averaging.step_size() < 1.0);
    }
}
