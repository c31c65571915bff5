//! One process on the device, shared by all chains: questions about points, one after the other.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use posteria::model::accelerator::{AcceleratedProcess, AcceleratorError, ProcessPoint};
use posteria::model::gp::covariance::Covariance;
use posteria_linalg::Matrix;

use super::GpDensity;
use crate::{CudaError, Device};

/// Most points that are kept on the device at a time: as many chains ask one question after the other about points
/// of their own, without driving each other's off.
const MOST_WORKSPACES: usize = 8;

/// A process whose density, derivatives and predictions the device computes.
pub(crate) struct GpProcess {
    device: Arc<Device>,
    covariance: Covariance,
    inputs: Matrix,
    jitter: f64,
    workspaces: Mutex<Vec<Arc<Mutex<Workspace>>>>,
    /// Counts questions.
    clock: AtomicUsize,
}

/// A point, and what is known of it.
struct Workspace {
    density: GpDensity,
    log_parameters: Vec<f64>,
    precisions: Vec<f64>,
    log_volume: f64,
    ready: Ready,
    /// When it was asked last.
    asked: usize,
}

/// What lies on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Ready {
    Nothing,
    /// L⁻¹.
    Factor,
    /// L⁻¹ and B⁻¹.
    Inverse,
}

impl GpProcess {
    pub(crate) fn new(
        device: &Arc<Device>,
        covariance: &Covariance,
        inputs: &Matrix,
        jitter: f64,
    ) -> Result<Self, CudaError> {
        let process = GpProcess {
            device: device.clone(),
            covariance: covariance.clone(),
            inputs: inputs.clone(),
            jitter,
            workspaces: Mutex::default(),
            clock: AtomicUsize::new(0),
        };
        // Whether there is memory for one is known at once; it is taken when there is a question.
        let columns = GpDensity::bytes_of_columns(inputs.rows());
        let bytes = GpDensity::bytes(covariance, inputs) + columns;
        device.bind()?;
        device.ensure_free("a Gaussian process", bytes)?;
        GpDensity::check(covariance, inputs)?;
        Ok(process)
    }

    fn workspace(&self) -> Result<Arc<Mutex<Workspace>>, CudaError> {
        let density = GpDensity::new(&self.device, &self.covariance, &self.inputs, self.jitter, 1)?;
        Ok(Arc::new(Mutex::new(Workspace {
            density,
            log_parameters: vec![f64::NAN; self.covariance.parameters().len()],
            precisions: vec![f64::NAN; self.inputs.rows()],
            log_volume: f64::NAN,
            ready: Ready::Nothing,
            asked: 0,
        })))
    }

    /// The workspace that knows the point; else a new one where there is plenty of memory; else the one that was
    /// not asked for longest. Which one it is changes no answer.
    fn choose(&self, at: ProcessPoint<'_>) -> Result<Arc<Mutex<Workspace>>, CudaError> {
        let mut workspaces = lock(&self.workspaces);
        let mut oldest: Option<(usize, usize)> = None;
        for (index, workspace) in workspaces.iter().enumerate() {
            // One that is in use is about another chain's point.
            let Ok(free) = workspace.try_lock() else { continue };
            if free.knows(at) {
                return Ok(workspace.clone());
            }
            if oldest.is_none_or(|(asked, _)| free.asked < asked) {
                oldest = Some((free.asked, index));
            }
        }
        let more = (workspaces.len() + 1) * GpDensity::bytes(&self.covariance, &self.inputs);
        if workspaces.is_empty() {
            let first = self.workspace()?;
            workspaces.push(first.clone());
            return Ok(first);
        }
        if workspaces.len() < MOST_WORKSPACES
            && self.device.has_plenty(more)
            && let Ok(new) = self.workspace()
        {
            workspaces.push(new.clone());
            return Ok(new);
        }
        let index = oldest.map_or_else(
            || self.clock.load(Ordering::Relaxed) % workspaces.len(),
            |(_, index)| index,
        );
        Ok(workspaces[index].clone())
    }

