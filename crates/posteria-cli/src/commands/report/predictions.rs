//! Predict the rows of the fit, and what lies between them.

use std::num::NonZero;

use posteria::data::{Dataset, Encoder, InputColumn, Targets};
use posteria::draws::Draws;
use posteria::fit::{PosteriorPredictive, Prepared};
use posteria::model::spec::{InferenceChoice, ModelKind};
use posteria::predict::{Family, Predictive};
use posteria::random::Purpose;
use posteria_linalg::Matrix;
use posteria_report::sections::{Band, Basis, Curve, PointSet, Predictions, Surface};

use super::super::Context;
use super::data::{input_values, target_rates};
use super::effects::{effects, expect, spread};
use super::rows::RowNote;
use crate::failure::Result;
use crate::interrupt::Interrupt;

/// Draws that predict, and where each is expensive.
const DRAWS: usize = 400;
const OPEN_DRAWS: usize = 200;
/// Draws that predict rows which are left out: importance weights need more of them. Where each is
/// expensive, as many of them as rows³ operations each leave time for.
const LEFT_OUT_DRAWS: usize = 1000;
const OPEN_OPERATIONS: usize = 10_000_000_000;
/// Fewest draws with a tail that importance weights can be smoothed by.
const FEWEST: usize = 25;
/// Points of a curve, and of one side of a surface.
const CURVE: usize = 121;
const SIDE: usize = 45;
/// Outputs with curves and surfaces.
pub const OUTPUTS: usize = 4;

/// Everything about predictions; empty for models without targets. Effects of single inputs are
/// there `always`, or only where neither curves nor surfaces show more.
pub fn predictions(
    prepared: &Prepared,
    draws: &Draws,
    always: bool,
    (context, interrupt): (&Context, &Interrupt),
) -> Result<(Predictions, Option<RowNote>)> {
    let Prepared { spec, data, encoder, posterior, .. } = prepared;
    let is_open = spec.model.kind == ModelKind::Gp;
    let affordable = OPEN_OPERATIONS / data.rows().clamp(1, 2000).pow(3);
    let [few, many] = match is_open {
        true => [OPEN_DRAWS, affordable.clamp(OPEN_DRAWS, LEFT_OUT_DRAWS)],
        false => [DRAWS, LEFT_OUT_DRAWS],
    };
    let [few, many] = [few, many].map(|most| draws.clone().spread_evenly(NonZero::new(most)));
    let workers = context.workers(interrupt);
    let seed = context.seed();
    let work = PosteriorPredictive::of_run(posterior, (spec, &few), seed, &workers)?;
    let row_work = PosteriorPredictive::new(&**posterior, &many, is_open, seed, &workers);
    let (work, row_work) = match (work, row_work) {
        (Some(work), Some(rows)) if !work.family.is_density() && data.rows() > 0 => (work, rows),
        _ => return Ok((Predictions::default(), None)),
    };
    let is_linearised = work.is_linearised();
    let is_posterior = matches!(
        spec.sampling.inference(),
        InferenceChoice::Mcmc | InferenceChoice::Laplace | InferenceChoice::Variational
    );
    // Draws of a tempered posterior need other weights.
    let is_tempered = spec.sampling.tempered().is_some();
    let is_weighted = is_posterior && !is_linearised && !is_tempered;
    let basis = match is_weighted && row_work.total() >= FEWEST {
        true => Basis::LeaveOneOut,
        false => Basis::Fit,
    };
    let source = Source { work: &work, data, encoder };
    let rows = source.rows(&row_work, basis)?;
    let mut predictions = rows.shown(&source);
    source.grid(&mut predictions)?;
    if !is_linearised {
        predictions.replicated = source.replicated()?;
    }
    let columns = encoder.input_columns().len();
    let is_drawn = !predictions.curves.is_empty() || !predictions.surfaces.is_empty();
    if columns > 1 && (always || !is_drawn) && !is_linearised {
        predictions.effects = effects(&work, data, encoder, &source.outputs())?;
    }
    let note = rows.note(data.rows(), row_work.total());
    predictions.note = note.words();
    if is_linearised {
        predictions.note.push_str(" The network is taken as linear about its approximation.");
    }
    Ok((predictions, Some(note)))
}

/// What predicts.
pub struct Source<'a> {
    /// By draws, or a network taken as linear.
    pub work: &'a PosteriorPredictive<'a>,
    /// What was fitted.
    pub data: &'a Dataset,
    /// How tables become numbers.
    pub encoder: &'a Encoder,
}

