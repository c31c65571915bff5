//! Multiply matrices on the device with cuBLAS.

use std::ffi::{c_int, c_longlong, c_void};
use std::ptr;

use libloading::Library;

use crate::CudaError;
use crate::library::{function, open};

type Handle = *mut c_void;

/// A matrix in the device's memory, by its address and the length of its columns. Matrices of a
/// batch lie `stride` entries apart.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    pub(crate) address: u64,
    pub(crate) stride: usize,
}

/// cuBLAS on the default stream.
pub(crate) struct Blas {
    handle: Handle,
    destroy: unsafe extern "C" fn(Handle) -> c_int,
    gemm: unsafe extern "C" fn(
        Handle,
        c_int,
        c_int,
        c_int,
        c_int,
        c_int,
        *const f64,
        u64,
        c_int,
        c_longlong,
        u64,
        c_int,
        c_longlong,
        *const f64,
        u64,
        c_int,
        c_longlong,
        c_int,
    ) -> c_int,
    gemv: unsafe extern "C" fn(
        Handle,
        c_int,
        c_int,
        c_int,
        *const f64,
        u64,
        c_int,
        u64,
        c_int,
        *const f64,
        u64,
        c_int,
    ) -> c_int,
    // The functions above live as long as the library does.
    _library: Library,
}

impl Blas {
    pub(crate) fn open() -> Result<Self, CudaError> {
        let library = open("cublas", &[13, 12])?;
        let mut handle: Handle = ptr::null_mut();
        // SAFETY: the types are those of cublas_v2.h; the handle is written by cuBLAS.
        unsafe {
            let create: unsafe extern "C" fn(*mut Handle) -> c_int =
                function(&library, "cublasCreate_v2")?;
            let blas = Blas {
                handle: {
                    CudaError::status("cublasCreate", create(&mut handle))?;
                    handle
                },
                destroy: function(&library, "cublasDestroy_v2")?,
                gemm: function(&library, "cublasDgemmStridedBatched")?,
                gemv: function(&library, "cublasDgemv_v2")?,
                _library: library,
            };
            Ok(blas)
        }
    }

    /// C = α op(A) B for `count` matrices whose columns are all `column` entries long; op transposes
    /// if `transposed`, op(A) has `rows` rows and `inner` columns, C `columns` columns.
    ///
    /// # Safety
    /// The matrices lie within live memory of the device, and C overlaps neither A nor B.
    pub(crate) unsafe fn multiply(
        &self,
        [rows, columns, inner]: [usize; 3],
        (transposed, alpha): (bool, f64),
        [a, b, c]: [Place; 3],
        (column, count): (usize, usize),
    ) -> Result<(), CudaError> {
        let (len, zero) = (column as c_int, 0.0);
        // SAFETY: as the caller promises; α and 0 are read before the function returns.
        let status = unsafe {
            (self.gemm)(
                self.handle,
                c_int::from(transposed),
                0,
                rows as c_int,
                columns as c_int,
                inner as c_int,
                &alpha,
                a.address,
                len,
                a.stride as c_longlong,
                b.address,
                len,
                b.stride as c_longlong,
                &zero,
                c.address,
                len,
                c.stride as c_longlong,
                count as c_int,
            )
        };
        CudaError::status("cublasDgemmStridedBatched", status)
    }

    /// y = op(A) x for a square matrix of `dim` rows.
    ///
    /// # Safety
    /// All lie within live memory of the device, and y does not overlap the others.
    pub(crate) unsafe fn apply(
        &self,
        dim: usize,
        transposed: bool,
        [a, x, y]: [u64; 3],
    ) -> Result<(), CudaError> {
        let (n, one, zero) = (dim as c_int, 1.0, 0.0);
        let op = c_int::from(transposed);
        // SAFETY: as the caller promises; 1 and 0 are read before the function returns.
        let status = unsafe { (self.gemv)(self.handle, op, n, n, &one, a, n, x, 1, &zero, y, 1) };
        CudaError::status("cublasDgemv", status)
    }
}

// SAFETY: a handle may be used by any thread, by one at a time, that has made its device its own; who
// uses one has exclusive access.
unsafe impl Send for Blas {}

impl Drop for Blas {
    fn drop(&mut self) {
        // SAFETY: the handle is cuBLAS's own and not used afterwards.
        unsafe { (self.destroy)(self.handle) };
    }
}
