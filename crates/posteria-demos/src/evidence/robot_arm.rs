//! Find the evidence of networks with 1 to 19 hidden units, and what maximum likelihood makes of
//! them [Fabricius 1999, §6.3, figures 6.12 to 6.20].

use posteria::data::recipes::robot_arm::{NOISE_SD, TRAINING_ROWS, draw};
use posteria::data::{Dataset, Roles, Table};
use posteria::model::mlp::{Mlp, MlpPosterior};
use posteria::model::spec::Spec;
use posteria::random::Purpose;

use super::{Demonstration, Quantity, Settings, conclude, doubt, estimate, quantity, test_errors};
use crate::{Result, Shown};
use posteria_report::plain;

/// Hidden units whose evidence this effort finds: those of 3 to 6 hidden units take the full one.
const HIDDEN: [usize; 4] = [1, 2, 8, 12];
/// Most hidden units of the study as published.
const MOST_HIDDEN: usize = 19;
/// Ladders, sweeps at every temperature, and those of single chains.
const EFFORT: (usize, usize, usize) = (4, 500, 200);
/// The same of the study as published.
const FULL_EFFORT: (usize, usize, usize) = (4, 2000, 800);

/// Standard deviations of the noise of the study as published.
const FULL_NOISES: [f64; 2] = [NOISE_SD, 0.5];

const WORDS: &str = "\
Networks with 1 to 12 hidden units (`--full`: 1 to 19, and noise 0.5 too) on 200 rows of the robot arm, noise 0.05, gamma priors
of precisions as published (noise: shape 0.1, mean 100; weights: shape 0.25, mean 64, of output weights the number of
hidden units). The thesis draws its estimates and prints none; those that start at the prior and at the
posterior differ by up to some hundreds of nats, since chains stay in the phase they started in. Here
all temperatures exchange states; single chains in both directions are shown beside them. sd is the
standard error; the evidence keeps its level beyond the best number of units instead of falling.

Maximum likelihood (weight decay 0, here 1e-6, which keeps the search from going on for ever) from several starts, and a
weight decay of 0.1111, the precision of the weights in units of that of the noise: the mean squared
residual of a target, what FPE and GPE expect of a new row, and what it costs in truth, by 1000 rows without
noise and the known noise; sd is that over starts. FPE counts all weights, GPE those that the data
determine. The published test errors are those of maximum likelihood at the number of units that FPE
chose there (11), at the largest (19), and the least of all (13 or 16 units).
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let (mut results, mut doubts) = (Vec::new(), Vec::new());
    let (all, effort) = match (settings.quick, settings.full) {
        (true, _) => (HIDDEN[..2].to_vec(), EFFORT),
        (false, true) => ((1..=MOST_HIDDEN).collect(), FULL_EFFORT),
        (false, false) => (HIDDEN.to_vec(), EFFORT),
    };
    let noises = if settings.full { &FULL_NOISES[..] } else { &FULL_NOISES[..1] };
    let (mut shown, mut figures) = (Vec::new(), Vec::new());
    for noise in noises {
        // Where there is one noise it need not be named.
        let name = |what: String| match noises {
            [_] => what,
            _ => format!("noise {noise}, {what}"),
        };
        let training = training(*noise, settings);
        let found = test_errors::of_networks(&training, *noise, settings)?;
        let published = *noise <= NOISE_SD;
        let quantities = test_errors::quantities(&found, published);
        results.extend(
            quantities.into_iter().map(|it| Quantity { quantity: name(it.quantity), ..it }),
        );
        shown.push(test_errors::listing(&found, *noise));
        figures.extend(test_errors::figures(&found, *noise));
        let mut best = (f64::NEG_INFINITY, 0);
        for hidden in &all {
            let units = name(plain::count(*hidden, "hidden unit"));
            settings.console.message(&units);
            let posterior = network(*hidden, &training)?;
            let found = estimate(&posterior, effort, settings)?;
            doubts.extend(doubt(&units, &found.judged()));
            let name = |what: &str| name(format!("{hidden} hidden: log evidence, {what}"));
            results.push(quantity(name("path"), &found.path));
            results.push(quantity(name("prior to posterior"), &found.directions.forward));
            results.push(quantity(name("posterior to prior"), &found.directions.backward));
            if found.path.value > best.0 {
                best = (found.path.value, *hidden);
            }
        }
        results.push(Quantity {
            quantity: name("hidden units of the greatest evidence".into()),
            published: None,
            here: best.1 as f64,
            sd: None,
        });
    }
    let done = conclude("evidence-robot-arm", results, WORDS, doubts);
    shown.push(Shown::Results);
    Ok(Demonstration { shown, figures, ..done })
}

/// The training rows.
pub fn training(noise: f64, settings: &Settings) -> Table {
    let mut stream = settings.seed.stream(Purpose::Data, [27, 0]);
    draw(settings.rows(TRAINING_ROWS), noise, &mut stream)
}

/// The published network with so many hidden units, on the scale of the table.
pub fn network(hidden: usize, table: &Table) -> Result<MlpPosterior> {
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
    let (data, _) = Dataset::new(table, &roles)?;
    Ok(Mlp::new(&spec)?.condition(&data, None)?)
}
