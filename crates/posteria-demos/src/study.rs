//! Fit models to simulated tables, and predict from their draws.

use std::num::NonZero;
use std::ops::Range;

use posteria::data::{Column, Missing, Table, Task};
use posteria::draws::Draws;
use posteria::fit::{
    ChainMemory, Fit, Goal, InMemory, Prepared, Until, WarmStart, Workers, warm_start,
};
use posteria::model::spec::{SamplingSpec, Spec};
use posteria::predict::{PredictiveTable, Predictor};
use posteria::random::Seed;
use posteria::sample::Plan;

use crate::estimate::Estimate;
use crate::{Demonstration, Quantity, Result, Settings};

/// R-hat of fitted values from which on the digits shown may still move.
const UNSETTLED: f64 = 1.05;
/// Draws that are kept of every chain: enough for any figure, and quick to predict from.
const DRAWS: usize = 500;
/// Chains whose fitted values are not settled go on to so many.
const MOST_DRAWS: usize = 4000;
/// Effective draws of the fitted values: means known to a tenth of their standard deviations.
const EFFECTIVE_DRAWS: f64 = 100.0;
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
    /// The model given `table`, with chains as `plan` says.
    fn condition(&self, table: &Table, plan: &Plan, seed: Seed) -> Result<Prepared> {
        let mut spec = self.spec.clone();
        spec.data.target = self.targets.iter().map(ToString::to_string).collect();
        spec.model.task = Some(self.task);
        let Plan { chains, draws, thin, .. } = *plan;
        let (warmup, seed) = (plan.warmup_iterations(), seed.0);
        spec.sampling = SamplingSpec { chains, warmup, draws, thin, seed, ..spec.sampling };
        let prepared = Prepared::new(spec, table, None)?;
        Ok(Prepared { plan: plan.clone(), ..prepared })
    }

    /// Samples the model given `table` until its fitted values have settled, and shows progress.
    pub fn fit(&self, table: &Table, plan: &Plan, settings: &Settings) -> Result<Fitted> {
        let prepared = self.condition(table, plan, settings.seed)?;
        let until = match settings.quick {
            true => Until { goal: None, draws: plan.draws, chains: plan.chains, time: None },
            false => {
                let goal = Goal { r_hat: UNSETTLED, ess: EFFECTIVE_DRAWS };
                let draws = plan.draws.max(MOST_DRAWS);
                Until { goal: Some(goal), draws, chains: plan.chains, time: None }
            }
        };
        let mut kept = InMemory::new(&*prepared.posterior, plan);
        let workers = Workers::of(settings.threads);
        let mut watch = settings.console.chains();
        prepared.sample(None, (plan, until), &mut kept, (&workers, &mut *watch))?;
        let memories = kept.memories().into_iter().flatten().collect();
        Ok(Fitted::new(prepared, kept, memories))
    }

    /// Trains a committee of so many members, where the specification asks for one, on this
    /// thread alone, one of many.
    pub fn train_committee(&self, table: &Table, members: usize, seed: Seed) -> Result<Fitted> {
        let plan = Plan::new(1, 0, members);
        alone(self.condition(table, &plan, seed)?, &plan, &[None])
    }

    /// Samples the model given `table` on this thread alone, one of many.
    pub fn fit_alone(&self, table: &Table, plan: &Plan, seed: Seed) -> Result<Fitted> {
        alone(self.condition(table, plan, seed)?, plan, &vec![None; plan.chains])
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
        let prepared = self.condition(part, plan, seed)?;
        let begun = (&*whole.fit.prepared.posterior, &whole.fit.memories[..]);
        match warm_start(begun, (&*prepared.posterior, kept), plan, seed) {
            Some(WarmStart { memories, plan }) => {
                let memories: Vec<_> = memories.into_iter().map(Some).collect();
                alone(prepared, &plan, &memories)
            }
            None => alone(prepared, plan, &vec![None; plan.chains]),
        }
    }
}

