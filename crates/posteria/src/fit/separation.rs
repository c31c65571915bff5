//! See whether draws separate the classes of the data.

use crate::draws::{Draws, Role};
use crate::model::Posterior;
use crate::predict::Predictive;

/// Draws that are looked at, evenly spaced, where they do not hold their own error.
const LOOKED_AT: usize = 50;

/// The share of draws under which the most probable class of every row is its own. Each of them is a
/// function of the model that separates the classes, so that the likelihood alone puts no bound on how
/// steep it is: the scale of the function comes from its prior. `None` for models without
/// classes, and without draws.
///
/// `codes`: the index of the class of every row.
pub fn share_that_separates(
    posterior: &dyn Posterior,
    draws: &Draws,
    codes: &[usize],
) -> Option<f64> {
    let mut predictor = posterior.predictor()?;
    let family = predictor.family();
    let total = draws.chains * draws.draws;
    if family.classes() == 0 || family.is_density() || total == 0 || codes.is_empty() {
        return None;
    }
    if let Some(error) = draws.layout.of_role(Role::TrainingError) {
        let values = draws.values.iter().skip(error.offset).step_by(draws.layout.len());
        return Some(values.filter(|share| **share <= 0.0).count() as f64 / total as f64);
    }
    let looked_at = total.min(LOOKED_AT);
    let (width, length) = (family.width(), draws.layout.len());
    let mut parameters = vec![0.0; codes.len() * width];
    let separates = |index: &usize| {
        let number = index * total / looked_at;
        predictor.at_training_rows(&draws.values[number * length..][..length], &mut parameters);
        let rows = parameters.chunks_exact(width).zip(codes);
        rows.into_iter().all(|(own, code)| Predictive::new(family, own).most_probable() == *code)
    };
    Some((0..looked_at).filter(separates).count() as f64 / looked_at as f64)
}
