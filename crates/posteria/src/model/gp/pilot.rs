//! Look for modes by a part of the rows first.

use super::posterior::GpPosterior;
use super::spec::GaussianProcess;
use crate::data::Dataset;
use crate::random::{Purpose, Seed};
use crate::sample::Modes;

/// Rows of the part: a density takes time in proportion to their cube.
const ROWS: usize = 300;
/// Fewest rows of which a part is worth its climbs.
const FEWEST: usize = 500;

/// The same model given some of the rows, always the same ones: modes of all rows lie near modes of
/// a part, which are flatter. `None` where the rows are few, where chains have more to move than
/// hyperparameters, or where the part has other ones (a group less).
pub(super) fn pilot(
    model: &GaussianProcess,
    data: &Dataset,
    posterior: &GpPosterior,
) -> Option<Box<GpPosterior>> {
    let plain = posterior.neighbours.is_none() && posterior.selection.is_none();
    if data.rows() < FEWEST || posterior.keeps_latents() || !plain {
        return None;
    }
    let mut rows: Vec<usize> = (0..data.rows()).collect();
    Seed(0).stream(Purpose::Start, [u64::MAX, u64::MAX]).shuffle(&mut rows);
    rows.truncate(ROWS);
    let pilot = model.condition(&data.select(&rows), None).ok()?;
    (pilot.latents.start == posterior.latents.start).then(|| Box::new(pilot))
}

/// Modes of the part of the rows, where the entries `slots` of the state are all that moves.
pub(super) fn modes(posterior: &GpPosterior, slots: &[usize]) -> Option<Vec<Vec<f64>>> {
    let pilot = posterior.pilot.as_deref()?;
    let mut density = pilot.hyperparameters().ok()?;
    if density.slots() != slots {
        return None;
    }
    let modes = Modes::new(density.starts());
    let found = modes.find(&mut density);
    (!found.is_empty()).then(|| found.iter().map(|at| at.mode.clone()).collect())
}
