//! Answer one question after the other about a point, each from what the last ones left.

use cudarc::driver::{CudaSlice, LaunchConfig, PushKernelArg};
use posteria_linalg::Matrix;

use super::{GpDensity, NUMBER, address};
use crate::CudaError;
use crate::blas::Place;
use crate::error::expect_length;

/// Columns that are whitened at once.
pub(super) const COLUMNS: usize = 256;

/// Room for columns at all rows, before and after L⁻¹ is applied.
pub(super) struct Columns {
    given: CudaSlice<f64>,
    whitened: CudaSlice<f64>,
}

impl GpDensity {
    /// L and L⁻¹ at these log parameters and precisions; -½ log |B|.
    pub(super) fn factorize_at(
        &mut self,
        log_parameters: &[f64],
        precisions: &[f64],
    ) -> Result<f64, CudaError> {
        expect_length("log parameters", self.covariance.parameters().len(), log_parameters.len())?;
        expect_length("precisions", self.rows, precisions.len())?;
        self.device.bind()?;
        // Targets come with a question of their own.
        self.give(log_parameters, precisions, &[])?;
        self.factorize()?;
        self.invert_factor()?;
        let reading = CudaError::driver("reading a factor");
        let mut found = [0];
        self.device.stream.memcpy_dtoh(&self.found, &mut found).map_err(&reading)?;
        self.read(0, self.rows)?;
        if found[0] > 0 {
            return Err(CudaError::NotPositiveDefinite { pivot: found[0] as usize - 1 });
        }
        Ok(-self.results_here[..self.rows].iter().map(|pivot| pivot.ln()).sum::<f64>())
    }

    /// Reads `count` results from the one of number `first` on, to the same place here.
    fn read(&mut self, first: usize, count: usize) -> Result<(), CudaError> {
        let reading = CudaError::driver("reading results");
        let from = self.results.slice(first..first + count);
        let to = &mut self.results_here[first..first + count];
        self.device.stream.memcpy_dtoh(&from, to).map_err(&reading)?;
        self.device.synchronize()
    }

    /// b of one target, after [`GpDensity::factorize_at`]; yᵀ W^½ b.
    pub(super) fn solve_at(
        &mut self,
        target: &[f64],
        solved: &mut [f64],
    ) -> Result<f64, CudaError> {
        let rows = self.rows;
        expect_length("targets", rows, target.len())?;
        self.device.bind()?;
        let first = self.covariance.parameters().len().max(1);
        let (roots, scaled) = self.given_here[first..].split_at_mut(rows);
        for ((slot, root), target) in scaled.iter_mut().zip(roots).zip(target) {
            *slot = *root * target;
        }
        let mut there = self.given.slice_mut(first + rows..first + 2 * rows);
        let writing = CudaError::driver("writing targets");
        self.device.stream.memcpy_htod(&scaled[..rows], &mut there).map_err(writing)?;
        self.solve()?;
        self.read(2 * rows, 2 * rows)?;
        let (half, found) = self.results_here[2 * rows..4 * rows].split_at(rows);
        solved.copy_from_slice(found);
        Ok(half.iter().map(|z| z * z).sum())
    }

    /// B⁻¹, after [`GpDensity::factorize_at`].
    pub(super) fn invert_at(&mut self) -> Result<(), CudaError> {
        self.device.bind()?;
        self.multiply_inverses()
    }

    /// The diagonal of B⁻¹, after [`GpDensity::invert_at`].
    pub(super) fn inverse_diagonal_at(&mut self, diagonal: &mut [f64]) -> Result<(), CudaError> {
        self.device.bind()?;
        self.read(self.rows, self.rows)?;
        diagonal.copy_from_slice(&self.results_here[self.rows..2 * self.rows]);
        Ok(())
    }

    /// Derivatives given b of every target, after [`GpDensity::invert_at`].
    pub(super) fn gradient_at(
        &mut self,
        solved: &[f64],
        gradient: &mut [f64],
    ) -> Result<(), CudaError> {
        self.device.bind()?;
        let targets = solved.len() / self.rows;
        let writing = CudaError::driver("writing what was solved");
        let there = self.device.stream.clone_htod(solved).map_err(writing)?;
        // SAFETY: b of so many targets lies there until the results are read.
        unsafe { self.differentiate_for(address(&there), targets)? };
        let first = self.rows * (2 + 2 * self.targets);
        self.read(first, gradient.len())?;
        gradient.copy_from_slice(&self.results_here[first..first + gradient.len()]);
        Ok(())
    }

