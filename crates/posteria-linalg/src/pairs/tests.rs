//! Check comparisons of pairs against plain loops.

use super::*;
use crate::Points;
use crate::matrix::tests::random;

fn points(rows: usize, columns: usize) -> Points {
    let values = random(rows, columns, 3);
    let mut points = Points::new(rows, columns);
    for column in 0..columns {
        points.column_mut(column).copy_from_slice(values.column(column));
    }
    points
}

/// Sizes around every block of rows and columns.
fn sizes() -> impl Iterator<Item = (usize, usize)> {
    [1, 2, 3, 5, 8, 9, 13, 16].into_iter().flat_map(|k| [8, 32, 40, 72].map(|rows| (rows, k)))
}

fn close(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-13
}

#[test]
fn comparisons_are_those_of_plain_loops() {
    for (rows, columns) in sizes() {
        let points = points(rows, columns);
        let y = random(columns, 1, 4);
        let start = if rows > 8 { 8 } else { 0 };
        let pairs = points.pairs(start..rows, y.values());
        let len = rows - start;
        let [a, b] = [5, 6].map(|seed| random(len, 1, seed));
        let (a, b) = (a.values(), b.values());
        let sum = |f: &dyn Fn(usize, f64, f64) -> f64, k: usize| -> f64 {
            (0..len).map(|i| f(i, points.column(k)[start + i], y.values()[k])).sum()
        };
        let (mut distances, mut products) = (vec![f64::NAN; len], vec![f64::NAN; len]);
        pairs.squared_distances(&mut distances);
        pairs.inner_products(&mut products);
        for i in 0..len {
            let x = |k: usize| points.column(k)[start + i];
            let each = |f: &dyn Fn(f64, f64) -> f64| -> f64 {
                (0..columns).map(|k| f(x(k), y.values()[k])).sum()
            };
            assert!(close(distances[i], each(&|x, y| (x - y) * (x - y))));
            assert!(close(products[i], each(&|x, y| x * y)));
        }
        let mut sums = vec![0.0; columns * LANES];
        let mut totals = vec![f64::NAN; columns];
        pairs.add_weighted_squares(a, b, &mut sums);
        Pairs::totals(&sums, &mut totals);
        for (k, total) in totals.iter().enumerate() {
            assert!(close(*total, sum(&|i, x, y| a[i] * b[i] * (x - y) * (x - y), k)));
        }
        // Sums are added to.
        pairs.add_weighted_products(a, &mut sums);
        let before = totals.clone();
        Pairs::totals(&sums, &mut totals);
        for (k, total) in totals.iter().enumerate() {
            assert!(close(*total, before[k] + sum(&|i, x, y| a[i] * x * y, k)));
        }
    }
}

#[test]
fn sines_are_those_of_differences_of_angles() {
    for (rows, inputs) in sizes() {
        let mut points = points(rows, 3 * inputs);
        let mut y = random(3 * inputs, 1, 4).values().to_vec();
        let scales: Vec<f64> = (0..inputs).map(|k| 0.5 + k as f64).collect();
        for k in 0..inputs {
            let angles: Vec<f64> = points.column(2 * inputs + k).iter().map(|a| 3.0 * a).collect();
            points.column_mut(2 * inputs + k).copy_from_slice(&angles);
            for (row, angle) in angles.iter().enumerate() {
                points.column_mut(k)[row] = angle.sin();
                points.column_mut(inputs + k)[row] = angle.cos();
            }
            (y[k], y[inputs + k]) = y[2 * inputs + k].sin_cos();
        }
        let pairs = points.pairs(0..rows, &y);
        let [a, b] = [5, 6].map(|seed| random(rows, 1, seed));
        let mut out = vec![f64::NAN; rows];
        pairs.squared_sines(&scales, &mut out);
        let mut sums = vec![0.0; 2 * inputs * LANES];
        pairs.add_weighted_sines(a.values(), b.values(), &scales, &mut sums);
        let mut totals = vec![f64::NAN; 2 * inputs];
        Pairs::totals(&sums, &mut totals);
        let difference = |k: usize, i: usize| points.column(2 * inputs + k)[i] - y[2 * inputs + k];
        let weight = |i: usize| a.values()[i] * b.values()[i];
        for (i, out) in out.iter().enumerate() {
            let u = |k: usize| scales[k] * difference(k, i).sin();
            let expected: f64 = (0..inputs).map(|k| u(k) * u(k)).sum();
            assert!((out - expected).abs() < 1e-12 * (1.0 + expected));
        }
        for (k, scale) in scales.iter().enumerate() {
            let squares = (0..rows).map(|i| weight(i) * (scale * difference(k, i).sin()).powi(2));
            let slopes = (0..rows).map(|i| {
                let (sine, cosine) = difference(k, i).sin_cos();
                weight(i) * scale * scale * sine * cosine * difference(k, i)
            });
            let tolerance = 1e-12 * scale * scale;
            assert!((totals[k] - squares.sum::<f64>()).abs() < tolerance);
            assert!((totals[inputs + k] - slopes.sum::<f64>()).abs() < tolerance);
        }
    }
}

/// The portable code, by functions that are compiled for no instruction set in particular.
#[test]
fn every_instruction_set_gives_the_same_bits() {
    let points = points(72, 9);
    let y = random(9, 1, 4);
    let pairs = points.pairs(0..72, y.values());
    let [a, b] = [5, 6].map(|seed| random(72, 1, seed));
    let (mut chosen, mut portable) = (vec![0.0; 72], vec![0.0; 72]);
    pairs.squared_distances(&mut chosen);
    pairs.fold(&mut portable, |x, y, sum| {
        let difference = map(x, |x| x - y);
        fma(difference, difference, sum)
    });
    assert_eq!(chosen, portable);
    let (mut chosen, mut portable) = (vec![0.0; 72], vec![0.0; 72]);
    pairs.add_weighted_squares(a.values(), b.values(), &mut chosen);
    let (a, b) = (vectors(&pairs, a.values()), vectors(&pairs, b.values()));
    pairs.accumulate(
        |block| product(a[block], b[block]),
        &mut portable,
        |weight, x, y, total| {
            let difference = map(x, |x| x - y);
            fma(product(weight, difference), difference, total)
        },
    );
    assert_eq!(chosen, portable);
}
