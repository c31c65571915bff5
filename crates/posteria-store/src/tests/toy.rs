//! A small posterior with a learning random walk, and folders of it.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::time::Duration;

use posteria::draws::{Dimension, Draws, Layout};
use posteria::fit::{FitError, Outcome, Recorder, fit, run};
use posteria::model::{Evaluator, Posterior};
use posteria::random::{Seed, Stream};
use posteria::sample::{Adapt, ForeignMemory, Plan, Stage, Step, Sweep, Update};
use posteria::target::{Infeasible, Terms};
use tempfile::TempDir;

use crate::{
    Axis, Cadence, Extent, Labels, NewRun, Pointwise, RunFolder, RunWriter, StaticArray,
    StoreError, WriteOptions,
};

pub(crate) const SPEC: &str = "[model]\nkind = \"toy\"\n";
pub(crate) const CHAINS: usize = 3;
const ROWS: usize = 5;
const DIM: usize = 7;

/// A normal distribution of seven independent components.
pub(crate) struct Toy {
    layout: Layout,
}

impl Toy {
    pub(crate) fn new() -> Self {
        let text = |labels: &[&str]| labels.iter().map(ToString::to_string).collect();
        let input = || Dimension { name: "input".into(), labels: text(&["age", "größe/m"]) };
        let unit = Dimension { name: "unit".into(), labels: text(&["0", "1"]) };
        let mut layout = Layout::new();
        layout.push_scalar("noise");
        layout.push("weights", vec![input(), unit]);
        layout.push("re/levance", vec![input()]);
        layout.push_vector("nothing", "none", Vec::new());
        layout.set_unidentified("weights");
        assert_eq!(layout.len(), DIM);
        Toy { layout }
    }
}

struct Walk {
    scale: f64,
    learning: bool,
}

impl Update for Walk {
    fn name(&self) -> &str {
        "walk"
    }

    fn update(&mut self, state: &mut [f64], stream: &mut Stream) -> Step {
        let mut accepted = false;
        for value in state.iter_mut() {
            let proposal = *value + self.scale * stream.normal();
            accepted = stream.uniform().ln() < 0.5 * (value.powi(2) - proposal.powi(2));
            if accepted {
                *value = proposal;
            }
            if self.learning {
                self.scale *= if accepted { 1.05 } else { 0.97 };
            }
        }
        Step { accepted, evaluations: 7, step_size: self.scale, ..Step::default() }
    }

    fn enter(&mut self, stage: &Stage) {
        self.learning = stage.adapt != Adapt::Nothing;
    }

    fn memory(&self) -> Vec<f64> {
        vec![self.scale]
    }

    fn recall(&mut self, memory: &[f64]) -> Result<(), ForeignMemory> {
        self.scale = memory[0];
        Ok(())
    }
}

struct Identity;

impl Evaluator for Identity {
    fn evaluate(
        &mut self,
        state: &[f64],
        draw: &mut [f64],
        log_likelihood: &mut [f64],
    ) -> Result<Terms, Infeasible> {
        draw.copy_from_slice(state);
        for (row, value) in log_likelihood.iter_mut().enumerate() {
            *value = -0.5 * (state[row] - row as f64).powi(2);
        }
        Ok(Terms { log_prior: state[0], log_likelihood: log_likelihood.iter().sum() })
    }
}

impl Posterior for Toy {
    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn rows(&self) -> usize {
        ROWS
    }

    fn state_len(&self) -> usize {
        DIM
    }

    fn start(&self, stream: &mut Stream) -> Vec<f64> {
        (0..DIM).map(|_| stream.normal()).collect()
    }

    fn sweep<'p>(&'p self, _inverse_temperature: f64) -> Sweep<'p> {
        Sweep::new(vec![Box::new(Walk { scale: 1.0, learning: false })])
    }

    fn evaluator<'p>(&'p self) -> Box<dyn Evaluator + 'p> {
        Box::new(Identity)
    }
}

