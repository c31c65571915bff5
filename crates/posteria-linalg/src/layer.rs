//! Run a layer of tanh units over a panel, forwards and backwards, each in one sweep of its rows.
//!
//! What a block of rows needs stays in registers: its sums, their tanh and what these add to the
//! outputs; backwards the derivatives and what they add to the gradient. Sums run in the order of
//! the plain products of [`crate::panel`], which are called where a sweep of their own loses nothing:
//! inlined, they would be most of what this crate takes to compile.
#![allow(
    clippy::needless_range_loop,
    reason = "lanes and blocks are addressed by the same index on both sides"
)]

use crate::elementwise::{tanh_four, tanh_ratio, tanh_two};
use crate::panel::{fma, load, map, store, zip};
use crate::real::Real;
use crate::scalar::Scalar;

/// Weights of a layer of H tanh units on K inputs and of O outputs that are linear in them.
#[derive(Clone, Copy, Debug)]
pub struct Layer<'a, T> {
    /// Input weights u_kh at k·H + h.
    pub input: &'a [T],
    /// Biases a_h of the units.
    pub bias: &'a [T],
    /// Output weights v_ho at h·O + o.
    pub output: &'a [T],
    /// Biases b_o of the outputs; none if outputs are not wanted.
    pub output_bias: &'a [T],
}

/// tanh of `U` blocks of lanes; they share their divisions if there are two or four.
#[inline(always)]
fn tanh_blocks<T: Scalar, const N: usize, const U: usize>(sums: [[T; N]; U]) -> [[T; N]; U] {
    let mut units = sums;
    match &mut units[..] {
        [a, b, c, d] => tanh_four(a, b, c, d),
        [a, b] => tanh_two(a, b),
        units => {
            for unit in units {
                *unit = map(*unit, |x| {
                    let (numerator, denominator) = tanh_ratio(x);
                    numerator / denominator
                });
            }
        }
    }
    units
}

/// From so many inputs on, sums are computed for several blocks of rows at a time, before the rest.
const MANY: usize = 9;

/// `U` neighbouring columns from `first` on, `blocks` blocks of lanes each.
#[inline(always)]
fn columns<T, const U: usize>(panel: &mut [T], first: usize, blocks: usize) -> [&mut [T]; U] {
    let mut rest = &mut panel[first * blocks..][..U * blocks];
    std::array::from_fn(|_| {
        let (column, others) = std::mem::take(&mut rest).split_at_mut(blocks);
        rest = others;
        column
    })
}

impl<T: Scalar> Layer<'_, T> {
    /// `U` units in all rows. `MANY`: their sums are there already; `ONE`: there is one output,
    /// and what they add to it is added.
    #[inline(always)]
    fn forward_units<const N: usize, const U: usize, const MANY: bool, const ONE: bool>(
        self,
        (inputs, blocks): (&[[T; N]], usize),
        (hidden, outputs): (&mut [[T; N]], &mut [[T; N]]),
        unit: usize,
    ) {
        let (units, width) = (self.bias.len(), inputs.len() / blocks);
        let outputs = &mut outputs[..if ONE { blocks } else { 0 }];
        let hidden: [&mut [[T; N]]; U] = columns(hidden, unit, blocks);
        let (mut bias, mut only) = ([T::ZERO; U], [T::ZERO; U]);
        bias.copy_from_slice(&self.bias[unit..][..U]);
        if ONE {
            only.copy_from_slice(&self.output[unit..][..U]);
        }
        for block in 0..blocks {
            let mut sums = [[T::ZERO; N]; U];
            for u in 0..U {
                sums[u] = if MANY { hidden[u][block] } else { [bias[u]; N] };
            }
            if !MANY {
                for k in 0..width {
                    let x = inputs[k * blocks + block];
                    let weights = &self.input[k * units + unit..][..U];
                    for u in 0..U {
                        sums[u] = fma(x, [weights[u]; N], sums[u]);
                    }
                }
            }
            let units = tanh_blocks(sums);
            for u in 0..U {
                hidden[u][block] = units[u];
            }
            if ONE {
                let mut output = if unit == 0 { [self.output_bias[0]; N] } else { outputs[block] };
                for u in 0..U {
                    output = fma(units[u], [only[u]; N], output);
                }
                outputs[block] = output;
            }
        }
    }

    /// All units in all rows.
    #[inline(always)]
    fn forward_all<const N: usize, const MANY: bool, const ONE: bool>(
        self,
        inputs: (&[[T; N]], usize),
        (hidden, outputs): (&mut [[T; N]], &mut [[T; N]]),
    ) {
        let units = self.bias.len();
        let mut unit = 0;
        while unit + 4 <= units {
            self.forward_units::<N, 4, MANY, ONE>(inputs, (hidden, outputs), unit);
            unit += 4;
        }
        if unit + 2 <= units {
            self.forward_units::<N, 2, MANY, ONE>(inputs, (hidden, outputs), unit);
            unit += 2;
        }
        if unit < units {
            self.forward_units::<N, 1, MANY, ONE>(inputs, (hidden, outputs), unit);
        }
    }
}

