//! Words that flags of a fit may have as their value.

use clap::ValueEnum;

/// Where priors come from that are not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Priors {
    /// Functions vary about as much as the targets do; residuals, relevances and log odds are
    /// expected within wide but finite bounds
    WeaklyInformative,
    /// The vague priors of the MCMCstuff manual, one scale per input
    Mcmcstuff,
    /// The vague priors of the examples of FBM
    Fbm,
}

/// How the probability of the second of two classes depends on f.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Link {
    /// 1/(1 + exp(-f)): f is its log odds
    Logit,
    /// Φ(f), the normal distribution function
    Probit,
}

/// What the inverse temperature β is a power of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Tempering {
    /// prior × likelihood^β: towards the maximum of the likelihood
    Likelihood,
    /// (prior × likelihood)^β: towards the mode of the posterior
    Posterior,
    /// prior^(1/β) × likelihood^β: towards the maximum of the likelihood, without the prior
    Opposed,
}

/// Kinds of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ModelKind {
    /// A linear function of the inputs, or of functions of them
    Linear,
    /// A neural network with one hidden layer
    Mlp,
    /// A Gaussian process: a smooth function without a formula
    Gp,
    /// A mixture of normal distributions of the rows; no target
    Mixture,
    /// Bayesian principal components of the rows; no target
    Pca,
}

/// What the target is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Task {
    /// Real numbers
    Regression,
    /// Two classes
    Binary,
    /// More than two classes
    Multiclass,
    /// Classes with an order: numbers by value, or as --levels says (linear)
    Ordinal,
    /// Numbers of events: 0, 1, 2, …
    Count,
    /// How long something lasts, perhaps censored
    Duration,
}

/// What to do with rows that have a missing cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Missing {
    /// Refuse, and name the cells
    Error,
    /// Leave the rows out, and say how many
    Drop,
}

/// Distribution of the residuals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Residual {
    /// Normal with one variance
    Normal,
    /// Student's t with unknown degrees of freedom
    StudentT,
    /// Laplace
    Laplace,
    /// Normal with a variance of its own for every row
    PerCase,
    /// Of counts: the variance is the mean
    Poisson,
    /// Of counts: a variance beyond the mean, by an overdispersion that is sampled
    NegativeBinomial,
    /// Of durations: the logarithm is f plus a scale times that of an exponential variable
    Weibull,
    /// Of durations: the logarithm is normal about f
    LogNormal,
}

/// Relevance of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Relevance {
    /// One scale per input
    PerInput,
    /// One scale for all
    Common,
}

/// What moves the weights of a neural network, or the hyperparameters of a Gaussian process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Kernel {
    /// The kernel made for the model and its targets
    Auto,
    /// Hybrid Monte Carlo: on the weights given their scales, or on the hyperparameters
    Hmc,
    /// No-U-Turn trajectories: on the weights given their scales, or on the hyperparameters
    Nuts,
}

/// Where chains start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Start {
    /// Small random weights, or moderate hyperparameters, different for every chain
    Dispersed,
    /// Weights trained with early stopping on a random half of the rows (mlp)
    EarlyStopping,
    /// A draw from the prior
    Prior,
    /// A draw from the variational ensemble (mlp of numbers or classes)
    Variational,
}

/// How the posterior is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Inference {
    /// Markov chain Monte Carlo
    Mcmc,
    /// Normal approximation at a mode, scales by the evidence framework (linear, mlp); weighted draws
    /// of the hyperparameters about their modes (gp)
    Laplace,
    /// Variational approximation (mlp of numbers or classes, mixture, pca)
    Variational,
    /// The mode alone: penalised maximum likelihood (linear, mlp); of the hyperparameters (gp)
    Map,
    /// No posterior: the maximum of the likelihood without priors, with standard errors and
    /// information criteria (linear)
    Ml,
    /// No posterior: a committee of networks trained with early stopping (mlp)
    Committee,
}
