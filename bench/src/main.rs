//! Run posteria or nuts-rs on a benchmark target and write the draws for `samplers.py`.
//!
//! Usage: `posteria-bench PEER PROBLEM CHAINS WARMUP DRAWS SEED FILE`. Prints one line of JSON
//! with process CPU seconds; FILE receives the draws as little-endian f64, chain by chain.

mod peers;
mod targets;

use std::io::Write;

use anyhow::{Context, Result, bail};

/// What to run.
pub struct Task {
    pub chains: usize,
    pub warmup: usize,
    pub draws: usize,
    pub seed: u64,
}

/// Draws and the time they took.
#[derive(Default)]
pub struct Outcome {
    pub values: Vec<f64>,
    pub warmup_seconds: f64,
    pub sampling_seconds: f64,
    pub gradients: u64,
    pub divergences: u64,
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [peer, problem, chains, warmup, draws, seed, file] = &arguments[..] else {
        bail!("usage: posteria-bench PEER PROBLEM CHAINS WARMUP DRAWS SEED FILE");
    };
    let task = Task {
        chains: chains.parse()?,
        warmup: warmup.parse()?,
        draws: draws.parse()?,
        seed: seed.parse()?,
    };
    let target = targets::by_name(problem).context("unknown problem")?;
    let outcome = match peer.as_str() {
        "posteria" => peers::posteria(&target, &task),
        "posteria-dense" => peers::posteria_dense(&target, &task),
        "posteria-slice" => peers::posteria_slice(&target, &task),
        "nuts-rs" => peers::nuts_rs(&target, &task)?,
        _ => bail!("unknown peer {peer}"),
    };
    let mut writer = std::io::BufWriter::new(std::fs::File::create(file)?);
    for value in &outcome.values {
        writer.write_all(&value.to_le_bytes())?;
    }
    writer.flush()?;
    println!(
        "{{\"dim\":{},\"warmup_seconds\":{},\"sampling_seconds\":{},\"gradients\":{},\
         \"divergences\":{}}}",
        target.dim(),
        outcome.warmup_seconds,
        outcome.sampling_seconds,
        outcome.gradients,
        outcome.divergences
    );
    Ok(())
}
