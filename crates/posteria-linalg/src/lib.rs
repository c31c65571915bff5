//! Dense linear algebra of posteria: column-major matrices of `f64`, factorisations in place,
//! products into the caller's buffers. The only crate that names the backend.

mod cholesky;
mod matrix;
mod product;
mod vector;

pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use matrix::Matrix;
pub use product::{matrix_vector, multiply, transposed_matrix_vector, transposed_multiply};
pub use vector::{add_scaled, add_weighted, dot, end_products};
