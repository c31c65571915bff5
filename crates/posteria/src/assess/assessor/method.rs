//! How rows are predicted, and what comes of it.

use super::Subsample;
use crate::assess::{
    Bootstrap, BootstrapError, ExpectedUtility, LeaveOneOut, PointwiseUtilities, RowSample,
    RowUtilities, Smoothing, bayesian_bootstrap,
};
use crate::caution::Caution;
use crate::data::FoldScheme;

/// How every row is predicted.
#[derive(Clone, Debug)]
pub enum Method {
    /// By the draws given all rows, weighted so that the row itself does not count.
    LeaveOneOut {
        /// What happens to the largest weights.
        smoothing: Smoothing,
        /// What happens to rows whose weights cannot be trusted.
        repair: Repair,
        /// How many of the rows are left out.
        subsample: Subsample,
    },
    /// By fits without the fold that the row is in.
    KFold {
        /// How rows are divided; each division is one more repetition.
        schemes: Vec<FoldScheme>,
        /// Draws of every chain of a fold; as the fit has if absent.
        draws: Option<usize>,
    },
    /// By the draws given all rows, the row itself among them.
    Posterior,
    /// By the prior.
    Prior,
    /// Rows that the fit has not seen, by its draws.
    HoldOut,
}

impl Method {
    /// Leave-one-out by Pareto-smoothed weights, with every repair, of as many rows as are usual.
    pub fn leave_one_out() -> Self {
        let (smoothing, subsample) = (Smoothing::Pareto, Subsample::Usual);
        Method::LeaveOneOut { smoothing, repair: Repair::default(), subsample }
    }

    /// So many folds, divided at random by `seed`.
    pub fn k_fold(folds: usize, seed: u64) -> Self {
        Method::KFold { schemes: vec![FoldScheme::new(folds, seed)], draws: None }
    }

    /// As JSON has it.
    pub fn name(&self) -> &'static str {
        match self {
            Method::LeaveOneOut { .. } => "loo",
            Method::KFold { .. } => "kfold",
            Method::Posterior => "posterior",
            Method::Prior => "prior",
            Method::HoldOut => "holdout",
        }
    }
}

/// Rows that are left out by fits of their own unless it is said otherwise.
const REFITS: usize = 10;

/// What happens to rows whose importance weights cannot be trusted, in this order.
#[derive(Clone, Copy, Debug)]
pub struct Repair {
    /// Whether draws are moment-matched for the row.
    pub matching: bool,
    /// At most so many rows are left out by new fits.
    pub refits: usize,
}

impl Default for Repair {
    /// Moment matching, then new fits of up to ten rows.
    fn default() -> Self {
        Repair { matching: true, refits: REFITS }
    }
}

/// How well a fit predicts.
#[derive(Clone, Debug, Default)]
pub struct Assessed {
    /// The utilities of every row.
    pub utilities: Vec<PointwiseUtilities>,
    /// What is known about every row.
    pub evaluated: Vec<RowUtilities>,
    /// What importance sampling says about itself, if that was done.
    pub loo: Option<LeaveOneOut>,
    /// The rows that everything here is about, if they are a sample.
    pub sample: Option<RowSample>,
    /// Rows that were left out by moment-matched draws.
    pub matched: Vec<usize>,
    /// Rows that were left out by a new fit.
    pub refitted: Vec<usize>,
    /// The fold of every row, if rows were divided.
    pub folds: Option<Vec<usize>>,
    /// The log predictive density of every row given all of them, if rows were left out without
    /// importance weights.
    pub training: Option<Vec<f64>>,
    /// Whether a linearised network predicts, and not draws of its weights.
    pub linearised: bool,
    /// Rows whose importance weights still cannot be trusted.
    pub failing: usize,
    /// What to be careful about.
    pub cautions: Vec<Caution>,
}

impl Assessed {
    /// The number, from 0, of the row at a position among those that everything here is about.
    pub fn row(&self, position: usize) -> usize {
        self.sample.as_ref().map_or(position, |sample| sample.rows()[position])
    }

    /// The distribution of every utility over future rows, which are drawn from all rows as
    /// `bootstrap` says.
    ///
    /// # Errors
    /// [`BootstrapError`] if groups or weights do not fit the rows.
    pub fn expected(&self, bootstrap: &Bootstrap) -> Result<Vec<ExpectedUtility>, BootstrapError> {
        let bootstrap = bootstrap.of_sample(self.sample.as_ref());
        self.utilities.iter().map(|it| bayesian_bootstrap(it, &bootstrap)).collect()
    }

    /// The positions of those of these rows that are there, which must be in order.
    pub fn positions(&self, rows: &[usize]) -> Vec<usize> {
        match &self.sample {
            None => rows.to_vec(),
            Some(sample) => sample.positions(rows),
        }
    }
}
