//! Modes of all rows that are looked for by a part of them first.

use super::super::{pilot, start};
use super::{data, posterior};
use crate::model::Posterior;
use crate::optimise::QuasiNewton;

const NOISY: &str = "covariance = 'squared-exponential'";

fn noisy(a: f64, b: f64) -> f64 {
    a.sin() + 0.02 * b + 0.3 * (37.0 * a + 11.0 * b).sin()
}

/// Climbs from the modes of the part end where the best of those from everywhere do.
#[test]
fn modes_of_a_part_of_the_rows_lead_to_those_of_all() {
    let posterior = posterior(NOISY, &data(520, &[&noisy]));
    let part = posterior.pilot.as_deref().expect("many rows");
    assert!(part.row_count() < posterior.row_count() && part.pilot.is_none());
    assert_eq!(part.state_len(), posterior.state_len());
    let mut density = posterior.hyperparameters().unwrap();
    let slots = density.slots().to_vec();
    let from_part = pilot::modes(&posterior, &slots).unwrap();
    // The part has none itself: these are moderate hyperparameters.
    let mut everywhere = start::hyperparameters(part, &slots);
    assert!(from_part.len() < everywhere.len());
    everywhere.truncate(3);
    let [found, best] = [from_part, everywhere].map(|starts| {
        let climb = QuasiNewton::default();
        let mut top = |start| climb.maximise(&mut density, start).unwrap().log_density;
        starts.into_iter().map(&mut top).fold(f64::NEG_INFINITY, f64::max)
    });
    assert!((found - best).abs() < 1e-3, "{found} {best}");
}

/// Where chains cannot start from modes, or rows are few, there is no part to look at.
#[test]
fn only_many_rows_have_a_part() {
    let few = data(60, &[&noisy]);
    assert!(posterior(NOISY, &few).pilot.is_none());
    let many = data(520, &[&noisy]);
    for text in ["[residual]\nfamily = 'student-t'\ndof = 4.0", "neighbours = 10"] {
        assert!(posterior(&format!("{NOISY}\n{text}"), &many).pilot.is_none(), "{text}");
    }
}
