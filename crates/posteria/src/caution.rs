//! Carry statistical warnings inside results, as values with facts, words and a cure.

mod code;
mod data;
mod evidence;

pub use data::{Extrapolation, WholeTarget};
pub use evidence::EvidenceDoubt;

use std::fmt;

/// A reason to doubt a result. The library never prints; whoever shows the result shows its
/// cautions too. `Display` gives one sentence that says what is wrong and what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// Chains disagree about a variable.
    NotConverged {
        /// Variable with the largest value.
        variable: String,
        /// Its rank-normalised split R-hat.
        r_hat: f64,
        /// How many variables are above the threshold.
        count: usize,
    },
    /// Too few effective draws for stable estimates.
    FewEffectiveDraws {
        /// Variable with the smallest value.
        variable: String,
        /// `bulk` or `tail`.
        kind: &'static str,
        /// Effective sample size over all chains.
        effective_size: f64,
        /// The least that can be trusted: 100 per chain.
        needed: f64,
    },
    /// Variables did not move at all.
    Constant {
        /// The first of them.
        variable: String,
        /// How many there are.
        count: usize,
    },
    /// A variable has draws that are NaN or infinite.
    NonFinite {
        /// The variable.
        variable: String,
        /// How many of its draws.
        count: usize,
    },
    /// Trajectories left the region where the integrator is accurate.
    Divergences {
        /// In how many kept draws a trajectory diverged.
        count: usize,
        /// Of how many draws.
        draws: usize,
    },
    /// NUTS trees reached their greatest depth.
    TreeDepth {
        /// How many draws.
        count: usize,
        /// The depth.
        depth: usize,
    },
    /// Momentum refreshment explores the energy levels too slowly.
    LowEnergyFraction {
        /// Chain with the smallest value.
        chain: usize,
        /// Estimated Bayesian fraction of missing information (E-BFMI).
        fraction: f64,
    },
    /// Draws of a normal approximation fit the data worse than its own curvature says.
    NotNormal {
        /// Their mean log likelihood.
        log_likelihood: f64,
        /// What it would be if the density were normal about the mode.
        expected: f64,
    },
    /// Draws of prior × likelihood^β with β other than 1.
    Tempered {
        /// β.
        inverse_temperature: f64,
    },
    /// A reason to doubt a log evidence.
    Evidence(EvidenceDoubt),
    /// Only one chain: agreement between chains cannot be judged.
    OneChain,
    /// Too few draws for the diagnostics to be defined.
    TooFewDraws {
        /// Draws per chain.
        draws: usize,
    },
    /// A column of the data does not vary.
    ConstantColumn {
        /// Name of the column.
        column: String,
    },
    /// A numeric target does not vary.
    ConstantTarget {
        /// Name of the column.
        column: String,
    },
    /// A numeric target has few values, all whole: they may be classes.
    WholeTarget(WholeTarget),
    /// New rows are not like those of the fit.
    Extrapolation(Extrapolation),
    /// Predictions of new rows are not finite numbers.
    PredictionsNotFinite {
        /// How many rows.
        count: usize,
        /// The first of them in its table, from 0.
        row: usize,
    },
    /// The target of a classification has only one class.
    SingleClass {
        /// Name of the target.
        column: String,
        /// The class.
        label: String,
    },
    /// Rows were dropped because a cell was missing.
    RowsDropped {
        /// How many.
        count: usize,
    },
    /// Proposals were rejected because the density was not usable.
    Infeasible {
        /// How many.
        count: usize,
        /// Of how many proposals.
        proposals: usize,
    },
    /// Importance weights of rows that are left out cannot be trusted.
    HighParetoShape {
        /// Index of the row with the largest value; the text counts from 1.
        row: usize,
        /// The shape k of the tail of its ratios.
        pareto_shape: f64,
        /// What k should not exceed for this number of draws.
        limit: f64,
        /// How many rows exceed it.
        count: usize,
        /// Of how many rows.
        rows: usize,
    },
    /// The bound of a variational approximation still changed when its rounds were spent.
    StillClimbing {
        /// Change of the bound in the last round.
        change: f64,
        /// Rounds.
        rounds: usize,
    },
    /// A few weights decide an average over weighted draws.
    FewWeights {
        /// Effective number of draws.
        effective_size: f64,
        /// Number of draws.
        draws: usize,
    },
    /// Too few draws to fit the tail of importance ratios.
    FewTailDraws {
        /// Draws of all chains.
        draws: usize,
        /// How many are needed.
        needed: usize,
    },
    /// A row has the likelihood 0 under a draw.
    ImpossibleRow {
        /// Index of the row; the text counts from 1.
        row: usize,
        /// Index of a draw, over all chains.
        draw: usize,
        /// How many rows.
        count: usize,
    },
    /// The log density of a row varies too much for WAIC.
    WaicVariance {
        /// Index of the row with the largest value; the text counts from 1.
        row: usize,
        /// The posterior variance of its log density.
        variance: f64,
        /// What it should not exceed.
        limit: f64,
        /// How many rows exceed it.
        count: usize,
    },
    /// The deviance information criterion counts fewer than no parameters.
    NegativeParameters {
        /// The effective number of parameters.
        p_dic: f64,
    },
    /// The best of many models is no better than the best of many equal ones would seem.
    BestOfMany {
        /// Name of the utility.
        utility: String,
        /// How many models were compared.
        models: usize,
        /// By how much the best exceeds the median model.
        advantage: f64,
        /// By how much the best of as many equal models is expected to exceed it.
        expected: f64,
    },
    /// The utility of some rows is not a finite number.
    UtilityNotFinite {
        /// Name of the utility.
        utility: String,
        /// How many rows.
        count: usize,
        /// The first of them, from 0.
        row: usize,
    },
    /// Too few rows or groups to stand for all future rows.
    FewUnits {
        /// How many there are.
        count: usize,
        /// Whether they are groups.
        grouped: bool,
    },
    /// Chains disagree about the inputs that are in.
    InputSets {
        /// Largest split R-hat of the number of inputs and of single inputs.
        r_hat: f64,
        /// p value of Kolmogorov–Smirnov tests between chains on the number of inputs.
        ks_p: f64,
    },
    /// No chain ever changed its input set.
    NoJumps {
        /// Draws of all chains.
        draws: usize,
    },
}

