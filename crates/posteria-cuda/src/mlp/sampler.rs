//! Run the chains of all folds on the device.

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, CudaStream, LaunchConfig, PushKernelArg, sys};
use posteria::random::Seed;

use super::problem::{MlpFold, MlpLikelihood, MlpModel, MlpOptions, WARP};
use crate::CudaError;
use crate::device::{Device, kernel};
use crate::error::expect_length;

/// Bytes of shared memory that the rows of a fold may take, so that two blocks find room beside
/// each other.
const ROWS_ON_CHIP: usize = 96 << 10;
/// Most weights of which two blocks find registers beside each other.
const TWO_BLOCKS: usize = 64;

/// Threads of a block where chains are few, so that every multiprocessor has some.
const FEW_CHAINS: usize = 64;
/// Threads of a block where chains are many, which share the rows on chip.
const MANY_CHAINS: usize = 256;

/// Chains of one model on one device: as many for every fold, all in one launch.
pub struct MlpSampler {
    device: Arc<Device>,
    stream: Arc<CudaStream>,
    options: MlpOptions,
    seed: Seed,
    folds: usize,
    chains: usize,
    state: usize,
    weights: usize,
    iteration: usize,
    config: LaunchConfig,
    sample: CudaFunction,
    evaluate: CudaFunction,
    rows: Rows,
    first: CudaSlice<i32>,
    count: CudaSlice<i32>,
    labels: CudaSlice<u32>,
    squares: CudaSlice<f64>,
    prior: CudaSlice<f64>,
    states: CudaSlice<f64>,
    report: CudaSlice<f64>,
    numbers: CudaSlice<u32>,
    /// Room for draws: to take some and give it back stops the chains of all networks for a moment.
    draws: CudaSlice<f64>,
}

/// Rows in the precision of forces.
enum Rows {
    Single(CudaSlice<f32>),
    Double(CudaSlice<f64>),
}

/// What some iterations leave.
#[derive(Clone, Debug, PartialEq)]
pub struct MlpDraws {
    /// Every thin-th state: draw by draw, in each fold by fold, in each chain by chain.
    pub draws: Vec<f64>,
    /// Mean acceptance probability of every chain, fold by fold.
    pub acceptance: Vec<f64>,
    /// Minus the log likelihood of every chain at its last state, up to what depends on no weight.
    pub energies: Vec<f64>,
}

impl MlpSampler {
    /// `chains` chains of every fold, at their [starts](MlpModel::start).
    ///
    /// # Errors
    /// [`CudaError::NotAvailable`] names what the device does not do.
    pub fn new(
        device: &Arc<Device>,
        model: &MlpModel,
        folds: &[MlpFold],
        chains: usize,
        options: MlpOptions,
        seed: Seed,
    ) -> Result<Self, CudaError> {
        let block = if chains * folds.len() * options.threads < 512 * device.info().multiprocessors
        {
            FEW_CHAINS
        } else {
            MANY_CHAINS
        };
        MlpSampler::with_block(device, (model, folds), chains, (options, seed), block)
    }

