//! Check a specification by its model, and fill in what it leaves out.

use super::gp::GaussianProcess;
use super::linear::Linear;
use super::mixture::Mixture;
use super::mlp::Mlp;
use super::pca::Pca;
use super::spec::{ModelKind, Spec, SpecError};
use crate::data::Task;

impl Spec {
    /// Checks everything that does not depend on the data.
    ///
    /// # Errors
    /// [`SpecError`] if the specification is not valid for any data.
    pub fn check(&self) -> Result<(), SpecError> {
        self.check_sections()?;
        match self.model.kind {
            ModelKind::Linear => Linear::new(self).map(|_| ()),
            ModelKind::Mlp => Mlp::new(self).map(|_| ()),
            ModelKind::Gp => GaussianProcess::new(self).map(|_| ()),
            ModelKind::Mixture => Mixture::new(self).map(|_| ()),
            ModelKind::Pca => Pca::new(self).map(|_| ()),
        }
    }

    /// Fills in every key that was left out and applies to a fit of this `task`, so that the
    /// specification says everything the fit depends on.
    ///
    /// # Errors
    /// [`SpecError`] if the specification is not valid.
    pub fn complete(&mut self, task: Task) -> Result<(), SpecError> {
        self.check_sections()?;
        self.complete_selection();
        match self.model.kind {
            ModelKind::Linear => Linear::new(self)?.complete(self, task),
            ModelKind::Mlp => Mlp::new(self)?.complete(self, task),
            ModelKind::Gp => GaussianProcess::new(self)?.complete(self, task),
            ModelKind::Mixture => Mixture::new(self)?.complete(self),
            ModelKind::Pca => Pca::new(self)?.complete(self),
        }
    }
}
