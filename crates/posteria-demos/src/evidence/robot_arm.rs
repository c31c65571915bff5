//! Find the evidence of networks with 1 to 19 hidden units [Fabricius 1999, §6.3.6, figure 6.20].

use posteria::data::recipes::robot_arm::{NOISE_SD, TRAINING_ROWS, draw};
use posteria::data::{Dataset, Roles};
use posteria::model::mlp::{Mlp, MlpPosterior};
use posteria::model::spec::Spec;
use posteria::random::Purpose;

use super::{Demonstration, Quantity, Settings, conclude, doubt, estimate, quantity};
use crate::Result;
use posteria_report::plain;

/// Hidden units whose evidence this effort finds: those of 3 to 6 hidden units take the full one.
const HIDDEN: [usize; 4] = [1, 2, 8, 12];
/// Most hidden units of the study as published.
const MOST_HIDDEN: usize = 19;
/// Ladders, sweeps at every temperature, and those of single chains.
const EFFORT: (usize, usize, usize) = (4, 500, 200);
/// The same of the study as published.
const FULL_EFFORT: (usize, usize, usize) = (4, 2000, 800);

const WORDS: &str = "\
Networks with 1 to 12 hidden units (`--full`: 1 to 19) on 200 rows of the robot arm, noise 0.05, gamma priors of precisions
as published (noise: shape 0.1, mean 100; weights: shape 0.25, mean 64, of output weights the number of
hidden units). The thesis draws its estimates and prints none; those that start at the prior and at the
posterior differ by up to some hundreds of nats, since chains stay in the phase they started in. Here
all temperatures exchange states; single chains in both directions are shown beside them. sd is the
standard error; the evidence keeps its level beyond the best number of units instead of falling.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let (mut results, mut doubts) = (Vec::new(), Vec::new());
    let (all, effort) = match (settings.quick, settings.full) {
        (true, _) => (HIDDEN[..2].to_vec(), EFFORT),
        (false, true) => ((1..=MOST_HIDDEN).collect(), FULL_EFFORT),
        (false, false) => (HIDDEN.to_vec(), EFFORT),
    };
    let mut best = (f64::NEG_INFINITY, 0);
    for hidden in all {
        let units = plain::count(hidden, "hidden unit");
        settings.console.message(&units);
        let posterior = network(hidden, settings)?;
        let found = estimate(&posterior, effort, settings)?;
        doubts.extend(doubt(&units, &found.judged()));
        let name = |what: &str| format!("{hidden} hidden: log evidence, {what}");
        results.push(quantity(name("path"), &found.path));
        results.push(quantity(name("prior to posterior"), &found.directions.forward));
        results.push(quantity(name("posterior to prior"), &found.directions.backward));
        if found.path.value > best.0 {
            best = (found.path.value, hidden);
        }
    }
    results.push(Quantity {
        quantity: "hidden units of the greatest evidence".into(),
        published: None,
        here: best.1 as f64,
        sd: None,
    });
    Ok(conclude("evidence-robot-arm", results, WORDS, doubts))
}

/// The published network with so many hidden units, on the scale of the table.
pub fn network(hidden: usize, settings: &Settings) -> Result<MlpPosterior> {
    let mut stream = settings.seed.stream(Purpose::Data, [27, 0]);
    let table = draw(settings.rows(TRAINING_ROWS), NOISE_SD, &mut stream);
    // Precision ~ Gamma(shape s, mean m): variance with 2s degrees of freedom about 1/m.
    let group = |name: &str, scale: f64| {
        format!(
            "[prior.{name}]\nsharing = 'common'\nscale = {scale}\ndof = 0.5\nwidth_scaled = false\n"
        )
    };
    let text = format!(
        "[model]\nkind = 'mlp'\nhidden = {hidden}\n{}{}{}{}[residual]\nsharing = 'common'\n\
         scale = 0.1\nscale_dof = 0.2\n",
        group("input_weights", 0.125),
        group("hidden_bias", 0.125),
        group("output_weights", (hidden as f64).sqrt().recip()),
        group("output_bias", 0.125),
    );
    let spec = Spec::from_toml(&text)?;
    let targets = vec!["y1".into(), "y2".into()];
    let roles = Roles { targets, standardize: false, ..Roles::default() };
    let (data, _) = Dataset::new(&table, &roles)?;
    Ok(Mlp::new(&spec)?.condition(&data, None)?)
}
