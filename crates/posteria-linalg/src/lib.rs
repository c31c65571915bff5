//! Dense linear algebra of posteria: column-major matrices of `f64`, factorisations in place,
//! products into the caller's buffers. The only crate that names the backend.
//!
//! Everything runs on the calling thread and sums in a fixed order, so the same input gives
//! the same bits on machines of the same class.

mod cholesky;
mod matrix;
mod product;
mod symmetric;
mod vector;

pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use matrix::Matrix;
pub use product::{
    matrix_vector, multiply, multiply_transposed, symmetric_rank_k, transposed_matrix_vector,
    transposed_multiply,
};
pub use symmetric::{EigenError, SymmetricEigen};
pub use vector::{add_scaled, add_weighted, dot, end_products};
