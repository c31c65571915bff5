//! Carry what may be wrong with an approximation of a posterior.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize};

/// A reason to doubt an approximation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "doubt", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ApproximationDoubt {
    /// Draws of a normal approximation fit the data worse than its own curvature says.
    NotNormal {
        /// Their mean log likelihood.
        #[serde(deserialize_with = "or_lowest")]
        log_likelihood: f64,
        /// What it would be if the density were normal about the mode.
        expected: f64,
    },
    /// Draws of the weights of a network fit the data worse than its outputs do that are linear in them, and
    /// predict.
    NotLinear {
        /// Mean log likelihood of the weights.
        #[serde(deserialize_with = "or_lowest")]
        log_likelihood: f64,
        /// What it would be if the outputs were linear and the density normal.
        expected: f64,
    },
    /// The bound of a variational approximation still changed when its rounds were spent.
    StillClimbing {
        /// Change of the bound in the last round.
        change: f64,
        /// Rounds.
        rounds: usize,
    },
    /// Weighted draws of an ensemble of networks are not worth much.
    EnsembleWeights {
        /// Effective number of draws.
        effective_size: f64,
        /// Number of draws.
        draws: usize,
        /// Pareto shape k of the largest weights; none where these do not tell one.
        pareto_shape: Option<f64>,
        /// k above which they are not to be trusted.
        limit: f64,
    },
    /// The functions of a process are far from normal about their mode.
    FunctionWeights {
        /// Effective number of weighted draws of them.
        effective_size: f64,
        /// Number of draws.
        draws: usize,
        /// Pareto shape k of the largest weights.
        #[serde(deserialize_with = "or_lowest")]
        pareto_shape: f64,
        /// What the log density of the targets lacks.
        log_correction: f64,
    },
    /// Weighted draws of hyperparameters are not worth much.
    HyperparameterWeights {
        /// Effective number of draws.
        effective_size: f64,
        /// Number of draws.
        draws: usize,
        /// Pareto shape k of the largest weights.
        #[serde(deserialize_with = "or_lowest")]
        pareto_shape: f64,
        /// k above which they are not to be trusted.
        limit: f64,
    },
}

/// JSON has no infinite numbers: minus infinity is written as null.
fn or_lowest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NEG_INFINITY))
}

impl ApproximationDoubt {
    /// A name that does not change with the words, for programs.
    pub(super) fn code(&self) -> &'static str {
        match self {
            ApproximationDoubt::NotNormal { .. } | ApproximationDoubt::FunctionWeights { .. } => {
                "not-normal"
            }
            ApproximationDoubt::NotLinear { .. } => "not-linear",
            ApproximationDoubt::StillClimbing { .. } => "bound-not-settled",
            ApproximationDoubt::HyperparameterWeights { .. }
            | ApproximationDoubt::EnsembleWeights { .. } => "few-weights",
        }
    }
}

impl fmt::Display for ApproximationDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ApproximationDoubt::NotNormal { log_likelihood, expected } => write!(
                f,
                "draws of the normal distribution at the mode fit the data worse than it promises \
                 (mean log likelihood {log_likelihood:.1}, promised {expected:.1}): the posterior is \
                 not normal there; use --inference mcmc, or map for the mode alone"
            ),
            ApproximationDoubt::NotLinear { log_likelihood, expected } => write!(
                f,
                "predictions take the network as linear in its weights about the mode, and fit as they \
                 should; with the same weights the network itself has a mean log likelihood of \
                 {log_likelihood:.1} in place of {expected:.1}, so that the log evidence is rough: compare \
                 models by rows left out, or by the evidence of --inference mcmc"
            ),
            ApproximationDoubt::StillClimbing { change, rounds } => write!(
                f,
                "the variational bound still changed by {change:.1e} in the last of {rounds} rounds, so \
                 the approximation is not the best of its kind yet; use fewer hidden units, or \
                 --inference mcmc"
            ),
            ApproximationDoubt::EnsembleWeights { effective_size, draws, pareto_shape, limit } => {
                let shape = pareto_shape.map_or("unknown".into(), |shape| format!("{shape:.2}"));
                write!(
                    f,
                    "the posterior of the weights is far from the ensemble: {draws} draws of it are \
                     worth only {effective_size:.0} (Pareto k {shape}, trusted up to {limit:.2}), so that \
                     intervals may be too narrow and modes may be missing; use fewer hidden units, or \
                     --inference mcmc"
                )
            }
            ApproximationDoubt::FunctionWeights {
                effective_size,
                draws,
                pareto_shape,
                log_correction,
            } => write!(
                f,
                "given the hyperparameters the functions are not normal about their mode: {draws} draws of \
                 them are worth only {effective_size:.0} (Pareto k {pareto_shape:.2}), and the log evidence \
                 lacks about {log_correction:.2}; fit with --inference mcmc"
            ),
            ApproximationDoubt::HyperparameterWeights {
                effective_size,
                draws,
                pareto_shape,
                limit,
            } => write!(
                f,
                "{draws} weighted draws of the hyperparameters are worth only {effective_size:.0} (Pareto \
                 k {pareto_shape:.2}, trusted up to {limit:.2}): they stand for the posterior roughly; \
                 fit with --inference mcmc"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_come_back_as_they_were_written() {
        for doubt in [
            ApproximationDoubt::NotNormal { log_likelihood: f64::NEG_INFINITY, expected: -1.5 },
            ApproximationDoubt::StillClimbing { change: 0.1, rounds: 7 },
            ApproximationDoubt::HyperparameterWeights {
                effective_size: 1.0 / 3.0,
                draws: 4,
                pareto_shape: 0.9,
                limit: 0.7,
            },
        ] {
            let text = serde_json::to_string(&doubt).unwrap();
            assert_eq!(serde_json::from_str::<ApproximationDoubt>(&text).unwrap(), doubt, "{text}");
        }
    }
}
