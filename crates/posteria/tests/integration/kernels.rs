//! One of every kernel, for tests that all of them must pass.

use posteria::random::Stream;
use posteria::sample::hmc::{
    Hmc, HmcOptions, LengthSearch, MetricKind, Nuts, NutsOptions, Persistence,
};
use posteria::sample::{
    DirectionWalk, FittedStudentT, Kernel, MetropolisHastings, Proposal, RandomWalk, Refresh, Scan,
    Sequence, Slice,
};

/// Builds a kernel of a dimension.
pub type Factory = fn(usize) -> Box<dyn Kernel>;

/// A proposal that is not symmetric, as a user would write it: each coordinate is drawn towards
/// 1, and the farther it is from there the wider it jumps.
pub struct Pull;

impl Pull {
    /// Mean and standard deviation of a coordinate's proposal.
    fn moments(from: f64) -> (f64, f64) {
        (from + 0.4 * (1.0 - from), 0.6 + 0.3 * (from - 1.0).abs())
    }

    fn log_density(to: f64, from: f64) -> f64 {
        let (mean, scale) = Pull::moments(from);
        -0.5 * ((to - mean) / scale).powi(2) - scale.ln()
    }
}

impl Proposal for Pull {
    fn name(&self) -> &'static str {
        "pull"
    }

    fn propose(&mut self, from: &[f64], to: &mut [f64], stream: &mut Stream) {
        for (to, from) in to.iter_mut().zip(from) {
            let (mean, scale) = Pull::moments(*from);
            *to = mean + scale * stream.normal();
        }
    }

    fn log_ratio(&mut self, from: &[f64], to: &[f64]) -> f64 {
        let log_ratio = |(from, to): (&f64, &f64)| {
            Pull::log_density(*from, *to) - Pull::log_density(*to, *from)
        };
        from.iter().zip(to).map(log_ratio).sum()
    }
}

/// Every kernel, with widths that are not the best.
pub const ALL: [(&str, Factory); 14] = [
    ("NUTS", |dim| Box::new(Nuts::new(dim, NutsOptions::default()))),
    ("dense NUTS", |dim| {
        let options = NutsOptions { metric: MetricKind::Dense, ..NutsOptions::default() };
        Box::new(Nuts::new(dim, options))
    }),
    ("HMC", |dim| {
        Box::new(Hmc::new(dim, HmcOptions { leapfrog_steps: 8, ..HmcOptions::default() }))
    }),
    ("windowed persistent HMC", |dim| {
        let persistence = Persistence { decay: 0.9, reset_every: 7 };
        let options = HmcOptions { window: 3, persistence, ..HmcOptions::default() };
        Box::new(Hmc::new(dim, options))
    }),
    ("random walk", |dim| Box::new(MetropolisHastings::new(RandomWalk::new(&vec![0.5; dim])))),
    ("random walk with covariance", |dim| {
        let walk = RandomWalk::new(&vec![0.5; dim]).learn_covariance();
        Box::new(MetropolisHastings::new(walk))
    }),
    ("slice", |dim| Box::new(Slice::new(&vec![0.5; dim]))),
    ("shuffled slice", |dim| {
        Box::new(Slice::new(&vec![0.5; dim]).scan(Scan::Shuffled).max_steps_out(3))
    }),
    ("independence", |dim| Box::new(MetropolisHastings::new(FittedStudentT::new(&vec![0.5; dim])))),
    ("user's proposal", |_| Box::new(MetropolisHastings::new(Pull))),
    ("direction walk", |dim| Box::new(walk(dim).repeats(2))),
    ("sequence", |dim| Box::new(Sequence::new(vec![few_steps(dim), Box::new(walk(dim))]))),
    ("HMC by forces", |dim| {
        let options = HmcOptions { leapfrog_steps: 8, fast_force: true, ..HmcOptions::default() };
        Box::new(Hmc::new(dim, options))
    }),
    ("HMC of tuned length", |dim| {
        Box::new(Hmc::new(
            dim,
            HmcOptions { tune_length: Some(LengthSearch::over(2..=64)), ..HmcOptions::default() },
        ))
    }),
];

/// For targets whose last coordinate is standard normal in the prior.
pub const REFRESH: Factory =
    |dim| Box::new(Refresh::new(vec![vec![dim - 1]], &[0.0, 0.8]).attempts(3));

/// Along all axes and one diagonal.
fn walk(dim: usize) -> DirectionWalk {
    let axes = (0..dim).map(|coordinate| vec![(coordinate, 1.0)]);
    let diagonal = vec![(0, 1.0), (dim - 1, -0.5)];
    DirectionWalk::new(axes.chain([diagonal]).collect(), 0.5)
}

fn few_steps(dim: usize) -> Box<dyn Kernel> {
    Box::new(Hmc::new(dim, HmcOptions { leapfrog_steps: 4, ..HmcOptions::default() }))
}
