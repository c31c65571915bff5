//! Measure what each input does to the predictions.

use posteria_linalg::Matrix;

use super::Predictor;
use crate::data::InputColumn;
use crate::draws::Draws;
use crate::random::{Purpose, Seed, Stream};

/// Numbers that the pairs of rows may hold: 32 MiB.
const MOST_NUMBERS: usize = 1 << 22;

/// Covariances of pairs of rows² points that the variances of comparisons given a draw may take, of
/// all draws of a column together; and draws whose variance is averaged at least.
const MOST_COVARIANCES: usize = 1 << 30;
const FEWEST_VARIANCES: usize = 10;
/// Most rows of comparisons that are drawn: the covariances of rows² points are factorised.
const DRAWN_ROWS: usize = 25;

/// How many rows and draws are enough. The effort of comparisons grows as rows² × draws; rows and
/// draws beyond are left out evenly. Where a draw leaves the function open, the
/// effort grows as rows⁴: the variance of a comparison given a draw is averaged over fewer draws then
/// (20 for 100 rows). Comparisons of classes are over 25 rows at most, as their effort grows as rows⁶.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EffectOptions {
    /// Most rows.
    pub rows: usize,
    /// Most draws.
    pub draws: usize,
    /// Names the streams of what draws leave open.
    pub seed: Seed,
}

impl Default for EffectOptions {
    fn default() -> Self {
        EffectOptions { rows: 100, draws: 200, seed: Seed(0) }
    }
}

/// Posterior mean and standard deviation of a quantity.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Estimate {
    /// Its mean over draws.
    #[serde(deserialize_with = "crate::json::nan")]
    pub mean: f64,
    /// Its standard deviation over draws and over what a draw leaves open; NaN for a single draw.
    #[serde(deserialize_with = "crate::json::nan")]
    pub sd: f64,
}

/// What one input does to one function of the model, on the user's scales.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct InputEffect {
    /// The average predictive comparison: the expected change of the outcome (of a class: of
    /// its probability; of a count: of its mean for an exposure of one) per unit of the input. For a column of two classes: from the first class
    /// to the second. For more classes: root mean square change between two of them.
    pub comparison: Estimate,
    /// Mean over rows of |∂f/∂x|; `None` for a column of classes, and where f has no derivative.
    pub mean_absolute_derivative: Option<Estimate>,
    /// Root mean square over rows of ∂f/∂x; `None` as before.
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
/// Derivatives of f (real output, log odds) are by the standardised input, as
/// [`Predictor::draw_slopes`] has them.
///
/// Where a draw does not settle the function, as that of a Gaussian process, what it leaves open is
/// part of all of this. Comparisons of real targets are sums of the function, normal given a draw
/// with a known mean and variance; everything else is drawn, jointly over rows, once for every draw.
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
    let of_draws = OfDraws { draws, numbers, seed: options.seed };
    let comparisons = comparisons(predictor, &of_draws, &inputs, column);
    let slopes = match column.is_number {
        true => {
            let unit = column.scaling[0].scale;
            derivatives(predictor, &of_draws, &inputs, column.inputs.start, unit)
        }
        false => None,
    };
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

/// Draws, their numbers among all, and what their streams are named after.
struct OfDraws<'a> {
    draws: Vec<&'a [f64]>,
    numbers: Vec<usize>,
    seed: Seed,
}

impl<'a> OfDraws<'a> {
    /// Every draw with a stream of its own for one purpose.
    fn each(&self, purpose: usize) -> impl Iterator<Item = (&'a [f64], Stream)> {
        self.draws.iter().zip(&self.numbers).map(move |(draw, number)| {
            // 0 are the functions that users ask for.
            let indices = [*number as u64, 1 + purpose as u64];
            (*draw, self.seed.stream(Purpose::Functions, indices))
        })
    }
}

/// Pairs of rows and what their differences count in a comparison.
struct Pairs {
    rows: usize,
    inputs: Matrix,
    /// Coefficients of E_ij - E_ii, or of its square.
    coefficients: Vec<f64>,
    denominator: f64,
    /// Whether differences are squared: the column has unordered classes.
    squared: bool,
}

impl Pairs {
    fn new(inputs: &Matrix, column: &InputColumn) -> Self {
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
        let squared = unit.is_none();
        Pairs { rows, inputs: pairs, coefficients, denominator, squared }
    }

