//! Find the evidence of nine linear models by path sampling [Fabricius 1999, §6.2.4, figure 6.6].

use posteria::data::recipes::linear_inputs::{TRAINING_ROWS, draw};
use posteria::random::Purpose;

use super::super::linear::inputs::posterior;
use super::{Demonstration, Quantity, Settings, conclude, doubt, estimate, quantity};
use crate::Result;
use posteria_report::plain;

/// Models with the first 1, …, 9 inputs.
const MODELS: usize = 9;
/// Ladders, sweeps at every temperature, and those of single chains.
const EFFORT: (usize, usize, usize) = (8, 1000, 60);

const WORDS: &str = "\
Linear models with the first 1, …, 9 of ten inputs, of which three matter; 20 rows, independent gamma
priors of the precisions of noise and weights (shapes 1/2 and 1/4, rates 1/200 and 1/1600). The thesis
draws its values and prints none but the winner, three inputs. Here path sampling with exchanges of
temperatures stands beside the exact value by quadrature, and beside single chains from the prior to the
posterior and back, which is what was published: from four inputs on the likelihood jumps at one
temperature, where enough rows are seen to fit the weights, and single chains lag behind.
";

/// Vague independent priors.
const SPEC: &str = "[model]\nintercept = false\n[prior.weights]\nfamily = 'independent'\nshape = 0.25\n\
     rate_scale = 1600.0\n[residual]\nprecision = { shape = 0.5, scale = 200.0 }";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let mut stream = settings.seed.stream(Purpose::Data, [42, 0]);
    let table = draw(TRAINING_ROWS, &mut stream);
    let (mut results, mut doubts) = (Vec::new(), Vec::new());
    let (mut best, mut best_exact) = ((f64::NEG_INFINITY, 0), (f64::NEG_INFINITY, 0));
    let models = if settings.quick { 2 } else { MODELS };
    for inputs in 1..=models {
        settings.console.message(&format!("{inputs} of {models} inputs"));
        let posterior = posterior(SPEC, &table, inputs)?;
        let exact = posterior.log_evidence().unwrap_or(f64::NAN);
        let found = estimate(&posterior, EFFORT, settings)?;
        doubts.extend(doubt(&plain::count(inputs, "input"), &found.path));
        let name = |what: &str| format!("{inputs} inputs: log evidence, {what}");
        results.push(Quantity { quantity: name("exact"), published: None, here: exact, sd: None });
        results.push(quantity(name("path"), &found.path));
        results.push(quantity(name("prior to posterior"), &found.directions.forward));
        results.push(quantity(name("posterior to prior"), &found.directions.backward));
        for (best, value) in [(&mut best, found.path.value), (&mut best_exact, exact)] {
            if value > best.0 {
                *best = (value, inputs);
            }
        }
    }
    for (how, (_, inputs)) in [("path", best), ("exact", best_exact)] {
        results.push(Quantity {
            quantity: format!("inputs of the greatest evidence, {how}"),
            published: Some(3.0),
            here: inputs as f64,
            sd: None,
        });
    }
    Ok(conclude("evidence-linear", results, WORDS, doubts))
}
