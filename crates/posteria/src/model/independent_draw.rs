//! Draw a state anew in every sweep: the update of models that are their own approximation.

use crate::random::Stream;
use crate::sample::{Step, Update};

/// Writes an independent state, by what draws one.
pub(super) struct IndependentDraw<F>(pub(super) F);

impl<F: FnMut(&mut [f64], &mut Stream) + Send> Update for IndependentDraw<F> {
    fn name(&self) -> &str {
        "independent draw"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        (self.0)(state, stream);
        Step::default()
    }
}