    /// As [`MlpSampler::new`], with blocks of so many threads, on which no result depends.
    ///
    /// # Errors
    /// As [`MlpSampler::new`].
    pub fn with_block(
        device: &Arc<Device>,
        (model, folds): (&MlpModel, &[MlpFold]),
        chains: usize,
        (options, seed): (MlpOptions, Seed),
        block: usize,
    ) -> Result<Self, CudaError> {
        model.check()?;
        options.check(model)?;
        let block = block.max(options.threads);
        folds.iter().try_for_each(|fold| fold.check(model))?;
        if folds.is_empty() || chains == 0 {
            return Err(CudaError::NotAvailable { what: "a run without chains".into() });
        }
        let most = folds.iter().map(|fold| fold.targets.len()).max().unwrap_or(0);
        let launch = Launch::new(model, &options, most, block);
        let module = device.module(&launch.source(model, &options))?;
        let (sample, evaluate) = (kernel(&module, "sample")?, kernel(&module, "evaluate")?);
        // All that there is, also where this launch needs less: networks of other rows share the kernels.
        let shared = device.shared_memory()?;
        let attribute = sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        for function in [&sample, &evaluate] {
            function
                .set_attribute(attribute, shared.max(launch.shared as i32))
                .map_err(CudaError::driver("taking shared memory"))?;
        }
        let layout = model.layout();
        let places = folds.len() * chains;
        let numbers = places * (layout.state() + 2) + folds.len() * (most + 1) * launch.width;
        device.ensure_free("the chains of networks", numbers * size_of::<f64>())?;
        let mut starts = Vec::with_capacity(places * layout.state());
        for fold in folds {
            for chain in 0..chains {
                starts.extend(model.start(seed, fold.label, chain as u32));
            }
        }
        // Chains of other networks run at the same time.
        let stream = device.context.new_stream().map_err(CudaError::driver("taking a stream"))?;
        let taking = CudaError::driver("taking memory for networks");
        let mut first = vec![0];
        for fold in folds {
            first.push(first[first.len() - 1] + fold.targets.len() as i32);
        }
        let count: Vec<i32> = folds.iter().map(|fold| fold.targets.len() as i32).collect();
        let labels: Vec<u32> = folds.iter().map(|fold| fold.label).collect();
        let numbers_of_chains: Vec<u32> = (0..chains as u32).collect();
        let squares: Vec<f64> = folds.iter().flat_map(MlpFold::squares).collect();
        let rows = launch.rows(folds);
        let single: Vec<f32> = rows.iter().map(|value| *value as f32).collect();
        let rows = match options.double {
            true => Rows::Double(stream.clone_htod(&rows).map_err(&taking)?),
            false => Rows::Single(stream.clone_htod(&single).map_err(&taking)?),
        };
        Ok(MlpSampler {
            options,
            seed,
            folds: folds.len(),
            chains,
            state: layout.state(),
            weights: layout.weights,
            iteration: 0,
            config: LaunchConfig {
                grid_dim: (chains.div_ceil(block / options.threads) as u32, folds.len() as u32, 1),
                block_dim: (block as u32, 1, 1),
                shared_mem_bytes: launch.shared as u32,
            },
            sample,
            evaluate,
            rows,
            first: stream.clone_htod(&first).map_err(&taking)?,
            count: stream.clone_htod(&count).map_err(&taking)?,
            labels: stream.clone_htod(&labels).map_err(&taking)?,
            squares: stream.clone_htod(&squares).map_err(&taking)?,
            prior: stream.clone_htod(&model.numbers()).map_err(&taking)?,
            states: stream.clone_htod(&starts).map_err(&taking)?,
            report: stream.alloc_zeros(2 * places).map_err(&taking)?,
            numbers: stream.clone_htod(&numbers_of_chains).map_err(&taking)?,
            draws: stream.alloc_zeros(1).map_err(&taking)?,
            device: device.clone(),
            stream,
        })
    }

    /// How many iterations are done.
    pub fn iteration(&self) -> usize {
        self.iteration
    }

    /// The states of all chains, fold by fold: with [`MlpSampler::iteration`] all that what comes
    /// next depends on.
    ///
    /// # Errors
    /// [`CudaError::Driver`] if the device is lost.
    pub fn states(&self) -> Result<Vec<f64>, CudaError> {
        let reading = CudaError::driver("reading states");
        self.stream.clone_dtoh(&self.states).map_err(reading)
    }

    /// Goes on from these states after so many iterations.
    ///
    /// # Errors
    /// [`CudaError::Length`] if they are not as many as the chains have.
    pub fn resume(&mut self, states: &[f64], iteration: usize) -> Result<(), CudaError> {
        expect_length("numbers of all states", self.states.len(), states.len())?;
        let writing = CudaError::driver("writing states");
        self.stream.memcpy_htod(states, &mut self.states).map_err(writing)?;
        self.iteration = iteration;
        Ok(())
    }

