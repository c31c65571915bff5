//! Repeat a list of updates several times within one sweep.

use super::memory::{ForeignMemory, MemoryReader};
use super::{Stage, Step, Update};
use crate::random::Stream;

/// Several updates as one, carried out in order, all of them `times` times: a kernel with a
/// persistent momentum, say, and the Gibbs updates that belong after each of its trajectories.
pub struct Repeated<'p> {
    name: String,
    times: usize,
    updates: Vec<Box<dyn Update + 'p>>,
}

impl<'p> Repeated<'p> {
    /// `updates` in order, `times` times.
    pub fn new(name: impl Into<String>, times: usize, updates: Vec<Box<dyn Update + 'p>>) -> Self {
        Repeated { name: name.into(), times, updates }
    }
}

/// Steps of one kind on their way to one report.
#[derive(Default)]
struct Mean {
    count: f64,
    acceptance: f64,
    last: Step,
}

impl Mean {
    fn add(&mut self, step: &Step) {
        self.count += 1.0;
        self.acceptance += step.acceptance;
        self.last = *step;
    }
}

impl Update for Repeated<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    /// Reports the mean acceptance of the trajectories (of all proposals if there are none), and
    /// the energy and step size of the last one.
    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let mut all = Step { accepted: false, ..Step::default() };
        let (mut trajectories, mut proposals) = (Mean::default(), Mean::default());
        for _ in 0..self.times {
            for update in &mut self.updates {
                let step = update.update(state, stream);
                all.accepted |= step.accepted;
                all.evaluations += step.evaluations;
                all.leapfrog_steps += step.leapfrog_steps;
                all.tree_depth = all.tree_depth.max(step.tree_depth);
                all.diverging |= step.diverging;
                all.infeasible = all.infeasible.or(step.infeasible);
                if step.leapfrog_steps > 0 {
                    trajectories.add(&step);
                } else if step.evaluations > 0 {
                    proposals.add(&step);
                }
            }
        }
        let told = if trajectories.count > 0.0 { trajectories } else { proposals };
        if told.count > 0.0 {
            all.acceptance = told.acceptance / told.count;
            (all.energy, all.step_size) = (told.last.energy, told.last.step_size);
        }
        all
    }

    fn enter(&mut self, stage: &Stage) {
        self.updates.iter_mut().for_each(|update| update.enter(stage));
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = Vec::new();
        for update in &self.updates {
            let of_update = update.memory();
            memory.push(of_update.len() as f64);
            memory.extend(of_update);
        }
        memory
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        let mut memory = MemoryReader::new("repeated updates", memory);
        for update in &mut self.updates {
            let count = memory.count()?;
            update.recall(memory.take(count)?)?;
        }
        memory.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, Seed};

    /// Adds `by` to the state and remembers how often it did.
    struct Add {
        by: f64,
        count: f64,
        leapfrog_steps: u32,
    }

    impl Update for Add {
        fn name(&self) -> &str {
            "add"
        }

        fn update(&mut self, state: &mut [f64], _stream: &mut Stream) -> Step {
            state[0] = 2.0 * state[0] + self.by;
            self.count += 1.0;
            Step {
                acceptance: self.by,
                energy: self.count,
                evaluations: 3,
                leapfrog_steps: self.leapfrog_steps,
                ..Step::default()
            }
        }

        fn memory(&self) -> Vec<f64> {
            vec![self.count]
        }

        fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
            let mut memory = MemoryReader::new("add", memory);
            self.count = memory.number()?;
            memory.finish()
        }
    }

    fn two() -> Repeated<'static> {
        with_trajectories([0, 0])
    }

    fn with_trajectories(leapfrog_steps: [u32; 2]) -> Repeated<'static> {
        let add = |by, leapfrog_steps| -> Box<dyn Update> {
            Box::new(Add { by, count: 0.0, leapfrog_steps })
        };
        let [first, second] = leapfrog_steps;
        Repeated::new("both", 2, vec![add(1.0, first), add(0.5, second)])
    }

    #[test]
    fn updates_alternate_and_are_reported_together() {
        let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
        let mut state = [0.0];
        let step = two().update(&mut state, &mut stream);
        assert!((state[0] - 12.5).abs() < 1e-12, "{}", state[0]);
        assert!((step.acceptance - 0.75).abs() < 1e-12 && step.evaluations == 12);
        assert!((step.energy - 2.0).abs() < 1e-12);
        let step = with_trajectories([7, 0]).update(&mut state, &mut stream);
        assert!((step.acceptance - 1.0).abs() < 1e-12, "of the trajectories alone");
        assert_eq!((step.leapfrog_steps, step.evaluations), (14, 12));
    }

    #[test]
    fn memories_are_kept_apart() {
        let mut stream = Seed(1).stream(Purpose::Data, [0, 0]);
        let mut repeated = two();
        repeated.update(&mut [0.0], &mut stream);
        let memory = repeated.memory();
        let mut other = two();
        other.recall(&memory).unwrap();
        assert_eq!(other.memory(), memory);
        assert!(two().recall(&memory[1..]).is_err() && two().recall(&[]).is_err());
    }
}