    /// The lower half of B⁻¹ among some rows, after [`GpDensity::invert_at`].
    pub(super) fn inverse_among_at(
        &mut self,
        rows: &[usize],
        block: &mut Matrix,
    ) -> Result<(), CudaError> {
        self.device.bind()?;
        let stream = &self.device.stream;
        let gathering = CudaError::driver("reading a part of an inverse");
        let (n, count) = (self.rows as i32, rows.len() as i32);
        if let Some(row) = rows.iter().find(|row| **row >= self.rows) {
            return Err(CudaError::Length { what: "rows", expected: self.rows, found: *row });
        }
        let numbers: Vec<i32> = rows.iter().map(|row| *row as i32).collect();
        let numbers = stream.clone_htod(&numbers).map_err(&gathering)?;
        let mut out = stream.alloc_zeros::<f64>(rows.len() * rows.len()).map_err(&gathering)?;
        let mut gather = stream.launch_builder(&self.kernels.gather);
        gather.arg(&self.inverse).arg(&numbers).arg(&count).arg(&mut out).arg(&n);
        // SAFETY: rows are within the matrix; there is a slot for every pair of them.
        unsafe { gather.launch(columns_of(rows.len())) }.map_err(&gathering)?;
        stream.memcpy_dtoh(&out, block.values_mut()).map_err(&gathering)?;
        self.device.synchronize()
    }

    /// Normal numbers z become M z, M the lower factor of I - B⁻¹ + εI, in place of B⁻¹; after
    /// [`GpDensity::invert_at`].
    pub(super) fn draw_open_at(
        &mut self,
        epsilon: f64,
        values: &mut [f64],
    ) -> Result<(), CudaError> {
        self.device.bind()?;
        let tiles = self.tiles_of();
        let stream = &self.device.stream;
        let drawing = CudaError::driver("drawing a function");
        let n = self.rows as i32;
        let mut open_up = stream.launch_builder(&self.kernels.open_up);
        open_up.arg(&mut self.inverse).arg(&epsilon).arg(&n);
        // SAFETY: arguments are those of the kernel; the matrix has n rows.
        unsafe { open_up.launch(tiles) }.map_err(&drawing)?;
        let (inverse, found) = (address(&self.inverse), address(&self.found));
        let room = (address(&self.room), self.room.len());
        // SAFETY: the matrix has n rows, and the room is what cuSOLVER asked for so many.
        unsafe { self.solver.factorize(self.rows, inverse, room, found)? };
        let mut clear = stream.launch_builder(&self.kernels.clear_upper);
        clear.arg(&mut self.inverse).arg(&n);
        // SAFETY: as above.
        unsafe { clear.launch(tiles) }.map_err(&drawing)?;
        let given = stream.clone_htod(values).map_err(&drawing)?;
        let drawn = stream.alloc_zeros::<f64>(self.rows).map_err(&drawing)?;
        // SAFETY: the matrix has n rows, and both vectors n numbers.
        unsafe { self.blas.apply(self.rows, false, [inverse, address(&given), address(&drawn)])? };
        let mut status = [0];
        stream.memcpy_dtoh(&self.found, &mut status).map_err(&drawing)?;
        stream.memcpy_dtoh(&drawn, values).map_err(&drawing)?;
        self.device.synchronize()?;
        match status[0] {
            0 => Ok(()),
            pivot => Err(CudaError::NotPositiveDefinite { pivot: pivot as usize - 1 }),
        }
    }

    fn columns(&mut self) -> Result<Columns, CudaError> {
        if let Some(columns) = self.columns.take() {
            return Ok(columns);
        }
        let taking = CudaError::driver("taking memory for columns");
        let take = || self.device.stream.alloc_zeros::<f64>(self.rows * COLUMNS).map_err(&taking);
        Ok(Columns { given: take()?, whitened: take()? })
    }

    /// L⁻¹ C for the first `count` columns.
    fn apply_inverse(&self, columns: &Columns, count: usize) -> Result<(), CudaError> {
        let at = |slice| Place { address: address(slice), stride: 0 };
        let places = [at(&self.factor), at(&columns.given), at(&columns.whitened)];
        // SAFETY: all have columns of n rows, and the columns have room for so many of them.
        unsafe {
            self.blas.multiply([self.rows, count, self.rows], (false, 1.0), places, (self.rows, 1))
        }
    }

