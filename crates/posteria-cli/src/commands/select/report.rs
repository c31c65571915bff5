//! Tell what is known about inputs and sets, and keep it.

use std::path::Path;

use posteria::model::spec::{ModelKind, Spec};
use posteria::select::{UtilitySummary, Visits};
use serde::Serialize;

use super::choice::Choice;
use super::importance::{Figure, Importance};
use super::joined;
use super::leave_out::Loss;
use super::nested::Nested;
use crate::commands::Context;
use crate::failure::Result;
use crate::file::write_json;
use crate::output::{Table, heading};
use crate::text;
use crate::warning::Enveloped;

/// Name of the file of a run folder that keeps it.
const FILE: &str = "selection.json";
/// Posterior probability from which on a size is shown.
const SHOWN: f64 = 5e-4;

/// What is known about inputs and sets.
#[derive(Serialize)]
pub struct Report {
    run: String,
    model: &'static str,
    inputs: Vec<Input>,
    sizes: Vec<Size>,
    models: Vec<Set>,
    /// Inputs that are in every set.
    always: Vec<String>,
    /// Inputs to go on with, besides those.
    chosen: Vec<String>,
    /// How they were chosen.
    chosen_by: String,
    /// What predictions by sets are worth.
    #[serde(flatten)]
    choice: Option<Choice>,
    /// Different sets that were visited.
    visited: usize,
    jump_rate: f64,
    between_model_r_hat: f64,
    ks_p: f64,
    chi_square_p: f64,
    autocorrelation_time: f64,
    /// How relevances are to be read, where they measure how much a function bends.
    importance_note: Option<&'static str>,
}

/// Relevance is no importance [Vehtari 2001 §2.2.4].
const NOTE: &str = "relevance measures how much the function bends along an input, not how much the input \
                    matters to predictions: an input with a straight effect has a small relevance";

#[derive(Serialize)]
struct Input {
    name: String,
    probability: f64,
    sd: f64,
    prior: f64,
    importance: Importance,
}

#[derive(Serialize)]
struct Size {
    k: usize,
    probability: f64,
    sd: f64,
    prior: f64,
}

#[derive(Serialize)]
struct Set {
    inputs: Vec<String>,
    probability: f64,
    sd: f64,
}

impl Report {
    /// What the draws of the run in `path` say.
    pub fn new((path, spec): (&Path, &Spec), found: &Visits, importance: Vec<Importance>) -> Self {
        let inputs = found.inputs.iter().zip(importance).map(|(input, importance)| Input {
            name: input.name.clone(),
            probability: input.probability,
            sd: input.sd,
            prior: input.prior,
            importance,
        });
        let sizes = found.sizes.iter().map(|size| Size {
            k: size.k,
            probability: size.probability,
            sd: size.sd,
            prior: size.prior,
        });
        let models = found.sets.iter().map(|set| Set {
            inputs: set.inputs.clone(),
            probability: set.probability,
            sd: set.sd,
        });
        Report {
            run: path.display().to_string(),
            model: spec.model.kind.name(),
            inputs: inputs.collect(),
            sizes: sizes.collect(),
            models: models.collect(),
            always: spec
                .selection
                .as_ref()
                .and_then(|selection| selection.always.clone())
                .unwrap_or_default(),
            chosen: found.median_model().into_iter().map(Into::into).collect(),
            chosen_by: "median probability model: inputs more probable than not".into(),
            choice: None,
            visited: found.visited,
            jump_rate: found.jump_rate,
            between_model_r_hat: found.between.r_hat,
            ks_p: found.between.ks_p,
            chi_square_p: found.between.chi_square_p,
            autocorrelation_time: found.between.autocorrelation_time,
            importance_note: (spec.model.kind != ModelKind::Linear).then_some(NOTE),
        }
    }

    /// With what is lost without each input.
    pub fn leave_out(&mut self, losses: Vec<Option<Loss>>) {
        for (input, loss) in self.inputs.iter_mut().zip(losses) {
            input.importance.leave_out = loss;
        }
    }

    /// With a set that was chosen by its predictions.
    pub fn choose(&mut self, choice: Choice) {
        self.chosen.clone_from(&choice.chosen);
        self.chosen_by.clone_from(&choice.chosen_by);
        self.choice = Some(choice);
    }

    /// Keeps it in the run folder, for a page about the run.
    pub fn keep(&self, run: &Path, context: &Context) -> Result<()> {
        write_json(&run.join(FILE), &Enveloped::new(self, &context.warnings.all()))
    }

    /// What inputs do, side by side.
    fn render_importance(&self) -> String {
        let figure = |it: Option<Figure>| it.map(|Figure { mean, sd }| (mean, sd));
        let relevance = |input: &Input| figure(input.importance.relevance);
        let loss = |input: &Input| input.importance.leave_out.clone();
        let has_relevance = self.inputs.iter().any(|input| relevance(input).is_some());
        let has_loss = self.inputs.iter().any(|input| loss(input).is_some());
        let mut header = vec!["input", "comparison", "sd", "mean |df/dx|", "sd"];
        if has_relevance {
            header.extend(["relevance", "sd"]);
        }
        if has_loss {
            header.extend(["lost without it", "sd", "P(needed)"]);
        }
        let mut table = Table::new(&header);
        for input in &self.inputs {
            let Importance { comparison, mean_absolute_derivative, .. } = &input.importance;
            let mut row = vec![text::printable(&input.name).into_owned()];
            row.extend(cells(figure(*comparison)));
            row.extend(cells(figure(*mean_absolute_derivative)));
            if has_relevance {
                row.extend(cells(relevance(input)));
            }
            if has_loss {
                let loss = loss(input);
                row.extend(cells(loss.as_ref().map(|it| (it.utility.mean, it.utility.sd))));
                row.push(loss.map_or("-".into(), |it| text::fixed(it.p_full_better, 3)));
            }
            table.row(row);
        }
        let mut all = heading("change of predictions per standard deviation of each input");
        all.push_str(&table.render());
        if let Some(note) = self.importance_note.filter(|_| has_relevance) {
            all.push_str(&format!("{note}\n"));
        }
        all
    }

