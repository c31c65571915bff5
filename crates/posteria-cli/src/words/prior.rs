//! Show what the prior of a model says: functions drawn from it, and how large they are.

mod doubt;
mod process;

use posteria::data::{Dataset, Targets, Task};
use posteria::fit::Prepared;
use posteria::model::spec::{Link, ModelKind};
use posteria::predict::Predictor;
use posteria::random::{Purpose, Stream};
use posteria_linalg::Matrix;
use serde::Serialize;

use crate::output::heading;
use crate::text;
use posteria::draws::Role;

/// Functions that are drawn as lines of text.
pub const SHOWN: usize = 5;
/// Places of a line.
const PLACES: usize = 40;
/// Functions whose size is measured.
const MEASURED: usize = 400;
/// Most rows at which it is measured.
const ROWS: usize = 500;

/// Functions drawn from a prior, on the user's scale. What is not finite is null in JSON.
#[derive(Debug, Serialize)]
pub struct PriorFunctions {
    /// What the functions are of: a target, or a probability.
    of: String,
    /// The input that varies; all others stand at their means.
    input: String,
    /// Its values.
    at: Vec<f64>,
    /// One function per line.
    draws: Vec<Vec<f64>>,
    /// Standard deviation of f over the rows of the data, as the prior has it.
    sd_of_f: Quantiles,
    /// The residual scale, as the prior has it; absent for classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    residual_scale: Option<Quantiles>,
    /// Number of prior draws behind the quantiles.
    measured: usize,
    #[serde(skip)]
    unit: &'static str,
    /// Why the prior is not one of these data, and what to do.
    #[serde(skip)]
    doubt: Option<String>,
}

/// What prior draws say.
struct Drawn {
    /// The first functions at the places of the grid.
    functions: Vec<Vec<f64>>,
    /// Deviation of f over rows of the data, of every draw.
    deviations: Vec<f64>,
    /// The residual scale of every draw; empty where there is none.
    scales: Vec<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Quantiles {
    q05: f64,
    median: f64,
    q95: f64,
}

impl PriorFunctions {
    /// Draws functions from the prior of what was prepared, and keeps so many of them to be `shown`;
    /// `None` if the model cannot.
    pub fn draw(prepared: &Prepared, shown: usize) -> Option<Self> {
        let data = &prepared.data;
        if data.input_names.is_empty() {
            return None;
        }
        let (input, at, grid) = grid(data);
        let Drawn { functions, deviations, scales } = match prepared.spec.model.kind {
            ModelKind::Gp => process::draw(prepared, &grid, shown)?,
            _ => of_predictor(prepared, &grid, shown)?,
        };
        let probit = prepared.spec.model.link == Some(Link::Probit);
        let (of, unit) = match (&data.targets, data.task) {
            (Targets::Real { names, .. }, _) => (names[0].clone(), ""),
            (Targets::Counts { name, .. }, _) => {
                let per = if data.offsets.is_some() { " per unit of exposure" } else { "" };
                (format!("mean {name}{per}"), " (log of the mean count)")
            }
            (Targets::Durations { name, .. }, _) => {
                (format!("typical {name}"), " (log of the duration)")
            }
            (Targets::Classes { labels, .. }, Task::Binary) => {
                let unit = if probit { " (before the link)" } else { " (log odds)" };
                (format!("probability of {}", labels[1]), unit)
            }
            (Targets::Classes { labels, .. }, _) => {
                (format!("probability of {}", labels[0]), " (of one class, before the softmax)")
            }
        };
        let measured = deviations.len();
        let residual_scale = (!scales.is_empty()).then(|| Quantiles::of(scales));
        let sd_of_f = Quantiles::of(deviations);
        let draws = functions;
        let doubt = doubt::of(&sd_of_f, prepared);
        Some(PriorFunctions {
            of,
            input,
            at,
            draws,
            sd_of_f,
            residual_scale,
            measured,
            unit,
            doubt,
        })
    }

    /// The functions that are shown: of what, along which input, at which of its values, and each.
    pub fn shown(&self) -> (&str, &str, &[f64], &[Vec<f64>]) {
        (&self.of, &self.input, &self.at, &self.draws)
    }

    /// How large functions and residuals are, a sentence each.
    pub fn sizes(&self) -> Vec<String> {
        let function =
            format!("Deviation of f over the rows{}: {}.", self.unit, self.sd_of_f.words());
        let residual = self.residual_scale.map(|it| format!("Residual scale: {}.", it.words()));
        let of = format!("From {}.", text::count(self.measured, "prior draw"));
        [Some(function), residual, Some(of)].into_iter().flatten().collect()
    }

