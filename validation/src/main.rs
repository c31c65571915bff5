//! Run long statistical validations and print what they found.
//!
//! Usage: `posteria-validation [--replications N] [--threads N] [NAME]...`

mod calibration;
mod input_sets;
mod models;

use std::error::Error;
use std::num::NonZero;
use std::process::ExitCode;
use std::time::Instant;

const REPLICATIONS: usize = 128;
/// Chains of every prior and scheme of input sets, which are short.
const REPLICATIONS_OF_SETS: usize = 2000;
/// Corrected p-value below which a model has failed.
const FALSE_ALARM: f64 = 1e-4;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (mut replications, mut threads) = (REPLICATIONS, std::thread::available_parallelism()?);
    let mut names = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().ok_or(format!("{argument} needs a number"));
        match argument.as_str() {
            "--replications" => replications = number()?.parse()?,
            "--threads" => threads = NonZero::new(number()?.parse()?).ok_or("no threads")?,
            _ => names.push(argument),
        }
    }
    let asked = |known: &str| names.is_empty() || names.iter().any(|name| known.contains(name));
    let chosen: Vec<models::Model> =
        models::all().into_iter().filter(|model| asked(&model.name)).collect();
    let sets: Vec<input_sets::InputSets> =
        input_sets::all().into_iter().filter(|sets| asked(&sets.name)).collect();
    if chosen.is_empty() && sets.is_empty() {
        return Err(format!("no validation is called {}", names.join(" or ")).into());
    }
    println!("{replications} replications each; p is corrected for the number of quantities.\n");
    println!("| model | quantities | p | worst | its ranks | seconds |");
    println!("|---|---|---|---|---|---|");
    let mut failed = 0;
    for model in &chosen {
        let begin = Instant::now();
        let found = calibration::calibrate(model, replications, threads)
            .map_err(|error| format!("{}: {error}", model.name))?;
        let mark = if found.p < FALSE_ALARM { " **failed**" } else { "" };
        failed += usize::from(found.p < FALSE_ALARM);
        println!(
            "| {} | {} | {:.2e}{mark} | {} | {:?} | {:.0} |",
            model.name,
            found.quantities,
            found.p,
            found.worst,
            found.counts,
            begin.elapsed().as_secs_f64()
        );
    }
    for sets in &sets {
        let begin = Instant::now();
        let found = sets
            .validate(REPLICATIONS_OF_SETS.max(replications), threads)
            .map_err(|error| format!("{}: {error}", sets.name))?;
        let mark = if found.p < FALSE_ALARM { " **failed**" } else { "" };
        failed += usize::from(found.p < FALSE_ALARM);
        println!(
            "| {} | {} | {:.2e}{mark} | {} | | {:.0} |",
            sets.name,
            found.quantities,
            found.p,
            found.worst,
            begin.elapsed().as_secs_f64()
        );
    }
    println!("\n{} of {} failed.", failed, chosen.len() + sets.len());
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
