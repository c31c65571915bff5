//! Find the precision of nine Gaussian basis functions by their evidence
//! [Bishop 2006, figure 3.16].

use posteria::approximate::{CurvePoint, Design, Estimation, Evidence, evidence_curve};
use posteria::data::recipes::sinusoid;
use posteria::data::{Column, Table};
use posteria::model::Decay;
use posteria::random::Purpose;
use posteria_linalg::Matrix;
use posteria_report::figure::Span;

use super::super::figures::Lines;
use super::{Demonstration, Quantity, Settings};
use crate::{Listing, Result};
use posteria_report::plain;

/// Basis functions beside the bias, and their width.
const BASIS: usize = 9;
const WIDTH: f64 = 0.1;
/// The precision of the noise, known as in the source.
const BETA: f64 = 1.0 / (sinusoid::NOISE_SD * sinusoid::NOISE_SD);
/// Rows that are tested.
const TEST_ROWS: usize = 1000;

const WORDS: &str = "\
Nine Gaussian basis functions of width 0.1 and a bias on 25 points of a sine, the noise precision of
11.1 known as in the source, which shows the curves and prints no numbers beside these. Where γ
crosses 2αE_W the evidence is greatest, and the test error is near its least there.
";

fn design(table: &Table) -> (Matrix, Vec<f64>) {
    let column = |name: &str| match table.column(name) {
        Ok(Column::Numbers(values)) => values.clone(),
        _ => Vec::new(),
    };
    let (x, y) = (column("x"), column("y"));
    let matrix = Matrix::from_fn(x.len(), BASIS + 1, |row, k| match k {
        0 => 1.0,
        _ => {
            let centre = (k - 1) as f64 / (BASIS - 1) as f64;
            (-0.5 * ((x[row] - centre) / WIDTH).powi(2)).exp()
        }
    });
    (matrix, y)
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let mut stream = settings.seed.stream(Purpose::Data, [0, 0]);
    let (phi, targets) = design(&sinusoid::draw(sinusoid::TRAINING_ROWS, &mut stream));
    let (new, observed) = design(&sinusoid::draw(TEST_ROWS, &mut stream));
    let all = Decay { name: "weights".into(), members: 0..BASIS + 1, scale: 1.0, fixed: false };
    let model = Design::new(phi, targets, vec![all], Some(BETA));
    let seed = settings.seed;
    let mode = Evidence::best(&model, Estimation::Evidence, 1, seed)?;
    let at_top = mode.scales.alphas[0].ln();
    let grid: Vec<f64> = (-20..=20).map(|step| 0.25 * f64::from(step) - at_top).collect();
    let curve = evidence_curve(&model, &mode, &grid)?;
    let ln_alpha = |point: &CurvePoint| at_top + point.ln_factor;
    let errors: Vec<f64> = curve
        .iter()
        .map(|point| {
            let mut scales = mode.scales.clone();
            scales.alphas[0] *= point.ln_factor.exp();
            let start = mode.weights.clone();
            let found = Evidence::search(&model, Estimation::Held, start, scales)?;
            let squares = observed.iter().enumerate().map(|(row, y)| {
                let f: f64 = (0..BASIS + 1).map(|k| new[(row, k)] * found.weights[k]).sum();
                (y - f).powi(2)
            });
            Ok((squares.sum::<f64>() / TEST_ROWS as f64).sqrt())
        })
        .collect::<Result<_>>()?;
    let highest = (0..curve.len())
        .max_by(|a, b| curve[*a].log_evidence.total_cmp(&curve[*b].log_evidence))
        .unwrap_or(0);
    let least = (0..errors.len()).min_by(|a, b| errors[*a].total_cmp(&errors[*b])).unwrap_or(0);
    let quantity =
        |name: &str, published, here| Quantity { quantity: name.into(), published, here, sd: None };
    let results = vec![
        quantity("number of parameters", Some(10.0), mode.weights.len() as f64),
        quantity("noise precision", Some(11.1), mode.scales.betas[0]),
        quantity("ln α where γ = 2αE_W", None, at_top),
        quantity("ln α of the greatest evidence on the grid", None, ln_alpha(&curve[highest])),
        quantity("ln α of the least test error on the grid", None, ln_alpha(&curve[least])),
        quantity("effective parameters γ", None, mode.effective_parameters),
        quantity("log evidence", None, mode.log_evidence),
        quantity("test error (RMSE) there", None, errors[highest]),
        quantity("least test error (RMSE)", None, errors[least]),
    ];
    let x: Vec<f64> = curve.iter().map(ln_alpha).collect();
    let over = |title, caption, output, lines| {
        let (x, points) = (&x[..], None);
        Lines { title, caption, input: "ln α", output, x, lines, points, span: Span::Usual }
            .figure()
    };
    let of = |value: fn(&CurvePoint) -> f64| -> Vec<f64> { curve.iter().map(value).collect() };
    let figures = vec![
        over(
            "The best α is where γ and 2αE_W cross",
            "γ: how many parameters the data determine; 2αE_W: what the weights spend of the prior.",
            "parameters",
            vec![
                ("γ", of(|point| point.effective_parameters)),
                ("2αE_W", of(|point| point.twice_alpha_e_w)),
            ],
        ),
        over(
            "The evidence is greatest there",
            "The log evidence of the precision α of the weights.",
            "log evidence",
            vec![("log evidence", of(|point| point.log_evidence))],
        ),
        over(
            "And the error on new rows is nearly the least",
            "Root mean square error on new rows, which the evidence has not seen.",
            "test RMSE",
            vec![("test RMSE", errors.clone())],
        ),
    ];
    let mut table = Listing::new(&["ln α", "γ", "2αE_W", "log evidence", "test RMSE"]);
    for (point, error) in curve.iter().zip(&errors).step_by(2) {
        table.row([
            plain::fixed(ln_alpha(point), 1),
            plain::fixed(point.effective_parameters, 2),
            plain::fixed(point.twice_alpha_e_w, 2),
            plain::fixed(point.log_evidence, 2),
            plain::fixed(*error, 3),
        ]);
    }
    Ok(Demonstration {
        name: "evidence-sinusoid",
        results,
        words: WORDS.into(),
        ..Demonstration::default()
    }
    .picturing(table, figures))
}
