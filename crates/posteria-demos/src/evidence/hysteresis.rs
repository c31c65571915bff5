//! Show chains that lag behind the temperature [Fabricius 1999, §6.3.6, figure 6.21].

use posteria::data::recipes::robot_arm::NOISE_SD;

use super::robot_arm::{network, training};
use super::{Demonstration, Quantity, Settings, conclude, doubt, estimate, quantity};
use crate::{Listing, Result, Shown};
use posteria_report::plain;

/// Hidden units.
const HIDDEN: usize = 8;
/// Ladders, sweeps at every temperature, and those of single chains.
const EFFORT: (usize, usize, usize) = (4, 900, 12);
/// Temperatures that are shown.
const SHOWN: usize = 16;

const WORDS: &str = "\
A network with 8 hidden units on the robot arm, priors as published for 18. Above, the mean log likelihood
at some of the temperatures: single chains from the prior stay with the network that takes all of the
signal for noise after it has become improbable, single chains from the posterior stay with the true
noise level too long. Their estimates of the log evidence differ, with errors that do not tell; ladders
that exchange states know the right temperature of the jump. sd is the standard error.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let hidden = if settings.quick { 2 } else { HIDDEN };
    let posterior = network(hidden, &training(NOISE_SD, settings))?;
    let found = estimate(&posterior, EFFORT, settings)?;
    let up = found.directions.forward_energies.curve();
    let down = found.directions.backward_energies.curve();
    let ladder = found.energies.curve();
    let mut table =
        Listing::new(&["inverse temperature", "ladders", "from prior", "from posterior"]);
    let step = ladder.len().div_ceil(SHOWN).max(1);
    for (k, rung) in ladder.iter().enumerate().rev().step_by(step) {
        table.row([
            plain::short(rung.inverse_temperature),
            plain::fixed(rung.mean, 1),
            plain::fixed(up[k].mean, 1),
            plain::fixed(down[k].mean, 1),
        ]);
    }
    let mut results = vec![
        quantity("log evidence, exchanged ladders".into(), &found.path),
        quantity("log evidence, prior to posterior".into(), &found.directions.forward),
        quantity("log evidence, posterior to prior".into(), &found.directions.backward),
    ];
    let apart = found.directions.backward.value - found.directions.forward.value;
    results.push(Quantity {
        quantity: "posterior to prior less prior to posterior".into(),
        published: None,
        here: apart,
        sd: Some(found.directions.error()),
    });
    let doubts = doubt("the ladders", &found.path).into_iter().collect();
    let shown = vec![table.into(), Shown::Lines("\n".into()), Shown::Results];
    Ok(Demonstration { shown, ..conclude("hysteresis", results, WORDS, doubts) })
}
