//! Describe the columns of the data that a run was fitted to.

use posteria::data::{Dataset, Encoder, InputColumn, Targets};
use posteria::fit::Prepared;
use posteria::model::spec::InferenceChoice;
use posteria_report::sections::{ColumnFacts, PriorDraws};

use crate::text;
use crate::words::PriorFunctions;

/// Functions of the prior that are drawn.
const PRIOR_DRAWS: usize = 20;

/// Classes that are named.
const NAMED: usize = 6;

/// Targets first, then inputs, on the user's scale.
pub fn columns(data: &Dataset, encoder: &Encoder) -> Vec<ColumnFacts> {
    let mut columns = targets(data, encoder);
    let references = encoder.reference_classes();
    columns.extend(encoder.input_columns().iter().map(|column| {
        let has_reference = references.iter().any(|(name, _)| *name == column.name);
        input(data, column, usize::from(has_reference))
    }));
    columns
}

/// Functions drawn from the prior beside the data, where the model can be drawn from.
pub fn prior_draws(prepared: &Prepared) -> Option<PriorDraws> {
    let Prepared { data, spec, .. } = prepared;
    // A committee has no prior, and where there is no target there is no function.
    let has_prior = spec.sampling.inference() != InferenceChoice::Committee;
    if !has_prior || spec.model.kind.is_unsupervised() {
        return None;
    }
    let drawn = PriorFunctions::draw(prepared, PRIOR_DRAWS)?;
    let (of, input, at, functions) = drawn.shown();
    let column = data.input_names.iter().position(|name| name == input)?;
    let scaling = &data.input_scaling[column];
    let x = data.inputs.column(column).iter().map(|value| scaling.invert(*value)).collect();
    let y = match &data.targets {
        Targets::Real { .. } | Targets::Counts { .. } | Targets::Durations { .. } => {
            target_rates(data, 0)
        }
        // The class whose probability is drawn: the second of two, the first of more.
        Targets::Classes { codes, labels, .. } => {
            let class = usize::from(labels.len() == 2);
            codes.iter().map(|code| f64::from(u8::from(*code == class))).collect()
        }
    };
    Some(PriorDraws {
        input: input.into(),
        output: of.into(),
        x: at.to_vec(),
        functions: functions.to_vec(),
        observed: [x, y],
        is_probability: matches!(data.targets, Targets::Classes { .. }),
        sizes: drawn.sizes(),
    })
}

/// The values of a column of numbers on the user's scale.
pub fn input_values(data: &Dataset, column: &InputColumn) -> Vec<f64> {
    let values = data.inputs.column(column.inputs.start);
    values.iter().map(|value| column.scaling[0].invert(*value)).collect()
}

/// The values of a target that is a number beside curves of its mean: counts per unit of exposure.
pub fn target_rates(data: &Dataset, target: usize) -> Vec<f64> {
    let mut values = target_values(data, target);
    if let Some(offsets) = &data.offsets {
        values.iter_mut().zip(offsets).for_each(|(value, offset)| *value /= offset.exp());
    }
    values
}

/// The values of a target that is a number, on the user's scale.
fn target_values(data: &Dataset, target: usize) -> Vec<f64> {
    match &data.targets {
        Targets::Real { values, .. } => {
            let scaling = &data.target_scaling[target];
            values.column(target).iter().map(|value| scaling.invert(*value)).collect()
        }
        Targets::Classes { .. } => Vec::new(),
        Targets::Counts { values, .. } => values.clone(),
        Targets::Durations { times, .. } => times.clone(),
    }
}

fn targets(data: &Dataset, encoder: &Encoder) -> Vec<ColumnFacts> {
    let role = || "target".to_string();
    match &data.targets {
        Targets::Real { names, .. } => names
            .iter()
            .enumerate()
            .map(|(target, name)| ColumnFacts {
                name: name.clone(),
                role: role(),
                numbers: moments(&target_values(data, target)),
                words: String::new(),
            })
            .collect(),
        Targets::Counts { name, values } => vec![ColumnFacts {
            name: name.clone(),
            role: role(),
            numbers: moments(values),
            words: String::new(),
        }],
        Targets::Durations { name, times, censored } => {
            let count = censored.iter().flatten().filter(|is_censored| **is_censored).count();
            let words = if count > 0 { format!("{count} censored") } else { String::new() };
            vec![ColumnFacts { name: name.clone(), role: role(), numbers: moments(times), words }]
        }
        Targets::Classes { name, codes, .. } => {
            let labels = encoder.labels();
            let mut counts = vec![0; labels.len()];
            codes.iter().for_each(|code| counts[*code] += 1);
            let mut named: Vec<String> =
                labels.iter().zip(&counts).take(NAMED).map(|(l, n)| format!("{l} ({n})")).collect();
            named.extend((labels.len() > NAMED).then(|| "…".to_string()));
            let words = named.join(", ");
            vec![ColumnFacts { name: name.clone(), role: role(), numbers: [f64::NAN; 4], words }]
        }
    }
}

/// What is known of an input; `more` classes have no indicator.
fn input(data: &Dataset, column: &InputColumn, more: usize) -> ColumnFacts {
    let (name, role) = (column.name.clone(), "input".to_string());
    if column.is_number {
        let numbers = moments(&input_values(data, column));
        return ColumnFacts { name, role, numbers, words: String::new() };
    }
    let words = match column.inputs.len() {
        1 => "an indicator of one of two classes".into(),
        count => text::count(count + more, "class"),
    };
    ColumnFacts { name, role, numbers: [f64::NAN; 4], words }
}

/// Mean, standard deviation, smallest and largest of numbers.
fn moments(values: &[f64]) -> [f64; 4] {
    let n = values.len() as f64;
    let mean = values.iter().map(|value| value / n).sum::<f64>();
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let low = values.iter().copied().fold(f64::NAN, f64::min);
    let high = values.iter().copied().fold(f64::NAN, f64::max);
    [mean, (squares / (n - 1.0)).sqrt(), low, high]
}
