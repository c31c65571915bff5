//! Average the prediction over rows as one input changes.

use posteria::data::{Dataset, Encoder, InputColumn};
use posteria::fit::PosteriorPredictive;
use posteria::predict::Family;
use posteria::random::Purpose;
use posteria_linalg::Matrix;
use posteria_report::sections::Effect;

use super::data::input_values;
use crate::failure::Result;

/// Figures in all, and fewest of every output.
const SHOWN: usize = 6;
const SHOWN_OF_EACH: usize = 3;
/// Outputs that are looked at.
const OUTPUTS: usize = 3;
/// Columns that are looked at.
const COLUMNS: usize = 40;
/// Values of a column of numbers.
const VALUES: usize = 15;
/// Draws, and draws where each is expensive.
const DRAWS: usize = 200;
const OPEN_DRAWS: usize = 40;
/// Rows of the table that is predicted, and where each is expensive.
const ROWS: usize = 30_000;
const OPEN_ROWS: usize = 4_000;
/// Rows of the data that are averaged over.
const AVERAGED: usize = 60;
/// What a draw stands for where it leaves the function open: so many values of averages of real
/// functions, and of those of classes, each of which takes a joint draw.
const OPEN_VALUES: usize = 25;
const OPEN_FUNCTIONS: usize = 5;
/// Draws of one job.
const JOB: usize = 8;

/// A column and the values it takes.
struct Varied {
    column: InputColumn,
    /// Numbers or 0, 1, … for classes.
    x: Vec<f64>,
    classes: Vec<String>,
    /// What the inputs of the column are then, standardised.
    settings: Vec<Vec<f64>>,
    values: Vec<f64>,
}

/// What every input does to predictions, output by output; the strongest first.
pub fn effects(
    work: &PosteriorPredictive<'_>,
    data: &Dataset,
    encoder: &Encoder,
    outputs: &[String],
) -> Result<Vec<Effect>> {
    let columns = encoder.input_columns();
    let varied: Vec<Varied> = columns.into_iter().take(COLUMNS).map(|c| vary(data, c)).collect();
    let settings: usize = varied.iter().map(|v| v.settings.len()).sum();
    let most = if work.is_open { OPEN_ROWS } else { ROWS };
    let kept = evenly(data.rows(), (most / settings.max(1)).clamp(5, AVERAGED));
    let inputs = rows(data, &varied, &kept);
    let averages = match work.predictor().leaves_open() {
        true => open_averages(work, &inputs, kept.len())?,
        false => averages(work, &inputs, kept.len())?,
    };
    let functions = work.family.functions();
    let mut effects = Vec::new();
    let shown_outputs = outputs.len().min(OUTPUTS);
    for (output, name) in outputs.iter().enumerate().take(shown_outputs) {
        let mut first = 0;
        let mut own: Vec<(f64, Effect)> = Vec::new();
        for Varied { column, x, classes, settings, values } in &varied {
            let here = first..first + settings.len();
            first = here.end;
            let of = |setting: usize| -> Vec<f64> {
                averages.iter().map(|draw| draw[setting * functions + output]).collect()
            };
            let each: Vec<[f64; 3]> = here.map(|setting| spread(of(setting))).collect();
            let [mean, low, high] =
                [0, 1, 2].map(|k| each.iter().map(|e| e[k]).collect::<Vec<_>>());
            let change = range(&mean)[1] - range(&mean)[0];
            own.push((
                change,
                Effect {
                    model: String::new(),
                    input: column.name.clone(),
                    output: name.clone(),
                    x: x.clone(),
                    classes: classes.clone(),
                    mean,
                    interval: [low, high],
                    values: values.clone(),
                    range: [f64::NAN; 2],
                },
            ));
        }
        own.sort_by(|a, b| b.0.total_cmp(&a.0));
        let ends: Vec<f64> = own.iter().flat_map(|(_, e)| e.interval.concat()).collect();
        effects.extend(own.into_iter().map(|(_, effect)| Effect { range: range(&ends), ..effect }));
    }
    Ok(effects)
}

/// Those of the effects, of one or several models, that belong to the inputs which change an output
/// most.
pub fn strongest(effects: Vec<Effect>) -> Vec<Effect> {
    let mut outputs: Vec<String> = Vec::new();
    for effect in &effects {
        if !outputs.contains(&effect.output) {
            outputs.push(effect.output.clone());
        }
    }
    let most = (SHOWN / outputs.len().max(1)).max(SHOWN_OF_EACH);
    let mut chosen = Vec::new();
    for output in &outputs {
        let mut inputs: Vec<(f64, &String)> = Vec::new();
        for effect in effects.iter().filter(|effect| effect.output == *output) {
            match inputs.iter_mut().find(|(_, input)| **input == effect.input) {
                Some((change, _)) => *change = change.max(effect.change()),
                None => inputs.push((effect.change(), &effect.input)),
            }
        }
        inputs.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (_, input) in inputs.iter().take(most) {
            let own = effects.iter().filter(|it| it.output == *output && it.input == **input);
            chosen.extend(own.cloned());
        }
    }
    chosen
}

