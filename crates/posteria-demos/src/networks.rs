//! Fit networks to simulated tables.

pub mod noise_sensitivity;
pub mod outliers;
pub mod relevance;
pub mod surface;
pub mod three_class;
pub mod two_class;

use posteria::data::{Table, Task};
use posteria::model::spec::{
    InferenceChoice, ModelKind, PriorSpec, Priors, ResidualFamily, ResidualSpec, Spec, WidthRule,
    WidthScaled,
};
use posteria::random::Seed;
use posteria::sample::Plan;

use super::study::{Fitted, Study, numbers, squared_differences, table_of};
use super::{Demonstration, Quantity, Settings, estimate, picture};
use crate::Result;

/// A network and what it is to explain. Its priors are those of [Vehtari 2001, §2.2] on
/// standardised data: one relevance per input, inverse gamma scales of 0.05.
#[derive(Clone, Copy, Debug)]
struct Design {
    target: &'static str,
    task: Task,
    hidden: usize,
    residual: ResidualFamily,
    /// How prior scales depend on the number of units.
    width: WidthRule,
}

impl Design {
    fn spec(&self) -> Spec {
        let mut spec = Spec::default();
        spec.model.kind = ModelKind::Mlp;
        spec.model.priors = Some(Priors::Mcmcstuff);
        spec.model.task = Some(self.task);
        spec.model.hidden = Some(self.hidden);
        for group in ["input_weights", "output_weights"] {
            let width_scaled = Some(WidthScaled::By(self.width));
            spec.prior.insert(group.into(), PriorSpec { width_scaled, ..PriorSpec::default() });
        }
        if self.task == Task::Regression {
            let family = Some(self.residual);
            spec.residual = Some(ResidualSpec { family, ..ResidualSpec::default() });
        }
        spec
    }

    fn study(&self) -> Study {
        Study { targets: vec![self.target], task: self.task, spec: self.spec() }
    }

    /// Samples the network given `table`, and shows progress.
    fn fit(&self, table: &Table, plan: &Plan, settings: &Settings) -> Result<Fitted> {
        self.study().fit(table, plan, settings)
    }

    /// Trains a committee of such networks on `table` on this thread alone, one of many.
    fn train_committee(&self, table: &Table, members: usize, seed: Seed) -> Result<Fitted> {
        let mut study = self.study();
        study.spec.sampling.inference = Some(InferenceChoice::Committee);
        study.train_committee(table, members, seed)
    }

    /// Samples the network given `table` on this thread alone, one of many.
    fn fit_alone(&self, table: &Table, plan: &Plan, seed: Seed) -> Result<Fitted> {
        self.study().fit_alone(table, plan, seed)
    }
}
