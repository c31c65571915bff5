//! The utilities of all rows, and whatever says how uncertain they are.

use super::sampled::Sampled;
use super::utility::{Better, Prepared, Summary, UtilityFunction};
use crate::caution::Caution;

/// The utilities of every row under cross-validation, u_i = u(y_i, p(y given x_i, D without i)).
#[derive(Clone, Debug)]
pub struct PointwiseUtilities {
    /// Name of the utility.
    pub name: String,
    /// Which values are the better ones.
    pub better: Better,
    /// How rows are summarised.
    pub summary: Summary,
    /// One evaluation, or one per division of the rows into folds.
    repetitions: Vec<Evaluation>,
    /// What is known of all rows, if the others are a sample of them.
    sampled: Option<Sampled>,
    /// The targets of the rows, if the summary takes them.
    targets: Vec<f64>,
    /// What gives reason to doubt them.
    pub cautions: Vec<Caution>,
}

/// One division of the rows into folds (leave-one-out has but one).
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The utilities as estimated from all draws.
    pub terms: Terms,
    /// The fold of every row, where summaries are of pairs of rows ([`Summary::takes_targets`]): both must have
    /// been predicted by the same fit. Empty where all were.
    pub folds: Vec<usize>,
    /// The same from reweighted draws ([`DrawBlocks`](super::DrawBlocks)): how the
    /// utilities would have come out from other Markov chains. May be empty.
    pub draw_replicates: Vec<Terms>,
}

/// The numbers of every row that one estimate of the expected utility is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The cross-validated utility of every row.
    pub values: Vec<f64>,
    /// What corrects for training sets that are smaller than all data.
    pub bias: Option<BiasTerms>,
}

/// Burman's first-order correction ū_tr - ū_cvtr [Vehtari 2001, eq. 3.24–3.26]: the
/// expected utility at all rows given all data, minus its mean over folds given the training rows of
/// a fold, weighted by the size of the fold.
#[derive(Clone, Debug, PartialEq)]
pub enum BiasTerms {
    /// Difference of every row, where the summary is a mean.
    Pointwise(Vec<f64>),
    /// For other summaries, which are taken of each part before they are subtracted.
    Parts {
        /// Utilities of every row given all data.
        training: Vec<f64>,
        /// Of every fold: its share of the rows, and the utilities of *all* rows given its
        /// training rows.
        folds: Vec<(f64, Vec<f64>)>,
    },
}

impl BiasTerms {
    /// From the utilities of all rows given all data, and given the training rows of every fold
    /// with the fold's size.
    ///
    /// # Panics
    /// If there is no fold, or lengths differ.
    pub fn new(summary: Summary, training: Vec<f64>, folds: Vec<(usize, Vec<f64>)>) -> Self {
        assert!(folds.iter().all(|(_, values)| values.len() == training.len()), "all rows");
        let held_out = folds.iter().map(|(size, _)| *size).sum::<usize>() as f64;
        assert!(held_out > 0.0, "folds with rows");
        let folds = folds.into_iter().map(|(size, values)| (size as f64 / held_out, values));
        if summary != Summary::Mean {
            return BiasTerms::Parts { training, folds: folds.collect() };
        }
        let mut terms = training;
        for (share, values) in folds {
            terms.iter_mut().zip(&values).for_each(|(term, value)| *term -= share * value);
        }
        BiasTerms::Pointwise(terms)
    }

    fn rows(&self) -> usize {
        match self {
            BiasTerms::Pointwise(terms) => terms.len(),
            BiasTerms::Parts { training, .. } => training.len(),
        }
    }
}

impl Terms {
    fn select(&self, rows: &[usize]) -> Self {
        let pick = |values: &[f64]| -> Vec<f64> { rows.iter().map(|row| values[*row]).collect() };
        let bias = self.bias.as_ref().map(|bias| match bias {
            BiasTerms::Pointwise(terms) => BiasTerms::Pointwise(pick(terms)),
            BiasTerms::Parts { training, folds } => BiasTerms::Parts {
                training: pick(training),
                folds: folds.iter().map(|(share, values)| (*share, pick(values))).collect(),
            },
        });
        Terms { values: pick(&self.values), bias }
    }
}

impl From<Vec<f64>> for Terms {
    fn from(values: Vec<f64>) -> Self {
        Terms { values, bias: None }
    }
}

impl From<Terms> for Evaluation {
    fn from(terms: Terms) -> Self {
        Evaluation { terms, folds: Vec::new(), draw_replicates: Vec::new() }
    }
}

impl PointwiseUtilities {
    /// The utilities of every row, by one division into folds.
    ///
    /// # Panics
    /// If there is no row, or parts have different numbers of rows.
    pub fn new(utility: &dyn UtilityFunction, evaluation: impl Into<Evaluation>) -> Self {
        let mut pointwise = PointwiseUtilities {
            name: utility.name().to_string(),
            better: utility.better(),
            summary: utility.summary(),
            repetitions: Vec::new(),
            sampled: None,
            targets: Vec::new(),
            cautions: Vec::new(),
        };
        pointwise.repeat(evaluation);
        pointwise
    }

