//! Drive a sweep through stages, as a chain of a fit does.

use crate::random::{Purpose, Seed, Stream};
use crate::sample::{Adapt, Block, Kernel, Stage, Step, Sweep, Unconditional};
use crate::target::LogDensity;

/// A stage of `iterations` sweeps.
pub fn stage(iterations: usize, adapt: Adapt) -> Stage {
    Stage { iterations, adapt, ..Stage::default() }
}

/// A warm-up that is long enough for small targets.
pub fn warmup() -> Vec<Stage> {
    vec![
        stage(200, Adapt::StepSize),
        stage(300, Adapt::Metric),
        stage(1500, Adapt::Metric),
        stage(500, Adapt::StepSize),
    ]
}

/// A sweep of one kernel on the whole of `target`.
pub fn sweep_of<'p>(
    target: impl LogDensity + Send + 'p,
    kernel: Box<dyn Kernel + 'p>,
) -> Sweep<'p> {
    Sweep::new(vec![Box::new(Block::new("block", 0, Unconditional(target), kernel))])
}

/// A sweep on its way through `stages`; after the last one nothing adapts.
pub struct Chain<'p> {
    pub sweep: Sweep<'p>,
    pub state: Vec<f64>,
    pub stream: Stream,
    pub iteration: usize,
    stages: Vec<Stage>,
}

impl<'p> Chain<'p> {
    pub fn new(sweep: Sweep<'p>, state: &[f64], stages: Vec<Stage>, seed: u64) -> Self {
        let stream = Seed(seed).stream(Purpose::Chain, [0, 0]);
        let mut chain = Chain { sweep, state: state.to_vec(), stream, iteration: 0, stages };
        chain.sweep.enter(&chain.stage().0);
        chain
    }

    /// The present stage and whether it begins now.
    fn stage(&self) -> (Stage, bool) {
        let mut begin = 0;
        for stage in &self.stages {
            if self.iteration < begin + stage.iterations {
                return (stage.clone(), self.iteration == begin);
            }
            begin += stage.iterations;
        }
        (Stage::default(), self.iteration == begin)
    }

    pub fn advance(&mut self) -> Vec<Step> {
        let steps = self.sweep.pass(&mut self.state, &mut self.stream).to_vec();
        self.iteration += 1;
        let (stage, begins) = self.stage();
        if begins {
            self.sweep.enter(&stage);
        }
        steps
    }

    /// The chain that goes on from here with a fresh sweep.
    pub fn resumed<'q>(&self, sweep: Sweep<'q>) -> Chain<'q> {
        let mut chain = Chain {
            sweep,
            state: self.state.clone(),
            stream: Stream::at(self.stream.position()),
            iteration: self.iteration,
            stages: self.stages.clone(),
        };
        chain.sweep.enter(&chain.stage().0);
        chain.sweep.recall(&self.sweep.memory()).expect("its own memory");
        chain
    }

    /// Goes to the end of the warm-up.
    pub fn warm_up(&mut self) {
        let iterations: usize = self.stages.iter().map(|stage| stage.iterations).sum();
        while self.iteration < iterations {
            self.advance();
        }
    }

    /// The states of the next `count` sweeps.
    pub fn draws(&mut self, count: usize) -> Vec<Vec<f64>> {
        (0..count)
            .map(|_| {
                self.advance();
                self.state.clone()
            })
            .collect()
    }
}
