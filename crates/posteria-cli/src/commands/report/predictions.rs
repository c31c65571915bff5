//! Predict the rows of the fit, and what lies between them.

use std::num::NonZero;

use posteria::approximate::Linearised;
use posteria::data::{Dataset, Encoder, InputColumn, Targets};
use posteria::draws::Draws;
use posteria::model::spec::ModelKind;
use posteria::predict::{Family, Predictive};
use posteria::random::Purpose;
use posteria_linalg::Matrix;
use posteria_report::sections::{
    Band, ClassifiedRows, Curve, FittedRows, PointSet, Predictions, Surface,
};

use super::super::Context;
use super::data::{input_values, target_values};
use super::effects::{effects, evenly, expect, spread};
use crate::approximation;
use crate::failure::Result;
use crate::interrupt::Interrupt;
use crate::prepare::Prepared;
use crate::text;
use crate::work::{Work, spread_evenly};

/// Draws that predict, and where each is expensive.
const DRAWS: usize = 400;
const OPEN_DRAWS: usize = 200;
/// Rows of the fit that are predicted.
const ROWS: usize = 1000;
/// Points of a curve, and of one side of a surface.
const CURVE: usize = 121;
const SIDE: usize = 45;
/// Outputs with curves and surfaces.
const OUTPUTS: usize = 4;

/// Everything about predictions; empty for models without targets.
pub fn predictions(
    prepared: &Prepared,
    draws: &Draws,
    context: &Context,
    interrupt: &Interrupt,
) -> Result<Predictions> {
    let Prepared { spec, data, encoder, posterior, .. } = prepared;
    let is_open = spec.model.kind == ModelKind::Gp;
    let most = if is_open { OPEN_DRAWS } else { DRAWS };
    let draws = spread_evenly(draws.clone(), NonZero::new(most));
    let work = match Work::new(&**posterior, &draws, is_open, context, interrupt) {
        Some(work) if !work.family.is_density() && data.rows() > 0 => work,
        _ => return Ok(Predictions::default()),
    };
    let linearised = approximation::linearised(posterior, spec, context)?;
    let is_linearised = linearised.is_some();
    let source = Source { work: &work, linearised, data, encoder };
    let mut predictions = source.predictions()?;
    let columns = encoder.input_columns().len();
    let is_drawn = !predictions.curves.is_empty() || !predictions.surfaces.is_empty();
    if columns > 1 && !is_drawn && !is_linearised {
        predictions.effects = effects(&work, data, encoder, &source.outputs())?;
    }
    let by = match is_linearised {
        true => "a network taken as linear about its approximation".to_string(),
        false => format!("{} evenly chosen draws", work.total()),
    };
    let rows = match data.rows() {
        count if count > ROWS => format!("{ROWS} of {count} rows of the fit are shown"),
        count => format!("the {} of the fit", text::count(count, "row")),
    };
    predictions.note = format!(
        "Predicted by {by}: {rows}. For what to expect of rows that the model has not seen, see \
         posteria predict with other rows."
    );
    Ok(predictions)
}

/// What predicts.
struct Source<'a> {
    work: &'a Work<'a>,
    linearised: Option<Linearised<'a>>,
    data: &'a Dataset,
    encoder: &'a Encoder,
}

/// The prediction of a row.
struct Point {
    /// Of every real target: the middle; 5, 25, 75 and 95 % quantiles; P(target ≤ observed).
    outputs: Vec<[f64; 6]>,
    probabilities: Vec<f64>,
}

/// What has to be known of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    /// 90 % and the level of the observed target.
    Row,
    /// All quantiles.
    Curve,
    /// The middle.
    Surface,
}

