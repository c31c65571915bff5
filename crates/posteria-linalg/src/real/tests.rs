//! Check the kernels against plain loops, and every instruction set against the portable code.

use super::*;
use crate::matrix::tests::random;

/// Numbers between -`size` and `size`.
fn numbers<T: Real>(count: usize, size: f64, seed: u64) -> Vec<T> {
    random(count, 1, seed).values().iter().map(|value| T::from_f64(size * value)).collect()
}

fn bits<T: Real>(values: &[T]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}

/// Largest error of f in units of the last place of the result.
fn worst(exact: fn(f64) -> f64, f: fn(&mut [f64]), points: &[f64]) -> f64 {
    let mut values = points.to_vec();
    f(&mut values);
    let units = values.iter().zip(points).map(|(value, point)| {
        let expected = exact(*point);
        let unit = expected.abs().next_up() - expected.abs();
        (value - expected).abs() / unit
    });
    units.fold(0.0, f64::max)
}

#[test]
fn exp_and_tanh_are_right_to_the_last_places() {
    let near: Vec<f64> = (-40_000..40_000).map(|i| f64::from(i) * 2.3e-4).collect();
    let far: Vec<f64> = (-70_000..70_000).map(|i| f64::from(i) * 1.01e-2).collect();
    let tiny: Vec<f64> = (0..600).map(|i| 0.7 * 0.3_f64.powi(i)).collect();
    for points in [&near, &far, &tiny] {
        // The references themselves are right to one unit.
        assert!(worst(f64::tanh, f64::tanh_slice, points) < 4.0);
        assert!(worst(f64::exp, f64::exp_slice, points) < 3.0);
    }
    for x in near.iter().chain(&far).chain(&tiny) {
        let (mut exp, mut tanh) = ([*x as f32], [*x as f32]);
        f32::exp_slice(&mut exp);
        f32::tanh_slice(&mut tanh);
        let exact = f64::from(*x as f32);
        let relative = |value: f32, expected: f64| (f64::from(value) / expected - 1.0).abs();
        let error = relative(tanh[0], exact.tanh());
        assert!(error < 4.0 * f64::from(f32::EPSILON) || exact.abs() < 1e-37, "tanh {x}");
        if exact.abs() < 87.0 {
            assert!(relative(exp[0], exact.exp()) < 3.0 * f64::from(f32::EPSILON), "exp {x}");
        }
    }
}

#[test]
fn special_values_come_out_as_they_should() {
    let points = [0.0, f64::INFINITY, f64::NEG_INFINITY, 1e300, -1e300, 709.7, -745.1, f64::NAN];
    let mut tanh = points;
    f64::tanh_slice(&mut tanh);
    assert_eq!(bits(&tanh[..5]), bits(&[0.0, 1.0, -1.0, 1.0, -1.0]));
    assert!(tanh[7].is_nan());
    let mut exp = points;
    f64::exp_slice(&mut exp);
    assert_eq!(bits(&exp[..5]), bits(&[1.0, f64::INFINITY, 0.0, f64::INFINITY, 0.0]));
    assert!((exp[5] / 709.7_f64.exp() - 1.0).abs() < 1e-15);
    assert_eq!(exp[6].to_bits(), 5e-324_f64.to_bits());
    assert!(exp[7].is_nan());
    let mut single = points.map(|x| x as f32);
    f32::exp_slice(&mut single);
    assert_eq!(bits(&single[..3]), bits(&[1.0_f32, f32::INFINITY, 0.0]));
    assert!(single[7].is_nan());
}

#[test]
fn tanh_is_odd_and_the_same_alone_in_a_slice_and_next_to_nan() {
    let mut values: Vec<f64> = numbers(1003, 30.0, 1);
    let mut negative: Vec<f64> = values.iter().map(|x| -x).collect();
    let points = values.clone();
    f64::tanh_slice(&mut values);
    f64::tanh_slice(&mut negative);
    for ((value, negative), point) in values.iter().zip(&negative).zip(&points) {
        assert_eq!(value.to_bits(), (-negative).to_bits());
        let mut pair = [*point, f64::NAN];
        f64::tanh_slice(&mut pair);
        assert_eq!(value.to_bits(), pair[0].to_bits());
    }
}