/// The expected outcome of rows by their functions, in place: real outputs, probabilities, mean
/// counts for an exposure of one, or exp f of durations.
pub fn expect(family: Family, functions: &mut [f64]) {
    match family {
        Family::Count | Family::Duration(_) => functions.iter_mut().for_each(|f| *f = f.exp()),
        Family::Bernoulli => functions.iter_mut().for_each(|f| *f = 1.0 / (1.0 + (-*f).exp())),
        Family::Categorical { classes } => {
            for row in functions.chunks_exact_mut(classes.max(1)) {
                let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                row.iter_mut().for_each(|f| *f = (*f - top).exp());
                let total: f64 = row.iter().sum();
                row.iter_mut().for_each(|f| *f /= total);
            }
        }
        _ => {}
    }
}

/// For every draw, the expected outcome averaged over each `block` rows.
fn averages(
    work: &PosteriorPredictive<'_>,
    inputs: &Matrix,
    block: usize,
) -> Result<Vec<Vec<f64>>> {
    let numbers = evenly(work.total(), if work.is_open { OPEN_DRAWS } else { DRAWS });
    let (functions, length) = (work.family.functions(), work.draws.layout.len());
    let done = work.workers.run("effects", numbers.len().div_ceil(JOB), |job| {
        let mut predictor = work.predictor();
        let mut outputs = vec![0.0; inputs.rows() * functions];
        let here = &numbers[job * JOB..numbers.len().min((job + 1) * JOB)];
        let of_draw = |number: &usize| {
            let draw = &work.draws.values[number * length..][..length];
            predictor.functions(draw, inputs, &mut outputs);
            expect(work.family, &mut outputs);
            let settings = outputs.chunks_exact(block * functions);
            settings
                .flat_map(|rows| {
                    (0..functions).map(|function| {
                        let own = rows.iter().skip(function).step_by(functions);
                        own.sum::<f64>() / block as f64
                    })
                })
                .collect::<Vec<f64>>()
        };
        here.iter().map(of_draw).collect::<Vec<_>>()
    })?;
    Ok(done.into_iter().flatten().collect())
}

/// As [`averages`], where a draw leaves the function open. The average of real functions over a
/// block is normal given a draw, and every draw stands for several values of it; right for each
/// setting by itself. Those of classes are averages of functions that are drawn.
fn open_averages(
    work: &PosteriorPredictive<'_>,
    inputs: &Matrix,
    block: usize,
) -> Result<Vec<Vec<f64>>> {
    let numbers = evenly(work.total(), OPEN_DRAWS);
    let (functions, length) = (work.family.functions(), work.draws.layout.len());
    let weights = vec![1.0 / block as f64; block];
    let blocks: Vec<Matrix> = (0..inputs.rows() / block)
        .map(|setting| inputs.rows_in(setting * block..(setting + 1) * block))
        .collect();
    let done = work.workers.run("effects", numbers.len(), |job| {
        let mut predictor = work.predictor();
        let draw = &work.draws.values[numbers[job] * length..][..length];
        let mut stream = work.seed.stream(Purpose::Functions, [numbers[job] as u64, u64::MAX]);
        let real = work.family.outputs() > 0
            && !work.family.is_count()
            && work.family.duration().is_none();
        let count = if real { OPEN_VALUES } else { OPEN_FUNCTIONS };
        // The same for all settings, so that bands are smooth.
        let normal: Vec<f64> = (0..count).map(|_| stream.normal()).collect();
        let mut levels = vec![Vec::with_capacity(blocks.len() * functions); count];
        for inputs in &blocks {
            if real {
                let moments = predictor.weighted_sums(draw, inputs, &weights).unwrap_or_default();
                for (mean, variance) in moments {
                    let each = levels.iter_mut().zip(&normal);
                    each.for_each(|(level, z)| level.push(mean + z * variance.sqrt()));
                }
                continue;
            }
            for level in &mut levels {
                let mut outputs = vec![0.0; block * functions];
                predictor.draw_functions(draw, inputs, &mut stream, &mut outputs);
                expect(work.family, &mut outputs);
                level.extend((0..functions).map(|function| {
                    outputs.iter().skip(function).step_by(functions).sum::<f64>() / block as f64
                }));
            }
        }
        levels
    })?;
    Ok(done.into_iter().flatten().collect())
}

/// The kept rows of the data, again for every setting of every column.
fn rows(data: &Dataset, varied: &[Varied], kept: &[usize]) -> Matrix {
    let settings: Vec<(&Varied, &Vec<f64>)> =
        varied.iter().flat_map(|v| v.settings.iter().map(move |setting| (v, setting))).collect();
    Matrix::from_fn(settings.len() * kept.len(), data.inputs.columns(), |row, k| {
        let (varied, setting) = settings[row / kept.len()];
        let own = &varied.column.inputs;
        if own.contains(&k) {
            setting[k - own.start]
        } else {
            data.inputs[(kept[row % kept.len()], k)]
        }
    })
}

