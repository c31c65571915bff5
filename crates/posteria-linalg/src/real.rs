//! Compile the lane-wise kernels for both precisions and several instruction sets.

use multiversion::multiversion;

use crate::layer::{Backward, Layer, Sums};
use crate::scalar::Scalar;
use crate::terms::Terms;
use crate::{elementwise, layer, panel, terms};

/// A floating point number with kernels on slices and panels of it.
///
/// A panel holds columns of `rows` numbers, one after the other; `rows` is a multiple of
/// [`Real::LANES`]. The version for the processor at hand is chosen at run time; all versions
/// give the same bits. Processors without fused multiply-add (x86 before 2013) compute it in
/// software: right, but many times slower.
///
/// # Panics
/// All functions panic if lengths do not fit together.
pub trait Real: Scalar + Send + Sync + std::fmt::Debug + 'static {
    /// Rows computed together.
    const LANES: usize;

    /// x ← exp x for every number.
    fn exp_slice(values: &mut [Self]);

    /// x ← tanh x for every number.
    fn tanh_slice(values: &mut [Self]);

    /// outputs_u = bias_u + Σ_k weights[k·U + u] inputs_k.
    fn affine(inputs: &[Self], weights: &[Self], bias: &[Self], outputs: &mut [Self], rows: usize);

    /// outputs_u += Σ_k weights[k·U + u] inputs_k.
    fn add_product(inputs: &[Self], weights: &[Self], outputs: &mut [Self], rows: usize);

    /// sums[i·B + j] = Σ over rows of left_i right_j, each in [`Real::LANES`] partial sums; with
    /// `add` they are added to. With `lower`, only where j ≤ i is sure to be computed.
    fn products_over_rows(
        left: &[Self],
        right: &[Self],
        sums: &mut [Self],
        rows: usize,
        add: bool,
        lower: bool,
    );

    /// All of [`Real::products_over_rows`].
    fn cross_products(left: &[Self], right: &[Self], sums: &mut [Self], rows: usize, add: bool) {
        Self::products_over_rows(left, right, sums, rows, add, false);
    }

    /// The lower triangle of [`Real::products_over_rows`].
    fn cross_products_lower(
        left: &[Self],
        right: &[Self],
        sums: &mut [Self],
        rows: usize,
        add: bool,
    ) {
        Self::products_over_rows(left, right, sums, rows, add, true);
    }

    /// totals_i = the sum of the i-th [`Real::LANES`] partial sums.
    fn totals(sums: &[Self], totals: &mut [f64]);

    /// hidden_h = tanh(a_h + Σ_k u_kh inputs_k), outputs_o = b_o + Σ_h v_ho hidden_h. Where one unit
    /// of a row is NaN, its neighbours in the same row may become NaN too.
    fn forward(
        layer: Layer<'_, Self>,
        inputs: &[Self],
        results: (&mut [Self], &mut [Self]),
        rows: usize,
    );

    /// Derivatives by all weights of a layer, each in [`Real::LANES`] partial sums; with `add` they
    /// are added to. `delta` has a column per unit and is scratch.
    fn backward(
        pass: Backward<'_, Self>,
        delta: &mut [Self],
        sums: Sums<'_, Self>,
        rows: usize,
        add: bool,
    );

    /// Converts numbers; what `output` has more than `values` is filled with `padding`.
    fn convert(values: &[f64], output: &mut [Self], padding: f64);

    /// Converts codes to numbers; what `output` has more than `codes` is filled with -1.
    fn convert_codes(codes: &[u32], output: &mut [Self]);

    /// Outputs become slopes p (y - f); sum: Σ p (y - f)².
    fn squares(outputs: &mut [Self], targets: &[Self], precisions: &[Self]) -> Terms;

    /// Outputs become slopes (ν + 1) z / (σ (ν + z²)), z = (y - f)/σ; product: Π (1 + z²/ν).
    fn student_t(
        outputs: &mut [Self],
        targets: &[Self],
        inverse_scales: &[Self],
        dof: f64,
    ) -> Terms;

    /// Outputs become slopes sign(y - f)/s, 0 at y = f; sum: Σ |y - f|/s.
    fn absolute(outputs: &mut [Self], targets: &[Self], inverse_scales: &[Self]) -> Terms;

    /// Outputs become slopes s / (1 + exp(s f)); sum: Σ max(0, -s f), product:
    /// Π (1 + exp(-|s f|)). A sign of 0 takes the row out.
    fn logistic(outputs: &mut [Self], signs: &[Self]) -> Terms;

    /// Outputs become slopes [o = c] - exp f_o / Σ exp f; sum: Σ_i f_max - f_c, product:
    /// Π_i Σ_o exp(f_o - f_max). A negative class c takes the row out.
    fn softmax(outputs: &mut [Self], classes: &[Self]) -> Terms;
}