/// Runs `check` for both precisions and panels of several sizes.
fn for_sizes(check: impl Fn(usize, usize, usize)) {
    for (left, right) in [(0, 3), (1, 1), (2, 1), (3, 2), (9, 1), (4, 4), (5, 7), (8, 11), (13, 0)]
    {
        for blocks in [0, 1, 2, 5, 9, 17] {
            check(left, right, blocks);
        }
    }
}

fn sum<T: Real>(terms: impl Iterator<Item = T>) -> f64 {
    terms.map(|term| term.to_f64()).sum()
}

fn close<T: Real>(value: f64, expected: f64) -> bool {
    let unit = if T::CARRIES_VALUES { 1e-13 } else { 1e-4 };
    (value - expected).abs() < unit
}

fn products_agree<T: Real>(columns: usize, units: usize, blocks: usize) {
    let rows = blocks * T::LANES;
    let inputs: Vec<T> = numbers(columns * rows, 1.0, 2);
    let weights: Vec<T> = numbers(columns * units, 1.0, 3);
    let bias: Vec<T> = numbers(units, 1.0, 4);
    let mut outputs = vec![T::from_f64(f64::NAN); units * rows];
    T::affine(&inputs, &weights, &bias, &mut outputs, rows);
    let old = outputs.clone();
    T::add_product(&inputs, &weights, &mut outputs, rows);
    for u in 0..units {
        for row in 0..rows {
            let x = |k: usize| inputs[k * rows + row];
            let product = sum((0..columns).map(|k| weights[k * units + u] * x(k)));
            let at = u * rows + row;
            assert!(close::<T>(old[at].to_f64(), bias[u].to_f64() + product));
            assert!(close::<T>(outputs[at].to_f64(), bias[u].to_f64() + 2.0 * product));
        }
    }
}

fn cross_products_agree<T: Real>(left: usize, right: usize, blocks: usize) {
    let rows = blocks * T::LANES;
    let a: Vec<T> = numbers(left * rows, 1.0, 6);
    let b: Vec<T> = numbers(right * rows, 1.0, 7);
    let mut sums = vec![T::from_f64(f64::NAN); left * right * T::LANES];
    T::cross_products(&a, &b, &mut sums, rows, false);
    let mut lower = vec![T::ZERO; left * right * T::LANES];
    T::cross_products_lower(&a, &b, &mut lower, rows, true);
    let (mut all, mut some) = (vec![f64::NAN; left * right], vec![f64::NAN; left * right]);
    T::totals(&sums, &mut all);
    T::totals(&lower, &mut some);
    for i in 0..left {
        for j in 0..right {
            let expected = sum((0..rows).map(|row| a[i * rows + row] * b[j * rows + row]));
            assert!(close::<T>(all[i * right + j], expected));
            if j <= i {
                assert_eq!(all[i * right + j].to_bits(), some[i * right + j].to_bits());
            }
        }
    }
    // A second panel is added to the first.
    T::cross_products(&a, &b, &mut sums, rows, true);
    let mut twice = vec![f64::NAN; left * right];
    T::totals(&sums, &mut twice);
    for (twice, once) in twice.iter().zip(&all) {
        assert!(close::<T>(*twice, 2.0 * once));
    }
}