/// Samples on this thread alone.
fn alone(prepared: Prepared, plan: &Plan, memories: &[Option<ChainMemory>]) -> Result<Fitted> {
    let kept = InMemory::new(&*prepared.posterior, plan);
    prepared.run(None, plan, memories, NonZero::<usize>::MIN, &kept)?;
    Ok(Fitted::new(prepared, kept, Vec::new()))
}

/// Evaluates draws at rows of the fit.
type Evaluate =
    fn(&mut dyn Predictor, (&Draws, Range<usize>), (usize, Range<usize>)) -> PredictiveTable;

/// A fit of which some draws predict.
pub struct Fitted {
    pub fit: Fit,
    /// Predictions are from one draw of so many.
    step: usize,
}

impl Fitted {
    fn new(prepared: Prepared, kept: InMemory, memories: Vec<ChainMemory>) -> Self {
        let warmup = prepared.plan.warmup_iterations();
        Fitted { fit: Fit::new(prepared, kept.into_draws(), memories, warmup), step: 1 }
    }

    /// The same, predicting from one draw of `step` only.
    #[must_use]
    pub fn predicting_from_one_in(self, step: usize) -> Self {
        Fitted { step, ..self }
    }

    /// The predictive distribution of every row of `table`.
    pub fn predict(&self, table: &Table) -> Result<PredictiveTable> {
        predictions(&self.fit.prepared, &self.fit.draws.thin(0, self.step, None)?, table)
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
        let Fit { prepared, draws, .. } = &self.fit;
        let mut predictor = prepared.posterior.predictor().expect("the models here predict");
        let rows = self.fit.rows();
        evaluate(&mut *predictor, (draws, 0..draws.chains * draws.draws), (rows, 0..rows))
    }

    /// The posterior mean of the output at every row of `table`; of a real target.
    pub fn outputs(&self, table: &Table) -> Result<Vec<f64>> {
        Ok(outputs(&self.predict(table)?, 0))
    }

    /// All draws.
    pub fn draws(&self) -> &Draws {
        &self.fit.draws
    }

    /// Every draw of one component of a variable.
    pub fn values(&self, variable: &str, component: usize) -> Vec<f64> {
        let draws = &self.fit.draws;
        let variable = draws.layout.variable(variable).expect("a variable of the model");
        draws.component(variable.offset + component).concat()
    }

    /// The largest R-hat of the fitted values, as the verdict of a fit has it.
    pub fn r_hat(&self) -> f64 {
        let attained = self.fit.attained().and_then(|attained| attained.fitted);
        attained.map_or(f64::NAN, |fitted| fitted.r_hat)
    }
}

/// The predictive distribution of every row of `table` by these draws of a model that predicts.
pub fn predictions(prepared: &Prepared, draws: &Draws, table: &Table) -> Result<PredictiveTable> {
    let rows = prepared.encoder.encode(table, Missing::Error)?;
    let mut predictor = prepared.posterior.predictor().expect("the models here predict");
    let all = 0..draws.chains * draws.draws;
    Ok(PredictiveTable::new(&mut *predictor, draws, all, &rows.inputs))
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
    pub(crate) fn plan(&self, warmup: usize, thin: usize) -> Plan {
        if self.quick {
            return Plan::new(2, QUICK_DRAWS, QUICK_DRAWS);
        }
        Plan { thin, ..Plan::new(4, warmup, DRAWS) }
    }

    /// So many rows, or next to none.
    pub(crate) fn rows(&self, rows: usize) -> usize {
        if self.quick { rows.min(QUICK_ROWS) } else { rows }
    }

    /// The demonstration of these results, which rest on chains with this R-hat.
    pub(crate) fn conclude(
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
    /// An estimate beside what was published.
    pub(crate) fn of(
        quantity: impl Into<String>,
        published: Option<f64>,
        estimate: Estimate,
    ) -> Self {
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
