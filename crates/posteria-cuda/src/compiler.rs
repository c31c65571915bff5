//! Compile CUDA source text for a chip with NVRTC.

use std::ffi::{CString, c_char, c_int, c_void};
use std::ptr;

use libloading::Library;

use crate::CudaError;
use crate::library::{function, open};

type Program = *mut c_void;

/// NVRTC, the compiler of the CUDA toolkit.
pub(crate) struct Compiler {
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        *const *const c_char,
        *const *const c_char,
    ) -> c_int,
    destroy: unsafe extern "C" fn(*mut Program) -> c_int,
    compile: unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
    log_size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    log: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    code_size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    code: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
    // The functions above live as long as the library does.
    _library: Library,
}

impl Compiler {
    pub(crate) fn open() -> Result<Self, CudaError> {
        let library = open("nvrtc", &[13, 12])?;
        // SAFETY: the types are those of nvrtc.h, the same in all versions that are opened.
        unsafe {
            Ok(Compiler {
                create: function(&library, "nvrtcCreateProgram")?,
                destroy: function(&library, "nvrtcDestroyProgram")?,
                compile: function(&library, "nvrtcCompileProgram")?,
                log_size: function(&library, "nvrtcGetProgramLogSize")?,
                log: function(&library, "nvrtcGetProgramLog")?,
                code_size: function(&library, "nvrtcGetCUBINSize")?,
                code: function(&library, "nvrtcGetCUBIN")?,
                _library: library,
            })
        }
    }

    /// Machine code of `source` for `chip`, such as "sm_90".
    pub(crate) fn compile(&self, source: &str, chip: &str) -> Result<Vec<u8>, CudaError> {
        let wrong = |log: &str| CudaError::Compile { chip: chip.into(), log: log.into() };
        let text = CString::new(source).map_err(|_| wrong("the source has a zero byte"))?;
        let options = [format!("--gpu-architecture={chip}"), "--std=c++17".into()]
            .map(|option| CString::new(option).unwrap_or_default());
        let pointers = options.each_ref().map(|option| option.as_ptr());
        let mut program: Program = ptr::null_mut();
        // SAFETY: all pointers are to live texts that end with a zero byte and to buffers of the
        // sizes that NVRTC asked for; the program is destroyed once, and not used afterwards.
        unsafe {
            let status = (self.create)(
                &mut program,
                text.as_ptr(),
                ptr::null(),
                0,
                ptr::null(),
                ptr::null(),
            );
            CudaError::status("nvrtcCreateProgram", status)?;
            let status = (self.compile)(program, pointers.len() as c_int, pointers.as_ptr());
            let code = if status == 0 {
                read(program, self.code_size, self.code)
            } else {
                let log = read(program, self.log_size, self.log).unwrap_or_default();
                let log = String::from_utf8_lossy(&log).trim_end_matches('\0').to_string();
                Err(wrong(if log.is_empty() { "the compiler says nothing" } else { &log }))
            };
            (self.destroy)(&mut program);
            code
        }
    }
}

/// Reads what NVRTC has, in a buffer of the size that it asks for.
///
/// # Safety
/// `size` and `get` are functions of NVRTC that belong together, and `program` is one of its own.
unsafe fn read(
    program: Program,
    size: unsafe extern "C" fn(Program, *mut usize) -> c_int,
    get: unsafe extern "C" fn(Program, *mut c_char) -> c_int,
) -> Result<Vec<u8>, CudaError> {
    let mut len = 0;
    // SAFETY: as the caller promises; the buffer has the length that was asked for.
    unsafe {
        CudaError::status("the size of compiled code", size(program, &mut len))?;
        let mut bytes = vec![0_u8; len];
        CudaError::status("compiled code", get(program, bytes.as_mut_ptr().cast()))?;
        Ok(bytes)
    }
}