/// A layer of `units` units against plain loops, forwards and backwards.
fn layers_agree<T: Real>(width: usize, units: usize, outputs: usize, blocks: usize) {
    let rows = blocks * T::LANES;
    let mut inputs: Vec<T> = numbers(width * rows, 1.0, 11);
    let (input, bias) = (numbers(width * units, 1.0, 12), numbers(units, 1.0, 13));
    let (output, output_bias) = (numbers(units * outputs, 1.0, 14), numbers(outputs, 1.0, 15));
    let nan = |count: usize| vec![T::from_f64(f64::NAN); count];
    let (mut hidden, mut f) = (nan(units * rows), nan(outputs * rows));
    let layer = Layer { input: &input, bias: &bias, output: &output, output_bias: &output_bias };
    T::forward(layer, &inputs, (&mut hidden, &mut f), rows);
    for row in 0..rows {
        for h in 0..units {
            let product = sum((0..width).map(|k| input[k * units + h] * inputs[k * rows + row]));
            let expected = (bias[h].to_f64() + product).tanh();
            assert!(close::<T>(hidden[h * rows + row].to_f64(), expected));
        }
        for o in 0..outputs {
            let product = sum((0..units).map(|h| output[h * outputs + o] * hidden[h * rows + row]));
            assert!(close::<T>(f[o * rows + row].to_f64(), output_bias[o].to_f64() + product));
        }
    }
    inputs.resize((width + 1) * rows, T::ONE);
    let slopes: Vec<T> = numbers(outputs * rows, 1.0, 16);
    let pass = Backward { inputs: &inputs, hidden: &hidden, slopes: &slopes, output: &output };
    let (head_len, tail_len) = ((width + 1) * units, (units + 1) * outputs);
    let (mut head, mut tail) = (nan(head_len * T::LANES), nan(tail_len * T::LANES));
    let mut delta = nan(units * rows);
    // A second panel is added to the first.
    for add in [false, true] {
        let sums = Sums { head: &mut head, tail: &mut tail };
        T::backward(pass, &mut delta, sums, rows, add);
    }
    let (mut by_head, mut by_tail) = (vec![0.0; head_len], vec![0.0; tail_len]);
    T::totals(&head, &mut by_head);
    T::totals(&tail, &mut by_tail);
    let derivative = |h: usize, row: usize| {
        let product = sum((0..outputs).map(|o| output[h * outputs + o] * slopes[o * rows + row]));
        product * (1.0 - hidden[h * rows + row].to_f64().powi(2))
    };
    for h in 0..units {
        for k in 0..=width {
            let terms = (0..rows).map(|row| inputs[k * rows + row].to_f64() * derivative(h, row));
            assert!(close::<T>(by_head[k * units + h], 2.0 * terms.sum::<f64>()));
        }
    }
    for o in 0..outputs {
        for h in 0..=units {
            let unit = |row: usize| if h < units { hidden[h * rows + row] } else { T::ONE };
            let expected = sum((0..rows).map(|row| unit(row) * slopes[o * rows + row]));
            assert!(close::<T>(by_tail[h * outputs + o], 2.0 * expected));
        }
    }
}

#[test]
fn layers_are_those_of_plain_loops() {
    for width in [0, 1, 2, 3, 8, 9, 12] {
        for (units, outputs) in [(0, 1), (1, 1), (2, 0), (3, 2), (4, 1), (7, 1), (11, 3)] {
            for blocks in [1, 2, 5] {
                layers_agree::<f64>(width, units, outputs, blocks);
                layers_agree::<f32>(width, units, outputs, blocks);
            }
        }
    }
}

#[test]
fn products_are_those_of_plain_loops() {
    for_sizes(products_agree::<f64>);
    for_sizes(products_agree::<f32>);
    for_sizes(cross_products_agree::<f64>);
    for_sizes(cross_products_agree::<f32>);
}

#[test]
fn long_products_have_a_logarithm() {
    // (1 + z²/ν) up to 1e280 for 80 rows: the plain product would overflow.
    let targets: Vec<f64> = numbers(80, 1e140, 8);
    let mut outputs = vec![0.0; 80];
    let terms = f64::student_t(&mut outputs, &targets, &[1.0; 80], 3.0);
    let expected: f64 = targets.iter().map(|z| (z * z / 3.0).ln_1p()).sum();
    assert!((terms.product.ln() / expected - 1.0).abs() < 1e-14);
    let mut doubled = terms;
    doubled.add(terms);
    assert!((doubled.product.ln() / (2.0 * expected) - 1.0).abs() < 1e-14);
    let terms = f64::student_t(&mut [0.0; 8], &[1e200; 8], &[1.0; 8], 3.0);
    assert!(!terms.sum.is_finite());
}

