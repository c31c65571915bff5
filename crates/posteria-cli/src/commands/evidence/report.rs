//! Show log evidences as text.

use posteria::evidence::{EvidenceComparison, NamedEvidence};

use crate::output::{Table, heading};
use crate::text::{decimals_for, fixed, printable, significant};
use crate::warning::Warning;

/// What to be careful about, in the words of the method that it is about.
pub fn warnings(report: &NamedEvidence) -> Vec<Warning> {
    let each = report.found.cautions.iter().map(|(method, caution)| {
        let warning = Warning::from(caution);
        match method {
            Some(method) => warning.by(method.name()),
            None => warning,
        }
    });
    each.collect()
}

/// The evidence of one model.
pub fn render(report: &NamedEvidence) -> String {
    let found = &report.found;
    let mut text =
        heading(&format!("log evidence of {} ({} rows)", printable(&report.run), found.rows));
    let mut table = Table::new(&["method", "log evidence", "mcse", ""]);
    for by in &found.methods {
        let (value, error) = shown(by.log_evidence, by.mcse);
        table.row([by.method.name().into(), value, error, note(by.usable)]);
    }
    let directions = [
        ("  prior to posterior", found.forward, found.forward_mcse),
        ("  posterior to prior", found.backward, found.backward_mcse),
    ];
    for (name, value, error) in directions {
        if let (Some(value), Some(error)) = (value, error) {
            let (value, error) = shown(value, error);
            table.row([name.into(), value, error]);
        }
    }
    text.push_str(&table.render());
    if found.rungs > 0 {
        text.push_str(&format!(
            "{} temperatures, {} journeys to the prior and back\n",
            found.rungs, found.round_trips
        ));
    }
    text.push_str(&render_sensitivity(&[report]));
    text
}

/// Log evidences of models with the scales of priors multiplied.
fn render_sensitivity(models: &[&NamedEvidence]) -> String {
    let several = models.len() > 1;
    let mut header = vec!["scale of", "factor", "log evidence", "mcse", ""];
    if several {
        header.insert(0, "");
    }
    let mut table = Table::new(&header);
    let mut is_empty = true;
    for model in models {
        for point in model.found.sensitivity.iter().flatten() {
            let (value, error) = shown(point.log_evidence, point.mcse);
            let mut cells = vec![point.group.clone(), significant(point.factor, 3), value, error];
            cells.push(note(point.usable));
            if several {
                cells.insert(0, printable(&model.run).into_owned());
            }
            table.row(cells);
            is_empty = false;
        }
    }
    if is_empty { String::new() } else { format!("\n{}", table.render()) }
}

fn note(usable: bool) -> String {
    if usable { String::new() } else { "not usable".into() }
}

/// A value with as many digits as its error allows, and the error.
fn shown(value: f64, error: f64) -> (String, String) {
    if error > 0.0 {
        let decimals = decimals_for(error, 2);
        (fixed(value, decimals), fixed(error, decimals))
    } else {
        (fixed(value, 4), if error.is_nan() { "-".into() } else { "0".into() })
    }
}

/// Several models of the same targets.
pub fn render_comparison(comparison: &EvidenceComparison) -> String {
    let best = comparison
        .models
        .iter()
        .map(|model| model.evidence.found.log_evidence)
        .fold(f64::NEG_INFINITY, f64::max);
    let mut text = heading("probabilities of the models given the data");
    let header = ["", "method", "log evidence", "mcse", "less the best", "probability", "sd", ""];
    let mut table = Table::new(&header);
    for model in &comparison.models {
        let report = &model.evidence.found;
        let (value, error) = shown(report.log_evidence, report.mcse);
        table.row([
            model.evidence.run.clone(),
            report.method.name().into(),
            value,
            error,
            fixed(report.log_evidence - best, 2),
            fixed(model.probability, 4),
            fixed(model.sd, 4),
            note(report.usable),
        ]);
    }
    text.push_str(&table.render());
    let numbers = (1..=comparison.models.len()).map(|number| format!("{number}."));
    let numbers: Vec<String> = numbers.collect();
    let header = std::iter::once("").chain(numbers.iter().map(String::as_str));
    let mut table = Table::new(&header.collect::<Vec<_>>());
    for (row, model) in comparison.models.iter().enumerate() {
        let cell = |column: usize| {
            if column == row {
                return String::new();
            }
            let (value, error) = shown(
                comparison.log_bayes_factors[row][column],
                comparison.log_bayes_factor_mcse[row][column],
            );
            format!("{value} ± {error}")
        };
        let name = format!("{}. {}", row + 1, printable(&model.evidence.run));
        table.row(std::iter::once(name).chain((0..numbers.len()).map(cell)));
    }
    text.push_str(&heading("log Bayes factors, row against column, and their standard errors"));
    text.push_str(&table.render());
    let models: Vec<&NamedEvidence> = comparison.models.iter().map(|it| &it.evidence).collect();
    text.push_str(&render_sensitivity(&models));
    text
}
