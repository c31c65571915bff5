//! Carry what may be wrong with a log evidence.

use std::fmt;

/// A reason to doubt a log evidence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum EvidenceDoubt {
    /// Neighbouring temperatures hardly exchange states.
    Gap {
        /// Inverse temperatures of the two.
        between: [f64; 2],
        /// Share of exchanges that were accepted.
        acceptance: f64,
    },
    /// Log likelihoods at one temperature fall into two groups: two phases.
    TwoPhases {
        /// The inverse temperature.
        inverse_temperature: f64,
        /// Log likelihoods of the two.
        levels: [f64; 2],
    },
    /// Independent ladders disagree about the mean log likelihood at one temperature.
    LaddersDisagree {
        /// The inverse temperature.
        inverse_temperature: f64,
        /// R-hat of the log likelihoods.
        r_hat: f64,
    },
    /// Single chains from the prior to the posterior and back give different values.
    Hysteresis {
        /// From the prior to the posterior.
        forward: f64,
        /// From the posterior to the prior.
        backward: f64,
        /// Standard error of the difference.
        error: f64,
        /// Whether the exchanged ensemble went to and fro nevertheless.
        bridged: bool,
    },
    /// Single chains in one direction give another value than the method.
    OneDirection {
        /// Whether they go from the prior to the posterior.
        from_prior: bool,
        /// Their value.
        direction: f64,
        /// That of the method.
        value: f64,
        /// Standard error of the difference.
        error: f64,
    },
    /// Two methods give different values.
    MethodsDisagree {
        /// Names of the two.
        methods: [String; 2],
        /// Difference of the values.
        difference: f64,
        /// Its standard error.
        error: f64,
    },
    /// A few weights decide.
    FewWeights {
        /// Effective number of draws.
        effective_size: f64,
        /// Number of draws.
        draws: usize,
    },
    /// The mean weight does not settle.
    HeavyWeights {
        /// Pareto shape of the largest weights.
        shape: f64,
        /// The largest shape that can be trusted.
        limit: f64,
    },
    /// The error is large.
    Imprecise {
        /// Standard error in nats.
        error: f64,
    },
    /// The variance of the harmonic mean is infinite as a rule.
    HarmonicMean,
    /// Draws of the posterior alone decide, about one mode.
    ReciprocalImportance,
    /// Scales are put at their best values: their prior does not count.
    ScalesNotIntegrated,
    /// A normal approximation at one mode.
    NormalAtMode,
    /// Only one of several equal modes was seen; the value counts all of them.
    OneMode {
        /// Logarithm of their number.
        log_modes: f64,
    },
    /// A lower bound, not the value.
    BoundOnly,
}

impl fmt::Display for EvidenceDoubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EvidenceDoubt::Gap { between: [hot, cold], acceptance } => write!(
                f,
                "only {:.1} % of the exchanges between inverse temperatures {hot:.3e} and {cold:.3e} \
                 are accepted, so what happens between them is not known; use more rungs (--rungs)",
                100.0 * acceptance
            ),
            EvidenceDoubt::TwoPhases { inverse_temperature, levels: [low, high] } => write!(
                f,
                "two phases at inverse temperature {inverse_temperature:.3e}, with log likelihoods \
                 about {low:.1} and {high:.1}: a chain may stay in one of them for long; draw longer \
                 (--draws) with more rungs (--rungs) until all ladders agree"
            ),
            EvidenceDoubt::LaddersDisagree { inverse_temperature, r_hat } => write!(
                f,
                "independent ladders disagree about the log likelihood at inverse temperature \
                 {inverse_temperature:.3e} (R-hat {r_hat:.2}); draw longer (--draws, --warmup)"
            ),
            EvidenceDoubt::Hysteresis { forward, backward, error, bridged } => {
                write!(
                    f,
                    "hysteresis: chains from the prior give {forward:.2}, chains from the posterior \
                     {backward:.2}, with a standard error of {error:.2} of the difference; "
                )?;
                if *bridged {
                    write!(
                        f,
                        "the exchanged ladders, which the value comes from, went to and fro and agree \
                         with each other, but nothing confirms them; draw longer (--draws) until the \
                         directions agree too"
                    )
                } else {
                    write!(f, "draw longer (--draws) with more rungs (--rungs)")
                }
            }
            EvidenceDoubt::OneDirection { from_prior, direction, value, error } => write!(
                f,
                "single chains from the {} give {direction:.2}, not {value:.2}, with a standard error \
                 of {error:.2} of the difference: they stay in a phase that the ladders leave, or the \
                 ladders miss one; draw longer (--draws) until they agree",
                if *from_prior { "prior" } else { "posterior" }
            ),
            EvidenceDoubt::MethodsDisagree { methods: [one, other], difference, error } => write!(
                f,
                "{one} and {other} differ by {difference:.2}, with a standard error of {error:.2}: at \
                 least one of them is wrong; trust the exact value if there is one, or draw longer \
                 (--draws)"
            ),
            EvidenceDoubt::FewWeights { effective_size, draws } => write!(
                f,
                "{draws} weighted draws are worth only {effective_size:.1}: a few weights decide, and \
                 the error may be far larger than it looks; use --method path or bridge"
            ),
            EvidenceDoubt::HeavyWeights { shape, limit } => write!(
                f,
                "the largest weights have a Pareto shape of {shape:.2}, above {limit:.2}: their mean \
                 does not settle, and the error may be far larger than it looks; use --method path or \
                 bridge"
            ),
            EvidenceDoubt::Imprecise { error } => {
                write!(f, "the standard error is {error:.1} nats; draw longer (--draws)")
            }
            EvidenceDoubt::HarmonicMean => write!(
                f,
                "the harmonic mean has infinite variance as a rule and is too high in practice, \
                 whatever its error says; use --method path or bridge"
            ),
            EvidenceDoubt::ReciprocalImportance => write!(
                f,
                "reciprocal importance sampling sees only where draws of the posterior are: other \
                 modes do not count, whatever its error says; use --method path or bridge"
            ),
            EvidenceDoubt::ScalesNotIntegrated => write!(
                f,
                "the evidence framework puts scales at their best values, so their prior does not \
                 count: good for comparing similar models, not the evidence of this one; use \
                 --method path or bridge for that"
            ),
            EvidenceDoubt::NormalAtMode => write!(
                f,
                "a normal approximation at one mode, whose error is not known; compare with --method \
                 path or bridge"
            ),
            EvidenceDoubt::OneMode { log_modes } => write!(
                f,
                "draws are about one mode; {log_modes:.2} was added as if each of the equal modes \
                 were as far from the others; use --method path or bridge"
            ),
            EvidenceDoubt::BoundOnly => write!(
                f,
                "this is a lower bound of the log evidence, not its value; it can compare runs of the \
                 same kind roughly"
            ),
        }
    }
}
