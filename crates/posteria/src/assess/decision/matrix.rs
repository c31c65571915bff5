//! Read a table of costs: a line per action, a column per class.

use super::error::CostError;
use crate::data::nearest;

/// Costs of actions × classes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    pub(super) actions: Vec<String>,
    /// Cost of action a and class k at a · classes + k.
    pub(super) costs: Vec<f64>,
}

/// Reads the header, `action` and the classes in any order, and a line per action.
pub(super) fn read(file: &str, text: &str, labels: &[String]) -> Result<Matrix, CostError> {
    let first = text.lines().next().unwrap_or("");
    let separator = [b',', b'\t', b';'].into_iter().find(|c| first.contains(char::from(*c)));
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator.unwrap_or(b','))
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let unreadable =
        |error: csv::Error| CostError::Unreadable { file: file.into(), message: error.to_string() };
    let header = reader.headers().map_err(unreadable)?.clone();
    // The class of every column but the first.
    let mut classes = Vec::new();
    for (index, label) in header.iter().enumerate().skip(1) {
        let (file, column) = (file.to_string(), index + 1);
        let Some(class) = labels.iter().position(|known| known == label) else {
            let (label, suggestion) = (label.to_string(), nearest(label, labels));
            let labels = labels.to_vec();
            return Err(CostError::UnknownClass { file, column, label, suggestion, labels });
        };
        if classes.contains(&class) {
            return Err(CostError::RepeatedClass { file, column, label: label.into() });
        }
        classes.push(class);
    }
    let missing = (0..labels.len()).find(|class| !classes.contains(class));
    if let Some(class) = missing {
        return Err(CostError::MissingClass { file: file.into(), label: labels[class].clone() });
    }
    let mut matrix = Matrix { actions: Vec::new(), costs: Vec::new() };
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(0, |position| position.line() as usize);
        let (found, expected) = (record.len(), header.len());
        if found != expected {
            return Err(CostError::Cells { file: file.into(), line, found, expected });
        }
        let action = record[0].to_string();
        if matrix.actions.contains(&action) {
            return Err(CostError::RepeatedAction { file: file.into(), line, action });
        }
        let mut costs = vec![0.0; labels.len()];
        for (index, class) in classes.iter().enumerate() {
            let text = &record[index + 1];
            let value = text.parse().ok().filter(|value: &f64| value.is_finite());
            costs[*class] = value.ok_or_else(|| CostError::NotANumber {
                file: file.into(),
                line,
                column: index + 2,
                action: action.clone(),
                label: labels[*class].clone(),
                text: text.into(),
            })?;
        }
        matrix.actions.push(action);
        matrix.costs.extend(costs);
    }
    match matrix.actions.is_empty() {
        true => Err(CostError::NoActions { file: file.into() }),
        false => Ok(matrix),
    }
}
