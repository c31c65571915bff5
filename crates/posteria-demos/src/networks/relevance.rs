//! Show that relevance measures nonlinearity, not importance [Vehtari 2001, figures 2.1-2.3].

use posteria::data::recipes::relevance::{INPUTS, TRAINING_ROWS, draw, effect};
use posteria::data::{Table as DataTable, Task};
use posteria::model::spec::{ResidualFamily, WidthRule};
use posteria::random::Purpose;

use super::estimate::{Estimate, rank_correlation};
use super::{
    Demonstration, Design, Fitted, Quantity, Settings, numbers, squared_differences, table_of,
};
use crate::{Listing, Result};
use posteria_report::plain;

const NEW_ROWS: usize = 1000;
/// Half the width of finite differences: small beside the waves, large beside rounding.
const STEP: f64 = 0.02;
const NAMES: [&str; INPUTS] = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8"];

const DESIGN: Design = Design {
    target: "y",
    task: Task::Regression,
    hidden: 16,
    residual: ResidualFamily::Normal,
    width: WidthRule::Fbm,
};

const WORDS: &str = "\
The target is a sum of eight functions of one input each, of equal variance, so that all inputs are
equally important: from a straight line (x1) to a full wave (x8). An 8-16-1 network with one relevance
per input is fitted to 300 rows. Relevance: posterior median of the prior scale of the weights out of
the input; |f'| and |f''|: mean absolute derivatives of the posterior mean at 1000 new rows, and in
brackets those of the true function; importance: rise of the RMSE of these rows when the input is
replaced by its mean, which for independent inputs is to leave it out. Published: Vehtari 2001, §2.2.4,
figures 2.1 to 2.3, without numbers; its finding is that relevances follow the second derivatives, that
linear inputs get the smallest ones, and that none of this says how important an input is. The eight
functions, the numbers of rows and the noise are ours, the thesis prints none. An input that bends so
little that 300 rows can hardly tell is straight in some draws and bent in others; chains change sides
seldom, and most of R-hat is that.
";

/// What is known about one input.
struct Measures {
    relevance: Estimate,
    first: f64,
    second: f64,
    importance: f64,
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let mut stream = settings.seed.stream(Purpose::Data, [26, 0]);
    let training = draw(settings.rows(TRAINING_ROWS), &mut stream);
    let new = draw(settings.rows(NEW_ROWS), &mut stream);
    let fitted = DESIGN.fit(&training, &settings.plan(400, 4), settings)?;

    let outputs = fitted.outputs(&new)?;
    let rmse = Estimate::of_root_mean(&squared_differences(&outputs, numbers(&new, "y")));
    let measures = (0..INPUTS)
        .map(|input| measure(&fitted, &new, &outputs, input))
        .collect::<Result<Vec<Measures>>>()?;

    let mut results = Vec::new();
    let mut table = Listing::new(&[
        "input",
        "relevance",
        "sd",
        "|f'|",
        "(true)",
        "|f''|",
        "(true)",
        "importance",
    ]);
    let plain =
        |quantity: String, here: f64| Quantity { quantity, published: None, here, sd: None };
    for (input, found) in measures.iter().enumerate() {
        let name = NAMES[input];
        let [first, second] = true_derivatives(&new, input);
        table.row([
            name.into(),
            plain::fixed(found.relevance.value, 3),
            plain::fixed(found.relevance.sd, 3),
            plain::fixed(found.first, 2),
            format!("({})", plain::fixed(first, 2)),
            plain::fixed(found.second, 2),
            format!("({})", plain::fixed(second, 2)),
            plain::fixed(found.importance, 2),
        ]);
        results.push(Quantity::of(format!("{name}: relevance"), None, found.relevance));
        results.push(plain(format!("{name}: mean |f'|"), found.first));
        results.push(plain(format!("{name}: mean |f''|"), found.second));
        results.push(plain(format!("{name}: importance"), found.importance));
    }
    let of = |value: fn(&Measures) -> f64| -> Vec<f64> { measures.iter().map(value).collect() };
    let relevances = of(|found| found.relevance.value);
    let mut lines = String::new();
    for (what, values) in [
        ("mean |f''|", of(|found| found.second)),
        ("mean |f'|", of(|found| found.first)),
        ("importance", of(|found| found.importance)),
    ] {
        let correlation = rank_correlation(&relevances, &values);
        let name = format!("rank correlation of relevance with {what}");
        lines.push_str(&format!("{name}: {correlation:.2}\n"));
        results.push(plain(name, correlation));
    }
    let rows = new.rows();
    let r_hat = fitted.r_hat();
    lines.push_str(&format!(
        "RMSE of {rows} new rows: {:.3} ({:.3}), largest R-hat of fitted values: {r_hat:.3}\n",
        rmse.value, rmse.sd
    ));
    results.push(Quantity::of(format!("RMSE of {rows} new rows"), None, rmse));
    let done = settings.conclude("relevance", results, WORDS.into(), r_hat);
    Ok(Demonstration { shown: vec![table.into(), lines.into()], ..done })
}

fn measure(fitted: &Fitted, new: &DataTable, outputs: &[f64], input: usize) -> Result<Measures> {
    let at = |change: &dyn Fn(f64) -> f64| fitted.outputs(&changed(new, input, change));
    let (below, above) = (at(&|x| x - STEP)?, at(&|x| x + STEP)?);
    let count = outputs.len() as f64;
    let average = |term: &dyn Fn(usize) -> f64| (0..outputs.len()).map(term).sum::<f64>() / count;
    let targets = numbers(new, "y");
    let column = numbers(new, NAMES[input]);
    let centre = column.iter().sum::<f64>() / count;
    let without = at(&|_| centre)?;
    let rmse =
        |outputs: &[f64]| Estimate::of_root_mean(&squared_differences(outputs, targets)).value;
    Ok(Measures {
        relevance: Estimate::of_bulk(fitted.values("relevance", input)),
        first: average(&|row| (above[row] - below[row]).abs() / (2.0 * STEP)),
        second: average(&|row| {
            (above[row] - 2.0 * outputs[row] + below[row]).abs() / (STEP * STEP)
        }),
        importance: rmse(&without) - rmse(outputs),
    })
}

/// The inputs of `table`, one of them changed.
fn changed(table: &DataTable, input: usize, change: &dyn Fn(f64) -> f64) -> DataTable {
    let column = |(index, name): (usize, &'static str)| {
        let values = numbers(table, name);
        let values = values.iter().map(|x| if index == input { change(*x) } else { *x });
        (name, values.collect())
    };
    table_of(NAMES.into_iter().enumerate().map(column))
}

/// Means of |f'| and |f''| of the true function.
fn true_derivatives(table: &DataTable, input: usize) -> [f64; 2] {
    let values = numbers(table, NAMES[input]);
    let mut sums = [0.0; 2];
    for x in values {
        let effect = effect(input, *x);
        sums[0] += effect.first_derivative.abs();
        sums[1] += effect.second_derivative.abs();
    }
    sums.map(|sum| sum / values.len() as f64)
}