fn vary(data: &Dataset, column: InputColumn) -> Varied {
    if column.inputs.len() > 1 {
        let count = column.inputs.len();
        let setting = |class: usize| {
            let each = column.scaling.iter().enumerate();
            each.map(|(k, scaling)| scaling.apply(f64::from(u8::from(k == class)))).collect()
        };
        return Varied {
            x: (0..count).map(|class| class as f64).collect(),
            classes: data.input_names[column.inputs.clone()].to_vec(),
            settings: (0..count).map(setting).collect(),
            values: Vec::new(),
            column,
        };
    }
    let values = input_values(data, &column);
    let mut sorted = values.clone();
    sorted.sort_by(f64::total_cmp);
    let (x, classes) = if column.is_number {
        (grid(&sorted), Vec::new())
    } else {
        (vec![0.0, 1.0], vec!["other".to_string(), column.name.clone()])
    };
    let settings = x.iter().map(|value| vec![column.scaling[0].apply(*value)]).collect();
    Varied { x, classes, settings, values, column }
}

/// All of a few values; of more, even steps that leave out the outermost two per cent.
fn grid(sorted: &[f64]) -> Vec<f64> {
    let mut different = sorted.to_vec();
    different.dedup();
    if different.len() <= VALUES {
        return different;
    }
    let last = (sorted.len() - 1) as f64;
    let [low, high] = [0.02, 0.98].map(|p| sorted[(p * last).round() as usize]);
    let step = |index: usize| low + (high - low) * index as f64 / (VALUES - 1) as f64;
    (0..VALUES).map(step).collect()
}

/// Indices of at most `most` of `count` things, evenly chosen.
pub fn evenly(count: usize, most: usize) -> Vec<usize> {
    let kept = count.min(most);
    (0..kept).map(|index| index * count / kept).collect()
}

/// Mean and the 5 % and 95 % quantiles.
pub fn spread(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let last = values.len().saturating_sub(1) as f64;
    let [low, high] = [0.05, 0.95].map(|p| values.get((p * last).round() as usize).copied());
    [mean, low.unwrap_or(f64::NAN), high.unwrap_or(f64::NAN)]
}

/// The smallest and the largest number.
fn range(values: &[f64]) -> [f64; 2] {
    [
        values.iter().copied().fold(f64::NAN, f64::min),
        values.iter().copied().fold(f64::NAN, f64::max),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_inputs_of_all_models_are_kept_together() {
        let effect = |model: &str, input: usize, change: f64| Effect {
            model: model.into(),
            input: format!("x{input}"),
            output: "y".into(),
            mean: vec![0.0, change],
            ..Effect::default()
        };
        // One input is weak in one model and the strongest in the other.
        let first = (0..9).map(|input| effect("a", input, 9.0 - input as f64));
        let second = (0..9).map(|input| effect("b", input, if input == 8 { 20.0 } else { 0.0 }));
        let found = strongest(first.chain(second).collect());
        assert_eq!(found.len(), 2 * SHOWN);
        let names: Vec<&str> = found.iter().map(|it| &it.input[..]).step_by(2).collect();
        assert_eq!(names, ["x8", "x0", "x1", "x2", "x3", "x4"]);
        assert!(strongest(Vec::new()).is_empty());
    }

    #[test]
    fn functions_become_expected_outcomes() {
        let mut odds = [0.0, 800.0, -800.0];
        expect(Family::Bernoulli, &mut odds);
        assert!((odds[0] - 0.5).abs() < 1e-15 && odds[1] > 0.999 && odds[2] < 0.001);
        let mut outputs = [1000.0, 1000.0, -1000.0, 0.0, 0.0, 0.0];
        expect(Family::Categorical { classes: 3 }, &mut outputs);
        assert!((outputs[0] - 0.5).abs() < 1e-12 && (outputs[5] - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn grids_stay_within_the_data() {
        assert_eq!(grid(&[1.0, 3.0, 3.0, 7.0]), [1.0, 3.0, 7.0]);
        // A value that many rows have is not left out.
        let zeros = [vec![0.0; 50], (50..100).map(f64::from).collect()].concat();
        assert!(grid(&zeros)[0].abs() < 1e-12);
        let many: Vec<f64> = (0..=100).map(f64::from).collect();
        let grid = grid(&many);
        assert_eq!((grid.len(), grid[0], grid[VALUES - 1]), (VALUES, 2.0, 98.0));
        assert_eq!(evenly(10, 4), [0, 2, 5, 7]);
        assert!(evenly(0, 4).is_empty());
        let [mean, low, high] = spread((0..=100).map(f64::from).collect());
        assert!(
            (mean - 50.0).abs() < 1e-12 && (low - 5.0).abs() < 1e-12 && (high - 95.0).abs() < 1e-12
        );
    }
}
