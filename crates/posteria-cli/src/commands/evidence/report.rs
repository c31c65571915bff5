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
    let note = |usable: bool| if usable { String::new() } else { "not usable".into() };
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
    if let Some(points) = &found.sensitivity {
        let mut table = Table::new(&["scale of", "factor", "log evidence", "mcse", ""]);
        for point in points {
            let (value, error) = shown(point.log_evidence, point.mcse);
            let factor = significant(point.factor, 3);
            table.row([point.group.clone(), factor, value, error, note(point.usable)]);
        }
        text.push_str(&format!("\n{}", table.render()));
    }
    text
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
            if report.usable { String::new() } else { "not usable".into() },
        ]);
    }
    text.push_str(&table.render());
    text
}
