//! Run long statistical validations and print what they found.
//!
//! Usage: `posteria-validation [--replications N] [--threads N] [NAME]...`

mod calibration;
mod coverage;
mod evidence;
mod input_sets;
mod models;

use std::error::Error;
use std::num::NonZero;
use std::process::ExitCode;
use std::time::Instant;

const REPLICATIONS: usize = 128;
/// Chains of every prior and scheme of input sets, which are short.
const REPLICATIONS_OF_SETS: usize = 2000;
/// Names of the validation of expected utilities begin so.
const COVERAGE: &str = "coverage";
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
    let designs: Vec<coverage::Design> = coverage::DESIGNS
        .into_iter()
        .filter(|design| asked(&format!("{COVERAGE}/{}", design.name)))
        .collect();
    let (covers, mut missed) = (!designs.is_empty(), 0);
    for design in designs {
        missed += report_coverage(design, threads)?;
    }
    let weighs = asked(evidence::NAME);
    if weighs {
        missed += report_evidence(threads)?;
    }
    let chosen: Vec<models::Model> =
        models::all().into_iter().filter(|model| asked(&model.name)).collect();
    let sets: Vec<input_sets::InputSets> =
        input_sets::all().into_iter().filter(|sets| asked(&sets.name)).collect();
    if chosen.is_empty() && sets.is_empty() {
        if covers || weighs {
            return Ok(if missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE });
        }
        return Err(format!("no validation is called {}", names.join(" or ")).into());
    }
    println!("{replications} replications each; p is corrected for the number of quantities.\n");
    println!("| model | quantities | p | worst | its ranks | seconds |");
    println!("|---|---|---|---|---|---|");
    let mut failed = 0;
    let mut line = |name: &str, p: f64, quantities: usize, told: String, begin: Instant| {
        let mark = if p < FALSE_ALARM { " **failed**" } else { "" };
        failed += usize::from(p < FALSE_ALARM);
        let seconds = begin.elapsed().as_secs_f64();
        println!("| {name} | {quantities} | {p:.2e}{mark} | {told} | {seconds:.0} |");
    };
    for model in &chosen {
        let begin = Instant::now();
        let found = calibration::calibrate(model, replications, threads)
            .map_err(|error| format!("{}: {error}", model.name))?;
        let told = format!("{} | {:?}", found.worst, found.counts);
        line(&model.name, found.p, found.quantities, told, begin);
    }
    for sets in &sets {
        let begin = Instant::now();
        let found = sets
            .validate(REPLICATIONS_OF_SETS.max(replications), threads)
            .map_err(|error| format!("{}: {error}", sets.name))?;
        line(&sets.name, found.p, found.quantities, format!("{} |", found.worst), begin);
    }
    println!("\n{} of {} failed.", failed, chosen.len() + sets.len());
    Ok(if failed + missed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Prints how often intervals of expected utilities hold the truth; returns how many do not hold it
/// as often as was promised.
fn report_coverage(
    design: coverage::Design,
    threads: NonZero<usize>,
) -> Result<usize, Box<dyn Error>> {
    let begin = Instant::now();
    let count = coverage::DATA_SETS;
    let found = coverage::coverage(design, count, threads).map_err(|error| error.to_string())?;
    println!(
        "{count} data sets; how often the 90 % interval of {} folds holds the truth.\n",
        design.folds
    );
    println!(
        "| expected | covered | without correction | bias ± se | without correction | truth |"
    );
    println!("|---|---|---|---|---|---|");
    let mut missed = 0;
    for (utility, it) in coverage::UTILITIES.iter().zip(found) {
        let failed = design.is_broken(&it);
        missed += usize::from(failed);
        println!(
            "| {COVERAGE}/{} {utility} | {:.3}{} | {:.3} | {:.5} ± {:.5} | {:.5} ± {:.5} | {:.4} |",
            design.name,
            it.covered,
            if failed { " **failed**" } else { "" },
            it.covered_uncorrected,
            it.bias.0,
            it.bias.1,
            it.bias_uncorrected.0,
            it.bias_uncorrected.1,
            it.truth
        );
    }
    println!("\n{:.0} seconds.\n", begin.elapsed().as_secs_f64());
    Ok(missed)
}

/// Prints how often log evidences are within their errors; returns how many methods are so too rarely.
fn report_evidence(threads: NonZero<usize>) -> Result<usize, Box<dyn Error>> {
    let begin = Instant::now();
    let found = evidence::evidence(threads).map_err(|error| error.to_string())?;
    println!("{} data sets; log evidences beside the exact ones.\n", evidence::REPEATS);
    println!(
        "| {} by | within 3 errors | usable | RMS of error / reported | reported |",
        evidence::NAME
    );
    println!("|---|---|---|---|---|");
    let mut missed = 0;
    for method in found {
        let failed = method.within < evidence::LEAST;
        missed += usize::from(failed);
        println!(
            "| {} | {:.2}{} | {:.2} | {:.2} | {:.3} |",
            method.name,
            method.within,
            if failed { " **failed**" } else { "" },
            method.usable,
            method.rms,
            method.error
        );
    }
    println!("\n{:.0} seconds.\n", begin.elapsed().as_secs_f64());
    Ok(missed)
}
