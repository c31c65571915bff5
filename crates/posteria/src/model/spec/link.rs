//! Say how the probability of the second of two classes depends on f.

use serde::{Deserialize, Serialize};

use super::checks::conflict;
use super::{Spec, SpecError};
use crate::data::Task;

/// `link`: how the probability of the second of two classes depends on the output or latent value f.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// p = 1 / (1 + exp(-f)).
    #[default]
    Logit,
    /// p = Φ(f), the normal distribution function.
    Probit,
}

impl Spec {
    /// The link, which other targets than two classes do not have.
    pub(in crate::model) fn link(&self) -> Result<Link, SpecError> {
        let link = self.model.link.unwrap_or_default();
        if link == Link::Probit && self.task().is_some_and(|task| task != Task::Binary) {
            return conflict("model", "link = \"probit\"", "a task other than \"binary\"");
        }
        Ok(link)
    }
}
