//! Say how many parameters the data determine.

use posteria::assess::EffectiveParameters;

use crate::text::{decimals_of, fixed};

/// The count and how sure it is.
pub fn words(found: &EffectiveParameters) -> String {
    let decimals = decimals_of(found.value, found.sd, 2);
    let (value, sd) = (fixed(found.value, decimals), fixed(found.sd, decimals));
    let what = match &found.counts[..] {
        EffectiveParameters::HYPER => EffectiveParameters::HYPER,
        _ => EffectiveParameters::ALL,
    };
    format!("{value} ± {sd} effective {what}")
}

/// What is and is not in the count, where that is not plain.
pub fn note(found: &EffectiveParameters) -> &'static str {
    match &found.counts[..] {
        EffectiveParameters::HYPER => {
            "hyperparameters only: each row is predicted from the others with the function \
             integrated out, which takes\nno parameters; --method kfold counts what the \
             function takes too\n"
        }
        EffectiveParameters::ALL => "",
        _ => {
            "of the function and its hyperparameters; --method loo integrates the function \
             out and counts\nhyperparameters only\n"
        }
    }
}
