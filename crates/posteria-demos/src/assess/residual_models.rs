//! Compare residual models in pairs [Vehtari 2001, §3.4.2, tables 3.1–3.3].

use posteria::assess::{Bootstrap, Comparison, PointwiseUtilities, compare};
use posteria::data::recipes::additives::draw;
use posteria::data::{Folds, Task};
use posteria::model::spec::{ModelKind, Priors, ResidualFamily, ResidualSpec, Spec};
use posteria::random::Purpose;
use posteria::sample::Plan;

use super::{Assessor, Demonstration, Quantity, Settings, Study, utilities};
use crate::{Listing, Result, Shown};
use posteria_report::plain;

/// Rows and folds of the quick form, which takes a minute.
const ROWS: usize = 100;
const FOLDS: usize = 5;
/// Rows and folds of the study as published, and tables of it: where one table is one chance, several
/// tell.
const FULL_ROWS: usize = 215;
const FULL_FOLDS: usize = 10;
const FULL_TABLES: usize = 3;
/// Hidden units of the published network.
const HIDDEN: usize = 10;
/// The columns whose values have a residual scale each.
const ADDITIVES: [&str; 2] = ["a", "b"];
const MODELS: [(&str, ResidualFamily, bool); 4] = [
    ("N", ResidualFamily::Normal, false),
    ("t", ResidualFamily::StudentT, false),
    ("in.dep. N", ResidualFamily::Normal, true),
    ("in.dep. t", ResidualFamily::StudentT, true),
];
const UTILITIES: [&str; 3] = ["nrmse", "abs-quantile:0.9", "likelihood"];

/// P(row better than column) as published for the concrete data, per utility.
static PUBLISHED: [[[f64; 4]; 4]; 3] = [
    [
        [0.5, 0.40, 0.22, 0.33],
        [0.60, 0.5, 0.18, 0.31],
        [0.78, 0.82, 0.5, 0.85],
        [0.67, 0.69, 0.15, 0.5],
    ],
    [
        [0.5, 0.17, 0.53, 0.21],
        [0.83, 0.5, 0.87, 0.67],
        [0.47, 0.13, 0.5, 0.23],
        [0.79, 0.33, 0.77, 0.5],
    ],
    [
        [0.5, 0.02, 0.01, 0.00],
        [0.98, 0.5, 0.22, 0.06],
        [0.99, 0.78, 0.5, 0.32],
        [1.00, 0.94, 0.68, 0.5],
    ],
];

const WORDS: &str = "\
Normal (N) and Student-t residuals, of one scale or of a scale for each combination of two additives
(input dependent), of a Gaussian process on 100 rows whose noise depends on the additives, with some
outliers. Five folds with Burman's correction; the tables show the probability that the model of
the row is better than that of the column, by paired differences. The published figures stand in
brackets: they are of Gaussian processes on the concrete data of the thesis (215 rows, 27 inputs), which
are not public, and comparable in kind only. Seen in both: by the error of the mean all models lie within
each other's sd, and by the predictive likelihood, which values the whole distribution, N is the worst and
input-dependent t the best. --full does the same on three tables of 215 rows by ten folds, and
with networks of 10 hidden units, and shows means over the tables.
";

/// How much is done.
struct Size {
    kinds: &'static [(&'static str, ModelKind)],
    tables: usize,
    rows: usize,
    folds: usize,
}

impl Size {
    fn of(settings: &Settings) -> Self {
        let kinds = &[("Gaussian process", ModelKind::Gp), ("network", ModelKind::Mlp)];
        match (settings.quick, settings.full) {
            (true, full) => {
                let kinds = if full { &kinds[..] } else { &kinds[..1] };
                Size { kinds, tables: 1, rows: settings.rows(ROWS), folds: 2 }
            }
            (_, true) => Size { kinds, tables: FULL_TABLES, rows: FULL_ROWS, folds: FULL_FOLDS },
            _ => Size { kinds: &kinds[..1], tables: 1, rows: ROWS, folds: FOLDS },
        }
    }
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let size = Size::of(settings);
    let (mut results, mut shown, mut r_hat) = (Vec::new(), Vec::new(), f64::NAN);
    for (label, kind) in size.kinds {
        let mut by_table = Vec::new();
        for table in 0..size.tables {
            let (compared, of_table) = on_table((*label, *kind), table, &size, settings)?;
            r_hat = of_table.max(r_hat);
            by_table.push(compared);
        }
        for (index, utility) in UTILITIES.iter().enumerate() {
            let found: Vec<&Comparison> = by_table.iter().map(|table| &table[index]).collect();
            // The thesis compares residual models of Gaussian processes alone.
            let published = (*kind == ModelKind::Gp).then_some(&PUBLISHED[index]);
            results.extend(figures(&format!("{label}, {utility}"), &found, published));
            shown.push(Shown::Lines(format!("{label}, {utility}\n")));
            shown.push(matrix(&found, published).into());
            shown.push(Shown::Lines("\n".into()));
        }
    }
    let done = settings.conclude("residual-models", results, WORDS.into(), r_hat);
    Ok(Demonstration { shown, ..done })
}