/// A folder for a test: in memory where that is possible, since waiting for a disk hundreds of
/// times shows nothing.
pub(crate) fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

pub(crate) fn plan(draws: usize) -> Plan {
    Plan { thin: 2, ..Plan::new(CHAINS, 20, draws) }
}

/// Options that write a checkpoint every 7 draws.
pub(crate) fn options() -> WriteOptions {
    let (interval, rest) = (Duration::from_secs(3600), Duration::ZERO);
    WriteOptions { cadence: Cadence { interval, draws: 7, rest }, ..WriteOptions::default() }
}

pub(crate) fn create(
    path: &Path,
    draws: usize,
    options: WriteOptions,
) -> Result<RunWriter, StoreError> {
    let toy = Toy::new();
    let names = ["a", "b", "c", "d", "e"].map(String::from).to_vec();
    let rows = Axis { name: "obs_id".into(), labels: Labels::Named(names) };
    let column = |name: &str| StaticArray {
        name: name.into(),
        axes: vec![rows.clone()],
        values: (0..ROWS).map(|row| row as f64 / 3.0).collect(),
    };
    let inputs = StaticArray {
        name: "inputs".into(),
        axes: vec![rows.clone(), Axis { name: "k".into(), labels: Labels::Numbered(3) }],
        values: (0..ROWS * 3).map(|value| value as f64).collect(),
    };
    let scalar = StaticArray { name: "offset".into(), axes: Vec::new(), values: vec![2.5] };
    let run = NewRun {
        spec: SPEC,
        layout: toy.layout(),
        extent: Extent::from(&plan(draws)),
        pointwise: Some(&Pointwise { name: "y".into(), rows: rows.clone() }),
        observed: &[column("y"), column("obs_id")],
        constant: &[inputs, scalar],
        attributes: &[("model".into(), "toy \"quoted\"".into())],
        approximation: Some("{\"method\": \"toy\"}\n"),
    };
    RunFolder::create(path, &run, options)
}

/// Runs the chains of `writer` to the end of the plan, or until `recorder` breaks.
pub(crate) fn sample(
    writer: &RunWriter,
    recorder: &dyn Recorder,
    draws: usize,
    threads: usize,
) -> Result<Outcome, FitError> {
    let threads = NonZero::new(threads).expect("at least one thread");
    run(&Toy::new(), &plan(draws), Seed(5), &writer.memories(), threads, recorder)
}

/// A whole run, uninterrupted.
pub(crate) fn whole_run(path: &Path, draws: usize, threads: usize) {
    let writer = create(path, draws, options()).unwrap();
    sample(&writer, &writer, draws, threads).unwrap();
    assert!(writer.finish().unwrap().complete);
}

/// The draws that the folder should hold.
pub(crate) fn expected(draws: usize) -> Draws {
    fit(&Toy::new(), &plan(draws), Seed(5), NonZero::<usize>::MIN).unwrap()
}

/// The content of every file below `path` except the lock.
pub(crate) fn files(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let entry = entry.unwrap().path();
            if entry.is_dir() {
                folders.push(entry);
                continue;
            }
            let name = entry.strip_prefix(path).unwrap().to_str().unwrap().to_string();
            if name != "lock" {
                files.insert(name, fs::read(&entry).unwrap());
            }
        }
    }
    files
}

/// Whether two sets of draws are the same, bit for bit.
pub(crate) fn same(one: &Draws, other: &Draws) -> bool {
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let statistics = |draws: &Draws| -> Vec<f64> {
        // -0.0 counts as 0: whole numbers have no sign of zero.
        draws.statistics.iter().flat_map(|it| it.to_array()).map(|value| value + 0.0).collect()
    };
    one.layout == other.layout
        && (one.chains, one.draws, one.rows) == (other.chains, other.draws, other.rows)
        && bits(&one.values) == bits(&other.values)
        && bits(&one.log_likelihood) == bits(&other.log_likelihood)
        && bits(&statistics(one)) == bits(&statistics(other))
}
