//! Tell what is known about inputs and sets, and keep it.

use std::path::Path;

use posteria::predict::Estimate;
use posteria::select::{
    ChoiceReport, InputImportance, InputLoss, InputReport, NestedReport, SelectionReport,
    UtilitySummary,
};
use serde::Serialize;

use super::joined;
use crate::context::Context;
use crate::failure::Result;
use crate::file::write_json;
use crate::output::{Table, heading};
use crate::text;
use crate::warning::Enveloped;

/// Name of the file of a run folder that keeps it.
pub const FILE: &str = "selection.json";
/// Posterior probability from which on a size is shown.
const SHOWN: f64 = 5e-4;

/// What is known about inputs and sets of a run.
#[derive(Serialize)]
pub struct Report {
    run: String,
    #[serde(flatten)]
    found: SelectionReport,
}

impl Report {
    /// Of what was found about the run in `path`.
    pub fn new(path: &Path, found: SelectionReport) -> Self {
        Report { run: path.display().to_string(), found }
    }

    /// With what is lost without each input.
    pub fn leave_out(&mut self, losses: Vec<Option<InputLoss>>) {
        for (input, loss) in self.found.inputs.iter_mut().zip(losses) {
            input.importance.leave_out = loss;
        }
    }

    /// With a set that was chosen by its predictions.
    pub fn choose(&mut self, choice: ChoiceReport) {
        self.found.choose(choice);
    }

    /// Keeps it in the run folder, for a page about the run.
    pub fn keep(&self, run: &Path, context: &Context) -> Result<()> {
        write_json(&run.join(FILE), &Enveloped::new(self, &context.warnings.all()))
    }

    /// What inputs do, side by side.
    fn render_importance(&self) -> String {
        let figure = |it: Option<Estimate>| it.map(|Estimate { mean, sd }| (mean, sd));
        let relevance = |input: &InputReport| figure(input.importance.relevance);
        let loss = |input: &InputReport| input.importance.leave_out.clone();
        let has_relevance = self.found.inputs.iter().any(|input| relevance(input).is_some());
        let has_loss = self.found.inputs.iter().any(|input| loss(input).is_some());
        let mut header = vec!["input", "comparison", "sd", "mean |df/dx|", "sd"];
        if has_relevance {
            header.extend(["relevance", "sd"]);
        }
        if has_loss {
            header.extend(["lost without it", "sd", "P(needed)"]);
        }
        let mut table = Table::new(&header);
        for input in &self.found.inputs {
            let InputImportance { comparison, mean_absolute_derivative, .. } = &input.importance;
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
        if let Some(note) = self.found.importance_note.as_ref().filter(|_| has_relevance) {
            all.push_str(&format!("{note}\n"));
        }
        all
    }

    /// The report as text.
    pub fn render(&self) -> String {
        let share = |p: f64| text::fixed(p, 3);
        let mut all = heading("inputs");
        let mut table = Table::new(&["input", "probability", "sd", "prior"]);
        for input in &self.found.inputs {
            let name = text::printable(&input.name).into_owned();
            table.row([name, share(input.probability), share(input.sd), share(input.prior)]);
        }
        all.push_str(&table.render());
        all.push_str(&self.render_importance());
        all.push_str(&heading("numbers of inputs"));
        let mut table = Table::new(&["inputs", "probability", "sd", "prior"]);
        for size in self.found.sizes.iter().filter(|size| size.probability > SHOWN) {
            let k = size.k.to_string();
            table.row([k, share(size.probability), share(size.sd), share(size.prior)]);
        }
        all.push_str(&table.render());
        all.push_str(&heading("most probable sets"));
        let mut table = Table::new(&["set", "probability", "sd"]);
        for set in &self.found.models {
            table.row([joined(&set.inputs), share(set.probability), share(set.sd)]);
        }
        all.push_str(&table.render());
        if let Some(choice) = &self.found.choice {
            all.push_str(&render_choice(choice));
        }
        all.push_str(&format!(
            "\n{} visited, another one in {} % of draws; between chains R-hat {}, Kolmogorov-Smirnov p \
             {}\nchosen: {} ({})\n{}{}",
            text::count(self.found.visited, "set"),
            text::fixed(100.0 * self.found.jump_rate, 0),
            text::fixed(self.found.between_model_r_hat, 3),
            text::fixed(self.found.ks_p, 2),
            joined(&self.found.chosen),
            self.found.chosen_by,
            match self.found.always.is_empty() {
                true => String::new(),
                false => format!("always in: {}\n", joined(&self.found.always)),
            },
            self.found.choice.as_ref().map_or(String::new(), |choice| format!("{}\n", choice.note)),
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
fn render_nested(choice: &ChoiceReport, nested: &NestedReport) -> String {
    let NestedReport { utility, chosen, folds, .. } = nested;
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
fn render_choice(choice: &ChoiceReport) -> String {
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
        let p = match it.p_full_better {
            p if p < 0.001 => "< 0.001".into(),
            p if p > 0.999 => "> 0.999".into(),
            p => text::fixed(p, 3),
        };
        table.row([k].into_iter().chain(cells(&it.utility)).chain([p, good.into(), set]));
    }
    table.row(["all".into()].into_iter().chain(cells(&choice.full)));
    all.push_str(&table.render());
    if let Some(nested) = &choice.nested {
        all.push_str(&render_nested(choice, nested));
    }
    all
}
