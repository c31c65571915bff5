//! Fit models to simulated tables, with progress, and predict from the draws.

use std::num::NonZero;
use std::ops::Range;

use posteria::data::{Column, Encoder, Missing, Roles, Table, Task};
use posteria::diagnose::r_hat;
use posteria::draws::{Draws, Layout};
use posteria::fit::{self, ChainMemory, Conditioned, InMemory, WarmStart};
use posteria::model::spec::Spec;
use posteria::predict::{PredictiveTable, Predictor};
use posteria::random::Seed;
use posteria::sample::Plan;

use super::estimate::Estimate;
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

/// A model and what it is to explain; all other columns are inputs.
pub struct Study {
    pub targets: Vec<&'static str>,
    pub task: Task,
    pub spec: Spec,
}

impl Study {
    /// What the columns of a table are.
    pub fn roles(&self) -> Roles {
        let targets = self.targets.iter().map(ToString::to_string).collect();
        let standardize = self.spec.data.standardize;
        Roles { targets, task: Some(self.task), standardize, ..Roles::default() }
    }

    fn condition(&self, table: &Table) -> Result<(Encoder, Conditioned)> {
        let encoding = Encoder::fit(table, &self.roles()).running()?;
        let posterior = Conditioned::new(&self.spec, &encoding.dataset, None).running()?;
        Ok((encoding.encoder, posterior))
    }

    /// Samples the model given `table`, and shows progress.
    pub fn fit(&self, table: &Table, plan: &Plan, settings: &Settings) -> Result<Fitted> {
        let (encoder, posterior) = self.condition(table)?;
        let context = &settings.context;
        let kept = InMemory::new(&*posterior, plan);
        let begun = vec![0; plan.chains];
        let progress = Progress::new(&kept, context.output, plan, posterior.layout(), &begun);
        let none = vec![None; plan.chains];
        let outcome =
            fit::run(&*posterior, plan, context.seed(), &none, context.threads, &progress);
        progress.finish();
        outcome.running()?;
        let memories = kept.memories().into_iter().flatten().collect();
        let (draws, rows) = (kept.into_draws(), table.rows());
        Ok(Fitted { encoder, posterior, draws, memories, rows, step: 1 })
    }

    /// Trains a committee of so many members, where the specification asks for one, on this
    /// thread alone, one of many.
    pub fn train_committee(&self, table: &Table, members: usize, seed: Seed) -> Result<Fitted> {
        let (encoder, posterior) = self.condition(table)?;
        let Conditioned::Network(network) = &posterior else {
            unreachable!("a committee is one of networks")
        };
        let draws = fit::fit_committee(network, members, seed, NonZero::<usize>::MIN).running()?;
        let (rows, memories) = (table.rows(), Vec::new());
        Ok(Fitted { encoder, posterior, draws, memories, rows, step: 1 })
    }

    /// Samples the model given `table` on this thread alone, one of many.
    pub fn fit_alone(&self, table: &Table, plan: &Plan, seed: Seed) -> Result<Fitted> {
        let (encoder, posterior) = self.condition(table)?;
        let conditioned = (encoder, posterior, table.rows());
        sampled(conditioned, plan, seed, &vec![None; plan.chains])
    }

    /// As [`Study::fit_alone`] given the rows `kept` of what `whole` was fitted to, begun where
    /// its chains ended.
    pub fn fit_part(
        &self,
        (part, kept): (&Table, &[usize]),
        whole: &Fitted,
        plan: &Plan,
        seed: Seed,
    ) -> Result<Fitted> {
        let (encoder, posterior) = self.condition(part)?;
        let begun = (&*whole.posterior, &whole.memories[..]);
        let warm = fit::warm_start(begun, (&*posterior, kept), plan, seed);
        let conditioned = (encoder, posterior, part.rows());
        match warm {
            Some(WarmStart { memories, plan }) => {
                let memories: Vec<_> = memories.into_iter().map(Some).collect();
                sampled(conditioned, &plan, seed, &memories)
            }
            None => sampled(conditioned, plan, seed, &vec![None; plan.chains]),
        }
    }
}

/// Samples on this thread alone.
fn sampled(
    (encoder, posterior, rows): (Encoder, Conditioned, usize),
    plan: &Plan,
    seed: Seed,
    memories: &[Option<ChainMemory>],
) -> Result<Fitted> {
    let kept = InMemory::new(&*posterior, plan);
    fit::run(&*posterior, plan, seed, memories, NonZero::<usize>::MIN, &kept).running()?;
    let (draws, memories) = (kept.into_draws(), Vec::new());
    Ok(Fitted { encoder, posterior, draws, memories, rows, step: 1 })
}

/// Evaluates draws at rows of the fit.
type Evaluate =
    fn(&mut dyn Predictor, (&Draws, Range<usize>), (usize, Range<usize>)) -> PredictiveTable;

/// A model with its draws.
pub struct Fitted {
    encoder: Encoder,
    posterior: Conditioned,
    draws: Draws,
    /// Where chains ended; empty where nobody goes on from there.
    memories: Vec<ChainMemory>,
    /// Rows of the fit.
    rows: usize,
    /// Predictions are from one draw of so many.
    step: usize,
}

impl Fitted {
    /// The same, predicting from one draw of `step` only.
    #[must_use]
    pub fn predicting_from_one_in(self, step: usize) -> Self {
        Fitted { step, ..self }
    }