    /// Why the prior is not one of these data, if so, and what to do.
    pub fn doubt(&self) -> Option<&str> {
        self.doubt.as_deref()
    }

    /// The functions as lines of text.
    pub fn render(&self) -> String {
        let [from, to] = [self.at.first(), self.at.last()].map(|at| at.copied().unwrap_or(0.0));
        let mut lines = heading(&format!(
            "prior draws of {} over {} from {} to {} (other inputs at their means)",
            self.of,
            self.input,
            text::significant(from, 3),
            text::significant(to, 3)
        ));
        for draw in &self.draws {
            lines.push_str(&format!("  {}  {}\n", line(draw), range(draw)));
        }
        lines.push_str(&format!(
            "deviation of f over the rows{}: {}\n",
            self.unit,
            self.sd_of_f.words()
        ));
        if let Some(scale) = &self.residual_scale {
            lines.push_str(&format!("residual scale: {}\n", scale.words()));
        }
        lines.push_str(&format!(
            "from {}; heavy-tailed priors reach far, and the data decide\n",
            text::count(self.measured, "prior draw")
        ));
        lines
    }
}

/// Functions of a model whose draws are functions by themselves: a line, a network.
fn of_predictor(prepared: &Prepared, grid: &Matrix, shown: usize) -> Option<Drawn> {
    let Prepared { data, posterior, .. } = prepared;
    let mut predictor = posterior.predictor()?;
    let rows = some_rows(&data.inputs, ROWS);
    let scale = posterior.layout().of_role(Role::ResidualScale).map(|variable| variable.offset);
    let covariance = posterior.layout().of_role(Role::ResidualCovariance).map(|v| v.offset);
    let (mut functions, mut deviations, mut scales) = (Vec::new(), Vec::new(), Vec::new());
    for index in 0..MEASURED {
        let mut stream = stream(prepared, index);
        let draw = posterior.draw_prior(&mut stream)?;
        if index < shown {
            functions.push(first_function(predictor.as_mut(), &draw, grid, &mut stream, data.task));
        }
        deviations.push(deviation(&outputs(predictor.as_mut(), &draw, &rows, &mut stream)));
        scales.extend(scale.map(|at| draw[at]));
        scales.extend(covariance.map(|at| draw[at].sqrt()));
    }
    Some(Drawn { functions, deviations, scales })
}

/// The stream of one prior draw.
fn stream(prepared: &Prepared, index: usize) -> Stream {
    prepared.spec.sampling.seed().stream(Purpose::Data, [index as u64, 0])
}

/// The first input that varies, its values on the user's scale, and rows with these values.
fn grid(data: &Dataset) -> (String, Vec<f64>, Matrix) {
    let column = |k: usize| data.inputs.column(k);
    let bounds = |k: usize| {
        let start = (f64::INFINITY, f64::NEG_INFINITY);
        column(k).iter().fold(start, |(low, high), x| (low.min(*x), high.max(*x)))
    };
    let varies = |k: &usize| {
        let (low, high) = bounds(*k);
        low < high
    };
    let input = (0..data.inputs.columns()).find(varies).unwrap_or(0);
    let (low, high) = bounds(input);
    let place = |row: usize| low + (high - low) * row as f64 / (PLACES - 1) as f64;
    let means: Vec<f64> = (0..data.inputs.columns())
        .map(|k| column(k).iter().map(|x| x / data.rows() as f64).sum())
        .collect();
    let grid = Matrix::from_fn(PLACES, data.inputs.columns(), |row, k| {
        if k == input { place(row) } else { means[k] }
    });
    let at = (0..PLACES).map(|row| data.input_scaling[input].invert(place(row))).collect();
    (data.input_names[input].clone(), at, grid)
}

/// Rows of the data, evenly spaced if there are many.
fn some_rows(inputs: &Matrix, most: usize) -> Matrix {
    let kept = inputs.rows().min(most);
    Matrix::from_fn(kept, inputs.columns(), |row, k| inputs[(row * inputs.rows() / kept, k)])
}

/// The first function of a draw at some rows.
fn outputs(
    predictor: &mut dyn Predictor,
    draw: &[f64],
    rows: &Matrix,
    stream: &mut Stream,
) -> Vec<f64> {
    let width = predictor.family().functions();
    let mut all = vec![0.0; rows.rows() * width];
    predictor.draw_prior_functions(draw, rows, stream, &mut all);
    all.into_iter().step_by(width).collect()
}

/// The first function of a draw as it is shown: a target, or the probability of a class.
fn first_function(
    predictor: &mut dyn Predictor,
    draw: &[f64],
    rows: &Matrix,
    stream: &mut Stream,
    task: Task,
) -> Vec<f64> {
    let width = predictor.family().functions();
    let mut all = vec![0.0; rows.rows() * width];
    predictor.draw_prior_functions(draw, rows, stream, &mut all);
    match task {
        Task::Regression => all.into_iter().step_by(width).collect(),
        Task::Count | Task::Duration => all.into_iter().map(f64::exp).collect(),
        Task::Binary => all.into_iter().map(|f| 1.0 / (1.0 + (-f).exp())).collect(),
        // Relative to the first class: its own term is exp(0).
        Task::Multiclass | Task::Ordinal => all
            .chunks(width)
            .map(|f| 1.0 / f.iter().map(|other| (other - f[0]).exp()).sum::<f64>())
            .collect(),
    }
}

/// Standard deviation; infinite where the values are.
fn deviation(values: &[f64]) -> f64 {
    let largest = values.iter().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if !values.iter().all(|value| value.is_finite()) {
        return f64::INFINITY;
    }
    if largest <= 0.0 || values.len() < 2 {
        return 0.0;
    }
    // In units of the largest, whose square need not be a number.
    let count = values.len() as f64;
    let mean = values.iter().map(|value| value / largest).sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value / largest - mean).powi(2)).sum();
    (squares / (count - 1.0)).sqrt() * largest
}

