//! The density of real targets with a Gaussian process integrated out, on the device.
//!
//! Residuals are normal given one precision w_i per row, so with W = diag(w) and
//! B = I + W^½ (K + J²I) W^½ the log density of targets y, up to that of the residuals alone, is
//! -½ log |B| - ½ yᵀ W^½ B⁻¹ W^½ y [Rasmussen & Williams 2006, §3.4.3], everything in double
//! precision. The factor L of B is inverted by doubling: triangles of 32 rows on the diagonal,
//! then two products per level join neighbours, since
//! \[L₁ 0; M L₂\]⁻¹ = \[L₁⁻¹ 0; -L₂⁻¹ M L₁⁻¹ L₂⁻¹\]. B⁻¹ = L⁻ᵀ L⁻¹ by block rows.

mod derivatives;
mod process;
mod queries;
mod source;

use std::sync::Arc;

use cudarc::driver::{CudaFunction, CudaSlice, DevicePtr, LaunchConfig, PushKernelArg};
use posteria::model::gp::covariance::Covariance;
use posteria_linalg::Matrix;

use crate::CudaError;
use crate::blas::{Blas, Place};
use crate::device::{Device, kernel};
use crate::error::expect_length;
use crate::solver::Solver;

pub(crate) use process::GpProcess;
use queries::Columns;

/// Rows of the triangles that doubling begins with.
const LEAF: usize = 32;
/// Most parameters of a covariance function, whose shares of a block lie in shared memory.
const MOST_PARAMETERS: usize = 600;
/// Bytes of a number.
const NUMBER: usize = size_of::<f64>();

/// The density of targets at fixed rows, on one device.
pub struct GpDensity {
    device: Arc<Device>,
    covariance: Covariance,
    rows: usize,
    targets: usize,
    jitter_variance: f64,
    blas: Blas,
    solver: Solver,
    kernels: Kernels,
    points: CudaSlice<f64>,
    /// B, its factor, L⁻¹.
    factor: CudaSlice<f64>,
    /// Products on the way, then B⁻¹.
    inverse: CudaSlice<f64>,
    room: CudaSlice<f64>,
    found: CudaSlice<i32>,
    tiles: CudaSlice<f64>,
    /// Parameters, W^½, W^½ y of every target.
    given: CudaSlice<f64>,
    given_here: Vec<f64>,
    /// Diagonals of L and B⁻¹, L⁻¹ W^½ y and b = B⁻¹ W^½ y of every target, derivatives.
    results: CudaSlice<f64>,
    results_here: Vec<f64>,
    /// Room for questions about other rows, once there are any.
    columns: Option<Columns>,
}

struct Kernels {
    fill: CudaFunction,
    clear_upper: CudaFunction,
    diagonal: CudaFunction,
    invert_leaves: CudaFunction,
    add_up: CudaFunction,
    total: CudaFunction,
    gather: CudaFunction,
    open_up: CudaFunction,
    cross: CudaFunction,
    sums_of_columns: CudaFunction,
}

/// What [`GpDensity::evaluate`] finds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GpTerms<'a> {
    /// -½ log |B|, once for each target.
    pub log_volume: f64,
    /// Σ_t y_tᵀ W^½ B⁻¹ W^½ y_t.
    pub square: f64,
    /// b = B⁻¹ W^½ y of every target, one after the other.
    pub solved: &'a [f64],
    /// The diagonal of B⁻¹.
    pub inverse_diagonal: &'a [f64],
    /// Derivatives of the value by the log parameters of the covariance function.
    pub gradient: &'a [f64],
}

impl GpTerms<'_> {
    /// T (-½ log |B|) - ½ Σ_t y_tᵀ W^½ B⁻¹ W^½ y_t.
    pub fn value(&self) -> f64 {
        let targets = self.solved.len() / self.inverse_diagonal.len().max(1);
        targets as f64 * self.log_volume - 0.5 * self.square
    }
}