macro_rules! real {
    ($float:ident, $lanes:literal, $module:ident,
     $(fn $name:ident($($argument:ident: $type:ty),*) $(-> $result:ty)? $body:block)*) => {
        mod $module {
            use super::*;
            $(
                #[multiversion(targets("x86_64+avx512f", "x86_64+avx2+fma"))]
                pub(super) fn $name($($argument: $type),*) $(-> $result)? $body
            )*
        }

        impl Real for $float {
            const LANES: usize = $lanes;

            // Versions with wider vectors gather lanes across sums, five times slower.
            fn totals(sums: &[$float], totals: &mut [f64]) {
                panel::totals::<$float, $lanes>(sums, totals);
            }

            $(
                fn $name($($argument: $type),*) $(-> $result)? {
                    $module::$name($($argument),*)
                }
            )*
        }
    };
    ($float:ident, $lanes:literal, $module:ident) => {
        real! { $float, $lanes, $module,
            fn exp_slice(values: &mut [$float]) {
                elementwise::exp::<$float, $lanes>(values);
            }
            fn tanh_slice(values: &mut [$float]) {
                elementwise::tanh::<$float, $lanes>(values);
            }
            fn affine(
                inputs: &[$float],
                weights: &[$float],
                bias: &[$float],
                outputs: &mut [$float],
                rows: usize
            ) {
                panel::affine::<$float, $lanes>(inputs, weights, bias, outputs, rows);
            }
            fn add_product(
                inputs: &[$float],
                weights: &[$float],
                outputs: &mut [$float],
                rows: usize
            ) {
                panel::add_product::<$float, $lanes>(inputs, weights, outputs, rows);
            }
            fn products_over_rows(
                left: &[$float],
                right: &[$float],
                sums: &mut [$float],
                rows: usize,
                add: bool,
                lower: bool
            ) {
                panel::cross_products::<$float, $lanes>(left, right, sums, rows, (add, lower));
            }
            fn forward(
                layer: Layer<'_, $float>,
                inputs: &[$float],
                results: (&mut [$float], &mut [$float]),
                rows: usize
            ) {
                layer::forward::<$float, $lanes>(layer, inputs, results, rows);
            }
            fn backward(
                pass: Backward<'_, $float>,
                delta: &mut [$float],
                sums: Sums<'_, $float>,
                rows: usize,
                add: bool
            ) {
                layer::backward::<$float, $lanes>(pass, (delta, sums), (rows, add));
            }
            fn convert(values: &[f64], output: &mut [$float], padding: f64) {
                let (used, rest) = output.split_at_mut(values.len());
                for (output, value) in used.iter_mut().zip(values) {
                    *output = *value as $float;
                }
                rest.fill(padding as $float);
            }
            fn convert_codes(codes: &[u32], output: &mut [$float]) {
                let (used, rest) = output.split_at_mut(codes.len());
                for (output, code) in used.iter_mut().zip(codes) {
                    *output = *code as $float;
                }
                rest.fill(-1.0);
            }
            fn squares(
                outputs: &mut [$float],
                targets: &[$float],
                precisions: &[$float]
            ) -> Terms {
                terms::squares::<$float, $lanes>(outputs, targets, precisions)
            }
            fn student_t(
                outputs: &mut [$float],
                targets: &[$float],
                inverse_scales: &[$float],
                dof: f64
            ) -> Terms {
                terms::student_t::<$float, $lanes>(outputs, targets, inverse_scales, dof as $float)
            }
            fn absolute(
                outputs: &mut [$float],
                targets: &[$float],
                inverse_scales: &[$float]
            ) -> Terms {
                terms::absolute::<$float, $lanes>(outputs, targets, inverse_scales)
            }
            fn logistic(outputs: &mut [$float], signs: &[$float]) -> Terms {
                terms::logistic::<$float, $lanes>(outputs, signs)
            }
            fn softmax(outputs: &mut [$float], classes: &[$float]) -> Terms {
                terms::softmax::<$float, $lanes>(outputs, classes)
            }
        }
    };
}

real!(f64, 8, double);
real!(f32, 16, single);

/// x ← exp x for every number, right to 3 units of the last place (f32: 3 · 1.2e-7 relative);
/// NaN stays NaN, overflow is infinite, underflow gradual in double precision.
pub fn exp<T: Real>(values: &mut [T]) {
    T::exp_slice(values);
}

/// x ← tanh x for every number, right to 4 units of the last place; odd, NaN stays NaN.
pub fn tanh<T: Real>(values: &mut [T]) {
    T::tanh_slice(values);
}

#[cfg(test)]
mod tests;
