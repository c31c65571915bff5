//! The Python package: translates tables, specifications and results, and watches long work. What is
//! computed is the library's; the pure Python part (`python/posteria`) has the classes that people see.

mod candidates;
mod chains;
mod density;
mod error;
mod fit;
mod predictions;
mod prior;
mod questions;
mod selection;
mod table;
mod units;
mod work;

use std::ffi::OsString;

use pyo3::prelude::*;

/// What `posteria` is to Python.
#[pymodule]
fn _posteria(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("PosteriaError", py.get_type::<error::PosteriaError>())?;
    module.add("DataError", py.get_type::<error::DataError>())?;
    module.add("SpecificationError", py.get_type::<error::SpecificationError>())?;
    module.add("SamplingError", py.get_type::<error::SamplingError>())?;
    module.add("InternalError", py.get_type::<error::InternalError>())?;
    module.add_class::<table::Table>()?;
    module.add_class::<fit::Fit>()?;
    module.add_class::<density::Chains>()?;
    module.add_function(wrap_pyfunction!(predictions::predict, module)?)?;
    module.add_function(wrap_pyfunction!(predictions::effects, module)?)?;
    module.add_function(wrap_pyfunction!(prior::prior_draws, module)?)?;
    module.add_function(wrap_pyfunction!(questions::assess, module)?)?;
    module.add_function(wrap_pyfunction!(questions::check, module)?)?;
    module.add_function(wrap_pyfunction!(questions::evidence, module)?)?;
    module.add_function(wrap_pyfunction!(questions::evidence_of_several, module)?)?;
    module.add_function(wrap_pyfunction!(questions::compare, module)?)?;
    module.add_function(wrap_pyfunction!(selection::select, module)?)?;
    module.add_function(wrap_pyfunction!(selection::plan_selection, module)?)?;
    module.add_function(wrap_pyfunction!(fit::check_spec, module)?)?;
    module.add_function(wrap_pyfunction!(fit::spec_keys, module)?)?;
    module.add_function(wrap_pyfunction!(density::sample, module)?)?;
    module.add_function(wrap_pyfunction!(density::psis_loo, module)?)?;
    module.add_function(wrap_pyfunction!(candidates::plan_chains, module)?)?;
    module.add_function(wrap_pyfunction!(candidates::planned_fits, module)?)?;
    module.add_function(wrap_pyfunction!(candidates::add_folds, module)?)?;
    module.add_function(wrap_pyfunction!(units::plan_folds, module)?)?;
    module.add_function(wrap_pyfunction!(units::plan_ladders, module)?)?;
    module.add_function(wrap_pyfunction!(units::next_stage, module)?)?;
    module.add_function(wrap_pyfunction!(units::plan_units, module)?)?;
    module.add_function(wrap_pyfunction!(units::run_unit, module)?)?;
    module.add_function(wrap_pyfunction!(units::add_result, module)?)?;
    module.add_function(wrap_pyfunction!(main, module)?)?;
    Ok(())
}

/// Runs the command line with these arguments; the exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| posteria_cli::run(arguments))
}
