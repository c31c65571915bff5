//! Say which devices there are, and open one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::{CudaContext, CudaFunction, CudaModule, CudaStream, sys};
use cudarc::nvrtc::Ptx;
use serde::Serialize;

use crate::compiler::Compiler;
use crate::{Cache, CudaError};

/// Oldest chip whose instructions the kernels use: the fast hyperbolic tangent came with it.
const OLDEST_CHIP: (i32, i32) = (7, 5);

/// What is known about a device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeviceInfo {
    /// Its number, counted from 0.
    pub ordinal: usize,
    /// Its name.
    pub name: String,
    /// Bytes of its memory.
    pub memory: usize,
    /// The chip as compilers name it, such as "sm_90".
    pub chip: String,
    /// How many multiprocessors it has.
    pub multiprocessors: usize,
    /// The version of CUDA that the driver offers, such as "13.0".
    pub driver: String,
}

/// The devices of this machine.
///
/// # Errors
/// [`CudaError::NoDriver`] and [`CudaError::NoDevice`] where there are none.
pub fn devices() -> Result<Vec<DeviceInfo>, CudaError> {
    let driver = driver()?;
    let count = CudaContext::device_count().map_err(CudaError::driver("counting GPUs"))?;
    (0..count as usize).map(|ordinal| Ok(open(ordinal, &driver)?.1)).collect()
}

/// Loads and starts the driver; returns its version.
fn driver() -> Result<String, CudaError> {
    // SAFETY: looks whether the driver can be opened, which has no demands on the program.
    if !unsafe { sys::is_culib_present() } {
        return Err(CudaError::NoDriver);
    }
    cudarc::driver::result::init()
        .map_err(|error| CudaError::NoDevice { why: format!("{:?}", error.0) })?;
    let mut version = 0;
    // SAFETY: the driver writes one number to a live place.
    let status = unsafe { sys::cuDriverGetVersion(&mut version) };
    status.result().map_err(CudaError::driver("asking for the version"))?;
    Ok(format!("{}.{}", version / 1000, version % 1000 / 10))
}

fn open(ordinal: usize, driver: &str) -> Result<(Arc<CudaContext>, DeviceInfo), CudaError> {
    let context = CudaContext::new(ordinal).map_err(CudaError::driver("opening the GPU"))?;
    let asking = CudaError::driver("asking what the GPU is");
    let chip = context.compute_capability().map_err(&asking)?;
    let attribute = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT;
    let info = DeviceInfo {
        ordinal,
        name: context.name().map_err(&asking)?,
        memory: context.total_mem().map_err(&asking)?,
        chip: format!("sm_{}{}", chip.0, chip.1),
        multiprocessors: context.attribute(attribute).map_err(&asking)? as usize,
        driver: driver.into(),
    };
    Ok((context, info))
}

/// An open device: kernels are compiled for it and run one after the other.
pub struct Device {
    pub(crate) context: Arc<CudaContext>,
    pub(crate) stream: Arc<CudaStream>,
    info: DeviceInfo,
    cache: Cache,
    /// Kernels that were loaded, by their source: to load some stops the device for a moment.
    modules: Mutex<HashMap<String, Arc<CudaModule>>>,
}

impl Device {
    /// Opens the device of this number; what is compiled for it is kept in `cache`.
    ///
    /// # Errors
    /// [`CudaError`] if there is none or it cannot be used.
    pub fn open(ordinal: usize, cache: Cache) -> Result<Self, CudaError> {
        let driver = driver()?;
        let count = CudaContext::device_count().map_err(CudaError::driver("counting GPUs"))?;
        let count = count as usize;
        if count == 0 {
            return Err(CudaError::NoDevice { why: "it counts none".into() });
        }
        if ordinal >= count {
            return Err(CudaError::NoSuchDevice { ordinal, count });
        }
        let (context, info) = open(ordinal, &driver)?;
        let asking = CudaError::driver("asking what the GPU is");
        let chip = context.compute_capability().map_err(asking)?;
        if chip < OLDEST_CHIP {
            let (major, minor) = OLDEST_CHIP;
            let why = format!("{} is older than compute capability {major}.{minor}", info.chip);
            return Err(CudaError::NoDevice { why });
        }
        let stream = context.default_stream();
        Ok(Device { context, stream, info, cache, modules: Mutex::default() })
    }

    /// What is known about it.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// The kernels of a source text, compiled now unless they are kept from before.
    pub(crate) fn module(&self, source: &str) -> Result<Arc<CudaModule>, CudaError> {
        let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = modules.get(source) {
            return Ok(module.clone());
        }
        let DeviceInfo { chip, driver, .. } = &self.info;
        let compile = || Compiler::open()?.compile(source, chip);
        let load = |code: Vec<u8>| self.context.load_module(Ptx::from_binary(code));
        let code = self.cache.get(&[source, chip, driver], compile)?;
        let module = load(code).map_err(CudaError::driver("loading kernels"))?;
        modules.insert(source.into(), module.clone());
        Ok(module)
    }

    /// Bytes of shared memory that a block may ask for.
    pub(crate) fn shared_memory(&self) -> Result<i32, CudaError> {
        let most = sys::CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        self.context.attribute(most).map_err(CudaError::driver("asking what the GPU is"))
    }

    /// Makes this the device of the calling thread: libraries of the toolkit look there.
    pub(crate) fn bind(&self) -> Result<(), CudaError> {
        self.context.bind_to_thread().map_err(CudaError::driver("choosing the GPU"))
    }

    /// Waits until everything is done.
    ///
    /// # Errors
    /// [`CudaError::Driver`] if the device is lost or a kernel failed.
    pub fn synchronize(&self) -> Result<(), CudaError> {
        self.stream.synchronize().map_err(CudaError::driver("waiting for the GPU"))
    }

    /// Whether so many bytes are a quarter of the memory or less, and half as many again are free.
    pub(crate) fn has_plenty(&self, bytes: usize) -> bool {
        let bound = self.bind().is_ok();
        let fits = |(free, total): (usize, usize)| 4 * bytes <= total && bytes / 2 <= free;
        bound && self.context.mem_get_info().is_ok_and(fits)
    }

    /// An error unless so many bytes are free.
    pub(crate) fn ensure_free(&self, what: &'static str, bytes: usize) -> Result<(), CudaError> {
        let asking = CudaError::driver("asking for free memory");
        let (free, _) = self.context.mem_get_info().map_err(asking)?;
        if bytes <= free {
            return Ok(());
        }
        Err(CudaError::Memory { what, needed: bytes.div_ceil(1 << 20), free: free >> 20 })
    }
}

/// A kernel of a module.
pub(crate) fn kernel(module: &Arc<CudaModule>, name: &str) -> Result<CudaFunction, CudaError> {
    module.load_function(name).map_err(CudaError::driver("finding a kernel"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a machine with a GPU the device is described, without one the error says what is missing.
    #[test]
    fn devices_are_described_or_their_absence_is() {
        match devices() {
            Ok(devices) => assert!(devices.iter().all(|device| device.chip.starts_with("sm_"))),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains("NVIDIA driver"), "{text}");
                assert!(Device::open(0, Cache::none()).is_err());
            }
        }
    }
}