/// hidden_h = tanh(a_h + Σ_k u_kh inputs_k), outputs_o = b_o + Σ_h v_ho hidden_h.
#[inline(always)]
pub(crate) fn forward<T: Real, const N: usize>(
    layer: Layer<'_, T>,
    inputs: &[T],
    (hidden, outputs): (&mut [T], &mut [T]),
    rows: usize,
) {
    if rows == 0 {
        return;
    }
    let many = inputs.len() >= MANY * rows;
    if many {
        T::affine(inputs, layer.input, layer.bias, hidden, rows);
    }
    let inputs = (inputs.as_chunks::<N>().0, rows / N);
    let one = layer.output_bias.len() == 1;
    let results = (hidden.as_chunks_mut::<N>().0, outputs.as_chunks_mut::<N>().0);
    match (many, one) {
        (false, true) => layer.forward_all::<N, false, true>(inputs, results),
        (false, false) => layer.forward_all::<N, false, false>(inputs, results),
        (true, true) => layer.forward_all::<N, true, true>(inputs, results),
        (true, false) => layer.forward_all::<N, true, false>(inputs, results),
    }
    if !one || layer.bias.is_empty() {
        T::affine(hidden, layer.output, layer.output_bias, outputs, rows);
    }
}

/// What runs backwards through a layer: panels of its inputs with a last column of ones, its units
/// and the derivatives by O outputs, and the output weights v_ho at h·O + o.
#[derive(Clone, Copy, Debug)]
pub struct Backward<'a, T> {
    /// Inputs, then a column of ones.
    pub inputs: &'a [T],
    /// Values of the units.
    pub hidden: &'a [T],
    /// Derivatives by the outputs.
    pub slopes: &'a [T],
    /// Output weights v_ho at h·O + o.
    pub output: &'a [T],
}

/// Partial sums of the derivatives by weights, one vector of lanes each.
#[derive(Debug)]
pub struct Sums<'a, T> {
    /// By input weights and biases of the units, at k·H + h with the biases last.
    pub head: &'a mut [T],
    /// By output weights and output biases, at h·O + o with the biases last.
    pub tail: &'a mut [T],
}

