//! Say what the utility of a chosen set is to be taken with.

use posteria::select::{ChoiceReport, NestedReport};

use crate::text;

/// Adds what nested folds say about a choice.
pub fn tell_nested(choice: &mut ChoiceReport, nested: NestedReport) {
    choice.note = format!(
        "the same rows chose the set and say what it is worth; nested folds put this optimism at {} \
         (sd {})",
        text::significant(nested.optimism.mean, 2),
        text::significant(nested.optimism.sd, 2),
    );
    choice.nested = Some(nested);
}
