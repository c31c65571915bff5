//! Parse the options of the command that estimates log evidences.

use std::num::NonZero;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use posteria::evidence::{self, EvidenceOptions, Method};

/// Estimate log evidences (marginal likelihoods) and Bayes factors.
///
/// The log evidence is the logarithm of the density of the targets, in their own unit, with
/// all parameters integrated over their prior. What is needed is sampled here: a run folder only
/// says which model and which data. Several runs or specifications of the same targets give
/// probabilities of the models and Bayes factors. Beside a run, `evidence.json` is written into
/// its folder.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  posteria evidence runs/houses\n  \
    posteria evidence model.toml --method path,bridge,exact\n  \
    posteria evidence runs/a runs/b runs/c --method bridge --prior-weights 2,1,1\n  \
    posteria evidence model.toml --method exact --sensitivity weights=0.5,1,2\n\n\
    A value whose error would not hold has `usable: false`, and a warning says why and what to do.")]
pub struct Evidence {
    /// Run folders or specification files
    #[arg(required = true, value_name = "RUN|SPEC.toml")]
    pub paths: Vec<PathBuf>,

    /// Method; several are compared, and the first one counts [default: path]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "METHOD")]
    pub method: Vec<EvidenceMethod>,

    /// Placement of inverse temperatures
    #[arg(long, value_enum, default_value = "adaptive")]
    pub schedule: ScheduleKind,

    /// Exponent k of the density (1-k) θ^-k of temperatures, below 1 (power, sweep)
    #[arg(long, value_name = "K", default_value_t = 0.8, allow_negative_numbers = true)]
    pub exponent: f64,

    /// Number of inverse temperatures, prior and posterior included [default: as many as needed]
    #[arg(long, value_name = "N")]
    pub rungs: Option<usize>,

    /// Independent ladders of temperatures [default: 8, or 4 for a network]
    #[arg(long, value_name = "N")]
    pub ladders: Option<usize>,

    /// Draws at every temperature of a ladder [default: 1000; 300 for a Gaussian process, 150 for
    /// a network]
    #[arg(long, value_name = "N")]
    pub draws: Option<usize>,

    /// Sweeps of warm-up at every temperature, and as many again to place temperatures [default: a
    /// third of the draws, at least 100]
    #[arg(long, value_name = "N")]
    pub warmup: Option<usize>,

    /// Particles of annealed importance sampling, and a tenth of the draws of importance sampling
    #[arg(long, value_name = "N", default_value = "400")]
    pub particles: NonZero<usize>,

    /// Proposal distribution of importance sampling
    #[arg(long, value_enum, default_value = "fitted")]
    pub proposal: Proposal,

    /// Prior weights of the models, in their order [default: equal]
    #[arg(long, value_delimiter = ',', value_name = "W")]
    pub prior_weights: Vec<f64>,

    /// Prior sensitivity: multiply the scale of a prior ([prior.GROUP], or residual) by these factors
    #[arg(long, value_name = "GROUP=F,F…")]
    pub sensitivity: Option<Sensitivity>,

    /// The data file, if it was moved; its content must be the same
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
}

/// How a log evidence is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum EvidenceMethod {
    /// Path sampling (thermodynamic integration) with replica exchange
    Path,
    /// Stepping stones between temperatures
    SteppingStone,
    /// Optimal bridges between temperatures
    Bridge,
    /// One optimal bridge from a normal distribution, symmetric (Warp-III)
    Warp,
    /// Importance sampling, see --proposal
    Importance,
    /// Annealed importance sampling
    Annealed,
    /// A normal distribution at a mode (evidence framework)
    Laplace,
    /// Closed form or quadrature, where there is one
    Exact,
    /// Harmonic mean of likelihoods: to compare with published values only
    Harmonic,
    /// Reciprocal importance sampling: to compare with published values only
    Reciprocal,
    /// One sorted sweep over drawn temperatures, as first published
    Sweep,
}

impl Evidence {
    /// At how many factors the scale of a prior is looked at besides.
    pub fn factors(&self) -> usize {
        self.sensitivity.as_ref().map_or(0, |it| it.factors.len())
    }

    /// What they mean.
    pub fn options(&self) -> EvidenceOptions {
        EvidenceOptions {
            methods: self.method.iter().map(|method| method.method()).collect(),
            by_power: self.schedule == ScheduleKind::Power,
            exponent: self.exponent,
            rungs: self.rungs,
            ladders: self.ladders,
            draws: self.draws,
            warmup: self.warmup,
            particles: self.particles,
            proposal: match self.proposal {
                Proposal::Fitted => evidence::Proposal::Fitted,
                Proposal::Prior => evidence::Proposal::Prior,
                Proposal::Laplace => evidence::Proposal::Laplace,
                Proposal::Ensemble => evidence::Proposal::Ensemble,
            },
        }
    }
}

impl EvidenceMethod {
    /// As the library calls it.
    pub fn method(self) -> Method {
        match self {
            EvidenceMethod::Path => Method::Path,
            EvidenceMethod::SteppingStone => Method::SteppingStone,
            EvidenceMethod::Bridge => Method::Bridge,
            EvidenceMethod::Warp => Method::Warp,
            EvidenceMethod::Importance => Method::Importance,
            EvidenceMethod::Annealed => Method::Annealed,
            EvidenceMethod::Laplace => Method::Laplace,
            EvidenceMethod::Exact => Method::Exact,
            EvidenceMethod::Harmonic => Method::Harmonic,
            EvidenceMethod::Reciprocal => Method::Reciprocal,
            EvidenceMethod::Sweep => Method::Sweep,
        }
    }
}

/// Where inverse temperatures are put.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScheduleKind {
    /// At equal thermodynamic length, found in a pilot run
    Adaptive,
    /// At the quantiles of the density (1-k) θ^-k
    Power,
}

/// Where importance sampling draws from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Proposal {
    /// Student's t with the moments of draws of the posterior
    Fitted,
    /// The prior
    Prior,
    /// Student's t at the mode (few parameters)
    Laplace,
    /// The variational ensemble of a network
    Ensemble,
}

/// A prior whose scale is multiplied by factors.
#[derive(Debug, Clone, PartialEq)]
pub struct Sensitivity {
    /// The group.
    pub group: String,
    /// The factors.
    pub factors: Vec<f64>,
}

impl std::str::FromStr for Sensitivity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (group, factors) =
            text.split_once('=').ok_or("expected GROUP=FACTOR,FACTOR… as in weights=0.5,1,2")?;
        let factor = |text: &str| match text.trim().parse::<f64>() {
            Ok(factor) if factor > 0.0 && factor.is_finite() => Ok(factor),
            _ => Err(format!("{text} is not a positive number")),
        };
        let factors = factors.split(',').map(factor).collect::<Result<_, _>>()?;
        Ok(Sensitivity { group: group.trim().into(), factors })
    }
}
