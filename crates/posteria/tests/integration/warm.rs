//! Chains given most of the rows that begin where chains given all of them ended.

use std::num::NonZero;
use std::ops::ControlFlow;
use std::sync::Mutex;

use posteria::data::Dataset;
use posteria::diagnose::{SummaryOptions, summarize};
use posteria::draws::Draws;
use posteria::fit::{Chain, ChainMemory, InMemory, Recorder, Report, fit, run, warm_start};
use posteria::model::Posterior;
use posteria::model::gp::GaussianProcess;
use posteria::model::mlp::Mlp;
use posteria::model::spec::Spec;
use posteria::random::Seed;
use posteria::sample::Plan;

use crate::kernels;
use crate::tables::{classification, linear, regression};

/// Keeps where every chain is.
struct Ends<'r> {
    inner: &'r dyn Recorder,
    stop: usize,
    memories: Vec<Mutex<Option<ChainMemory>>>,
}

impl<'r> Ends<'r> {
    fn new(inner: &'r dyn Recorder, chains: usize, stop: usize) -> Self {
        Ends { inner, stop, memories: (0..chains).map(|_| Mutex::new(None)).collect() }
    }

    fn memories(self) -> Vec<ChainMemory> {
        let each = self.memories.into_iter();
        each.map(|memory| memory.into_inner().expect("no panic").expect("an end")).collect()
    }
}

impl Recorder for Ends<'_> {
    fn after_sweep(&self, report: &Report<'_>, chain: &Chain<'_>) -> ControlFlow<()> {
        *self.memories[report.chain].lock().expect("no panic") = Some(chain.memory());
        let flow = self.inner.after_sweep(report, chain);
        if report.iteration == self.stop { ControlFlow::Break(()) } else { flow }
    }
}

fn posterior(spec: &str, data: &Dataset) -> Box<dyn Posterior> {
    let parsed = Spec::from_toml(spec).expect("a valid file");
    if spec.contains("'mlp'") {
        return Box::new(Mlp::new(&parsed).expect("valid").condition(data, None).expect("fits"));
    }
    if spec.contains("'gp'") {
        let model = GaussianProcess::new(&parsed).expect("valid");
        return Box::new(model.condition(data, None).expect("fits"));
    }
    Box::new(linear(spec, data, kernels::ALL[0].1))
}

const TWO: NonZero<usize> = NonZero::new(2).expect("not zero");

/// A model given all rows with the ends of its chains, and given some of them.
struct Both {
    whole: Box<dyn Posterior>,
    memories: Vec<ChainMemory>,
    part: Box<dyn Posterior>,
    kept: Vec<usize>,
}

/// The model given all rows, and given four fifths of them.
fn both(spec: &str, data: &Dataset) -> Both {
    let whole = posterior(spec, data);
    let plan = Plan::new(2, 200, 20);
    let draws = InMemory::new(&*whole, &plan);
    let ends = Ends::new(&draws, 2, usize::MAX);
    run(&*whole, &plan, Seed(5), &[None, None], TWO, &ends).expect("a run");
    let kept: Vec<usize> = (0..data.rows()).filter(|row| row % 5 != 2).collect();
    let part = posterior(spec, &data.select(&kept));
    Both { whole, memories: ends.memories(), part, kept }
}

fn warm_draws(spec: &str, data: &Dataset, plan: &Plan) -> Option<(Box<dyn Posterior>, Draws)> {
    let Both { whole, memories, part, kept } = both(spec, data);
    let warm = warm_start((&*whole, &memories), (&*part, &kept), plan, Seed(9))?;
    assert!(warm.plan.warmup_iterations() < plan.warmup_iterations());
    let starts: Vec<Option<ChainMemory>> = warm.memories.iter().cloned().map(Some).collect();
    let draws = InMemory::new(&*part, &warm.plan);
    run(&*part, &warm.plan, Seed(9), &starts, TWO, &draws).expect("a run");
    let draws = draws.into_draws();
    // Interrupted in the warm-up and among the draws, it goes on bit for bit.
    for stop in [30, warm.plan.warmup_iterations() + 7] {
        let again = InMemory::new(&*part, &warm.plan);
        let ends = Ends::new(&again, 2, stop);
        run(&*part, &warm.plan, Seed(9), &starts, TWO, &ends).expect("a run");
        let memories: Vec<_> = ends.memories().into_iter().map(Some).collect();
        run(&*part, &warm.plan, Seed(9), &memories, TWO, &again).expect("a run");
        let bits = |draws: &Draws| draws.values.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&again.into_draws()), bits(&draws), "{spec}: stopped at {stop}");
    }
    Some((part, draws))
}

/// Every component's mean is that of a run that began anywhere: |z| < 5 for about ten
/// components of three models, a false alarm in 60 000.
#[test]
fn a_warm_start_samples_the_posterior_of_the_part() {
    let data = regression(2);
    for spec in [
        "",
        "[residual]\nfamily = 'student-t'\ndof = 4.0",
        "[model]\nkind = 'gp'\n[prior.relevance]\nfamily = 'log-normal'\nscale = 0.7\nlog_sd = 0.5",
    ] {
        let plan = Plan::new(2, 300, 1500);
        let (part, warm) = warm_draws(spec, &data, &plan).expect(spec);
        let cold = fit(&*part, &plan, Seed(77), TWO).expect("a fit");
        let options = SummaryOptions::default();
        let (warm, cold) = (summarize(&warm, &options), summarize(&cold, &options));
        for (warm, cold) in warm.variables.iter().zip(&cold.variables) {
            let error = warm.mcse_mean.hypot(cold.mcse_mean);
            let z = (warm.mean - cold.mean) / error;
            assert!(z.abs() < 5.0, "{spec} {}: {} and {}", warm.name, warm.mean, cold.mean);
        }
    }
}

/// Networks warm-start too; kernels that have learned something of every row do not.
#[test]
fn what_kernels_have_learned_is_used_where_it_fits() {
    let plan = Plan::new(2, 300, 10);
    let (real, classes) = (regression(10), classification());
    for (spec, data, fits) in [
        ("[model]\nkind = 'mlp'\nhidden = 3", &real, true),
        ("[model]\nkind = 'mlp'\nhidden = 3\n[residual]\nfamily = 'student-t'", &real, true),
        ("[model]\nkind = 'mlp'\nhidden = 3", &classes, true),
        ("[model]\nkind = 'gp'\n[residual]\nfamily = 'laplace'", &real, true),
        ("[model]\nkind = 'gp'", &classes, false),
    ] {
        assert_eq!(warm_draws(spec, data, &plan).is_some(), fits, "{spec}");
    }
    let Both { whole, memories, part, kept } = both("", &real);
    let warm = |memories: &[ChainMemory], kept: &[usize]| {
        warm_start((&*whole, memories), (&*part, kept), &plan, Seed(1)).is_some()
    };
    assert!(warm(&memories, &kept));
    assert!(!warm(&memories[..1], &kept), "a chain without an end");
    assert!(!warm(&memories, &kept[1..]), "other rows");
}
