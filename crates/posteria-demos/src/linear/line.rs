//! See the posterior of a line tighten point by point [Bishop 2006, figure 3.7].

use posteria::data::recipes::line::{INTERCEPT, NOISE_SD, POINTS, PRIOR_PRECISION, SLOPE, draw};
use posteria::random::{Purpose, Stream};
use posteria_report::figure::{Figure, Palette};

use super::super::figures::Map;
use super::estimate::Estimate;
use super::picture::{Grid, Plot, beside};
use super::{Demonstration, Quantity, Settings, numbers, study};
use crate::Result;
use posteria_report::plain;

/// Lines that are drawn from every posterior.
const LINES: usize = 6;

/// Coefficients, intercept to the right and slope upwards.
const COEFFICIENTS: Grid = Grid { x: (-1.0, 1.0), y: (-1.0, 1.0), columns: 31, rows: 13 };
const FINE: Grid = Grid { columns: 61, rows: 61, ..COEFFICIENTS };
/// The plane of the points.
const PLANE: Grid = Grid { x: (-1.0, 1.0), y: (-1.2, 1.2), columns: 41, rows: 13 };

const WORDS: &str = "\
Left the posterior density of intercept (to the right) and slope (upwards), both from -1 to 1, with an x
at the truth; right lines drawn from it, and the points. The noise is known to have standard deviation
0.2, and both coefficients have a N(0, 1/2) prior, so every posterior is a normal distribution that is
known exactly; sd is its standard deviation. The published figure prints no numbers: beside ours stands
the line that made its points, and these points are our own. After 0 points it is the prior; one point
leaves a ridge of lines that pass near it; two make a hill; twenty leave little doubt. The last rows
compare the chain of `posteria fit --model linear` on the same 20 points.
";

/// The exact posterior: mean and covariance of intercept and slope.
#[derive(Clone, Copy, Debug)]
struct Exact {
    mean: [f64; 2],
    /// Variances, then the covariance.
    covariance: [f64; 3],
}

impl Exact {
    /// Given these points: S⁻¹ = αI + βΦᵀΦ and m = βSΦᵀy.
    fn new(x: &[f64], y: &[f64]) -> Self {
        let beta = NOISE_SD.powi(-2);
        let sum = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
            // The sum of nothing is -0.
            0.0 + beta * x.iter().zip(y).map(|(x, y)| f(*x, *y)).sum::<f64>()
        };
        let [a, b, c] = [
            PRIOR_PRECISION + sum(&|_, _| 1.0),
            PRIOR_PRECISION + sum(&|x, _| x * x),
            sum(&|x, _| x),
        ];
        let determinant = a * b - c * c;
        let covariance = [b / determinant, a / determinant, -c / determinant];
        let (p, q) = (sum(&|_, y| y), sum(&|x, y| x * y));
        let mean = [covariance[0] * p + covariance[2] * q, covariance[2] * p + covariance[1] * q];
        Exact { mean, covariance }
    }

    /// Density relative to that at the mean.
    fn density(&self, [intercept, slope]: [f64; 2]) -> f64 {
        let [v, w, c] = self.covariance;
        let (d, e) = (intercept - self.mean[0], slope - self.mean[1]);
        (-0.5 * (w * d * d - 2.0 * c * d * e + v * e * e) / (v * w - c * c)).exp()
    }

    fn draw(&self, stream: &mut Stream) -> [f64; 2] {
        let [v, w, c] = self.covariance;
        let (z, other) = (stream.normal(), stream.normal());
        let rest = (w - c * c / v).sqrt();
        [self.mean[0] + v.sqrt() * z, self.mean[1] + c / v.sqrt() * z + rest * other]
    }

    fn estimate(&self, coefficient: usize) -> Estimate {
        let sd = self.covariance[coefficient].sqrt();
        Estimate { value: self.mean[coefficient], sd }
    }
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let seed = settings.seed;
    let most = POINTS[POINTS.len() - 1];
    let table = draw(most, &mut seed.stream(Purpose::Data, [40, 0]));
    let (x, y) = (numbers(&table, "x"), numbers(&table, "y"));
    let (mut results, mut pictures, mut figures) = (Vec::new(), Vec::new(), Vec::new());
    for points in POINTS {
        let exact = Exact::new(&x[..points], &y[..points]);
        for (coefficient, (name, truth)) in
            [("intercept", INTERCEPT), ("slope", SLOPE)].into_iter().enumerate()
        {
            let quantity = format!("{}: {name}", plain::count(points, "point"));
            results.push(Quantity::of(quantity, Some(truth), exact.estimate(coefficient)));
        }
        let mut stream = seed.stream(Purpose::Data, [41, points as u64]);
        let (drawn, figure) = picture(&exact, (&x[..points], &y[..points]), &mut stream);
        pictures.push(drawn);
        figures.push(figure);
    }
    let precision = NOISE_SD.powi(-2);
    let sd = PRIOR_PRECISION.sqrt().recip();
    // A noise precision that is known to one part in ten thousand.
    let fitted = study(&format!(
        "[prior.weights]\nfixed = {sd}\n[prior.intercept]\nfixed = {sd}\n\
         [residual]\nprecision = {{ shape = 1e8, scale = {}e-8 }}",
        precision
    ))
    .fit(&table, &settings.plan(200, 1), settings)?;
    let exact = Exact::new(x, y);
    for (coefficient, name) in ["intercept", "weights"].into_iter().enumerate() {
        let draws = Estimate::of_draws(&fitted.values(name, 0));
        let Estimate { value, sd } = exact.estimate(coefficient);
        let name = ["intercept", "slope"][coefficient];
        results.push(Quantity {
            quantity: format!(
                "by a chain, 20 points: mean of the {name} less the exact one, in sd"
            ),
            published: None,
            here: (draws.value - value) / sd,
            sd: None,
        });
        results.push(Quantity {
            quantity: format!("by a chain, 20 points: sd of the {name} over the exact one"),
            published: None,
            here: draws.sd / sd,
            sd: None,
        });
    }
    let done = settings.conclude("line", results, WORDS.into(), fitted.r_hat());
    Ok(done.picturing(pictures.join("\n"), figures))
}