/// The prediction of a place.
struct Point {
    /// Of every real target: the middle; 5, 25, 75 and 95 % quantiles.
    outputs: Vec<[f64; 5]>,
    probabilities: Vec<f64>,
}

impl Source<'_> {
    /// What is predicted: targets, the second of two classes, or every class.
    pub fn outputs(&self) -> Vec<String> {
        let labels = self.encoder.labels();
        let of = |label: &String| format!("P({label})");
        match self.work.family {
            Family::Bernoulli => labels[1..].iter().map(of).collect(),
            Family::Categorical { .. } => labels.iter().map(of).collect(),
            _ => self.encoder.target_names(),
        }
    }

    /// Whether the middle of a prediction is its median: a mean need not exist.
    pub fn by_median(&self) -> bool {
        matches!(self.work.family, Family::StudentT { .. } | Family::NormalPlusStudentT { .. })
    }

    /// Adds the curves of one input, or the surfaces of two.
    fn grid(&self, predictions: &mut Predictions) -> Result<()> {
        let columns = self.encoder.input_columns();
        let (axes, has_quantiles) = match &columns[..] {
            [x] if x.is_number => (vec![self.axis(x, CURVE)], true),
            [x, y] if x.is_number && y.is_number => {
                (vec![self.axis(x, SIDE), self.axis(y, SIDE)], false)
            }
            _ => return Ok(()),
        };
        let count = axes.iter().map(Vec::len).product();
        let value = |point: usize, k: usize| match &axes[..] {
            [x, _] if k == 0 => x[point % x.len()],
            [x, y] => y[point / x.len()],
            [x] => x[point],
            _ => f64::NAN,
        };
        let inputs = Matrix::from_fn(count, self.data.inputs.columns(), |point, k| {
            columns[k].scaling[0].apply(value(point, k))
        });
        let grid = self.map(&inputs, |_, predictive| self.point(predictive, has_quantiles))?;
        match &axes[..] {
            [x] => predictions.curves = self.curves(x, &grid, &columns[0], &inputs)?,
            [x, y] => predictions.surfaces = self.surfaces([x, y], &grid, &columns),
            _ => {}
        }
        Ok(())
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

    /// What `each` makes of the predictive distribution of every row of `inputs`.
    pub fn map<T: Send>(
        &self,
        inputs: &Matrix,
        each: impl Fn(usize, &Predictive<'_>) -> T + Sync,
    ) -> Result<Vec<T>> {
        Ok(self.work.map_rows(inputs, each)?)
    }

    /// The middle of a prediction, or where it has no mean its median.
    pub fn centre(&self, predictive: &Predictive<'_>, target: usize) -> f64 {
        match predictive.mean(target) {
            Some(mean) if !self.by_median() => mean,
            _ => predictive.quantile(target, 0.5),
        }
    }

    fn point(&self, predictive: &Predictive<'_>, has_quantiles: bool) -> Point {
        let family = predictive.family();
        let output = |target: usize| {
            let quantile = |p: f64| match has_quantiles {
                true => predictive.quantile(target, p),
                false => f64::NAN,
            };
            let [low, lower, upper, high] = [0.05, 0.25, 0.75, 0.95].map(quantile);
            [self.centre(predictive, target), low, lower, upper, high]
        };
        let mut probabilities = vec![0.0; family.classes()];
        if family.classes() > 0 {
            predictive.probabilities(&mut probabilities);
        }
        Point { outputs: (0..family.outputs()).map(output).collect(), probabilities }
    }

    fn curves(
        &self,
        x: &[f64],
        grid: &[Point],
        column: &InputColumn,
        inputs: &Matrix,
    ) -> Result<Vec<Curve>> {
        let across = input_values(self.data, column);
        let curve = |name: &String, centre, bands, up| Curve {
            model: String::new(),
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
                curve(name, of(0), bands, target_rates(self.data, target))
            };
            return Ok(names.iter().enumerate().take(OUTPUTS).map(real).collect());
        };
        let intervals = match self.work.is_linearised() {
            true => Vec::new(),
            false => self.probability_intervals(inputs)?,
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
        let drawn = work.workers.run("probabilities", work.total(), |number| {
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
            let numbers = rows.iter().map(|row| row + 1).collect();
            PointSet { name, rows: numbers, x: of(&across), y: of(&up) }
        };
        let surface = |name: &String, values, points, boundary: f64| Surface {
            model: String::new(),
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
