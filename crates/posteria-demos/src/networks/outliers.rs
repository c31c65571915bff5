//! Fit Neal's regression with outliers, by Student-t and by normal residuals [MCMCstuff §3.3.5].

use posteria::data::recipes::outliers::{Noise, TEST_ROWS, TRAINING_ROWS, draw, mean};
use posteria::data::{Table, Task};
use posteria::model::spec::{ResidualFamily, WidthRule};
use posteria::random::Purpose;
use posteria_report::figure::{Figure, Span};

use super::super::figures::Lines;
use super::estimate::Estimate;
use super::picture::{Grid, Plot};
use super::{
    Demonstration, Design, Fitted, Quantity, Settings, numbers, squared_differences, table_of,
};
use crate::Result;

const DRAWN: Grid = Grid { x: (-3.0, 3.0), y: (-1.5, 3.0), columns: 72, rows: 24 };

const DESIGN: Design = Design {
    target: "y",
    task: Task::Regression,
    hidden: 8,
    residual: ResidualFamily::StudentT,
    width: WidthRule::Mcmcstuff,
};

const WORDS: &str = "\
1-8-1 networks on 100 new rows of the recipe, tested on 100 more. One row in twenty is an outlier;
the clean table is the same without them. sd is the standard error over test rows; the degrees of
freedom are given by their posterior median and half the width of their central 68 %. The RMSE of
0.029 ± 0.013 is that of the manual of MCMCstuff; the mean square errors, 0.0192 ± 0.0106 with
outliers and 0.0094 ± 0.0012 without, are those of Neal's software, on Neal's own tables, where the
true curve scores 0.0194 and 0.0081. With outliers the error of any curve is mostly theirs: look at
the distance from the true curve.
";

/// Training and test rows of one kind of noise.
struct Tables {
    training: Table,
    test: Table,
}

impl Tables {
    /// Both kinds of noise have equal inputs, and differ in outliers alone.
    fn new(noise: Noise, settings: &Settings) -> Self {
        let stream = |part| settings.seed.stream(Purpose::Data, [23, part]);
        Tables {
            training: draw(settings.rows(TRAINING_ROWS), noise, &mut stream(0)),
            test: draw(settings.rows(TEST_ROWS), noise, &mut stream(1)),
        }
    }

    fn truth(&self) -> Vec<f64> {
        numbers(&self.test, "x").iter().map(|x| mean(*x)).collect()
    }

    /// Distance from the true curve, and mean square error against the targets.
    fn errors(&self, curve: &[f64]) -> (Estimate, Estimate) {
        (
            Estimate::of_root_mean(&squared_differences(curve, &self.truth())),
            Estimate::of_mean(&squared_differences(curve, numbers(&self.test, "y"))),
        )
    }
}

/// Published figures, in the order they are shown.
pub struct Published {
    /// With outliers and t residuals: distance from the true curve, and test error.
    pub t: (f64, f64),
    /// Without outliers and with normal residuals: test error.
    pub clean: f64,
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let plan = settings.plan(300, 1);
    let fit = |residual: ResidualFamily, training: &Table| {
        Design { residual, ..DESIGN }.fit(training, &plan, settings)
    };
    let published = Published { t: (0.029, 0.019_17), clean: 0.009_41 };
    report("outliers-mlp", WORDS, &published, &fit, settings)
}

/// Compares fits with t and with normal residuals, with and without outliers.
pub fn report(
    name: &'static str,
    words: &str,
    published: &Published,
    fit: &dyn Fn(ResidualFamily, &Table) -> Result<Fitted>,
    settings: &Settings,
) -> Result<Demonstration> {
    let outliers = Tables::new(Noise::Contaminated, settings);
    let clean = Tables::new(Noise::Normal, settings);
    let (t, normal) = (ResidualFamily::StudentT, ResidualFamily::Normal);
    let (distance, error) = published.t;
    let cases = [
        ("outliers, t residuals", t, &outliers, Some(distance), Some(error)),
        ("outliers, normal residuals", normal, &outliers, None, None),
        ("clean, normal residuals", normal, &clean, None, Some(published.clean)),
    ];
    let (mut results, mut fits) = (Vec::new(), Vec::new());
    for (label, residual, tables, published_distance, published_error) in cases {
        settings.console.message(label);
        let fitted = fit(residual, &tables.training)?;
        let (distance, error) = tables.errors(&fitted.outputs(&tables.test)?);
        let name = format!("{label}: RMSE to the true curve");
        results.push(Quantity::of(name, published_distance, distance));
        results.push(Quantity::of(format!("{label}: test MSE"), published_error, error));
        fits.push(fitted);
    }
    for (label, tables, published) in
        [("outliers", &outliers, 0.019_36), ("clean", &clean, 0.008_1)]
    {
        let (_, error) = tables.errors(&tables.truth());
        let name = format!("{label}: test MSE of the true curve");
        results.push(Quantity::of(name, Some(published), error));
    }
    let dof = Estimate::of_bulk(fits[0].values("residual_dof", 0));
    results.push(Quantity::of("degrees of freedom of the residuals", None, dof));
    let (drawn, figure) = picture([&fits[0], &fits[1]], &outliers)?;
    let r_hat = fits.iter().map(Fitted::r_hat).fold(f64::NAN, f64::max);
    Ok(settings.conclude(name, results, words.into(), r_hat).picturing(drawn, vec![figure]))
}

/// The curves of the fits with t and with normal residuals to rows with outliers.
fn picture([t, normal]: [&Fitted; 2], tables: &Tables) -> Result<(String, Figure)> {
    let (low, high) = DRAWN.x;
    let step = (high - low) / DRAWN.columns as f64;
    let inputs: Vec<f64> =
        (0..DRAWN.columns).map(|column| low + (column as f64 + 0.5) * step).collect();
    let places = table_of([("x", inputs.clone())]);
    let curve = t.outputs(&places)?;
    let truth: Vec<f64> = inputs.iter().map(|x| mean(*x)).collect();
    let [x, y] = ["x", "y"].map(|name| numbers(&tables.training, name).to_vec());
    let figure = Lines {
        title: "Outliers bend the curve with normal residuals, and not the one with t residuals",
        caption: "Lines: posterior means, and the curve that the rows were made with. Points: the rows, \
                  of which one in twenty is an outlier.",
        input: "x",
        output: "y",
        x: &inputs,
        lines: vec![
            ("t residuals", curve.clone()),
            ("normal residuals", normal.outputs(&places)?),
            ("true curve", truth),
        ],
        points: Some(("rows", x, y)),
        span: Span::Whole,
    };
    let mut plot = Plot::new(DRAWN);
    let rows = numbers(&tables.training, "x").iter().zip(numbers(&tables.training, "y"));
    rows.for_each(|(x, y)| plot.put(*x, *y, 'o'));
    for (x, y) in inputs.iter().zip(&curve) {
        plot.put(*x, mean(*x), '.');
        plot.put(*x, *y, '*');
    }
    let legend = "rows o, true curve ., posterior mean with t residuals *";
    Ok((format!("{legend}\n{}", plot.render()), figure.figure()))
}