impl Quantiles {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        Quantiles { q05: at(0.05), median: at(0.5), q95: at(0.95) }
    }

    fn words(&self) -> String {
        let [median, low, high] = [self.median, self.q05, self.q95].map(size);
        format!("median {median}, 90 % between {low} and {high}")
    }
}

/// A number that may be beyond all numbers.
fn size(value: f64) -> String {
    if value.is_finite() { text::short(value) } else { "more than a number can hold".into() }
}

/// A function as bars between its least and its largest value.
fn line(values: &[f64]) -> String {
    match bounds(values) {
        Some(ends) => text::bars(values, ends),
        None => " ".repeat(values.len()),
    }
}

fn range(values: &[f64]) -> String {
    let Some([low, high]) = bounds(values) else { return "beyond what a number can hold".into() };
    let largest = low.abs().max(high.abs());
    // A small range about a large value needs more digits to be seen.
    let decimals = text::decimals_for(0.5 * high - 0.5 * low, 2);
    if (1e-3..1e6).contains(&largest) && decimals < 10 {
        format!("{} to {}", text::fixed(low, decimals), text::fixed(high, decimals))
    } else {
        format!("{} to {}", text::short(low), text::short(high))
    }
}

/// Least and largest value; `None` unless all are finite.
fn bounds(values: &[f64]) -> Option<[f64; 2]> {
    let start = [f64::INFINITY, f64::NEG_INFINITY];
    let bounds = values.iter().fold(start, |[low, high], x| [low.min(*x), high.max(*x)]);
    values.iter().all(|value| value.is_finite()).then_some(bounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_rise_with_the_function_whatever_its_size() {
        for size in [1.0, 1e-300, 1e300, f64::MAX] {
            let values: Vec<f64> = (0..8).map(|i| size * (f64::from(i) / 3.5 - 1.0)).collect();
            assert_eq!(line(&values), "▁▂▃▄▅▆▇█", "{size}");
        }
        assert_eq!(line(&[2.0, 2.0]), "▁▁");
        assert_eq!(line(&[2.0, f64::INFINITY]), "  ");
        assert_eq!(range(&[2.0, f64::NAN]), "beyond what a number can hold");
        assert_eq!(range(&[-1.0, 1e300]), "-1.00 to 1.00e300");
        assert_eq!(range(&[1.46, 1.4603]), "1.46000 to 1.46030");
        assert_eq!(range(&[-3.0, 5.0]), "-3.0 to 5.0");
    }

    #[test]
    fn deviations_and_quantiles_survive_enormous_numbers() {
        assert!((deviation(&[1.0, 2.0, 3.0]) - 1.0).abs() < 1e-12);
        assert!((deviation(&[1e300, 2e300, 3e300]) / 1e300 - 1.0).abs() < 1e-12);
        assert!(deviation(&[1.0, f64::NAN]).is_infinite() && deviation(&[4.0]).abs() < 1e-300);
        let mut values: Vec<f64> = (0..=100).map(f64::from).collect();
        values[100] = f64::INFINITY;
        values[99] = f64::INFINITY;
        let quantiles = Quantiles::of(values);
        assert_eq!(quantiles.words(), "median 50.0, 90 % between 5.00 and 95.0");
        let words = Quantiles { q95: f64::INFINITY, ..quantiles }.words();
        assert!(words.ends_with("and more than a number can hold"), "{words}");
    }
}
