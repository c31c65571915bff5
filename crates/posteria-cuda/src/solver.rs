//! Factorise matrices on the device with cuSOLVER.

use std::ffi::{c_int, c_void};
use std::ptr;

use libloading::Library;

use crate::CudaError;
use crate::library::{function, open};

type Handle = *mut c_void;

/// The lower half of a matrix, as cuSOLVER names it.
const LOWER: c_int = 0;

/// cuSOLVER on the default stream.
pub(crate) struct Solver {
    handle: Handle,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    room: unsafe extern "C" fn(Handle, c_int, c_int, u64, c_int, *mut c_int) -> c_int,
    factorize: unsafe extern "C" fn(Handle, c_int, c_int, u64, c_int, u64, c_int, u64) -> c_int,
    // The functions above live as long as the library does.
    _library: Library,
}

impl Solver {
    pub(crate) fn open() -> Result<Self, CudaError> {
        let library = open("cusolver", &[12, 11])?;
        let mut handle: Handle = ptr::null_mut();
        // SAFETY: the types are those of cusolverDn.h; the handle is written by cuSOLVER.
        unsafe {
            let create: unsafe extern "C" fn(*mut Handle) -> c_int =
                function(&library, "cusolverDnCreate")?;
            let destroy = function(&library, "cusolverDnDestroy")?;
            let room = function(&library, "cusolverDnDpotrf_bufferSize")?;
            let factorize = function(&library, "cusolverDnDpotrf")?;
            CudaError::status("cusolverDnCreate", create(&mut handle))?;
            Ok(Solver { handle, destroy, room, factorize, _library: library })
        }
    }

    /// Numbers of room that a factorisation of `dim` rows at `address` needs.
    ///
    /// # Safety
    /// The matrix lies within live memory of the device.
    pub(crate) unsafe fn room(&self, dim: usize, address: u64) -> Result<usize, CudaError> {
        let (n, mut room) = (dim as c_int, 0);
        // SAFETY: as the caller promises; cuSOLVER writes one number to a live place.
        let status = unsafe { (self.room)(self.handle, LOWER, n, address, n, &mut room) };
        CudaError::status("cusolverDnDpotrf_bufferSize", status)?;
        Ok(room.max(1) as usize)
    }

    /// Turns the lower half of a matrix into its Cholesky factor; `found` receives 0, or the first
    /// row whose pivot is not positive, counted from 1.
    ///
    /// # Safety
    /// The matrix, `room` numbers of room and one integer lie within live memory of the device.
    pub(crate) unsafe fn factorize(
        &self,
        dim: usize,
        address: u64,
        (room, len): (u64, usize),
        found: u64,
    ) -> Result<(), CudaError> {
        let n = dim as c_int;
        // SAFETY: as the caller promises.
        let status = unsafe {
            (self.factorize)(self.handle, LOWER, n, address, n, room, len as c_int, found)
        };
        CudaError::status("cusolverDnDpotrf", status)
    }
}

// SAFETY: a handle may be used by any thread, by one at a time, that has made its device its own; who
// uses one has exclusive access.
unsafe impl Send for Solver {}

impl Drop for Solver {
    fn drop(&mut self) {
        // SAFETY: the handle is cuSOLVER's own and not used afterwards.
        unsafe { (self.destroy)(self.handle) };
    }
}
