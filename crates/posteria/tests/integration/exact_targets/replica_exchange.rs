//! Replica exchange: its cold end on the banana, its hot end on the prior.

use posteria::random::Stream;
use posteria::sample::{
    Block, Kernel, Ladder, Plan, ReplicaExchange, Slice, Stage, Sweep, Unconditional, Update,
};
use posteria::target::{Infeasible, PriorTimesLikelihood, Tempered};

use super::{Walker, check_banana_chains, check_normal, run};
use crate::targets::{Neuron, WideBanana};

type LogLikelihood = Box<dyn FnMut(&[f64]) -> Result<f64, Infeasible> + Send>;

/// All rungs of a ladder; the state is that of one of them.
struct LadderWalker {
    cold: Sweep<'static>,
    state: Vec<f64>,
    exchange: ReplicaExchange<'static, LogLikelihood>,
    /// Which rung is examined; 0 is the cold one.
    rung: usize,
}

impl LadderWalker {
    fn new<T>(product: &T, ladder: Ladder, start: Vec<f64>, rung: usize) -> Self
    where
        T: PriorTimesLikelihood + Clone + Send + 'static,
    {
        let sweep = |inverse_temperature: f64| -> Sweep<'static> {
            let target = Tempered { product: product.clone(), inverse_temperature };
            let kernel: Box<dyn Kernel> = Box::new(Slice::new(&vec![1.0; product.dim()]));
            Sweep::new(vec![Box::new(Block::new("position", 0, Unconditional(target), kernel))])
        };
        let sweeps = ladder[1..].iter().map(|beta| sweep(*beta)).collect();
        let states = vec![start.clone(); ladder.len() - 1];
        let mut product = product.clone();
        let log_likelihood: LogLikelihood =
            Box::new(move |x| product.terms(x).map(|terms| terms.log_likelihood));
        let exchange = ReplicaExchange::new("exchange", ladder, sweeps, states, log_likelihood);
        LadderWalker { cold: sweep(1.0), state: start, exchange, rung }
    }
}

impl Walker for LadderWalker {
    fn enter(&mut self, stage: &Stage) {
        self.cold.enter(stage);
        self.exchange.enter(stage);
    }

    fn advance(&mut self, stream: &mut Stream) {
        self.cold.pass(&mut self.state, stream);
        self.exchange.update(&mut self.state, stream);
    }

    fn position(&self) -> &[f64] {
        if self.rung == 0 { &self.state } else { &self.exchange.states()[self.rung - 1] }
    }
}

fn ladder() -> Ladder {
    Ladder::geometric(0.3, 3).expect("a valid ratio").down_to_prior()
}

#[test]
fn the_cold_end_follows_the_posterior() {
    let plan = Plan { thin: 2, ..Plan::new(4, 500, 4000) };
    let chains = run(2, &plan, |start| LadderWalker::new(&WideBanana, ladder(), start, 0));
    check_banana_chains("replica exchange", &chains);
}

#[test]
fn the_hot_end_follows_the_prior() {
    let plan = Plan::new(4, 200, 4000);
    let rung = ladder().len() - 1;
    let chains = run(3, &plan, |start| LadderWalker::new(&Neuron::small(), ladder(), start, rung));
    for coordinate in &chains {
        check_normal("replica exchange: prior", coordinate, 0.0, 1.0);
    }
}