/// The posterior beside lines drawn from it, and the posterior for the page.
fn picture(exact: &Exact, (x, y): (&[f64], &[f64]), stream: &mut Stream) -> (String, Figure) {
    let densities: Vec<f64> =
        COEFFICIENTS.points().iter().map(|point| exact.density(*point)).collect();
    let mut left = COEFFICIENTS.shade(&densities, (0.0, 1.0));
    let cell = |value: f64, cells: usize| ((value + 1.0) / 2.0 * cells as f64) as usize;
    let (column, row) = (
        cell(INTERCEPT, COEFFICIENTS.columns),
        COEFFICIENTS.rows - 1 - cell(SLOPE, COEFFICIENTS.rows),
    );
    left[row] =
        left[row].chars().enumerate().map(|(i, c)| if i == column { 'x' } else { c }).collect();
    let mut plot = Plot::new(PLANE);
    for _ in 0..LINES {
        let [intercept, slope] = exact.draw(stream);
        for step in 0..4 * PLANE.columns {
            let at = -1.0 + 2.0 * (step as f64 + 0.5) / (4 * PLANE.columns) as f64;
            plot.put(at, intercept + slope * at, '.');
        }
    }
    x.iter().zip(y).for_each(|(x, y)| plot.put(*x, *y, 'o'));
    let right: Vec<String> = plot.render().lines().map(str::to_string).collect();
    let points = plain::count(x.len(), "point");
    let map = Map {
        title: &format!("Intercept and slope after {points}"),
        caption: "Colour: the posterior density, relative to its largest. Point: the line that made \
                  the points.",
        inputs: ["intercept", "slope"],
        output: "relative density",
        values: &FINE.points().iter().map(|point| exact.density(*point)).collect::<Vec<_>>(),
        range: (0.0, 1.0),
        palette: Palette::Sequential,
        points: vec![("truth", vec![INTERCEPT], vec![SLOPE])],
    };
    let drawn = beside([&format!("after {points}"), "lines drawn from it"], &left, &right);
    (drawn, map.figure(&FINE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_points_leave_the_prior_and_many_the_line() {
        let prior = Exact::new(&[], &[]);
        assert!(prior.mean.iter().all(|mean| mean.abs() < 1e-12));
        assert!((prior.estimate(0).sd - 0.5_f64.sqrt()).abs() < 1e-12);
        // Two points repeated so often that the prior and the noise do not count.
        let x: Vec<f64> = (0..20_000).map(|i| f64::from(i % 2) - 0.25).collect();
        let y: Vec<f64> = x.iter().map(|x| 0.1 + 0.7 * x).collect();
        let exact = Exact::new(&x, &y);
        assert!((exact.mean[0] - 0.1).abs() < 1e-4 && (exact.mean[1] - 0.7).abs() < 1e-4);
        // One point: y/(1 + α/β) at x = 0, and the slope stays as it was.
        let one = Exact::new(&[0.0], &[1.0]);
        assert!((one.mean[0] - 25.0 / 27.0).abs() < 1e-12 && one.mean[1].abs() < 1e-12);
        assert!((one.covariance[0] - 1.0 / 27.0).abs() < 1e-12);
        assert!((one.density(one.mean) - 1.0).abs() < 1e-12);
    }
}
