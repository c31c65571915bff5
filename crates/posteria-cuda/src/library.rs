//! Find the libraries of the CUDA toolkit when the program runs.

use std::env;
use std::path::PathBuf;

use libloading::Library;

use crate::CudaError;

/// Opens a library by its name without prefix and suffix; `versions` are the numbers that its file
/// may carry, the newest first.
pub(crate) fn open(name: &str, versions: &[u32]) -> Result<Library, CudaError> {
    let files = versions.iter().map(|version| format!("lib{name}.so.{version}"));
    let files: Vec<String> = files.chain([format!("lib{name}.so")]).collect();
    let mut candidates: Vec<PathBuf> = files.iter().map(PathBuf::from).collect();
    for folder in folders() {
        candidates.extend(files.iter().map(|file| folder.join(file)));
    }
    for candidate in &candidates {
        // SAFETY: opening a library runs its initialisers; those of the CUDA toolkit have no
        // demands on the program.
        if let Ok(library) = unsafe { Library::new(candidate) } {
            return Ok(library);
        }
    }
    Err(CudaError::Library { library: format!("lib{name}"), looked_for: files.join(", ") })
}

/// Where toolkits are installed beside the folders that the loader searches by itself.
fn folders() -> Vec<PathBuf> {
    let homes = ["CUDA_HOME", "CUDA_PATH"].into_iter().filter_map(env::var_os).map(PathBuf::from);
    let usual = ["/usr/local/cuda", "/opt/cuda"].map(PathBuf::from);
    homes.chain(usual).map(|home| home.join("lib64")).collect()
}

/// The address of a function in a library.
///
/// # Safety
/// `F` is the type of the function of that name.
pub(crate) unsafe fn function<F: Copy>(
    library: &Library,
    name: &'static str,
) -> Result<F, CudaError> {
    // SAFETY: the caller names the type.
    match unsafe { library.get::<F>(name.as_bytes()) } {
        Ok(symbol) => Ok(*symbol),
        Err(_) => Err(CudaError::Library {
            library: format!("a library with {name}"),
            looked_for: name.into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named_with_what_was_looked_for() {
        let error = open("posteria-is-no-such-library", &[13, 12]).unwrap_err().to_string();
        assert!(error.contains("libposteria-is-no-such-library.so.13"), "{error}");
        assert!(error.contains("CUDA_HOME"), "{error}");
    }
}
