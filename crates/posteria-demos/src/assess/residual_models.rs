//! Compare residual models in pairs [Vehtari 2001, §3.4.2, tables 3.1–3.3].

use posteria::assess::{Bootstrap, Comparison, PointwiseUtilities, compare};
use posteria::data::recipes::additives::{TRAINING_ROWS, draw};
use posteria::data::{Folds, Task};
use posteria::model::spec::{BasisSpec, ModelKind, Priors, ResidualFamily, ResidualSpec, Spec};
use posteria::random::Purpose;
use posteria::sample::Plan;

use super::{Assessor, Demonstration, Quantity, Settings, Study, unpublished, utilities};
use crate::{Listing, Result, Shown};
use posteria_report::plain;

const FOLDS: usize = 10;
/// Of the polynomials that follow sin 1.5 x.
const DEGREE: usize = 5;
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
const PUBLISHED: [[[f64; 4]; 4]; 3] = [
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
A linear model of polynomials with normal (N) and Student-t residuals, of one scale or of a scale for each
combination of two additives (input dependent), on 150 rows whose noise depends on the additives, with
some outliers. Ten folds with Burman's correction; the tables show the probability that the model of
the row is better than that of the column, by paired differences. The published figures stand in
brackets: they are of the concrete data of the thesis, which are not public, and comparable in kind
only. Seen in both: by the error of the mean all models lie within each other's sd, and by the
predictive likelihood, which values the whole distribution, those that know of the additives or of the
outliers are clearly better than N. Seen only here: paired differences tell N from the others by the
errors too, and input-dependent t from all others by the likelihood.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let seed = settings.seed;
    let table = draw(settings.rows(TRAINING_ROWS), &mut seed.stream(Purpose::Data, [33, 0]));
    let count = if settings.quick { 2 } else { FOLDS };
    let folds = Folds::random(table.rows(), count, &mut seed.stream(Purpose::Data, [33, 1]));
    let folds = folds?;
    let (mut found, mut r_hat) = (Vec::new(), f64::NAN);
    for (label, family, by_additives) in MODELS {
        settings.console.message(&format!("residuals {label}"));
        let study =
            Study { targets: vec!["y"], task: Task::Regression, spec: spec(family, by_additives) };
        let fitted = study.fit(&table, &settings.plan(400, 2), settings)?;
        let utilities = utilities(&UTILITIES, &fitted)?;
        let assessor = Assessor { study: &study, table: &table, utilities: &utilities, settings };
        let (pointwise, of_folds) = assessor.folds(&fitted, &folds, &fold_plan(settings))?;
        found.push(pointwise);
        r_hat = fitted.r_hat().max(of_folds).max(r_hat);
    }
    let (mut results, mut shown) = (Vec::new(), Vec::new());
    for (index, utility) in UTILITIES.iter().enumerate() {
        let models: Vec<(&str, &PointwiseUtilities)> =
            MODELS.iter().zip(&found).map(|((label, ..), it)| (*label, &it[index])).collect();
        let compared = compare(&models, &Bootstrap::new(seed))?;
        results.extend(figures(utility, &compared, &PUBLISHED[index]));
        shown.push(Shown::Lines(format!("{utility}\n")));
        shown.push(matrix(&compared, &PUBLISHED[index]).into());
        shown.push(Shown::Lines("\n".into()));
    }
    let done = settings.conclude("residual-models", results, WORDS.into(), r_hat);
    Ok(Demonstration { shown, ..done })
}

fn spec(family: ResidualFamily, by_additives: bool) -> Spec {
    let mut spec = Spec::default();
    spec.model.kind = ModelKind::Linear;
    spec.model.priors = Some(Priors::Mcmcstuff);
    spec.model.basis = Some(BasisSpec::Polynomial { degree: DEGREE });
    let by = by_additives.then(|| ADDITIVES.map(String::from).to_vec());
    spec.residual = Some(ResidualSpec { family: Some(family), by, ..ResidualSpec::default() });
    spec
}

/// Chains of a fold, begun where the fit to all rows ended.
fn fold_plan(settings: &Settings) -> Plan {
    if settings.quick { settings.plan(0, 1) } else { Plan::new(2, 400, 1000) }
}

fn figures(utility: &str, compared: &Comparison, published: &[[f64; 4]; 4]) -> Vec<Quantity> {
    let mut all = Vec::new();
    for (row, (label, expected)) in compared.models.iter().zip(&compared.expected).enumerate() {
        let name = format!("{label}: expected {utility}");
        all.push(unpublished(name, expected.mean(), Some(expected.sd())));
        let others = compared.models[..row].iter().zip(&published[row]);
        for (column, (other, published)) in others.enumerate() {
            all.push(Quantity {
                quantity: format!("{utility}: probability that {label} is better than {other}"),
                published: Some(*published),
                here: compared.probability_better[row][column],
                sd: None,
            });
        }
    }
    all
}

/// The expected utilities, and who is better than whom.
fn matrix(compared: &Comparison, published: &[[f64; 4]; 4]) -> Listing {
    let names = compared.models.iter().map(String::as_str);
    let header: Vec<&str> = ["residual model", "expected", "sd"].into_iter().chain(names).collect();
    let mut table = Listing::new(&header);
    for (row, expected) in compared.expected.iter().enumerate() {
        let decimals = plain::decimals_for(expected.sd(), 2);
        let mut line = vec![
            compared.models[row].clone(),
            plain::fixed(expected.mean(), decimals),
            plain::fixed(expected.sd(), decimals),
        ];
        line.extend((0..compared.models.len()).map(|column| match column == row {
            true => "-".to_string(),
            false => format!(
                "{} ({})",
                plain::fixed(compared.probability_better[row][column], 2),
                plain::fixed(published[row][column], 2)
            ),
        }));
        table.row(line);
    }
    table
}
