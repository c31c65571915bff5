//! Say what went wrong on a device, and what cures it.

use cudarc::driver::DriverError;

/// Why something could not be done on a device.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// There is no driver of a GPU.
    #[error("no NVIDIA driver on this machine (libcuda was not found)")]
    NoDriver,
    /// There is a driver, but no device it can use.
    #[error("the NVIDIA driver finds no usable GPU: {why}")]
    NoDevice {
        /// What the driver says.
        why: String,
    },
    /// There is no device of this number.
    #[error("no GPU {ordinal}: this machine has {count}, counted from 0")]
    NoSuchDevice {
        /// The number asked for.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// The driver refused something.
    #[error("{doing}: the GPU's driver says {error}")]
    Driver {
        /// What was attempted.
        doing: &'static str,
        /// The driver's word for it.
        error: String,
    },
    /// A library of the CUDA toolkit is not there.
    #[error(
        "{library} of the CUDA toolkit was not found (looked for {looked_for}); install the \
         toolkit, or name its folder in CUDA_HOME"
    )]
    Library {
        /// The library.
        library: String,
        /// The names that were tried.
        looked_for: String,
    },
    /// A library of the CUDA toolkit refused something.
    #[error("{call} of the CUDA toolkit ended with status {status}")]
    Status {
        /// The function.
        call: &'static str,
        /// Its status.
        status: i32,
    },
    /// A kernel could not be compiled for the chip.
    #[error("kernels could not be compiled for {chip}: {log}")]
    Compile {
        /// The chip.
        chip: String,
        /// What the compiler says.
        log: String,
    },
    /// The device has too little memory left.
    #[error("{what} needs {needed} MB of the GPU's memory, of which {free} MB are free")]
    Memory {
        /// What was asked for.
        what: &'static str,
        /// Megabytes needed.
        needed: usize,
        /// Megabytes free.
        free: usize,
    },
    /// The covariance matrix is not positive definite.
    #[error("the covariance matrix is not positive definite at row {pivot}")]
    NotPositiveDefinite {
        /// The first row whose pivot is not positive, counted from 0.
        pivot: usize,
    },
    /// A number has no meaning here.
    #[error("{what} is not available on the GPU; the CPU does it")]
    NotAvailable {
        /// What was asked for.
        what: String,
    },
    /// Numbers of rows, weights or chains that do not belong together.
    #[error("{what}: expected {expected}, found {found}")]
    Length {
        /// What was counted.
        what: &'static str,
        /// How many there have to be.
        expected: usize,
        /// How many there are.
        found: usize,
    },
}

impl CudaError {
    /// The driver's refusal of what was being done.
    pub(crate) fn driver(doing: &'static str) -> impl Fn(DriverError) -> CudaError {
        move |error| CudaError::Driver { doing, error: format!("{:?}", error.0) }
    }

    /// Checks the status of a function of the CUDA toolkit, 0 if all went well.
    pub(crate) fn status(call: &'static str, status: i32) -> Result<(), CudaError> {
        if status == 0 { Ok(()) } else { Err(CudaError::Status { call, status }) }
    }
}

/// An error unless there are `expected` of something.
pub(crate) fn expect_length(
    what: &'static str,
    expected: usize,
    found: usize,
) -> Result<(), CudaError> {
    if expected == found { Ok(()) } else { Err(CudaError::Length { what, expected, found }) }
}