impl<'a, T: Scalar> Backward<'a, T> {
    /// `U` units with the last `A` columns of the inputs; if that is the bias alone, derivatives by
    /// the sums of the units go into `delta`. `ONE`: the weights of a single output are done too.
    #[inline(always)]
    fn block<const N: usize, const U: usize, const A: usize, const ONE: bool>(
        self,
        (delta, sums): (&mut [T], &mut Sums<'_, T>),
        (unit, units): (usize, usize),
        (rows, add): (usize, bool),
    ) {
        let blocks = rows / N;
        let width = self.inputs.len() / rows;
        let wanted = if ONE { 1 } else { self.slopes.len() / rows };
        let head_at = |a: usize| ((width - A + a) * units + unit) * N;
        let mut head = [[[T::ZERO; N]; U]; A];
        let mut tail = [[T::ZERO; N]; U];
        if add {
            for a in 0..A {
                head[a] = load(sums.head, head_at(a));
            }
            if ONE {
                tail = load(sums.tail, unit * N);
            }
        }
        let column =
            |panel: &'a [T], index: usize| &panel.as_chunks::<N>().0[index * blocks..][..blocks];
        let inputs: [&[[T; N]]; A] = std::array::from_fn(|a| column(self.inputs, width - A + a));
        let hidden: [&[[T; N]]; U] = std::array::from_fn(|u| column(self.hidden, unit + u));
        let slopes = &self.slopes.as_chunks::<N>().0[..wanted * blocks];
        let weights = &self.output[unit * wanted..][..U * wanted];
        let mut only = [T::ZERO; U];
        if ONE {
            only.copy_from_slice(weights);
        }
        let delta: [&mut [[T; N]]; U] = columns(delta.as_chunks_mut().0, unit, blocks);
        for block in 0..blocks {
            let mut derivative = [[T::ZERO; N]; U];
            for o in 0..wanted {
                let slope = slopes[o * blocks + block];
                for u in 0..U {
                    let weight = if ONE { only[u] } else { weights[u * wanted + o] };
                    derivative[u] = fma(slope, [weight; N], derivative[u]);
                }
            }
            for u in 0..U {
                let tanh = hidden[u][block];
                if ONE {
                    tail[u] = fma(tanh, slopes[block], tail[u]);
                }
                let steepness = fma(map(tanh, |t| -t), tanh, [T::ONE; N]);
                derivative[u] = zip(steepness, derivative[u], |s, d| s * d);
                if A == 1 {
                    delta[u][block] = derivative[u];
                }
            }
            for a in 0..A {
                let x = inputs[a][block];
                for u in 0..U {
                    head[a][u] = fma(x, derivative[u], head[a][u]);
                }
            }
        }
        for a in 0..A {
            store(sums.head, head_at(a), head[a]);
        }
        if ONE {
            store(sums.tail, unit * N, tail);
        }
    }

    /// All units with the last `A` columns of the inputs.
    #[inline(always)]
    fn run<const N: usize, const A: usize, const ONE: bool>(
        self,
        (delta, sums): (&mut [T], &mut Sums<'_, T>),
        units: usize,
        each: (usize, bool),
    ) {
        let mut unit = 0;
        while unit + 4 <= units {
            self.block::<N, 4, A, ONE>((delta, sums), (unit, units), each);
            unit += 4;
        }
        if unit + 2 <= units {
            self.block::<N, 2, A, ONE>((delta, sums), (unit, units), each);
            unit += 2;
        }
        if unit < units {
            self.block::<N, 1, A, ONE>((delta, sums), (unit, units), each);
        }
    }
}

/// Sums over rows of the derivatives by all weights of a layer; with `add` they are added to.
#[inline(always)]
pub(crate) fn backward<T: Real, const N: usize>(
    pass: Backward<'_, T>,
    (delta, mut sums): (&mut [T], Sums<'_, T>),
    (rows, add): (usize, bool),
) {
    if rows == 0 {
        return;
    }
    let (columns, units) = (pass.inputs.len() / rows, pass.hidden.len() / rows);
    let wanted = pass.slopes.len() / rows;
    // More columns would not stay in registers.
    match (columns, wanted) {
        (2, 1) => pass.run::<N, 2, true>((delta, &mut sums), units, (rows, add)),
        (3, 1) => pass.run::<N, 3, true>((delta, &mut sums), units, (rows, add)),
        _ => {
            if wanted == 1 {
                pass.run::<N, 1, true>((delta, &mut sums), units, (rows, add));
            } else {
                pass.run::<N, 1, false>((delta, &mut sums), units, (rows, add));
            }
            let (inputs, head) = (&pass.inputs[..(columns - 1) * rows], &mut *sums.head);
            let head = &mut head[..(columns - 1) * units * N];
            T::cross_products(inputs, &delta[..units * rows], head, rows, add);
        }
    }
    let (weights, biases) = sums.tail.split_at_mut(units * wanted * N);
    if wanted > 1 {
        T::cross_products(pass.hidden, pass.slopes, weights, rows, add);
    }
    let ones = &pass.inputs[(columns - 1) * rows..];
    T::cross_products(ones, pass.slopes, &mut biases[..wanted * N], rows, add);
}