    /// The same chains with these numbers, by which their random numbers are named, in place of 0, 1, ….
    ///
    /// # Errors
    /// [`CudaError::Length`] if there are not as many.
    pub fn numbered(mut self, numbers: &[u32]) -> Result<Self, CudaError> {
        expect_length("numbers of chains", self.chains, numbers.len())?;
        let writing = CudaError::driver("writing numbers of chains");
        self.stream.memcpy_htod(numbers, &mut self.numbers).map_err(writing)?;
        Ok(self)
    }

    /// Learns step sizes in iterations before this one from now on.
    pub fn adapt_until(&mut self, iteration: usize) {
        self.options.adapting = iteration;
    }

    /// Makes iterations, and keeps every `thin`-th state; none with 0.
    ///
    /// # Errors
    /// [`CudaError`] if memory for the draws is short or the device is lost.
    pub fn run(&mut self, iterations: usize, thin: usize) -> Result<MlpDraws, CudaError> {
        let (begun, done) = (self.iteration, self.iteration + iterations);
        let kept = done.checked_div(thin).unwrap_or(0) - begun.checked_div(thin).unwrap_or(0);
        let places = self.folds * self.chains;
        let len = (kept * places * self.state).max(1);
        let running = CudaError::driver("running chains");
        if self.draws.len() < len {
            self.device.ensure_free("draws", len * size_of::<f64>())?;
            self.draws = self.stream.alloc_zeros(len).map_err(&running)?;
        }
        let stream = &self.stream;
        let MlpOptions { inverse_temperature, steps, adapting, .. } = self.options;
        let numbers = [self.chains, begun, iterations, steps, adapting, thin].map(|n| n as i32);
        let mut launch = stream.launch_builder(&self.sample);
        match &self.rows {
            Rows::Single(rows) => launch.arg(rows),
            Rows::Double(rows) => launch.arg(rows),
        };
        launch.arg(&self.first).arg(&self.count).arg(&self.labels).arg(&self.squares);
        launch.arg(&self.prior).arg(&mut self.states).arg(&mut self.draws).arg(&mut self.report);
        launch.arg(&self.numbers);
        launch.arg(&self.seed.0).arg(&inverse_temperature);
        numbers.iter().for_each(|number| {
            launch.arg(number);
        });
        // SAFETY: arguments are those of the kernel; there is a state, a report and every kept draw
        // for each chain of each fold, and shared memory as the source lays it out.
        unsafe { launch.launch(self.config) }.map_err(&running)?;
        self.iteration = done;
        self.wait()?;
        let kept = self.draws.slice(..kept * places * self.state);
        let draws = if kept.is_empty() {
            Vec::new()
        } else {
            stream.clone_dtoh(&kept).map_err(&running)?
        };
        let report = stream.clone_dtoh(&self.report).map_err(&running)?;
        let each = |offset: usize| report.iter().skip(offset).step_by(2);
        Ok(MlpDraws {
            draws,
            acceptance: each(0).map(|sum| sum / iterations.max(1) as f64).collect(),
            energies: each(1).copied().collect(),
        })
    }

    /// Waits, asleep, until the device has done what this has asked for. A copy from the device waits
    /// inside the driver, where the launches of other networks would queue behind it.
    fn wait(&self) -> Result<(), CudaError> {
        let asleep = Some(sys::CUevent_flags::CU_EVENT_BLOCKING_SYNC);
        let done = self.stream.record_event(asleep).and_then(|event| event.synchronize());
        done.map_err(CudaError::driver("waiting for chains"))
    }