    /// The report as text.
    pub fn render(&self) -> String {
        let share = |p: f64| text::fixed(p, 3);
        let mut all = heading("inputs");
        let mut table = Table::new(&["input", "probability", "sd", "prior"]);
        for input in &self.inputs {
            let name = text::printable(&input.name).into_owned();
            table.row([name, share(input.probability), share(input.sd), share(input.prior)]);
        }
        all.push_str(&table.render());
        all.push_str(&self.render_importance());
        all.push_str(&heading("numbers of inputs"));
        let mut table = Table::new(&["inputs", "probability", "sd", "prior"]);
        for size in self.sizes.iter().filter(|size| size.probability > SHOWN) {
            let k = size.k.to_string();
            table.row([k, share(size.probability), share(size.sd), share(size.prior)]);
        }
        all.push_str(&table.render());
        all.push_str(&heading("most probable sets"));
        let mut table = Table::new(&["set", "probability", "sd"]);
        for set in &self.models {
            table.row([joined(&set.inputs), share(set.probability), share(set.sd)]);
        }
        all.push_str(&table.render());
        if let Some(choice) = &self.choice {
            all.push_str(&render_choice(choice));
        }
        all.push_str(&format!(
            "\n{} visited, another one in {} % of draws; between chains R-hat {}, Kolmogorov-Smirnov p \
             {}\nchosen: {} ({})\n{}{}",
            text::count(self.visited, "set"),
            text::fixed(100.0 * self.jump_rate, 0),
            text::fixed(self.between_model_r_hat, 3),
            text::fixed(self.ks_p, 2),
            joined(&self.chosen),
            self.chosen_by,
            match self.always.is_empty() {
                true => String::new(),
                false => format!("always in: {}\n", joined(&self.always)),
            },
            self.choice.as_ref().map_or(String::new(), |choice| format!("{}\n", choice.note)),
        ));
        all
    }
}

/// Mean and deviation, with the digits that the latter allows.
fn cells(figure: Option<(f64, f64)>) -> [String; 2] {
    match figure {
        None => ["-".into(), "-".into()],
        Some((mean, sd)) => {
            let decimals = text::decimals_for(sd, 2);
            [text::fixed(mean, decimals), text::fixed(sd, decimals)]
        }
    }
}

/// What search and choice are worth for rows that neither has seen.
fn render_nested(choice: &Choice, nested: &Nested) -> String {
    let Nested { utility, chosen, folds, .. } = nested;
    let smallest =
        [utility.sd, chosen.sd, choice.full.sd].into_iter().fold(f64::INFINITY, f64::min);
    let decimals = text::decimals_for(smallest, 2);
    let mut all = heading(&format!(
        "{} by {folds} nested folds, search and choice repeated without each",
        choice.utility
    ));
    let mut table = Table::new(&["", "mean", "sd", "q05", "q95"]);
    for (name, it) in [
        ("search and choice", utility),
        ("the chosen set, by the rows that chose it", chosen),
        ("all inputs", &choice.full),
    ] {
        let figures = [it.mean, it.sd, it.q05, it.q95].map(|x| text::fixed(x, decimals));
        table.row([name.to_string()].into_iter().chain(figures));
    }
    all.push_str(&table.render());
    let sets = nested.sets.iter().map(|it| format!("{} in {}", joined(&it.inputs), it.folds));
    all.push_str(&format!(
        "P(all inputs better than search and choice) {}; chosen without each fold: {}\n",
        text::fixed(nested.p_full_better, 3),
        sets.collect::<Vec<_>>().join("; "),
    ));
    all
}

/// What predictions by sets are worth.
fn render_choice(choice: &Choice) -> String {
    let smallest = choice.utilities.iter().map(|it| it.utility.sd).chain([choice.full.sd]);
    let decimals = text::decimals_for(smallest.fold(f64::INFINITY, f64::min), 2);
    let cells =
        |it: &UtilitySummary| [it.mean, it.sd, it.q05, it.q95].map(|x| text::fixed(x, decimals));
    let by = match choice.folds {
        Some(folds) => format!("{folds}-fold cross-validation"),
        None => "leave-one-out".into(),
    };
    let mut all = heading(&format!("{} by {by}", choice.utility));
    let mut table =
        Table::new(&["inputs", "mean", "sd", "q05", "q95", "P(all better)", "as good", "set"]);
    for it in &choice.utilities {
        let k = it.k.to_string();
        let set = match it.most_probable_inputs {
            true => "the most probable".into(),
            false => joined(&it.inputs),
        };
        let good = if it.as_good { "yes" } else { "no" };
        let p = text::fixed(it.p_full_better, 3);
        table.row([k].into_iter().chain(cells(&it.utility)).chain([p, good.into(), set]));
    }
    table.row(["all".into()].into_iter().chain(cells(&choice.full)));
    all.push_str(&table.render());
    if let Some(nested) = &choice.nested {
        all.push_str(&render_nested(choice, nested));
    }
    all
}
