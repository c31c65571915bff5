//! Judge whether chains that have enough draws for predictions go on for what else is read off them.

use std::num::NonZero;

use super::{Goal, Inclusion, Prepared, run_jobs};
use crate::diagnose::{Mixing, effective_draws_needed};
use crate::draws::Draws;
use crate::model::spec::ModelKind;

/// So many times the draws that are enough for predictions may be drawn for parameters.
const TIMES: usize = 3;

impl Prepared {
    /// Whether chains whose predictions have enough go on for coefficients and scales, which people
    /// read off linear models: one of them is doubtful, as at the fewest draws the worst of a dozen
    /// often is by chance alone, and a third of the draws was not enough for predictions. By the draws
    /// themselves, as all that chains stop by.
    ///
    /// Where input sets are sampled a coefficient is 0 in draws without its input, and is not judged
    /// by itself.
    pub(super) fn awaits_parameters(
        &self,
        draws: &Draws,
        goal: &Goal,
        threads: NonZero<usize>,
    ) -> bool {
        if self.spec.model.kind != ModelKind::Linear || Inclusion::of(draws).is_some() {
            return false;
        }
        let third = Goal::check_up_to(draws.draws / TIMES, draws.chains);
        let third = third.and_then(|third| draws.thin(0, 1, Some(third)).ok());
        if third.is_some_and(|third| self.attained(&third, threads).meets(goal)) {
            return false;
        }
        // What `diagnose` asks of them, however many effective draws predictions are to have.
        let usual = Goal { ess: goal.ess.min(effective_draws_needed(draws.chains)), ..*goal };
        let identified = draws.layout.identified_components();
        let doubts = run_jobs(identified.len(), threads, |component| {
            let mixing = identified[component].then(|| Mixing::of(&draws.component(component)));
            // What never moves is known, or stuck for good.
            mixing.is_some_and(|it| it.r_hat.is_finite() && !usual.is_met_by(&it))
        });
        doubts.contains(&true)
    }
}
