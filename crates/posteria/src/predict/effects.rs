//! Measure what each input does to the predictions.

use posteria_linalg::Matrix;

use super::Predictor;
use crate::data::InputColumn;
use crate::draws::Draws;

/// Half the width of central differences, in standard deviations of the input: the error of the
/// formula, h²/6 times the third derivative, and of rounding, 1e-16/h, are both far below the
/// posterior's own spread.
const STEP: f64 = 1e-4;

/// Numbers that the pairs of rows may hold: 32 MiB.
const MOST_NUMBERS: usize = 1 << 22;

/// How many rows and draws are enough. The effort of comparisons grows as rows² × draws; rows and
/// draws beyond are left out evenly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectOptions {
    /// Most rows.
    pub rows: usize,
    /// Most draws.
    pub draws: usize,
}

impl Default for EffectOptions {
    fn default() -> Self {
        EffectOptions { rows: 100, draws: 200 }
    }
}

/// Posterior mean and standard deviation of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Its mean over draws.
    pub mean: f64,
    /// Its standard deviation over draws, without what a draw leaves open; NaN for a single draw.
    pub sd: f64,
}

/// What one input does to one function of the model, on the user's scales.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputEffect {
    /// The average predictive comparison: the expected change of the outcome (of a class: of
    /// its probability) per unit of the input. For a column of two classes: from the first class
    /// to the second. For more classes: root mean square change between two of them.
    pub comparison: Estimate,
    /// Mean over rows of |∂f/∂x|; `None` for classes.
    pub mean_absolute_derivative: Option<Estimate>,
    /// Root mean square over rows of ∂f/∂x; `None` for classes.
    pub rms_derivative: Option<Estimate>,
}

/// The effects of one column of inputs, one for every function of the model
/// ([`Family::functions`](super::Family::functions)), averaged over the rows of `inputs`.
///
/// With u the column and v all other inputs, the average predictive comparison at one draw is
///
/// Σ_ij w_ij \[E(y given u_j, v_i) - E(y given u_i, v_i)\] s_ij / Σ_ij w_ij (u_j - u_i) s_ij,
///
/// s_ij = sign(u_j - u_i), over pairs of rows: input u takes the value that it has in row j while
/// all else stays as in row i. The weight w_ij = 1 / (1 + d²), d the distance of v_i and v_j on the
/// standardised scale, keeps the change to combinations that the data support
/// [Gelman & Pardoe 2007]. For unordered classes of more than two the signed quotient
/// has no meaning, and √(Σ w_ij ΔE²/ Σ w_ij) over pairs of different classes takes its place.
/// Both have a value for every draw, hence a posterior mean and deviation. A column
/// that does not vary has no comparison: NaN.
///
/// Derivatives of f (real output, log odds) are central differences in the standardised input.
///
/// Where a draw does not settle the function, as that of a Gaussian process, all of this is about
/// its mean given the draw. The posterior mean of a comparison of real targets is the same; its
/// standard deviation is that over draws alone and leaves out the variance of the comparison given
/// a draw, so that it is too small. Means of |∂f/∂x| and of its root mean square are those of the
/// smoother mean function, and are too small as well.
///
/// # Panics
/// If there are no draws, or the inputs do not fit the predictor.
pub fn input_effects(
    predictor: &mut dyn Predictor,
    draws: &Draws,
    inputs: &Matrix,
    column: &InputColumn,
    options: &EffectOptions,
) -> Vec<InputEffect> {
    let total = draws.chains * draws.draws;
    let numbers = evenly(total, options.draws.max(1));
    let at_once = (MOST_NUMBERS / inputs.columns().max(1)).isqrt().max(2);
    let rows = evenly(inputs.rows(), options.rows.clamp(2, at_once));
    let inputs = Matrix::from_fn(rows.len(), inputs.columns(), |i, k| inputs[(rows[i], k)]);
    let length = draws.layout.len();
    let draws: Vec<&[f64]> =
        numbers.iter().map(|number| &draws.values[number * length..][..length]).collect();
    let comparisons = comparisons(predictor, &draws, &inputs, column);
    let slopes = column.is_number.then(|| {
        let unit = column.scaling[0].scale;
        derivatives(predictor, &draws, &inputs, column.inputs.start, unit)
    });
    let of = |both: usize, index: usize| {
        slopes.as_ref().map(|slopes: &[Vec<Estimate>; 2]| slopes[both][index])
    };
    let effect = |(index, comparison): (usize, &Estimate)| InputEffect {
        comparison: *comparison,
        mean_absolute_derivative: of(0, index),
        rms_derivative: of(1, index),
    };
    comparisons.iter().enumerate().map(effect).collect()
}