    /// What `of` makes of a workspace with so much known of a point.
    fn with<T>(
        &self,
        (at, ready): (ProcessPoint<'_>, Ready),
        of: impl FnOnce(&mut Workspace) -> Result<T, CudaError>,
    ) -> Result<T, AcceleratorError> {
        let chosen = self.choose(at)?;
        let mut workspace = lock(&chosen);
        workspace.asked = self.clock.fetch_add(1, Ordering::Relaxed);
        let found = workspace.prepare(at, ready).and_then(|()| of(&mut workspace));
        if found.is_err() {
            workspace.ready = Ready::Nothing;
        }
        found.map_err(AcceleratorError::from)
    }
}

/// What a question left that did not end is not used: the next one begins at nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workspace {
    fn knows(&self, at: ProcessPoint<'_>) -> bool {
        self.ready > Ready::Nothing
            && same(&self.log_parameters, at.log_parameters)
            && same(&self.precisions, at.precisions)
    }

    fn prepare(&mut self, at: ProcessPoint<'_>, wanted: Ready) -> Result<(), CudaError> {
        if !self.knows(at) {
            self.ready = Ready::Nothing;
            self.log_volume = self.density.factorize_at(at.log_parameters, at.precisions)?;
            self.log_parameters.copy_from_slice(at.log_parameters);
            self.precisions.copy_from_slice(at.precisions);
            self.ready = Ready::Factor;
        }
        if wanted > self.ready {
            self.density.invert_at()?;
            self.ready = Ready::Inverse;
        }
        Ok(())
    }
}

/// Whether two slices are the same bit for bit.
fn same(a: &[f64], b: &[f64]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits())
}

impl AcceleratedProcess for GpProcess {
    fn factorize(&self, at: ProcessPoint<'_>) -> Result<f64, AcceleratorError> {
        self.with((at, Ready::Factor), |workspace| Ok(workspace.log_volume))
    }

    fn solve(
        &self,
        at: ProcessPoint<'_>,
        targets: &[f64],
        solved: &mut [f64],
    ) -> Result<f64, AcceleratorError> {
        self.with((at, Ready::Factor), |workspace| workspace.density.solve_at(targets, solved))
    }

    fn inverse_diagonal(
        &self,
        at: ProcessPoint<'_>,
        diagonal: &mut [f64],
    ) -> Result<(), AcceleratorError> {
        self.with((at, Ready::Inverse), |workspace| workspace.density.inverse_diagonal_at(diagonal))
    }

    fn gradient(
        &self,
        at: ProcessPoint<'_>,
        solved: &[f64],
        gradient: &mut [f64],
    ) -> Result<(), AcceleratorError> {
        self.with((at, Ready::Inverse), |workspace| workspace.density.gradient_at(solved, gradient))
    }

    fn inverse_among(
        &self,
        at: ProcessPoint<'_>,
        rows: &[usize],
        block: &mut Matrix,
    ) -> Result<(), AcceleratorError> {
        self.with((at, Ready::Inverse), |workspace| workspace.density.inverse_among_at(rows, block))
    }

    fn whiten(&self, at: ProcessPoint<'_>, columns: &mut Matrix) -> Result<(), AcceleratorError> {
        self.with((at, Ready::Factor), |workspace| workspace.density.whiten_at(columns))
    }

    fn predict(
        &self,
        at: ProcessPoint<'_>,
        solved: &[f64],
        new: &Matrix,
        found: (&mut [f64], &mut [f64]),
    ) -> Result<(), AcceleratorError> {
        self.with((at, Ready::Factor), |workspace| workspace.density.predict_at(solved, new, found))
    }

    fn draw_open(
        &self,
        at: ProcessPoint<'_>,
        epsilon: f64,
        values: &mut [f64],
    ) -> Result<(), AcceleratorError> {
        self.with((at, Ready::Inverse), |workspace| {
            // What it leaves is no inverse any more.
            workspace.ready = Ready::Factor;
            workspace.density.draw_open_at(epsilon, values)
        })
    }
}
