//! A process on an accelerator: where it fails, the run is told and nothing it says is used.

use std::sync::OnceLock;

use posteria_linalg::Matrix;

use super::posterior::GpPosterior;
use crate::model::accelerator::{
    self, AcceleratedProcess, Accelerator, AcceleratorError, Placement, ProcessPoint,
};
use crate::model::spec::DeviceChoice;
use crate::target::Infeasible;

/// What an accelerator computes of a process, and what went wrong with it.
pub(super) struct OnDevice {
    process: Box<dyn AcceleratedProcess>,
    failure: OnceLock<AcceleratorError>,
}

impl OnDevice {
    pub(super) fn new(process: Box<dyn AcceleratedProcess>) -> Self {
        OnDevice { process, failure: OnceLock::new() }
    }

    /// What `of` makes of the process, unless the device has failed, now or before.
    pub(super) fn ask<T>(
        &self,
        of: impl FnOnce(&dyn AcceleratedProcess) -> Result<T, AcceleratorError>,
    ) -> Result<T, Infeasible> {
        if self.failure.get().is_some() {
            return Err(Infeasible::NotFinite);
        }
        of(&*self.process).map_err(|error| match error {
            AcceleratorError::NotPositiveDefinite { pivot } => {
                Infeasible::NotPositiveDefinite { pivot }
            }
            error => {
                // The first one says most.
                let _ = self.failure.set(error);
                Infeasible::NotFinite
            }
        })
    }

    /// Why nothing it says can be used any more.
    pub(super) fn failure(&self) -> Option<&AcceleratorError> {
        self.failure.get()
    }
}

/// The device of one [`Marginal`](super::marginal::Marginal), and the point that is asked about.
pub(super) struct DevicePoint<'p> {
    device: &'p OnDevice,
    /// The precision of every row.
    precisions: Vec<f64>,
    log_volume: f64,
}

impl<'p> DevicePoint<'p> {
    pub(super) fn new(device: &'p OnDevice, rows: usize) -> Self {
        DevicePoint { device, precisions: vec![f64::NAN; rows], log_volume: f64::NAN }
    }

    fn at<'a>(&'a self, log_parameters: &'a [f64]) -> ProcessPoint<'a> {
        ProcessPoint { log_parameters, precisions: &self.precisions }
    }

    pub(super) fn factorize(
        &mut self,
        log_parameters: &[f64],
        precisions: &[f64],
    ) -> Result<(), Infeasible> {
        self.precisions.copy_from_slice(precisions);
        self.log_volume = self.device.ask(|process| process.factorize(self.at(log_parameters)))?;
        Ok(())
    }

    pub(super) fn log_volume(&self) -> f64 {
        self.log_volume
    }

    /// yᵀ W^½ b; not a number where the device fails.
    pub(super) fn solve(&self, log_parameters: &[f64], targets: &[f64], solved: &mut [f64]) -> f64 {
        let at = self.at(log_parameters);
        let square = self.device.ask(|process| process.solve(at, targets, solved));
        square.unwrap_or_else(|_| {
            solved.fill(f64::NAN);
            f64::NAN
        })
    }

    pub(super) fn inverse_diagonal(&self, log_parameters: &[f64], diagonal: &mut [f64]) {
        let at = self.at(log_parameters);
        if self.device.ask(|process| process.inverse_diagonal(at, diagonal)).is_err() {
            diagonal.fill(f64::NAN);
        }
    }

    pub(super) fn gradient(&self, log_parameters: &[f64], solved: &[f64], gradient: &mut [f64]) {
        let at = self.at(log_parameters);
        if self.device.ask(|process| process.gradient(at, solved, gradient)).is_err() {
            gradient.fill(f64::NAN);
        }
    }

    pub(super) fn inverse_among(
        &self,
        log_parameters: &[f64],
        rows: &[usize],
        block: &mut Matrix,
    ) -> Result<(), Infeasible> {
        let at = self.at(log_parameters);
        self.device.ask(|process| process.inverse_among(at, rows, block))
    }

    pub(super) fn whiten(&self, log_parameters: &[f64], columns: &mut Matrix) {
        let at = self.at(log_parameters);
        if self.device.ask(|process| process.whiten(at, columns)).is_err() {
            columns.values_mut().fill(f64::NAN);
        }
    }

    pub(super) fn predict(
        &self,
        log_parameters: &[f64],
        solved: &[f64],
        new: &Matrix,
        found: (&mut [f64], &mut [f64]),
    ) -> Result<(), Infeasible> {
        let at = self.at(log_parameters);
        self.device.ask(|process| process.predict(at, solved, new, found))
    }

    pub(super) fn draw_open(
        &self,
        log_parameters: &[f64],
        epsilon: f64,
        values: &mut [f64],
    ) -> Result<(), Infeasible> {
        let at = self.at(log_parameters);
        self.device.ask(|process| process.draw_open(at, epsilon, values))
    }
}

impl GpPosterior {
    /// The same, computed where `asked` says if that is possible.
    #[must_use]
    pub fn placed(mut self, asked: DeviceChoice) -> Self {
        let too_little = |device: &dyn Accelerator| {
            let fewest = device.fewest_rows();
            let says = || format!("processes of fewer than {fewest} rows faster than the CPU");
            (self.row_count() < fewest).then(says)
        };
        match accelerator::find(asked, self.beyond_devices(), too_little) {
            Ok(device) => self.on(asked, &*device),
            Err(placement) => {
                self.placement = placement;
                self
            }
        }
    }

    /// The same, computed by this device if it can.
    #[must_use]
    pub fn on(mut self, asked: DeviceChoice, device: &dyn Accelerator) -> Self {
        match device.process(&self.covariance, &self.inputs, self.jitter) {
            Ok(process) => {
                self.placement = Placement::Device(device.name().clone());
                self.device = Some(OnDevice::new(process));
            }
            Err(why) => self.placement = Placement::Instead { asked, why },
        }
        self
    }

    /// Where it is computed.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// What of it no device does.
    fn beyond_devices(&self) -> Option<&'static str> {
        if self.neighbours.is_some() {
            return Some("processes with neighbours in [model]");
        }
        let real = matches!(self.observed, super::observed::Observed::Real(_));
        match self.keeps_latents() {
            true if real => Some("processes with residuals other than normal"),
            true => Some("processes of classes and counts"),
            false => None,
        }
    }
}