/// Portable code (the generic functions outside any version) against the chosen version.
macro_rules! same_bits {
    ($name:ident, $float:ident, $lanes:literal) => {
        #[test]
        fn $name() {
            let rows = 9 * $lanes;
            let panel: Vec<$float> = numbers(11 * rows, 12.0, 9);
            let positive: Vec<$float> = panel.iter().map(|x| x.abs()).collect();
            let weights: Vec<$float> = numbers(77, 1.0, 10);
            let same = |chosen: &[$float], portable: &[$float]| {
                assert_eq!(bits(chosen), bits(portable));
            };
            let both = |f: &dyn Fn(&mut [$float]), g: &dyn Fn(&mut [$float])| {
                let (mut chosen, mut portable) = (panel.clone(), panel.clone());
                f(&mut chosen);
                g(&mut portable);
                same(&chosen, &portable);
            };
            both(&$float::exp_slice, &elementwise::exp::<$float, $lanes>);
            both(&$float::tanh_slice, &elementwise::tanh::<$float, $lanes>);
            let x = &panel[..7 * rows];
            both(&|y| $float::affine(x, &weights, &weights[..11], y, rows), &|y| {
                panel::affine::<$float, $lanes>(x, &weights, &weights[..11], y, rows);
            });
            for (width, outputs) in [(1, 1), (2, 1), (7, 1), (7, 2)] {
                let (x, f) = (&panel[..width * rows], vec![0.0; outputs * rows]);
                let layer = Layer {
                    input: &weights[..11 * width],
                    bias: &weights[..11],
                    output: &weights[..11 * outputs],
                    output_bias: &weights[..outputs],
                };
                both(&|h| $float::forward(layer, x, (h, &mut f.clone()), rows), &|h| {
                    layer::forward::<$float, $lanes>(layer, x, (h, &mut f.clone()), rows);
                });
                let slopes = &panel[..outputs * rows];
                let (hidden, output) = (&panel[..], layer.output);
                let pass = Backward { inputs: x, hidden, slopes, output };
                let spare = vec![0.0; 11 * rows];
                let tail = vec![0.0; 12 * outputs * $lanes];
                both(
                    &|head| {
                        let sums = Sums { head, tail: &mut tail.clone() };
                        $float::backward(pass, &mut spare.clone(), sums, rows, true);
                    },
                    &|head| {
                        let sums = Sums { head, tail: &mut tail.clone() };
                        let scratch = (&mut spare.clone()[..], sums);
                        layer::backward::<$float, $lanes>(pass, scratch, (rows, true));
                    },
                );
            }
            both(
                &|s| $float::cross_products(x, &panel[..rows], &mut s[..7 * $lanes], rows, true),
                &|s| {
                    let s = &mut s[..7 * $lanes];
                    let each = (true, false);
                    panel::cross_products::<$float, $lanes>(x, &panel[..rows], s, rows, each);
                },
            );
            let mut totals = [vec![0.0; 99], vec![0.0; 99]];
            $float::totals(&panel, &mut totals[0]);
            panel::totals::<$float, $lanes>(&panel, &mut totals[1]);
            assert_eq!(bits(&totals[0]), bits(&totals[1]));
            let terms = |f: &dyn Fn(&mut [$float]) -> Terms, g: &dyn Fn(&mut [$float]) -> Terms| {
                let (mut chosen, mut portable) = (panel.clone(), panel.clone());
                assert_eq!(f(&mut chosen), g(&mut portable));
                same(&chosen, &portable);
            };
            terms(&|f| $float::squares(f, x, &positive), &|f| {
                terms::squares::<$float, $lanes>(f, x, &positive)
            });
            terms(&|f| $float::student_t(f, x, &positive, 2.5), &|f| {
                terms::student_t::<$float, $lanes>(f, x, &positive, 2.5)
            });
            terms(&|f| $float::absolute(f, x, &positive), &|f| {
                terms::absolute::<$float, $lanes>(f, x, &positive)
            });
            let signs: Vec<$float> = panel.iter().map(|x| x.signum()).collect();
            terms(&|f| $float::logistic(f, &signs), &|f| {
                terms::logistic::<$float, $lanes>(f, &signs)
            });
            let classes: Vec<$float> = (0..rows).map(|i| (i % 12) as $float - 1.0).collect();
            terms(&|f| $float::softmax(f, &classes), &|f| {
                terms::softmax::<$float, $lanes>(f, &classes)
            });
        }
    };
}

same_bits!(every_instruction_set_gives_the_same_doubles, f64, 8);
same_bits!(every_instruction_set_gives_the_same_singles, f32, 16);
