//! Carry statistical warnings inside results, as values with facts, words and a cure.

mod approximation;
mod code;
mod data;
mod evidence;
mod words;

pub use approximation::ApproximationDoubt;
pub use data::{Extrapolation, WholeTarget};
pub use evidence::EvidenceDoubt;
pub use words::shell_word;

/// What a variable of a draw says something about, so that doubts about one question need not be
/// doubts about another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Question {
    /// What the model predicts: fitted values, errors, the log density.
    Predictions,
    /// The distribution of targets about predictions.
    Residuals,
    /// Which inputs matter: relevances.
    Inputs,
    /// Anything else: coefficients, scales, and all variables of draws from elsewhere.
    Parameters,
}

impl Question {
    /// What it is about.
    pub fn name(self) -> &'static str {
        match self {
            Question::Predictions => "predictions",
            Question::Residuals => "the residuals",
            Question::Inputs => "the relevance of inputs",
            Question::Parameters => "parameters",
        }
    }
}

/// A reason to doubt a result. The library never prints; whoever shows the result shows its
/// cautions too. `Display` gives one sentence that says what is wrong and what to do.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Caution {
    /// Chains disagree about a variable.
    NotConverged {
        /// What the variable says something about.
        about: Question,
        /// Variable with the largest value.
        variable: String,
        /// Its rank-normalised split R-hat.
        r_hat: f64,
        /// How many variables about the same are above the threshold.
        count: usize,
    },
    /// Too few effective draws for stable estimates.
    FewEffectiveDraws {
        /// What the variable says something about.
        about: Question,
        /// Variable with the smallest value.
        variable: String,
        /// `bulk` or `tail`.
        kind: &'static str,
        /// Effective sample size over all chains.
        effective_size: f64,
        /// The least that can be trusted.
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
    /// Draws of prior^γ × likelihood^β with β other than 1.
    Tempered {
        /// β.
        inverse_temperature: f64,
        /// γ.
        prior_power: f64,
    },
    /// A reason to doubt an approximation.
    Approximation(ApproximationDoubt),
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
    /// A column of numbers counts the rows, and is an input that nobody asked for.
    RowNumbers {
        /// Name of the column.
        column: String,
        /// The number of the first row, 0 or 1.
        first: usize,
        /// How many rows there are.
        rows: usize,
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
        /// Of how many rows.
        rows: usize,
        /// The column that is empty in most of them, and in how many, if it may be left out and
        /// most of the dropped rows would stay without it.
        emptiest: Option<(String, usize)>,
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
    /// Importance weights of rows that are left out of a single chain cannot be trusted.
    ChainScores {
        /// For how many rows of the chain with the most.
        count: usize,
        /// Of how many rows.
        rows: usize,
        /// Index of that chain; the text counts from 1.
        chain: usize,
    },
    /// Weights of chains say no more than chance.
    StackingNoBetter {
        /// Log predictive density of rows left out, each by weights that other rows have chosen.
        stacked_by_others: f64,
        /// The same by equal weights.
        equal: f64,
    },
    /// Rows are left out of a mode that they have had their part in.
    ModeOfAllRows,
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
    /// No probability of being better is given of models whose importance weights fail.
    ProbabilityWithheld {
        /// The models, each with the number of its rows whose weights fail.
        models: Vec<(String, usize)>,
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