    /// The weight of every pair's function in the comparison, which is a sum of them.
    fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.coefficients.len()];
        for (pair, coefficient) in self.coefficients.iter().enumerate() {
            weights[pair] += coefficient / self.denominator;
            weights[pair / self.rows * (self.rows + 1)] -= coefficient / self.denominator;
        }
        weights
    }

    /// The comparison of every function, by what is expected at every pair.
    fn compare(&self, functions: usize, expected: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; functions];
        for (pair, coefficient) in self.coefficients.iter().enumerate() {
            let of = |pair: usize| &expected[pair * functions..][..functions];
            let base = of(pair / self.rows * (self.rows + 1));
            for ((sum, moved), base) in sums.iter_mut().zip(of(pair)).zip(base) {
                let change = moved - base;
                *sum += coefficient * if self.squared { change * change } else { change };
            }
        }
        let means = sums.into_iter().map(|sum| sum / self.denominator);
        means.map(|mean| if self.squared { mean.sqrt() } else { mean }).collect()
    }
}

/// The average predictive comparison of every function.
fn comparisons(
    predictor: &mut dyn Predictor,
    draws: &OfDraws<'_>,
    inputs: &Matrix,
    column: &InputColumn,
) -> Vec<Estimate> {
    let (family, open) = (predictor.family(), predictor.leaves_open());
    let functions = family.functions();
    let is_sum = family.outputs() > 0 && !family.is_count() && column.scaling.len() == 1;
    let most = if open && !is_sum { DRAWN_ROWS } else { usize::MAX };
    let rows = evenly(inputs.rows(), most);
    let inputs = Matrix::from_fn(rows.len(), inputs.columns(), |i, k| inputs[(rows[i], k)]);
    let pairs = Pairs::new(&inputs, column);
    let mut values = vec![Vec::with_capacity(draws.draws.len()); functions];
    let points = pairs.coefficients.len();
    let mut parameters = vec![0.0; points * family.width()];
    let mut outputs = vec![0.0; points * functions];
    for (draw, mut stream) in draws.each(2 * column.inputs.start) {
        if open && is_sum {
            // The mean given the draw; its variance follows.
            predictor.functions(draw, &pairs.inputs, &mut outputs);
        } else if open {
            predictor.draw_functions(draw, &pairs.inputs, &mut stream, &mut outputs);
            // The functions of real targets are expected as they are.
            if family.outputs() == 0 || family.is_count() {
                let shown = outputs.clone();
                let rows = outputs.chunks_exact_mut(functions).zip(shown.chunks_exact(functions));
                rows.for_each(|(expected, shown)| family.expect_given(shown, expected));
            }
        } else {
            predictor.at(draw, &pairs.inputs, &mut parameters);
            let each = parameters.chunks_exact(family.width());
            for (row, parameters) in outputs.chunks_exact_mut(functions).zip(each) {
                family.expect(parameters, row);
            }
        }
        let compared = pairs.compare(functions, &outputs);
        values.iter_mut().zip(compared).for_each(|(values, value)| values.push(value));
    }
    let mut variances = vec![0.0; functions];
    if open && is_sum {
        let weights = pairs.weights();
        let most = (2 * MOST_COVARIANCES / (points * points).max(1)).max(FEWEST_VARIANCES);
        let some = evenly(draws.draws.len(), most);
        for index in &some {
            let sums = predictor.weighted_sums(draws.draws[*index], &pairs.inputs, &weights);
            for (variance, (_, own)) in variances.iter_mut().zip(sums.unwrap_or_default()) {
                *variance += own / some.len() as f64;
            }
        }
    }
    let estimate = |(values, variance): (&Vec<f64>, &f64)| {
        let Estimate { mean, sd } = Estimate::of(values);
        Estimate { mean, sd: sd.hypot(variance.sqrt()) }
    };
    values.iter().zip(&variances).map(estimate).collect()
}

/// Mean absolute and root mean square derivative of every function by one input; `None` if there
/// is no derivative.
fn derivatives(
    predictor: &mut dyn Predictor,
    draws: &OfDraws<'_>,
    inputs: &Matrix,
    column: usize,
    unit: f64,
) -> Option<[Vec<Estimate>; 2]> {
    let functions = predictor.family().functions();
    let rows = inputs.rows();
    let mut slopes = vec![0.0; rows * functions];
    let mut values = [0, 1].map(|_| vec![Vec::with_capacity(draws.draws.len()); functions]);
    for (draw, mut stream) in draws.each(2 * column + 1) {
        if !predictor.draw_slopes(draw, inputs, column, &mut stream, &mut slopes) {
            return None;
        }
        let [absolute, squared] = &mut values;
        for (function, (absolute, squared)) in absolute.iter_mut().zip(squared).enumerate() {
            let slope = |row: usize| slopes[row * functions + function];
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
    Some(values.map(|all| all.iter().map(|values| Estimate::of(values)).collect()))
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
