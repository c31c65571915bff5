//! Dense linear algebra of posteria: column-major matrices of `f64`, factorisations in place,
//! products into the caller's buffers.
//!
//! Everything sums in a fixed order, whatever the number of threads ([`with_threads`]; one if
//! nothing is said), so the same input gives the same bits on machines of the same class.

mod buffer;
mod cholesky;
pub mod decay;
mod elementwise;
mod error_function;
mod gemm;
mod layer;
mod log_product;
mod matrix;
mod pairs;
mod panel;
mod points;
mod product;
mod real;
mod residual;
mod scalar;
mod singular;
mod small;
mod symmetric;
mod terms;
mod threads;
mod vector;
mod view;

pub use buffer::Buffer;
pub use cholesky::{Cholesky, NotPositiveDefinite};
pub use error_function::scaled_erfc;
pub use layer::{Backward, Layer, Sums};
pub use log_product::LogProduct;
pub use matrix::Matrix;
pub use pairs::Pairs;
pub use points::Points;
pub use product::{
    matrix_vector, multiply, multiply_transposed, symmetric_rank_k, transposed_matrix_vector,
    transposed_multiply,
};
pub use real::{Real, exp, tanh};
pub use residual::{Residuals, scale_rows};
pub use singular::Singular;
pub use symmetric::{EigenError, SymmetricEigen};
pub use terms::Terms;
pub use threads::{threads, with_threads};
pub use vector::{add_scaled, add_weighted, dot, end_products, multiply_by, sum_products};