    /// Columns become L⁻¹ times these, after [`GpDensity::factorize_at`].
    pub(super) fn whiten_at(&mut self, matrix: &mut Matrix) -> Result<(), CudaError> {
        expect_length("rows of columns", self.rows, matrix.rows())?;
        self.device.bind()?;
        let mut columns = self.columns()?;
        for part in matrix.values_mut().chunks_mut(self.rows * COLUMNS) {
            let stream = &self.device.stream;
            let moving = CudaError::driver("moving columns");
            let mut there = columns.given.slice_mut(..part.len());
            stream.memcpy_htod(&*part, &mut there).map_err(&moving)?;
            self.apply_inverse(&columns, part.len() / self.rows)?;
            let there = columns.whitened.slice(..part.len());
            stream.memcpy_dtoh(&there, part).map_err(&moving)?;
            self.device.synchronize()?;
        }
        self.columns = Some(columns);
        Ok(())
    }

    /// k*ᵀ W^½ b and k*ᵀ W^½ B⁻¹ W^½ k* of new rows, after [`GpDensity::factorize_at`].
    pub(super) fn predict_at(
        &mut self,
        solved: &[f64],
        new: &Matrix,
        (means, known): (&mut [f64], &mut [f64]),
    ) -> Result<(), CudaError> {
        expect_length("inputs of a row", self.covariance.inputs(), new.columns())?;
        self.device.bind()?;
        let natural = self.covariance.parameters().len().max(1);
        let predicting = CudaError::driver("predicting");
        let solved = self.device.stream.clone_htod(solved).map_err(&predicting)?;
        let mut columns = self.columns()?;
        let parts = means.chunks_mut(COLUMNS).zip(known.chunks_mut(COLUMNS)).enumerate();
        for (part, (means, known)) in parts {
            let (first, count) = (part * COLUMNS, means.len());
            let stream = &self.device.stream;
            let rows = stream.clone_htod(new.rows_in(first..first + count).values());
            let rows = rows.map_err(&predicting)?;
            let (parameters, rest) = self.given.split_at(natural);
            let roots = rest.slice(..self.rows);
            let (n, m) = (self.rows as i32, count as i32);
            let mut cross = stream.launch_builder(&self.kernels.cross);
            cross.arg(&self.points).arg(&rows).arg(&parameters).arg(&roots);
            cross.arg(&mut columns.given).arg(&n).arg(&m);
            let grid = (self.rows.div_ceil(32) as u32, count.div_ceil(32) as u32, 1);
            let config =
                LaunchConfig { grid_dim: grid, block_dim: (32, 8, 1), shared_mem_bytes: 0 };
            // SAFETY: arguments are those of the kernel; there is room for so many columns of n rows.
            unsafe { cross.launch(config) }.map_err(&predicting)?;
            self.apply_inverse(&columns, count)?;
            let mut sums = stream.alloc_zeros::<f64>(2 * count).map_err(&predicting)?;
            let mut add = stream.launch_builder(&self.kernels.sums_of_columns);
            add.arg(&columns.given).arg(&columns.whitened).arg(&solved).arg(&mut sums).arg(&n);
            // SAFETY: as above; there are two numbers for every column.
            unsafe { add.launch(columns_of(count)) }.map_err(&predicting)?;
            let here = stream.clone_dtoh(&sums).map_err(&predicting)?;
            self.device.synchronize()?;
            for ((mean, known), sums) in means.iter_mut().zip(known).zip(here.chunks_exact(2)) {
                (*mean, *known) = (sums[0], sums[1]);
            }
        }
        self.columns = Some(columns);
        Ok(())
    }

    /// Bytes of the device that a density of so many rows takes, with the columns of questions.
    pub(super) fn bytes_of_columns(rows: usize) -> usize {
        2 * rows * COLUMNS * NUMBER
    }
}

/// A block of 256 threads for every column.
fn columns_of(count: usize) -> LaunchConfig {
    LaunchConfig { grid_dim: (count as u32, 1, 1), block_dim: (256, 1, 1), shared_mem_bytes: 0 }
}