    /// The draws to predict from.
    fn some_draws(&self) -> Draws {
        let Draws { layout, chains, draws: count, values, .. } = &self.draws;
        let kept = values.chunks(layout.len().max(1)).enumerate();
        let kept = kept.filter(|(number, _)| (number % count).is_multiple_of(self.step));
        let values: Vec<f64> = kept.flat_map(|(_, draw)| draw.iter().copied()).collect();
        let draws = count.div_ceil(self.step);
        Draws { draws, values, ..Draws::empty(layout.clone(), *chains, 0) }
    }

    /// The predictive distribution of every row of `table`.
    pub fn predict(&self, table: &Table) -> Result<PredictiveTable> {
        let rows = self.encoder.encode(table, Missing::Error).running()?;
        let mut predictor = self.posterior.predictor().expect("the models here predict");
        let draws = self.some_draws();
        let all = 0..draws.chains * draws.draws;
        Ok(PredictiveTable::new(&mut *predictor, &draws, all, &rows.inputs))
    }

    /// The predictive distribution of every row of the fit, by all draws.
    pub fn at_training_rows(&self) -> PredictiveTable {
        self.of_rows(PredictiveTable::at_training_rows)
    }

    /// As [`Fitted::at_training_rows`], for every row given the other rows as far as a draw leaves
    /// that open.
    pub fn leaving_one_out(&self) -> PredictiveTable {
        self.of_rows(PredictiveTable::leave_one_out)
    }

    fn of_rows(&self, evaluate: Evaluate) -> PredictiveTable {
        let mut predictor = self.posterior.predictor().expect("the models here predict");
        let all = 0..self.draws.chains * self.draws.draws;
        evaluate(&mut *predictor, (&self.draws, all), (self.rows, 0..self.rows))
    }

    /// The posterior mean of the output at every row of `table`; of a real target.
    pub fn outputs(&self, table: &Table) -> Result<Vec<f64>> {
        Ok(outputs(&self.predict(table)?, 0))
    }

    /// All draws.
    pub fn draws(&self) -> &Draws {
        &self.draws
    }

    /// Every draw of one component of a variable.
    pub fn values(&self, variable: &str, component: usize) -> Vec<f64> {
        let variable = self.draws.layout.variable(variable).expect("a variable of the model");
        self.draws.component(variable.offset + component).concat()
    }

    /// The largest R-hat of the fitted values: of those that draws keep, or of the locations at the
    /// rows of the fit.
    pub fn r_hat(&self) -> f64 {
        let layout = &self.draws.layout;
        let kept = layout.variable(Layout::FITTED_MEAN).or_else(|| layout.variable("fitted"));
        if let Some(fitted) = kept {
            let each = fitted.range().map(|slot| r_hat(&self.draws.component(slot)));
            return each.fold(f64::NAN, f64::max);
        }
        let table = self.at_training_rows();
        let width = table.family().width();
        let of_row = |row: usize| {
            let locations = table.parameters(row).iter().step_by(width);
            let locations: Vec<f64> = locations.copied().collect();
            r_hat(&locations.chunks(self.draws.draws).collect::<Vec<_>>())
        };
        (0..self.rows).map(of_row).fold(f64::NAN, f64::max)
    }
}

/// The posterior mean of one output at every row.
pub fn outputs(predictions: &PredictiveTable, output: usize) -> Vec<f64> {
    let width = predictions.family().width();
    let per_output = width / predictions.family().outputs();
    let of_row = |row: usize| {
        // The first parameter of every real family is its location.
        let parameters = predictions.parameters(row);
        let locations = parameters[output * per_output..].iter().step_by(width);
        locations.sum::<f64>() / predictions.draws() as f64
    };
    (0..predictions.rows()).map(of_row).collect()
}

impl Settings {
    /// Four chains that keep one draw of `thin` sweeps, or next to nothing.
    pub fn plan(&self, warmup: usize, thin: usize) -> Plan {
        if self.quick {
            return Plan::new(2, QUICK_DRAWS, QUICK_DRAWS);
        }
        Plan { thin, ..Plan::new(4, warmup, DRAWS) }
    }

    /// So many rows, or next to none.
    pub fn rows(&self, rows: usize) -> usize {
        if self.quick { rows.min(QUICK_ROWS) } else { rows }
    }

    /// The demonstration of these results, which rest on chains with this R-hat.
    pub fn conclude(
        &self,
        name: &'static str,
        mut results: Vec<Quantity>,
        words: String,
        r_hat: f64,
    ) -> Demonstration {
        let mut doubts = Vec::new();
        // Also where it is no number.
        let is_settled = r_hat <= UNSETTLED;
        if !is_settled {
            doubts.push(format!(
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
        Demonstration { name, results, words, doubts, ..Demonstration::default() }
    }
}

impl Quantity {
    pub fn of(quantity: impl Into<String>, published: Option<f64>, estimate: Estimate) -> Self {
        let Estimate { value, sd } = estimate;
        Quantity { quantity: quantity.into(), published, here: value, sd: Some(sd) }
    }
}

/// The numbers of a column of a simulated table.
pub fn numbers<'a>(table: &'a Table, name: &str) -> &'a [f64] {
    match table.column(name) {
        Ok(Column::Numbers(values)) => values,
        _ => unreachable!("recipes name their columns and fill them with numbers"),
    }
}

/// A table of these columns.
pub fn table_of<'a>(columns: impl IntoIterator<Item = (&'a str, Vec<f64>)>) -> Table {
    let column = |(name, values): (&str, _)| (name.to_string(), Column::numbers(values));
    let columns = columns.into_iter().map(column).collect();
    Table::new("grid", columns).expect("columns of equal length with names of their own")
}

/// (a - b)² of every pair.
pub fn squared_differences(left: &[f64], right: &[f64]) -> Vec<f64> {
    left.iter().zip(right).map(|(l, r)| (l - r).powi(2)).collect()
}
