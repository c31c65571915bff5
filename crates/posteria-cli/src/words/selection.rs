//! Say in words which inputs may leave.

use posteria::data::Dataset;
use posteria::model::selection::Candidates;
use posteria::model::spec::{InclusionPriorSpec, SchemeChoice, SelectionSpec};

use super::{Part, number};
use crate::text;

/// Inputs or groups that are listed by name.
const LISTED: usize = 6;

/// What may leave, its prior, and how it is proposed to.
pub(super) fn part(spec: &SelectionSpec, data: &Dataset) -> Option<Part> {
    let candidates = Candidates::new(spec, &data.input_names).ok()?;
    let count = candidates.len();
    let mut words = format!("{} may leave, ", text::count(count, "input"));
    let sizes = candidates.prior().sizes();
    let mean: f64 = sizes.iter().enumerate().map(|(k, p)| k as f64 * p).sum();
    words.push_str(&match spec.prior() {
        InclusionPriorSpec::UniformModels => "all sets equally probable".to_string(),
        InclusionPriorSpec::UniformSizes => "all numbers of inputs equally probable".into(),
        InclusionPriorSpec::BetaBinomial([a, b]) => {
            format!("each in with a probability that is Beta({}, {})", number(a), number(b))
        }
        InclusionPriorSpec::Expected([mean, sd]) => {
            let [mean, sd] = [number(mean), number(sd)];
            format!("{mean} ± {sd} expected in, beta-binomial")
        }
        InclusionPriorSpec::Binomial(p) => format!("each in with probability {}", number(p)),
        InclusionPriorSpec::Sizes(_) => "with given probabilities of their number".into(),
        InclusionPriorSpec::Probabilities(_) => "each with its own probability".into(),
    });
    words.push_str(&format!(" (on average {} in)", text::fixed(mean, 1)));
    let groups: Vec<&str> = (0..count)
        .filter(|c| candidates.members(*c).len() > 1)
        .map(|c| candidates.names()[c].as_str())
        .collect();
    if !groups.is_empty() {
        let more = if groups.len() > LISTED { ", …" } else { "" };
        let listed = groups[..groups.len().min(LISTED)].join(", ");
        words.push_str(&format!("; as one: {listed}{more}"));
    }
    if let Some(always) = spec.always.as_ref().filter(|always| !always.is_empty()) {
        words.push_str(&format!("; always in: {}", always.join(", ")));
    }
    for (name, required) in spec.requires.iter().flatten().take(LISTED) {
        words.push_str(&format!("; {name} only with {}", required.join(" and ")));
    }
    if spec.requires.as_ref().is_some_and(|requires| requires.len() > LISTED) {
        words.push_str(", …");
    }
    words.push_str(match spec.scheme() {
        SchemeChoice::Flip => "; reversible jumps flip an input",
        SchemeChoice::BirthDeath => "; reversible jumps add or remove an input",
    });
    if spec.switch() > 0.0 {
        words.push_str(&format!(", or switch two with probability {}", number(spec.switch())));
    }
    Some(Part { name: "input sets", words })
}