impl GpDensity {
    /// Room for `targets` targets at the rows of `inputs`; `jitter` is the standard deviation J.
    ///
    /// # Errors
    /// [`CudaError`] if the device has too little memory, or the toolkit is not there.
    pub fn new(
        device: &Arc<Device>,
        covariance: &Covariance,
        inputs: &Matrix,
        jitter: f64,
        targets: usize,
    ) -> Result<Self, CudaError> {
        GpDensity::check(covariance, inputs)?;
        if targets == 0 {
            return Err(CudaError::NotAvailable { what: "a process without targets".into() });
        }
        let (rows, parameters) = (inputs.rows(), covariance.parameters().len());
        device.bind()?;
        let square = rows * rows;
        let tiles = GpDensity::tile_numbers(rows, parameters);
        let bytes = GpDensity::bytes(covariance, inputs) + 4 * rows * targets * NUMBER;
        device.ensure_free("a Gaussian process", bytes)?;
        let module = device.module(&source::source(covariance))?;
        let kernels = Kernels {
            fill: kernel(&module, "fill")?,
            clear_upper: kernel(&module, "clear_upper")?,
            diagonal: kernel(&module, "diagonal")?,
            invert_leaves: kernel(&module, "invert_leaves")?,
            add_up: kernel(&module, "add_up")?,
            total: kernel(&module, "total")?,
            gather: kernel(&module, "gather")?,
            open_up: kernel(&module, "open_up")?,
            cross: kernel(&module, "cross")?,
            sums_of_columns: kernel(&module, "sums_of_columns")?,
        };
        let (blas, solver) = (Blas::open()?, Solver::open()?);
        let stream = &device.stream;
        let taking = CudaError::driver("taking memory for a Gaussian process");
        let take = |len: usize| stream.alloc_zeros::<f64>(len).map_err(&taking);
        let factor = take(square)?;
        // SAFETY: the matrix has the rows that are told.
        let room = unsafe { solver.room(rows, address(&factor))? };
        let given = parameters.max(1) + rows * (1 + targets);
        let results = rows * (2 + 2 * targets) + parameters.max(1);
        Ok(GpDensity {
            covariance: covariance.clone(),
            rows,
            targets,
            jitter_variance: jitter * jitter,
            blas,
            solver,
            kernels,
            points: stream.clone_htod(inputs.values()).map_err(&taking)?,
            factor,
            inverse: take(square)?,
            room: take(room)?,
            found: stream.alloc_zeros(1).map_err(&taking)?,
            tiles: take(tiles)?,
            given: take(given)?,
            given_here: vec![0.0; given],
            results: take(results)?,
            results_here: vec![0.0; results],
            columns: None,
            device: device.clone(),
        })
    }

    /// Whether the device does it at all.
    fn check(covariance: &Covariance, inputs: &Matrix) -> Result<(), CudaError> {
        expect_length("inputs of a row", covariance.inputs(), inputs.columns())?;
        if inputs.rows() == 0 || inputs.columns() == 0 {
            return Err(CudaError::NotAvailable { what: "a process without rows".into() });
        }
        if covariance.parameters().len() > MOST_PARAMETERS {
            let what = format!("a covariance function of more than {MOST_PARAMETERS} parameters");
            return Err(CudaError::NotAvailable { what });
        }
        Ok(())
    }

    /// Numbers that the shares of all tiles in the derivatives take.
    fn tile_numbers(rows: usize, parameters: usize) -> usize {
        let blocks = rows.div_ceil(LEAF);
        blocks * (blocks + 1) / 2 * parameters.max(1)
    }

    /// Bytes of the device's memory that a density takes, but for its targets.
    fn bytes(covariance: &Covariance, inputs: &Matrix) -> usize {
        let rows = inputs.rows();
        let tiles = GpDensity::tile_numbers(rows, covariance.parameters().len());
        (2 * rows * rows + tiles + rows * (inputs.columns() + 4)) * NUMBER
    }

