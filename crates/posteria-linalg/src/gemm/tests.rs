//! Check products of all shapes against plain loops.

use super::*;
use crate::Matrix;
use crate::matrix::tests::random;

const SHAPES: [Shape; 4] = [Shape::Full, Shape::LowerProduct, Shape::LowerLeft, Shape::UpperRight];

#[test]
fn every_way_to_store_every_shape_agrees_with_plain_loops() {
    let sizes = [(1, 1, 1), (5, 3, 2), (17, 13, 40), (193, 25, 300), (30, 1540, 3), (9, 4, 7)];
    for (rows, columns, depth) in sizes.into_iter().chain([(200, 200, 257), (40, 24, 0)]) {
        let old = random(rows, columns, 3);
        for shape in SHAPES {
            let a = Matrix::from_fn(rows, depth, |i, k| match shape {
                Shape::LowerLeft if k > i => 0.0,
                _ => random(1, 1, (1 + i * 1000 + k) as u64)[(0, 0)],
            });
            let b = Matrix::from_fn(depth, columns, |k, j| match shape {
                Shape::UpperRight if k > j => 0.0,
                _ => random(1, 1, (7 + j * 1000 + k) as u64)[(0, 0)],
            });
            let [at, bt] =
                [&a, &b].map(|m| Matrix::from_fn(m.columns(), m.rows(), |i, j| m[(j, i)]));
            let expected = Matrix::from_fn(rows, columns, |i, j| {
                (0..depth).map(|k| a[(i, k)] * b[(k, j)]).sum()
            });
            for into in [Into::Replace, Into::Add, Into::TakeOff] {
                for (a, b) in
                    [(a.view(), b.view()), (at.view().transposed(), bt.view().transposed())]
                {
                    let mut c = old.clone();
                    gemm(c.view_mut(), into, a, b, shape);
                    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
                        let wanted = match into {
                            Into::Replace => expected[(i, j)],
                            Into::Add => old[(i, j)] + expected[(i, j)],
                            Into::TakeOff => old[(i, j)] - expected[(i, j)],
                        };
                        let close = (c[(i, j)] - wanted).abs() < 1e-12;
                        let open = shape == Shape::LowerProduct && j > i;
                        assert!(close || open, "{into:?} {shape:?} {i} {j}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_product_in_place_reads_before_it_writes() {
    for (rows, columns) in [(1, 1), (7, 3), (400, 32), (200, 128)] {
        let c = random(rows, columns, 4);
        let full = random(columns, columns, 5);
        let upper =
            Matrix::from_fn(columns, columns, |i, j| if i > j { 0.0 } else { full[(i, j)] });
        for (b, shape) in [(full, Shape::Full), (upper, Shape::UpperRight)] {
            let (mut own, mut other) = (c.clone(), c.clone());
            multiply_right(own.view_mut(), b.view(), shape);
            gemm(other.view_mut(), Into::Replace, c.view(), b.view(), shape);
            assert_eq!(own, other);
        }
    }
}