impl fmt::Display for Caution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caution::NotConverged { variable, r_hat, count } => write!(
                f,
                "the chains disagree: R-hat is {r_hat:.3} for {variable} ({count} variable(s) \
                 above 1.01); draw longer, or look for separate modes by running more chains"
            ),
            Caution::FewEffectiveDraws { variable, kind, effective_size, needed } => write!(
                f,
                "only {effective_size:.0} effective {kind} draws for {variable}, {needed:.0} are \
                 needed for stable estimates; draw longer"
            ),
            Caution::Constant { variable, count } => write!(
                f,
                "{variable} has the same value in every draw ({count} such variable(s)), so R-hat \
                 is not defined; if it should vary, the sampler is stuck"
            ),
            Caution::NonFinite { variable, count } => write!(
                f,
                "{count} draw(s) of {variable} are NaN or infinite, so nothing can be said about \
                 it; look for a division by zero or a quantity that is not always defined"
            ),
            Caution::Divergences { count, draws } => write!(
                f,
                "in {count} of {draws} draws a trajectory diverged and was rejected, so a narrow part \
                 of the posterior may be visited too rarely; warm up longer, or compare with other \
                 moves (kernel in [sampling])"
            ),
            Caution::TreeDepth { count, depth } => write!(
                f,
                "{count} trajectories reached the greatest tree depth {depth}: sampling is slow \
                 but valid; allow a greater depth or adapt the metric longer"
            ),
            Caution::LowEnergyFraction { chain, fraction } => write!(
                f,
                "E-BFMI is {fraction:.2} in chain {} (below 0.3): the tails are explored \
                 slowly; warm up longer or reparametrise heavy-tailed scales",
                chain + 1
            ),
            Caution::NotNormal { log_likelihood, expected } => write!(
                f,
                "draws of the normal distribution at the mode fit the data worse than it promises \
                 (mean log likelihood {log_likelihood:.1}, promised {expected:.1}): the posterior is \
                 not normal there; use --inference mcmc, or map for the mode alone"
            ),
            Caution::Tempered { inverse_temperature } => write!(
                f,
                "the likelihood counts with the power {inverse_temperature}: these are not draws of \
                 the posterior; omit the inverse temperature for that"
            ),
            Caution::Evidence(doubt) => doubt.fmt(f),
            Caution::OneChain => write!(
                f,
                "one chain cannot show that chains agree; run at least four from different starts"
            ),
            Caution::TooFewDraws { draws } => {
                write!(
                    f,
                    "{draws} draw(s) per chain are too few to diagnose; at least 4 are needed"
                )
            }
            Caution::ConstantColumn { column } => write!(
                f,
                "column {column} has the same value in every row: it is kept, but it cannot \
                 explain anything"
            ),
            Caution::ConstantTarget { column } => write!(
                f,
                "every row has the same value of target {column}: how far new targets may be from \
                 it comes from the prior alone; add rows with other values"
            ),
            Caution::WholeTarget(found) => found.fmt(f),
            Caution::Extrapolation(found) => found.fmt(f),
            Caution::PredictionsNotFinite { count, row } => write!(
                f,
                "the predictions of {count} row(s) are not finite numbers, first that of row {}; \
                 check the sizes of their inputs",
                row + 1
            ),
            Caution::SingleClass { column, label } => write!(
                f,
                "every row has class {label} of target {column}: the probability of any other \
                 class comes from the prior alone; add rows of another class"
            ),
            Caution::RowsDropped { count } => {
                write!(f, "{count} row(s) with missing values were dropped")
            }
            Caution::Infeasible { count, proposals } => write!(
                f,
                "{count} of {proposals} proposals were rejected because the density was not \
                 finite; check the scale of the data and the priors"
            ),
            Caution::HighParetoShape { row, pareto_shape, limit, count, rows } => write!(
                f,
                "leaving out rows one at a time by importance sampling fails for {count} of {rows} \
                 row(s): Pareto k is {pareto_shape:.2} for row {} (at most {limit:.2} can be \
                 trusted); refit without these rows, use k-fold cross-validation, or a model with \
                 heavier tails",
                row + 1
            ),
            Caution::StillClimbing { change, rounds } => write!(
                f,
                "the variational bound still changed by {change:.1e} in the last of {rounds} rounds, so \
                 the approximation is not the best of its kind yet; use fewer hidden units, or \
                 --inference mcmc"
            ),
            Caution::FewWeights { effective_size, draws } => write!(
                f,
                "{draws} weighted draws are worth only {effective_size:.1}: the approximation is far \
                 from the posterior, and what is averaged over them is not to be trusted; fit with \
                 --inference mcmc"
            ),
            Caution::FewTailDraws { draws, needed } => write!(
                f,
                "{draws} draw(s) are too few to smooth importance weights or to judge them; draw at \
                 least {needed}"
            ),
            Caution::ImpossibleRow { row, draw, count } => write!(
                f,
                "{count} row(s) have the likelihood 0 under a draw (row {}, draw {}), so their log \
                 predictive density is -inf; check that row, or use a residual model that allows it",
                row + 1,
                draw + 1
            ),
            Caution::WaicVariance { row, variance, limit, count } => write!(
                f,
                "WAIC is not reliable: the log density of {count} row(s) has a posterior variance \
                 above {limit} ({variance:.2} for row {}); use leave-one-out",
                row + 1
            ),
            Caution::NegativeParameters { p_dic } => write!(
                f,
                "DIC counts {p_dic:.2} effective parameters: the posterior mean fits worse than the \
                 draws do, so it does not stand for them; use leave-one-out"
            ),
            Caution::BestOfMany { utility, models, advantage, expected } => write!(
                f,
                "by {utility} the best of {models} models is {advantage:.3} better than the median \
                 one, and {expected:.3} is expected if all were equally good: the difference may be \
                 chance; average the models, or assess the chosen one on rows that did not choose it"
            ),
            Caution::UtilityNotFinite { utility, count, row } => write!(
                f,
                "{utility} is not a finite number for {count} row(s), first for row {}, and so is \
                 its expectation; look at these rows, or use a utility that is defined for them",
                row + 1
            ),
            Caution::FewUnits { count, grouped } => write!(
                f,
                "{count} {} are too few to stand for all future rows: the distribution of the \
                 expected utility is rough, and likely too narrow; collect more",
                if *grouped { "groups" } else { "rows" }
            ),
            Caution::InputSets { r_hat, ks_p } => write!(
                f,
                "the chains disagree about the inputs that are in (R-hat {r_hat:.3}, \
                 Kolmogorov-Smirnov p {ks_p:.2e} between chains): their probabilities may be wrong; \
                 draw longer, or raise jumps in [selection]"
            ),
            Caution::NoJumps { draws } => write!(
                f,
                "the input set is the same in all {draws} draws of every chain: other sets are all \
                 but impossible, or jumps fail; compare with jumps and tries in [selection] raised"
            ),
        }
    }
}
