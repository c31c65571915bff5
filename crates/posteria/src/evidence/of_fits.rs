//! How probable each of several fitted models is.

use super::{EstimateError, EvidenceComparison, EvidenceOptions, LadderMemory, NamedEvidence};
use crate::assess::{ComparedFit, NotComparable, check_comparable};
use crate::fit::Fit;

/// Why models cannot be compared by their evidences.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EvidenceComparisonError {
    /// There is nothing to compare.
    #[error("give at least two models to compare by their evidences")]
    TooFew,
    /// They are not of the same data.
    #[error(transparent)]
    NotComparable(#[from] NotComparable),
    /// Prior weights that are not one for each.
    #[error("there are {given} prior weights for {models} models; give one for each")]
    Weights {
        /// How many there are.
        given: usize,
        /// Number of models.
        models: usize,
    },
    /// A prior weight that is none.
    #[error("the prior weight {weight} is not a positive number")]
    Weight {
        /// The weight.
        weight: f64,
    },
    /// There is no estimate of one of them.
    #[error("{model}: {error}")]
    Estimate {
        /// The model.
        model: String,
        /// Why.
        error: Box<EstimateError>,
    },
}

/// The log evidences of these fits of the same data, and the probabilities of their models: as many
/// `prior_weights` as models, in any unit, or none for equal ones. Streams of a model have the seed of
/// its fit, those of the comparison that of the first one.
///
/// # Errors
/// [`EvidenceComparisonError`] if there are fewer than two, they are not of the same data, or one has no
/// estimate.
pub fn compare_evidence(
    fits: &[(&str, &Fit)],
    options: &EvidenceOptions,
    prior_weights: &[f64],
) -> Result<EvidenceComparison, EvidenceComparisonError> {
    compare_evidence_from(fits, &[], options, prior_weights)
}

/// The same, going on from what ladders of the models have found elsewhere, in their order; nothing is
/// known of those that are left out.
///
/// # Errors
/// As [`compare_evidence`].
pub fn compare_evidence_from(
    fits: &[(&str, &Fit)],
    memories: &[Option<LadderMemory>],
    options: &EvidenceOptions,
    prior_weights: &[f64],
) -> Result<EvidenceComparison, EvidenceComparisonError> {
    let (Some((_, first)), true) = (fits.first(), fits.len() > 1) else {
        return Err(EvidenceComparisonError::TooFew);
    };
    let (given, models) = (prior_weights.len(), fits.len());
    if given > 0 && given != models {
        return Err(EvidenceComparisonError::Weights { given, models });
    }
    if let Some(weight) = prior_weights.iter().find(|it| !(**it > 0.0 && it.is_finite())) {
        return Err(EvidenceComparisonError::Weight { weight: *weight });
    }
    check_same_data(fits)?;
    let mut found = Vec::with_capacity(models);
    for (number, (name, fit)) in fits.iter().enumerate() {
        let memory = memories.get(number).and_then(Option::as_ref);
        let findings = fit.evidence_from(options, memory).map_err(|error| {
            let (model, error) = (name.to_string(), Box::new(error));
            EvidenceComparisonError::Estimate { model, error }
        })?;
        found.push(NamedEvidence { run: name.to_string(), found: findings.report(fit.rows()) });
    }
    let seed = first.prepared.spec.sampling.seed();
    Ok(EvidenceComparison::new(found, prior_weights, seed))
}

/// Refuses fits whose evidences are of different data.
fn check_same_data(fits: &[(&str, &Fit)]) -> Result<(), NotComparable> {
    let compared =
        fits.iter().map(|(name, fit)| ComparedFit { name, fit, observed: &fit.observed });
    check_comparable(&compared.collect::<Vec<_>>())?;
    let (first, one) = fits[0];
    if !one.prepared.spec.model.kind.is_unsupervised() {
        return Ok(());
    }
    // Without targets it is the table itself that has a density.
    let is_same = |(a, b): (f64, f64)| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    for (other, two) in &fits[1..] {
        let same_names = one.prepared.data.input_names == two.prepared.data.input_names;
        if !same_names || !cells(one).zip(cells(two)).all(is_same) {
            let (first, other) = (first.to_string(), other.to_string());
            return Err(NotComparable::Tables { first, other });
        }
    }
    Ok(())
}

/// The inputs of a fit on the user's scale, column by column.
fn cells(fit: &Fit) -> impl Iterator<Item = f64> {
    let data = &fit.prepared.data;
    data.input_scaling.iter().enumerate().flat_map(|(column, scaling)| {
        data.inputs.column(column).iter().map(|value| scaling.invert(*value))
    })
}