    /// Beside the targets of the rows, which some summaries take ([`Summary::takes_targets`]); a duration
    /// that is censored is negative.
    ///
    /// # Panics
    /// If there are other numbers of rows.
    #[must_use]
    pub fn beside(mut self, targets: Vec<f64>) -> Self {
        assert_eq!(targets.len(), self.rows(), "one target per row");
        self.targets = targets;
        self
    }

    /// The summary of values of the rows, for many weightings, which fits of these folds predicted.
    pub(super) fn prepared<'a>(&self, values: &'a [f64], folds: &[usize]) -> Prepared<'a> {
        Prepared::new(self.summary, values, (&self.targets, folds))
    }

    /// Whether the summary is of pairs of rows, and there is none of which both were predicted by the same fit
    /// and the order of their targets is known.
    pub(super) fn lacks_pairs(&self) -> bool {
        let even = vec![1.0; self.rows()];
        let is_empty = |one: &Evaluation| {
            let values = &one.terms.values;
            let finite = values.iter().all(|value| !value.is_nan());
            finite && self.prepared(values, &one.folds).at(&even).is_nan()
        };
        self.summary.takes_targets() && self.repetitions.iter().any(is_empty)
    }

    /// Says that the rows are a random sample of more. Their utilities must need no correction.
    ///
    /// # Panics
    /// If there are other numbers of rows, or several divisions into folds.
    #[must_use]
    pub fn of_sample(mut self, sampled: Sampled) -> Self {
        assert_eq!(sampled.sample.rows().len(), self.rows(), "the rows of the sample");
        assert_eq!(sampled.sample.all(), sampled.approximations.len(), "one for every row");
        assert!(self.repetitions.len() == 1 && self.repetitions[0].terms.bias.is_none());
        let cautions = std::mem::take(&mut self.cautions).into_iter();
        self.cautions = cautions.map(|it| sampled.sample.place(it)).collect();
        self.sampled = Some(sampled);
        self
    }

    /// What is known of all rows, if these are a random sample of them.
    pub fn sampled(&self) -> Option<&Sampled> {
        self.sampled.as_ref()
    }

    /// Number of rows, those that are not in the sample included.
    pub fn all_rows(&self) -> usize {
        self.sampled.as_ref().map_or(self.rows(), |it| it.sample.all())
    }

    /// Adds the utilities by another division of the same rows into folds.
    ///
    /// # Panics
    /// If there are other numbers of rows.
    pub fn repeat(&mut self, evaluation: impl Into<Evaluation>) {
        let evaluation = evaluation.into();
        let rows = self
            .repetitions
            .first()
            .map_or(evaluation.terms.values.len(), |first| first.terms.values.len());
        assert!(rows > 0, "some rows");
        for terms in evaluation.draw_replicates.iter().chain([&evaluation.terms]) {
            let same = terms.bias.as_ref().is_none_or(|bias| bias.rows() == rows);
            assert!(same && terms.values.len() == rows, "{rows} rows");
        }
        self.caution(&evaluation.terms.values);
        self.repetitions.push(evaluation);
    }

    fn caution(&mut self, values: &[f64]) {
        let mut odd = values.iter().enumerate().filter(|(_, value)| !value.is_finite());
        if let Some((row, _)) = odd.next() {
            self.cautions.push(Caution::UtilityNotFinite {
                utility: self.name.clone(),
                count: 1 + odd.count(),
                row,
            });
        }
    }

    /// Number of rows that utilities are known for.
    pub fn rows(&self) -> usize {
        self.repetitions[0].terms.values.len()
    }

    /// The divisions into folds, at least one.
    pub fn repetitions(&self) -> &[Evaluation] {
        &self.repetitions
    }

    /// The utility of every row with its part of the correction for bias, averaged over the
    /// divisions into folds. Where the summary is not a mean there is no such part.
    pub fn corrected(&self) -> Vec<f64> {
        let mut values = self.values();
        let count = self.repetitions.len() as f64;
        for evaluation in &self.repetitions {
            if let Some(BiasTerms::Pointwise(terms)) = &evaluation.terms.bias {
                values.iter_mut().zip(terms).for_each(|(value, term)| *value += term / count);
            }
        }
        values
    }

    /// The utilities of some of the rows alone. If these are a sample, so are they, but of how many
    /// rows is not known: what they are worth is as uncertain as if there were no others.
    ///
    /// # Panics
    /// If there is no such row, or none is chosen.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let chosen = self.repetitions.iter().map(|evaluation| Evaluation {
            terms: evaluation.terms.select(rows),
            folds: rows.iter().filter_map(|row| evaluation.folds.get(*row).copied()).collect(),
            draw_replicates: evaluation.draw_replicates.iter().map(|it| it.select(rows)).collect(),
        });
        let (repetitions, cautions) = (Vec::new(), Vec::new());
        // There are none unless the summary takes them.
        let targets = rows.iter().filter_map(|row| self.targets.get(*row).copied()).collect();
        let sampled = None;
        let mut part =
            PointwiseUtilities { repetitions, sampled, targets, cautions, ..self.clone() };
        chosen.for_each(|evaluation| part.repeat(evaluation));
        part
    }

    /// The utility of every row, averaged over the divisions into folds.
    pub fn values(&self) -> Vec<f64> {
        let count = self.repetitions.len() as f64;
        let of = |row: usize| {
            self.repetitions.iter().map(|one| one.terms.values[row] / count).sum::<f64>()
        };
        (0..self.rows()).map(of).collect()
    }
}