/// The average predictive comparison of every function.
fn comparisons(
    predictor: &mut dyn Predictor,
    draws: &[&[f64]],
    inputs: &Matrix,
    column: &InputColumn,
) -> Vec<Estimate> {
    let rows = inputs.rows();
    let own = column.inputs.clone();
    // One user's unit of a single input; `None`: unordered classes.
    let unit = match &column.scaling[..] {
        [scaling] => Some(scaling.scale),
        _ => None,
    };
    let pairs = Matrix::from_fn(rows * rows, inputs.columns(), |pair, k| {
        let (i, j) = (pair / rows, pair % rows);
        inputs[(if own.contains(&k) { j } else { i }, k)]
    });
    // Coefficient of E_ij - E_ii (or of its square), and the denominator.
    let mut coefficients = vec![0.0; rows * rows];
    let mut denominator = 0.0;
    for (pair, coefficient) in coefficients.iter_mut().enumerate() {
        let (i, j) = (pair / rows, pair % rows);
        let difference = |k: usize| inputs[(j, k)] - inputs[(i, k)];
        let others = (0..inputs.columns()).filter(|k| !own.contains(k));
        let weight = 1.0 / (1.0 + others.map(|k| difference(k).powi(2)).sum::<f64>());
        let change = match unit {
            Some(unit) => unit * difference(own.start),
            None if own.clone().any(|k| difference(k).abs() > 0.0) => 1.0,
            None => 0.0,
        };
        denominator += weight * change.abs();
        if change.abs() > 0.0 {
            *coefficient = weight * change.signum();
        }
    }
    let family = predictor.family();
    let (width, functions) = (family.width(), family.functions());
    let mut parameters = vec![0.0; rows * rows * width];
    let (mut base, mut moved) = (vec![0.0; functions], vec![0.0; functions]);
    let mut values = vec![Vec::with_capacity(draws.len()); functions];
    for draw in draws {
        predictor.at(draw, &pairs, &mut parameters);
        let mut sums = vec![0.0; functions];
        for i in 0..rows {
            let of = |j: usize| &parameters[(i * rows + j) * width..][..width];
            family.expect(of(i), &mut base);
            for j in 0..rows {
                let coefficient = coefficients[i * rows + j];
                family.expect(of(j), &mut moved);
                for ((sum, moved), base) in sums.iter_mut().zip(&moved).zip(&base) {
                    let change = moved - base;
                    *sum += coefficient * if unit.is_some() { change } else { change * change };
                }
            }
        }
        for (values, sum) in values.iter_mut().zip(sums) {
            let mean = sum / denominator;
            values.push(if unit.is_some() { mean } else { mean.sqrt() });
        }
    }
    values.iter().map(|values| Estimate::of(values)).collect()
}

/// Mean absolute and root mean square derivative of every function by one input.
fn derivatives(
    predictor: &mut dyn Predictor,
    draws: &[&[f64]],
    inputs: &Matrix,
    column: usize,
    unit: f64,
) -> [Vec<Estimate>; 2] {
    let functions = predictor.family().functions();
    let moved = |by: f64| {
        let mut moved = inputs.clone();
        moved.column_mut(column).iter_mut().for_each(|value| *value += by);
        moved
    };
    let (below, above) = (moved(-STEP), moved(STEP));
    let rows = inputs.rows();
    let (mut low, mut high) = (vec![0.0; rows * functions], vec![0.0; rows * functions]);
    let mut values = [0, 1].map(|_| vec![Vec::with_capacity(draws.len()); functions]);
    for draw in draws {
        predictor.functions(draw, &below, &mut low);
        predictor.functions(draw, &above, &mut high);
        let [absolute, squared] = &mut values;
        for (function, (absolute, squared)) in absolute.iter_mut().zip(squared).enumerate() {
            let slope = |row: usize| {
                let at = row * functions + function;
                (high[at] - low[at]) / (2.0 * STEP)
            };
            let largest = (0..rows).map(slope).fold(0.0_f64, |most, slope| most.max(slope.abs()));
            let mean = |power: i32| {
                // Relative to the largest: squares stay in range.
                let terms = (0..rows).map(|row| (slope(row) / largest).abs().powi(power));
                if largest > 0.0 { terms.sum::<f64>() / rows as f64 } else { 0.0 }
            };
            absolute.push(largest * mean(1) / unit);
            squared.push(largest * mean(2).sqrt() / unit);
        }
    }
    values.map(|all| all.iter().map(|values| Estimate::of(values)).collect())
}

impl Estimate {
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().map(|value| value / count).sum::<f64>();
        let largest = values.iter().fold(0.0_f64, |most, value| most.max((value - mean).abs()));
        let sd = if largest > 0.0 {
            let squares: f64 = values.iter().map(|value| ((value - mean) / largest).powi(2)).sum();
            largest * (squares / (count - 1.0)).sqrt()
        } else {
            0.0
        };
        let sd = if mean.is_nan() || values.len() < 2 { f64::NAN } else { sd };
        Estimate { mean, sd }
    }
}

/// At most `most` of the numbers 0, …, `count` - 1, evenly spread from the first to the last.
fn evenly(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    if most == 1 {
        return vec![count - 1];
    }
    (0..most).map(|k| k * (count - 1) / (most - 1)).collect()
}