/// The models compared on one table by every utility, and the largest R-hat of any fit.
fn on_table(
    (label, kind): (&str, ModelKind),
    number: usize,
    size: &Size,
    settings: &Settings,
) -> Result<(Vec<Comparison>, f64)> {
    let seed = settings.seed;
    let stream = |what: u64| seed.stream(Purpose::Data, [33, what]);
    let table = draw(size.rows, &mut stream(2 * number as u64));
    let folds = Folds::random(table.rows(), size.folds, &mut stream(2 * number as u64 + 1))?;
    let (mut found, mut r_hat) = (Vec::new(), f64::NAN);
    for (name, family, by_additives) in MODELS {
        let of = format!("table {} of {}", number + 1, size.tables);
        settings.console.message(&format!("{label}, residuals {name}, {of}"));
        let spec = spec(kind, family, by_additives);
        let study = Study { targets: vec!["y"], task: Task::Regression, spec };
        let fitted = study.fit(&table, &plan(kind, settings), settings)?;
        let utilities = utilities(&UTILITIES, &fitted)?;
        let assessor = Assessor { study: &study, table: &table, utilities: &utilities, settings };
        let (pointwise, of_folds) = assessor.folds(&fitted, &folds, &fold_plan(kind, settings))?;
        found.push(pointwise);
        r_hat = fitted.r_hat().max(of_folds).max(r_hat);
    }
    let of_utility = |index: usize| -> Result<Comparison> {
        let models: Vec<(&str, &PointwiseUtilities)> =
            MODELS.iter().zip(&found).map(|((label, ..), it)| (*label, &it[index])).collect();
        Ok(compare(&models, &Bootstrap::new(seed))?)
    };
    Ok(((0..UTILITIES.len()).map(of_utility).collect::<Result<_>>()?, r_hat))
}

fn spec(kind: ModelKind, family: ResidualFamily, by_additives: bool) -> Spec {
    let mut spec = Spec::default();
    spec.model.kind = kind;
    // Under the vague priors of the thesis a Gaussian process with normal residuals has several modes
    // here, which outliers make, and its chains take minutes to go from one to another.
    if kind == ModelKind::Mlp {
        spec.model.priors = Some(Priors::Mcmcstuff);
        spec.model.hidden = Some(HIDDEN);
    }
    let by = by_additives.then(|| ADDITIVES.map(String::from).to_vec());
    spec.residual = Some(ResidualSpec { family: Some(family), by, ..ResidualSpec::default() });
    spec
}

fn plan(kind: ModelKind, settings: &Settings) -> Plan {
    match (kind, settings.quick) {
        (ModelKind::Gp, false) => Plan::new(4, 100, 150),
        _ => settings.plan(400, 4),
    }
}

/// Chains of a fold, begun where the fit to all rows ended.
fn fold_plan(kind: ModelKind, settings: &Settings) -> Plan {
    match (kind, settings.quick) {
        (_, true) => settings.plan(0, 1),
        (ModelKind::Gp, _) => Plan::new(2, 100, 300),
        _ => Plan { thin: 8, ..Plan::new(2, 300, 500) },
    }
}

/// A number of one table, or of several: their mean and standard deviation.
fn quantity(name: String, published: Option<f64>, of_tables: &[f64], sd: Option<f64>) -> Quantity {
    match of_tables {
        [one] => Quantity { quantity: name, published, here: *one, sd },
        several => Quantity::over_runs(name, published, several),
    }
}

fn figures(
    label: &str,
    compared: &[&Comparison],
    published: Option<&[[f64; 4]; 4]>,
) -> Vec<Quantity> {
    let mut all = Vec::new();
    for (row, (name, ..)) in MODELS.iter().enumerate() {
        let means: Vec<f64> = compared.iter().map(|it| it.expected[row].mean()).collect();
        let sd = compared[0].expected[row].sd();
        all.push(quantity(format!("{label}: expected of {name}"), None, &means, Some(sd)));
        for (column, (other, ..)) in MODELS[..row].iter().enumerate() {
            let of = |it: &&Comparison| it.probability_better[row][column];
            let better: Vec<f64> = compared.iter().map(of).collect();
            let of_pair = format!("{label}: probability that {name} is better than {other}");
            all.push(quantity(of_pair, published.map(|it| it[row][column]), &better, None));
        }
    }
    all
}

/// The expected utilities, and who is better than whom; means over tables.
fn matrix(compared: &[&Comparison], published: Option<&[[f64; 4]; 4]>) -> Listing {
    let names = MODELS.iter().map(|(name, ..)| *name);
    let header: Vec<&str> = ["residual model", "expected", "sd"].into_iter().chain(names).collect();
    let mean = |of: &dyn Fn(&Comparison) -> f64| {
        compared.iter().map(|it| of(it)).sum::<f64>() / compared.len() as f64
    };
    let mut table = Listing::new(&header);
    for (row, (name, ..)) in MODELS.iter().enumerate() {
        let expected = mean(&|it| it.expected[row].mean());
        let sd = mean(&|it| it.expected[row].sd());
        let decimals = plain::decimals_for(sd, 2);
        let mut line =
            vec![(*name).to_string(), plain::fixed(expected, decimals), plain::fixed(sd, decimals)];
        line.extend((0..MODELS.len()).map(|column| {
            if column == row {
                return "-".to_string();
            }
            // What rounds to 0 is written as the published zeros are.
            let here = mean(&|it| it.probability_better[row][column]);
            let here = plain::fixed(if here < 0.005 { 0.0 } else { here }, 2);
            match published {
                Some(published) => format!("{here} ({})", plain::fixed(published[row][column], 2)),
                None => here,
            }
        }));
        table.row(line);
    }
    table
}