    /// Minus the log likelihood of every chain at its state, and the derivatives by its weights.
    ///
    /// # Errors
    /// [`CudaError::Driver`] if the device is lost.
    pub fn evaluate(&mut self) -> Result<(Vec<f64>, Vec<f64>), CudaError> {
        let places = self.folds * self.chains;
        let stream = &self.stream;
        let running = CudaError::driver("evaluating networks");
        let take = |len: usize| stream.alloc_zeros::<f64>(len).map_err(&running);
        let (mut energies, mut gradients) = (take(places)?, take(places * self.weights)?);
        let chains = self.chains as i32;
        let mut launch = stream.launch_builder(&self.evaluate);
        match &self.rows {
            Rows::Single(rows) => launch.arg(rows),
            Rows::Double(rows) => launch.arg(rows),
        };
        launch.arg(&self.first).arg(&self.count).arg(&self.prior).arg(&mut self.states);
        launch.arg(&mut energies).arg(&mut gradients);
        launch.arg(&self.options.inverse_temperature).arg(&chains);
        // SAFETY: arguments are those of the kernel; there is a value and a gradient for each chain.
        unsafe { launch.launch(self.config) }.map_err(&running)?;
        let read = |values: &CudaSlice<f64>| stream.clone_dtoh(values).map_err(&running);
        Ok((read(&energies)?, read(&gradients)?))
    }
}

/// How kernels are launched.
struct Launch {
    block: usize,
    /// Numbers of a row: inputs, the target, padding.
    width: usize,
    on_chip: bool,
    /// Bytes of shared memory.
    shared: usize,
}

impl Launch {
    fn new(model: &MlpModel, options: &MlpOptions, rows: usize, block: usize) -> Self {
        let number = if options.double { size_of::<f64>() } else { size_of::<f32>() };
        let layout = model.layout();
        let hyper = layout.state() - layout.weights;
        let (lanes, warps) = options.warps();
        let padding = if lanes < WARP { 4 } else { 0 };
        let room = layout.weights.next_multiple_of(4) + padding;
        let copies = block / lanes;
        // What warps of a chain tell each other: sums, and derivatives by the weights that lanes own.
        let told = |numbers: usize| if warps > 1 { 2 * copies * numbers } else { 0 };
        let share = lanes * layout.weights.div_ceil(lanes);
        let of_chains = copies * ((hyper + 2) / 2 * 2 * size_of::<f64>() + room * number)
            + told(1) * size_of::<f64>()
            + told(share) * number;
        let width = (model.inputs + 1).next_multiple_of(4);
        let of_rows = rows * width * number;
        let on_chip = of_rows <= ROWS_ON_CHIP;
        let shared = of_chains + if on_chip { of_rows } else { 0 };
        Launch { block, width, on_chip, shared }
    }

    fn source(&self, model: &MlpModel, options: &MlpOptions) -> String {
        let layout = model.layout();
        let likelihood = match model.likelihood {
            MlpLikelihood::Normal => 0,
            MlpLikelihood::StudentT => 1,
            MlpLikelihood::Logistic => 2,
            MlpLikelihood::Softmax => 3,
        };
        let (lanes, warps) = options.warps();
        let blocks = match options.double || layout.weights > TWO_BLOCKS {
            true => 1,
            // As many threads as 256 in two blocks.
            false => 2 * MANY_CHAINS / self.block.max(MANY_CHAINS / warps),
        };
        let names = [
            ("D", model.inputs),
            ("H", model.hidden),
            ("O", model.outputs),
            ("LIK", likelihood),
            ("DOUBLE", usize::from(options.double)),
            ("LANES", lanes),
            ("WARPS", warps),
            ("THREADS", self.block),
            ("BLOCKS", blocks),
            ("ON_CHIP", usize::from(self.on_chip)),
            ("PER_INPUT", usize::from(model.is_per_input())),
            ("PARTS", layout.parts),
            ("ABOVES", layout.aboves),
        ];
        let defines = names.map(|(name, value)| format!("#define {name} {value}\n")).concat();
        defines + include_str!("kernels.cu")
    }

    /// The rows of all folds, fold after fold.
    fn rows(&self, folds: &[MlpFold]) -> Vec<f64> {
        let mut rows = Vec::new();
        for fold in folds {
            for (row, target) in fold.targets.iter().enumerate() {
                let inputs = fold.inputs.columns();
                rows.extend((0..inputs).map(|k| fold.inputs[(row, k)]));
                rows.push(*target);
                rows.resize(rows.len() + self.width - inputs - 1, 0.0);
            }
        }
        // The device has no empty memory.
        if rows.is_empty() { vec![0.0; self.width] } else { rows }
    }
}
