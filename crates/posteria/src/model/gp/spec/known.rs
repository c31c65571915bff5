//! Hyperparameters that are known and not sampled.

use super::super::covariance::Parameter;
use super::super::hyperparameters::Kind;
use super::GaussianProcess;
use crate::model::ModelError;
use crate::model::spec::checks::positive;
use crate::model::spec::{HyperparametersSpec, SpecError, Values};

/// The known hyperparameters of a covariance function.
pub(in crate::model::gp) struct Known<'a> {
    values: &'a HyperparametersSpec,
    /// Terms from this one on stand for the mean function: their parameters are `mean_scale`.
    mean_term: usize,
    mean_scale: f64,
}

impl<'a> Known<'a> {
    /// Those of a covariance function with these `parameters`, whose terms from `mean_term` on
    /// are the mean function.
    ///
    /// # Errors
    /// [`ModelError`] if a list does not have one value for every parameter of its kind.
    pub(in crate::model::gp) fn new(
        model: &'a GaussianProcess,
        parameters: &[Parameter],
        mean_term: usize,
    ) -> Result<Self, ModelError> {
        let known = Known { values: &model.known, mean_term, mean_scale: model.mean_scale };
        for kind in Kind::ALL {
            let count = parameters.iter().filter(|p| known.is_of(p, kind)).count();
            if let Some(Values::Each(values)) = known.of(kind)
                && values.len() != count
            {
                let what = format!("{} in [hyperparameters]", kind.name());
                return Err(ModelError::Length { what, expected: count, found: values.len() });
            }
        }
        Ok(known)
    }

    fn of(&self, kind: Kind) -> Option<&'a Values> {
        match kind {
            Kind::Magnitude => self.values.magnitude.as_ref(),
            Kind::Relevance => self.values.relevance.as_ref(),
            Kind::Shape => self.values.shape.as_ref(),
            Kind::Period => self.values.period.as_ref(),
            Kind::Bias => self.values.bias.as_ref(),
        }
    }

    fn is_of(&self, parameter: &Parameter, kind: Kind) -> bool {
        Kind::of(parameter) == kind
            && super::super::hyperparameters::term(parameter) < self.mean_term
    }

    /// The logarithm of every parameter that is known.
    pub(in crate::model::gp) fn logs(&self, parameters: &[Parameter]) -> Vec<Option<f64>> {
        let mut seen = [0; Kind::ALL.len()];
        let log = |parameter: &Parameter| {
            let kind = Kind::of(parameter);
            if !self.is_of(parameter, kind) {
                return Some(self.mean_scale.ln());
            }
            let count = parameters.iter().filter(|p| self.is_of(p, kind)).count();
            let index = seen[kind as usize];
            seen[kind as usize] += 1;
            self.of(kind).and_then(|values| values.get(index, count)).map(f64::ln)
        };
        parameters.iter().map(log).collect()
    }
}

/// Refuses values that are not positive.
pub(super) fn check(known: &HyperparametersSpec) -> Result<(), SpecError> {
    let all: [(&'static str, &Option<Values>); 6] = [
        ("magnitude", &known.magnitude),
        ("relevance", &known.relevance),
        ("residual", &known.residual),
        ("shape", &known.shape),
        ("period", &known.period),
        ("bias", &known.bias),
    ];
    for (key, values) in all {
        for value in values.iter().flat_map(Values::given) {
            positive("hyperparameters", key, *value)?;
        }
    }
    Ok(())
}
