//! The GPUs of this machine as the library asks for them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use posteria::data::Dataset;
use posteria::model::accelerator::{
    AcceleratedNetwork, AcceleratedProcess, Accelerator, AcceleratorError, AcceleratorName,
    Accelerators,
};
use posteria::model::gp::covariance::Covariance;
use posteria::model::spec::{DeviceChoice, Spec};
use posteria_linalg::Matrix;

use crate::gp::GpProcess;
use crate::mlp::CudaNetwork;
use crate::{Cache, CudaError, Device};

/// Fewest rows of a Gaussian process for which a GPU is chosen without being asked for.
const FEWEST_ROWS: usize = 500;
/// Fewest chains of a network for which it is.
const FEWEST_CHAINS: usize = 64;

/// The GPUs of this machine, each opened when it is first asked for.
pub struct CudaAccelerators {
    cache: Cache,
    open: Mutex<HashMap<usize, Arc<CudaAccelerator>>>,
}

impl CudaAccelerators {
    /// What is compiled for them is kept in `cache`.
    pub fn new(cache: Cache) -> Self {
        CudaAccelerators { cache, open: Mutex::default() }
    }
}

impl Accelerators for CudaAccelerators {
    fn open(&self, ordinal: Option<usize>) -> Result<Arc<dyn Accelerator>, AcceleratorError> {
        let ordinal = ordinal.unwrap_or(0);
        let mut all = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(there) = all.get(&ordinal) {
            return Ok(there.clone());
        }
        let device = Device::open(ordinal, self.cache.clone())?;
        let opened = Arc::new(CudaAccelerator::new(Arc::new(device)));
        all.insert(ordinal, opened.clone());
        Ok(opened)
    }
}

/// One GPU.
pub struct CudaAccelerator {
    device: Arc<Device>,
    name: AcceleratorName,
}

impl CudaAccelerator {
    /// An open device.
    pub fn new(device: Arc<Device>) -> Self {
        let info = device.info();
        let name = AcceleratorName {
            device: DeviceChoice::Cuda(Some(info.ordinal)),
            name: info.name.clone(),
            chip: info.chip.clone(),
        };
        CudaAccelerator { device, name }
    }
}

impl Accelerator for CudaAccelerator {
    fn name(&self) -> &AcceleratorName {
        &self.name
    }

    fn fewest_rows(&self) -> usize {
        FEWEST_ROWS
    }

    fn process(
        &self,
        covariance: &Covariance,
        inputs: &Matrix,
        jitter: f64,
    ) -> Result<Box<dyn AcceleratedProcess>, AcceleratorError> {
        Ok(Box::new(GpProcess::new(&self.device, covariance, inputs, jitter)?))
    }

    fn fewest_chains(&self) -> usize {
        FEWEST_CHAINS
    }

    fn network(
        &self,
        spec: &Spec,
        data: &Dataset,
    ) -> Result<Box<dyn AcceleratedNetwork>, AcceleratorError> {
        Ok(Box::new(CudaNetwork::new(&self.device, spec, data)?))
    }
}

impl From<CudaError> for AcceleratorError {
    fn from(error: CudaError) -> Self {
        let words = error.to_string();
        match error {
            CudaError::NoDriver
            | CudaError::NoDevice { .. }
            | CudaError::NoSuchDevice { .. }
            | CudaError::Library { .. } => AcceleratorError::Absent { why: words },
            CudaError::NotPositiveDefinite { pivot } => {
                AcceleratorError::NotPositiveDefinite { pivot }
            }
            CudaError::NotAvailable { what } => AcceleratorError::NotAvailable { what },
            CudaError::Memory { .. } => AcceleratorError::Memory { what: words },
            // Between the question how much is free and the taking others may have taken it.
            CudaError::Driver { doing, error } if error.contains("OUT_OF_MEMORY") => {
                let what = format!("{doing}: the GPU has no memory left");
                AcceleratorError::Memory { what }
            }
            _ => AcceleratorError::Failed { what: words },
        }
    }
}
