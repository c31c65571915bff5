//! Fit networks to simulated tables, with progress, and predict from the draws.

mod estimate;
pub mod noise_sensitivity;
pub mod outliers;
mod picture;
pub mod relevance;
pub mod surface;
pub mod three_class;
pub mod two_class;

use std::num::NonZero;

use posteria::data::{Column, Encoder, Missing, Roles, Table, Task};
use posteria::diagnose::r_hat;
use posteria::draws::Draws;
use posteria::fit::{self, InMemory, Recorder};
use posteria::model::Posterior;
use posteria::model::mlp::{Mlp, MlpPosterior};
use posteria::model::spec::{
    ModelKind, PriorSpec, ResidualFamily, ResidualSpec, Spec, WidthRule, WidthScaled,
};
use posteria::predict::PredictiveTable;
use posteria::random::Seed;
use posteria::sample::Plan;

use self::estimate::Estimate;
use super::{Demonstration, Quantity, Settings};
use crate::failure::{Classify, Result};
use crate::progress::Progress;

/// R-hat of fitted values from which on the digits shown may still move.
const UNSETTLED: f64 = 1.05;
/// Draws that are kept of every chain: enough for any figure, and quick to predict from.
const DRAWS: usize = 500;
/// Rows of any table, and draws of any chain, of a quick demonstration.
const QUICK_ROWS: usize = 60;
const QUICK_DRAWS: usize = 20;

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

    fn roles(&self) -> Roles {
        Roles { targets: vec![self.target.into()], task: Some(self.task), ..Roles::default() }
    }

    fn condition(&self, table: &Table) -> Result<(Encoder, MlpPosterior)> {
        let encoding = Encoder::fit(table, &self.roles()).running()?;
        let model = Mlp::new(&self.spec()).running()?;
        let posterior = model.condition(&encoding.dataset, None).running()?;
        Ok((encoding.encoder, posterior))
    }

    /// Samples the network given `table`, and shows progress.
    fn fit(&self, table: &Table, plan: &Plan, settings: &Settings) -> Result<Fitted> {
        let (encoder, posterior) = self.condition(table)?;
        let context = &settings.context;
        let kept = InMemory::new(&posterior, plan);
        let begun = vec![0; plan.chains];
        let progress = Progress::new(&kept, context.output, plan, posterior.layout(), &begun);
        let outcome = sample(&posterior, plan, context.seed(), context.threads, &progress);
        progress.finish();
        outcome?;
        Ok(Fitted { encoder, posterior, draws: kept.into_draws() })
    }

    /// Trains a committee of such networks on `table` on this thread alone, one of many.
    fn train_committee(&self, table: &Table, members: usize, seed: Seed) -> Result<Fitted> {
        let (encoder, posterior) = self.condition(table)?;
        let draws =
            fit::fit_committee(&posterior, members, seed, NonZero::<usize>::MIN).running()?;
        Ok(Fitted { encoder, posterior, draws })
    }

    /// Samples the network given `table` on this thread alone, one of many.
    fn fit_alone(&self, table: &Table, plan: &Plan, seed: Seed) -> Result<Fitted> {
        let (encoder, posterior) = self.condition(table)?;
        let kept = InMemory::new(&posterior, plan);
        sample(&posterior, plan, seed, NonZero::<usize>::MIN, &kept)?;
        Ok(Fitted { encoder, posterior, draws: kept.into_draws() })
    }
}

fn sample(
    posterior: &MlpPosterior,
    plan: &Plan,
    seed: Seed,
    threads: NonZero<usize>,
    recorder: &dyn Recorder,
) -> Result<()> {
    let memories = vec![None; plan.chains];
    fit::run(posterior, plan, seed, &memories, threads, recorder).running()?;
    Ok(())
}

/// A network with its draws.
struct Fitted {
    encoder: Encoder,
    posterior: MlpPosterior,
    draws: Draws,
}

impl Fitted {
    /// The predictive distribution of every row of `table`.
    fn predict(&self, table: &Table) -> Result<PredictiveTable> {
        let rows = self.encoder.encode(table, Missing::Error).running()?;
        let mut predictor = self.posterior.predictor().expect("a network predicts");
        let all = 0..self.draws.chains * self.draws.draws;
        Ok(PredictiveTable::new(&mut *predictor, &self.draws, all, &rows.inputs))
    }

    /// The posterior mean of the output at every row of `table`; of a real target.
    fn outputs(&self, table: &Table) -> Result<Vec<f64>> {
        let predictions = self.predict(table)?;
        let width = predictions.family().width();
        let output = |row: usize| {
            // The first parameter of every real family is its location.
            let locations = predictions.parameters(row).iter().step_by(width);
            locations.sum::<f64>() / predictions.draws() as f64
        };
        Ok((0..predictions.rows()).map(output).collect())
    }

    /// Every draw of one component of a variable.
    fn values(&self, variable: &str, component: usize) -> Vec<f64> {
        let variable = self.draws.layout.variable(variable).expect("a variable of the network");
        self.draws.component(variable.offset + component).concat()
    }

    /// The largest R-hat of the fitted values.
    fn r_hat(&self) -> f64 {
        let fitted = self.draws.layout.variable("fitted").expect("a network keeps fitted values");
        fitted.range().map(|slot| r_hat(&self.draws.component(slot))).fold(f64::NAN, f64::max)
    }
}

impl Settings {
    /// Four chains that keep one draw of `thin` sweeps, or next to nothing.
    fn plan(&self, warmup: usize, thin: usize) -> Plan {
        if self.quick {
            return Plan::new(2, QUICK_DRAWS, QUICK_DRAWS);
        }
        Plan { thin, ..Plan::new(4, warmup, DRAWS) }
    }

    /// So many rows, or next to none.
    fn rows(&self, rows: usize) -> usize {
        if self.quick { rows.min(QUICK_ROWS) } else { rows }
    }

    /// The demonstration of these results, which rest on chains with this R-hat.
    fn conclude(
        &self,
        name: &'static str,
        mut results: Vec<Quantity>,
        words: String,
        r_hat: f64,
    ) -> Demonstration {
        let settled = r_hat <= UNSETTLED;
        if !settled {
            self.context.output.warning(&format!(
                "the largest R-hat of fitted values is {r_hat:.2}: the chains have not mixed well, \
                 and another seed may give other figures"
            ));
        }
        results.push(Quantity {
            quantity: "largest R-hat of fitted values".into(),
            published: None,
            here: r_hat,
            sd: None,
        });
        let doubts = usize::from(!settled);
        Demonstration { name, results, report: None, table: None, words, doubts }
    }
}

impl Quantity {
    fn of(quantity: impl Into<String>, published: Option<f64>, estimate: Estimate) -> Self {
        let Estimate { value, sd } = estimate;
        Quantity { quantity: quantity.into(), published, here: value, sd: Some(sd) }
    }
}

/// The numbers of a column of a simulated table.
fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name) {
        Ok(Column::Numbers(values)) => values,
        _ => unreachable!("recipes name their columns and fill them with numbers"),
    }
}

/// A table of these columns.
fn table_of<'a>(columns: impl IntoIterator<Item = (&'a str, Vec<f64>)>) -> Table {
    let column = |(name, values): (&str, _)| (name.to_string(), Column::numbers(values));
    let columns = columns.into_iter().map(column).collect();
    Table::new("grid", columns).expect("columns of equal length with names of their own")
}

/// (a - b)² of every pair.
fn squared_differences(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(l, r)| (l - r).powi(2)).collect()
}
