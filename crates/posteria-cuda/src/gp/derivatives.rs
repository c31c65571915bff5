//! Solve for targets with L⁻¹, and add up derivatives.

use cudarc::driver::{LaunchConfig, PushKernelArg};

use super::{GpDensity, LEAF, NUMBER, address};
use crate::CudaError;

impl GpDensity {
    /// L⁻¹ W^½ y and b of every target that was given.
    pub(super) fn solve(&mut self) -> Result<(), CudaError> {
        let (rows, targets) = (self.rows, self.targets);
        let natural = self.covariance.parameters().len().max(1);
        let (given, results) = (address(&self.given), address(&self.results));
        let place = |base: u64, numbers: usize| base + (numbers * NUMBER) as u64;
        for target in 0..targets {
            let scaled = place(given, natural + (1 + target) * rows);
            let half = place(results, (2 + target) * rows);
            let solved = place(results, (2 + targets + target) * rows);
            let factor = address(&self.factor);
            // SAFETY: the matrix has n rows, and there are n numbers at every place.
            unsafe {
                self.blas.apply(rows, false, [factor, scaled, half])?;
                self.blas.apply(rows, true, [factor, half, solved])?;
            }
        }
        Ok(())
    }

    /// Derivatives for the targets that were solved for.
    pub(super) fn differentiate(&mut self) -> Result<(), CudaError> {
        let first = self.rows * (2 + self.targets);
        let solved = address(&self.results) + (first * NUMBER) as u64;
        // SAFETY: b of all targets lies there.
        unsafe { self.differentiate_for(solved, self.targets) }
    }

    /// Derivatives for `targets` targets.
    ///
    /// # Safety
    /// b of so many targets lies at the address `solved` in live memory of the device.
    pub(super) unsafe fn differentiate_for(
        &mut self,
        solved: u64,
        targets: usize,
    ) -> Result<(), CudaError> {
        let (rows, targets) = (self.rows, targets as i32);
        let natural = self.covariance.parameters().len().max(1);
        let blocks = rows.div_ceil(LEAF);
        let (n, count) = (rows as i32, (blocks * (blocks + 1) / 2) as i32);
        let tiles_of = self.tiles_of();
        let stream = &self.device.stream;
        let launching = CudaError::driver("computing derivatives");
        let (parameters, rest) = self.given.split_at(natural);
        let roots = rest.slice(..rows);
        let mut gradient = self.results.slice_mut(rows * (2 + 2 * self.targets)..);
        let mut add_up = stream.launch_builder(&self.kernels.add_up);
        add_up.arg(&self.points).arg(&parameters).arg(&roots).arg(&self.inverse);
        add_up.arg(&solved).arg(&targets).arg(&mut self.tiles).arg(&n);
        // SAFETY: arguments are those of the kernel, and all buffers have the lengths for n rows.
        unsafe { add_up.launch(tiles_of) }.map_err(&launching)?;
        let config = LaunchConfig {
            grid_dim: (natural as u32, 1, 1),
            block_dim: (256, 1, 1),
            shared_mem_bytes: 0,
        };
        let mut total = stream.launch_builder(&self.kernels.total);
        total.arg(&self.tiles).arg(&count).arg(&mut gradient);
        // SAFETY: there is a share of every tile, and a slot for every parameter.
        unsafe { total.launch(config) }.map_err(&launching)?;
        Ok(())
    }
}