/// Terms whose summary is wanted under many weightings.
#[derive(Debug)]
pub(super) struct PreparedTerms<'a> {
    values: Prepared<'a>,
    /// Shares and parts that are summed for the correction.
    bias: Vec<(f64, Prepared<'a>)>,
}

impl<'a> PreparedTerms<'a> {
    /// Of terms that fits of these folds predicted.
    pub(super) fn new(of: &PointwiseUtilities, (terms, folds): (&'a Terms, &[usize])) -> Self {
        let bias = match &terms.bias {
            None => Vec::new(),
            Some(BiasTerms::Pointwise(terms)) => {
                vec![(1.0, Prepared::new(Summary::Mean, terms, (&[], &[])))]
            }
            Some(BiasTerms::Parts { training, folds }) => {
                let folds = folds.iter().map(|(share, it)| (-share, of.prepared(it, &[])));
                std::iter::once((1.0, of.prepared(training, &[]))).chain(folds).collect()
            }
        };
        PreparedTerms { values: of.prepared(&terms.values, folds), bias }
    }

    /// The correction; 0 if there is none.
    pub(super) fn bias(&self, weights: &[f64]) -> f64 {
        self.bias.iter().map(|(share, part)| share * part.at(weights)).sum()
    }

    /// The corrected expected utility.
    pub(super) fn at(&self, weights: &[f64]) -> f64 {
        self.values.at(weights) + self.bias(weights)
    }

    pub(super) fn is_corrected(&self) -> bool {
        !self.bias.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assess::utility::{AbsoluteError, Elpd, SquaredError};
    use crate::density::checks::assert_relative;

    #[test]
    fn folds_count_by_their_size() {
        let training = vec![5.0, 1.0];
        let folds = vec![(1, vec![4.0, 0.0]), (3, vec![2.0, 2.0])];
        let bias = BiasTerms::new(Summary::Mean, training.clone(), folds.clone());
        assert_eq!(bias, BiasTerms::Pointwise(vec![5.0 - 2.5, 1.0 - 1.5]));
        let mean = Terms { values: vec![1.0, 2.0], bias: Some(bias) };
        let pointwise = PointwiseUtilities::new(&Elpd, mean.clone());
        assert_eq!(pointwise.corrected(), [3.5, 1.5]);
        assert_eq!(pointwise.select(&[1]).corrected(), [1.5]);
        let prepared = PreparedTerms::new(&pointwise, (&mean, &[]));
        assert_relative(prepared.at(&[1.0, 3.0]), 1.75 + (2.5 - 1.5) / 4.0, 1e-14);
        // A root is taken of each part.
        let bias = BiasTerms::new(Summary::RootMean, training, folds);
        let root = Terms { values: vec![1.0, 2.0], bias: Some(bias) };
        let of_root = PointwiseUtilities::new(&SquaredError::rmse(), root.clone());
        let prepared = PreparedTerms::new(&of_root, (&root, &[]));
        let expected = 3f64.sqrt() - (0.25 * 2f64.sqrt() + 0.75 * 2f64.sqrt());
        assert_relative(prepared.bias(&[1.0, 1.0]), expected, 1e-14);
        assert_relative(prepared.at(&[1.0, 1.0]), 1.5f64.sqrt() + expected, 1e-14);
    }

    #[test]
    fn values_that_are_not_finite_are_told() {
        let values = vec![-1.0, f64::NEG_INFINITY, f64::NAN];
        let pointwise = PointwiseUtilities::new(&Elpd, Terms::from(values));
        let said = pointwise.cautions[0].to_string();
        assert!(said.contains("elpd") && said.contains("2 row(s)"), "{said}");
        let mut mae = PointwiseUtilities::new(&AbsoluteError::mean(), Terms::from(vec![1.0, 2.0]));
        mae.repeat(Terms::from(vec![3.0, 2.0]));
        assert!(mae.cautions.is_empty());
        assert_eq!(mae.values(), [2.0, 2.0]);
        assert_eq!(mae.select(&[1]).values(), [2.0]);
        assert_eq!(mae.select(&[0]).repetitions()[1].terms.values, [3.0]);
    }
}