    /// The value and its gradient at these log parameters of the covariance function, precisions
    /// of the rows, and targets, one after the other.
    ///
    /// # Errors
    /// [`CudaError::NotPositiveDefinite`] where the covariance is not usable, and whatever the
    /// driver says.
    pub fn evaluate(
        &mut self,
        log_parameters: &[f64],
        precisions: &[f64],
        targets: &[f64],
    ) -> Result<GpTerms<'_>, CudaError> {
        let (rows, parameters) = (self.rows, self.covariance.parameters().len());
        expect_length("log parameters", parameters, log_parameters.len())?;
        expect_length("precisions", rows, precisions.len())?;
        expect_length("targets", rows * self.targets, targets.len())?;
        self.device.bind()?;
        self.give(log_parameters, precisions, targets)?;
        self.factorize()?;
        self.invert_factor()?;
        self.multiply_inverses()?;
        self.solve()?;
        self.differentiate()?;
        let reading = CudaError::driver("reading results");
        let stream = &self.device.stream;
        let mut found = [0];
        stream.memcpy_dtoh(&self.found, &mut found).map_err(&reading)?;
        stream.memcpy_dtoh(&self.results, &mut self.results_here).map_err(&reading)?;
        self.device.synchronize()?;
        if found[0] > 0 {
            return Err(CudaError::NotPositiveDefinite { pivot: found[0] as usize - 1 });
        }
        let (diagonals, rest) = self.results_here.split_at(2 * rows);
        let (factor, inverse_diagonal) = diagonals.split_at(rows);
        let (solved_half, rest) = rest.split_at(rows * self.targets);
        let (solved, gradient) = rest.split_at(rows * self.targets);
        Ok(GpTerms {
            log_volume: -factor.iter().map(|pivot| pivot.ln()).sum::<f64>(),
            square: solved_half.iter().map(|z| z * z).sum(),
            solved,
            inverse_diagonal,
            gradient: &gradient[..parameters],
        })
    }

    fn give(
        &mut self,
        log_parameters: &[f64],
        precisions: &[f64],
        targets: &[f64],
    ) -> Result<(), CudaError> {
        let natural = self.covariance.parameters().len().max(1);
        let (parameters, rest) = self.given_here.split_at_mut(natural);
        source::natural(&self.covariance, log_parameters, parameters);
        let (roots, scaled) = rest.split_at_mut(self.rows);
        for (root, precision) in roots.iter_mut().zip(precisions) {
            *root = precision.sqrt();
        }
        let all = scaled.chunks_exact_mut(self.rows).zip(targets.chunks_exact(self.rows));
        for (scaled, targets) in all {
            for ((slot, root), target) in scaled.iter_mut().zip(&*roots).zip(targets) {
                *slot = root * target;
            }
        }
        let stream = &self.device.stream;
        let writing = CudaError::driver("writing parameters");
        stream.memcpy_htod(&self.given_here, &mut self.given).map_err(writing)
    }

    /// The grid of tiles of 32 × 32, of 256 threads each.
    fn tiles_of(&self) -> LaunchConfig {
        let blocks = self.rows.div_ceil(LEAF) as u32;
        LaunchConfig { grid_dim: (blocks, blocks, 1), block_dim: (32, 8, 1), shared_mem_bytes: 0 }
    }

    fn factorize(&mut self) -> Result<(), CudaError> {
        let tiles = self.tiles_of();
        let natural = self.covariance.parameters().len().max(1);
        let stream = &self.device.stream;
        let (parameters, rest) = self.given.split_at(natural);
        let roots = rest.slice(..self.rows);
        let n = self.rows as i32;
        let launching = CudaError::driver("computing covariances");
        let mut fill = stream.launch_builder(&self.kernels.fill);
        fill.arg(&self.points).arg(&parameters).arg(&roots).arg(&self.jitter_variance);
        fill.arg(&mut self.factor).arg(&n);
        // SAFETY: arguments are those of the kernel, and all buffers have the lengths for n rows.
        unsafe { fill.launch(tiles) }.map_err(&launching)?;
        let (factor, found) = (address(&self.factor), address(&self.found));
        let room = (address(&self.room), self.room.len());
        // SAFETY: the matrix has n rows, and the room is what cuSOLVER asked for.
        unsafe { self.solver.factorize(self.rows, factor, room, found)? };
        let mut clear = stream.launch_builder(&self.kernels.clear_upper);
        clear.arg(&mut self.factor).arg(&n);
        // SAFETY: as above.
        unsafe { clear.launch(tiles) }.map_err(&launching)?;
        self.diagonal(false, 0)
    }

    /// Writes the diagonal of the factor or of the inverse into the results from `first` on.
    fn diagonal(&mut self, of_inverse: bool, first: usize) -> Result<(), CudaError> {
        let n = self.rows as i32;
        let config = LaunchConfig {
            grid_dim: (self.rows.div_ceil(256) as u32, 1, 1),
            block_dim: (256, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut out = self.results.slice_mut(first..first + self.rows);
        let matrix = if of_inverse { &self.inverse } else { &self.factor };
        let mut diagonal = self.device.stream.launch_builder(&self.kernels.diagonal);
        diagonal.arg(matrix).arg(&mut out).arg(&n);
        // SAFETY: arguments are those of the kernel; there is one slot for each of n rows.
        unsafe { diagonal.launch(config) }.map_err(CudaError::driver("reading a diagonal"))?;
        Ok(())
    }

    /// L⁻¹ in place of L.
    fn invert_factor(&mut self) -> Result<(), CudaError> {
        let (rows, n) = (self.rows, self.rows as i32);
        let config = LaunchConfig {
            grid_dim: (rows.div_ceil(LEAF) as u32, 1, 1),
            block_dim: (32, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut leaves = self.device.stream.launch_builder(&self.kernels.invert_leaves);
        leaves.arg(&mut self.factor).arg(&n);
        // SAFETY: arguments are those of the kernel; blocks cover n rows.
        unsafe { leaves.launch(config) }.map_err(CudaError::driver("inverting triangles"))?;
        let mut size = LEAF;
        while size < rows {
            let pairs = rows / (2 * size);
            self.join(0, (size, size), pairs)?;
            let rest = rows - pairs * 2 * size;
            if rest > size {
                self.join(pairs * 2 * size, (size, rest - size), 1)?;
            }
            size *= 2;
        }
        Ok(())
    }

    /// B⁻¹, after L⁻¹.
    fn multiply_inverses(&mut self) -> Result<(), CudaError> {
        let rows = self.rows;
        // Block rows of L⁻ᵀ L⁻¹; what is above the diagonal blocks is never read.
        let block = [128, 256, 1024][[1500, 7000].iter().filter(|most| rows > **most).count()];
        for first in (0..rows).step_by(block) {
            let (m, rest) = (block.min(rows - first), rows - first);
            let at =
                |slice, column| Place { address: entry(slice, rows, first, column), stride: 0 };
            let places = [at(&self.factor, first), at(&self.factor, 0), at(&self.inverse, 0)];
            // SAFETY: rows from `first` on of matrices with n rows; the inverse is another matrix.
            unsafe {
                self.blas.multiply([m, first + m, rest], (true, 1.0), places, (rows, 1))?;
            }
        }
        self.diagonal(true, rows)
    }

    /// Joins pairs of inverted triangles, the first at row `first` with `sizes` rows, others two
    /// sizes further each.
    fn join(
        &mut self,
        first: usize,
        (upper, lower): (usize, usize),
        pairs: usize,
    ) -> Result<(), CudaError> {
        if pairs == 0 {
            return Ok(());
        }
        let rows = self.rows;
        let stride = 2 * upper * (rows + 1);
        let at = |slice, row, column| Place {
            address: entry(slice, rows, first + row, first + column),
            stride,
        };
        let (above, beside) = (at(&self.factor, 0, 0), at(&self.factor, upper, 0));
        let (below, product) = (at(&self.factor, upper, upper), at(&self.inverse, upper, 0));
        // SAFETY: all blocks lie within matrices of n rows, those of a product do not overlap.
        unsafe {
            let sizes = [lower, upper, upper];
            self.blas.multiply(sizes, (false, -1.0), [beside, above, product], (rows, pairs))?;
            let sizes = [lower, upper, lower];
            self.blas.multiply(sizes, (false, 1.0), [below, product, beside], (rows, pairs))
        }
    }
}

/// The address of memory of the device. Everything runs on one stream, so that nothing that was
/// begun before still writes there.
fn address<T>(slice: &CudaSlice<T>) -> u64 {
    slice.device_ptr(slice.stream()).0
}

/// The address of an entry of a matrix with `rows` rows.
fn entry(slice: &CudaSlice<f64>, rows: usize, row: usize, column: usize) -> u64 {
    address(slice) + ((column * rows + row) * NUMBER) as u64
}
