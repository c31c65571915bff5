//! Withhold what rests on importance weights that fail.

use crate::text;
use crate::warning::Warning;

/// Probabilities that row is better than column, without those of models with rows whose importance
/// weights fail: what these leave open is not in them, and it can be any amount.
pub fn trusted(probabilities: &[Vec<f64>], failing: &[usize]) -> Vec<Vec<Option<f64>>> {
    let known = |row: usize, column: usize| {
        let trusted = row == column || (failing[row] == 0 && failing[column] == 0);
        trusted.then(|| probabilities[row][column])
    };
    let row = |row: usize| (0..failing.len()).map(|column| known(row, column)).collect();
    (0..failing.len()).map(row).collect()
}

/// Says of which models no probabilities are given, and how to get them.
pub fn withheld(names: &[String], failing: &[usize]) -> Warning {
    let each = names.iter().zip(failing).filter(|(_, rows)| **rows > 0);
    let each: Vec<String> =
        each.map(|(name, rows)| format!("{} of {name}", text::count(*rows, "row"))).collect();
    let most = failing.iter().max().copied().unwrap_or(0);
    Warning::new(
        "probability-withheld",
        &format!(
            "no probability of being better is given where importance weights fail ({}), since it \
             would leave out how wrong they are; leave those rows out by new fits with --refit \
             {most}, or use --method kfold",
            each.join(", ")
        ),
    )
}