impl Source<'_> {
    /// What is predicted: targets, the second of two classes, or every class.
    fn outputs(&self) -> Vec<String> {
        let labels = self.encoder.labels();
        let of = |label: &String| format!("P({label})");
        match self.work.family {
            Family::Bernoulli => labels[1..].iter().map(of).collect(),
            Family::Categorical { .. } => labels.iter().map(of).collect(),
            _ => self.encoder.target_names(),
        }
    }

    /// Whether the middle of a prediction is its median: a mean need not exist.
    fn by_median(&self) -> bool {
        matches!(self.work.family, Family::StudentT { .. } | Family::NormalPlusStudentT { .. })
    }

    fn predictions(&self) -> Result<Predictions> {
        let kept = evenly(self.data.rows(), ROWS);
        let columns = self.encoder.input_columns();
        let axes = match &columns[..] {
            [x] if x.is_number => vec![self.axis(x, CURVE)],
            [x, y] if x.is_number && y.is_number => vec![self.axis(x, SIDE), self.axis(y, SIDE)],
            _ => Vec::new(),
        };
        let (first, extra, need) = match &axes[..] {
            [x] => (kept.len(), x.len(), Need::Curve),
            [x, y] => (kept.len(), x.len() * y.len(), Need::Surface),
            _ => (kept.len(), 0, Need::Surface),
        };
        let value = |point: usize, k: usize| match &axes[..] {
            [x, _] if k == 0 => x[point % x.len()],
            [x, y] => y[point / x.len()],
            [x] => x[point],
            _ => f64::NAN,
        };
        // Rows of the fit and of the grid together: what is expensive per draw is done once.
        let inputs = Matrix::from_fn(first + extra, self.data.inputs.columns(), |row, k| match row
            .checked_sub(first)
        {
            None => self.data.inputs[(kept[row], k)],
            Some(point) => columns[k].scaling[0].apply(value(point, k)),
        });
        let observed: Vec<Vec<f64>> =
            (0..self.work.family.outputs()).map(|t| target_values(self.data, t)).collect();
        let points = self.map(&inputs, |row, predictive| match row < first {
            true => self.point(predictive, Need::Row, &|t| observed[t][kept[row]]),
            false => self.point(predictive, need, &|_| f64::NAN),
        })?;
        let (rows, grid) = points.split_at(first);
        let mut predictions = Predictions {
            fitted: self.fitted(rows, &observed, &kept),
            classified: self.classified(rows, &kept),
            ..Predictions::default()
        };
        match &axes[..] {
            [x] => predictions.curves = self.curves(x, grid, &columns[0], &inputs, first)?,
            [x, y] => predictions.surfaces = self.surfaces([x, y], grid, &columns),
            _ => {}
        }
        Ok(predictions)
    }

    /// Even steps a little beyond the data.
    fn axis(&self, column: &InputColumn, points: usize) -> Vec<f64> {
        let values = input_values(self.data, column);
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let margin = if high > low { 0.05 * (high - low) } else { 1.0 };
        let (low, high) = (low - margin, high + margin);
        (0..points).map(|i| low + (high - low) * i as f64 / (points - 1) as f64).collect()
    }

    fn map<T: Send>(
        &self,
        inputs: &Matrix,
        each: impl Fn(usize, &Predictive<'_>) -> T + Sync,
    ) -> Result<Vec<T>> {
        let Some(linearised) = &self.linearised else { return self.work.map_rows(inputs, each) };
        let family = linearised.family();
        let parameters = linearised.parameters(inputs);
        let rows = parameters.chunks_exact(family.width()).enumerate();
        Ok(rows.map(|(row, own)| each(row, &Predictive::new(family, own))).collect())
    }

    fn point(
        &self,
        predictive: &Predictive<'_>,
        need: Need,
        observed: &dyn Fn(usize) -> f64,
    ) -> Point {
        let family = predictive.family();
        let output = |target: usize| {
            let quantile = |p: f64| predictive.quantile(target, p);
            let centre = match predictive.mean(target) {
                Some(mean) if !self.by_median() => mean,
                _ => quantile(0.5),
            };
            let [outer, inner] = [need != Need::Surface, need == Need::Curve];
            let if_needed =
                |is_needed: bool, p: f64| if is_needed { quantile(p) } else { f64::NAN };
            let level = match need {
                Need::Row => predictive.cdf(target, observed(target)),
                _ => f64::NAN,
            };
            let [low, high] = [0.05, 0.95].map(|p| if_needed(outer, p));
            let [lower, upper] = [0.25, 0.75].map(|p| if_needed(inner, p));
            [centre, low, lower, upper, high, level]
        };
        let mut probabilities = vec![0.0; family.classes()];
        if family.classes() > 0 {
            predictive.probabilities(&mut probabilities);
        }
        Point { outputs: (0..family.outputs()).map(output).collect(), probabilities }
    }

    fn fitted(&self, rows: &[Point], observed: &[Vec<f64>], kept: &[usize]) -> Vec<FittedRows> {
        let names = self.encoder.target_names();
        let of = |target: usize, k: usize| rows.iter().map(|row| row.outputs[target][k]).collect();
        let each = observed.iter().enumerate().take(OUTPUTS);
        each.map(|(target, all)| FittedRows {
            target: names[target].clone(),
            observed: kept.iter().map(|row| all[*row]).collect(),
            predicted: of(target, 0),
            interval: [of(target, 1), of(target, 4)],
            level: of(target, 5),
        })
        .collect()
    }

    fn classified(&self, rows: &[Point], kept: &[usize]) -> Option<ClassifiedRows> {
        let Targets::Classes { name, labels, codes } = &self.data.targets else { return None };
        Some(ClassifiedRows {
            target: name.clone(),
            labels: labels.clone(),
            observed: kept.iter().map(|row| codes[*row]).collect(),
            probabilities: rows.iter().map(|row| row.probabilities.clone()).collect(),
        })
    }

    fn curves(
        &self,
        x: &[f64],
        grid: &[Point],
        column: &InputColumn,
        inputs: &Matrix,
        first: usize,
    ) -> Result<Vec<Curve>> {
        let across = input_values(self.data, column);
        let curve = |name: &String, centre, bands, up| Curve {
            input: column.name.clone(),
            output: name.clone(),
            x: x.to_vec(),
            centre,
            centre_name: if self.by_median() { "median".into() } else { "mean".into() },
            bands,
            observed: [across.clone(), up],
            is_probability: self.work.family.classes() > 0,
        };
        let names = self.outputs();
        let Targets::Classes { codes, .. } = &self.data.targets else {
            let real = |(target, name): (usize, &String)| {
                let of = |k: usize| grid.iter().map(|p| p.outputs[target][k]).collect::<Vec<_>>();
                let band =
                    |probability, low, high| Band { probability, low: of(low), high: of(high) };
                let bands = vec![band(0.9, 1, 4), band(0.5, 2, 3)];
                curve(name, of(0), bands, target_values(self.data, target))
            };
            return Ok(names.iter().enumerate().take(OUTPUTS).map(real).collect());
        };
        let grid_inputs = inputs.rows_in(first..inputs.rows());
        let intervals = match self.linearised {
            Some(_) => Vec::new(),
            None => self.probability_intervals(&grid_inputs)?,
        };
        let functions = self.work.family.functions();
        let of_class = |(output, name): (usize, &String)| {
            let class = if functions == 1 { 1 } else { output };
            let centre = grid.iter().map(|point| point.probabilities[class]).collect();
            let has = |code: &usize| f64::from(u8::from(*code == class));
            let end = |k: usize| {
                intervals.iter().skip(output).step_by(functions).map(|ends| ends[k]).collect()
            };
            let band = Band { probability: 0.9, low: end(1), high: end(2) };
            let bands = if intervals.is_empty() { Vec::new() } else { vec![band] };
            curve(name, centre, bands, codes.iter().map(has).collect())
        };
        Ok(names.iter().enumerate().take(OUTPUTS).map(of_class).collect())
    }

    /// Mean and 90 % of the probability of every class at every row, over draws of the function.
    fn probability_intervals(&self, inputs: &Matrix) -> Result<Vec<[f64; 3]>> {
        let work = self.work;
        let (width, length) = (inputs.rows() * work.family.functions(), work.draws.layout.len());
        let drawn = work.run("probabilities", work.total(), |number| {
            let mut outputs = vec![0.0; width];
            let draw = &work.draws.values[number * length..][..length];
            let indices = [number as u64, 0];
            let mut stream = work.seed.stream(Purpose::Functions, indices);
            work.predictor().draw_functions(draw, inputs, &mut stream, &mut outputs);
            expect(work.family, &mut outputs);
            outputs
        })?;
        Ok((0..width).map(|at| spread(drawn.iter().map(|draw| draw[at]).collect())).collect())
    }

    fn surfaces(
        &self,
        [x, y]: [&Vec<f64>; 2],
        grid: &[Point],
        columns: &[InputColumn],
    ) -> Vec<Surface> {
        let [across, up] = [0, 1].map(|k| input_values(self.data, &columns[k]));
        let set = |name: String, is_in: &dyn Fn(usize) -> bool| {
            let rows: Vec<usize> = (0..self.data.rows()).filter(|row| is_in(*row)).collect();
            let of = |values: &[f64]| rows.iter().map(|row| values[*row]).collect();
            PointSet { name, x: of(&across), y: of(&up) }
        };
        let surface = |name: &String, values, points, boundary: f64| Surface {
            inputs: [columns[0].name.clone(), columns[1].name.clone()],
            output: name.clone(),
            x: x.clone(),
            y: y.clone(),
            values,
            is_probability: boundary.is_finite(),
            boundary,
            points,
        };
        let names = self.outputs();
        let names = names.iter().enumerate().take(OUTPUTS);
        let Targets::Classes { labels, codes, .. } = &self.data.targets else {
            return names
                .map(|(target, name)| {
                    let values = grid.iter().map(|point| point.outputs[target][0]).collect();
                    let all = set("data".into(), &|_| true);
                    surface(name, values, vec![all], f64::NAN)
                })
                .collect();
        };
        let of_class = |(output, name): (usize, &String)| {
            let class = if labels.len() == 2 { 1 } else { output };
            let values = grid.iter().map(|point| point.probabilities[class]).collect();
            let others = if labels.len() == 2 { labels[0].clone() } else { "others".into() };
            let points = vec![
                set(others, &|row| codes[row] != class),
                set(labels[class].clone(), &|row| codes[row] == class),
            ];
            surface(name, values, points, 0.5)
        };
        names.map(of_class).collect()
    }
}
