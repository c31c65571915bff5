//! Check how draws and rows go through a predictor.

use posteria_linalg::Matrix;

use super::stream;
use crate::draws::{Draws, Layout};
use crate::predict::{Family, PredictiveTable, Predictor};

/// y ~ N(a x0 + b x1², e^c).
pub(super) struct Curve;

impl Predictor for Curve {
    fn family(&self) -> Family {
        Family::Normal { outputs: 1 }
    }

    fn at(&mut self, draw: &[f64], inputs: &Matrix, parameters: &mut [f64]) {
        for (row, place) in parameters.chunks_exact_mut(2).enumerate() {
            place[0] = draw[0] * inputs[(row, 0)] + draw[1] * inputs[(row, 1)].powi(2);
            place[1] = draw[2].exp();
        }
    }

    fn functions(&mut self, draw: &[f64], inputs: &Matrix, outputs: &mut [f64]) {
        for (row, output) in outputs.iter_mut().enumerate() {
            *output = draw[0] * inputs[(row, 0)] + draw[1] * inputs[(row, 1)].powi(2);
        }
    }

    fn at_training_rows(&mut self, _draw: &[f64], _parameters: &mut [f64]) {
        unreachable!("fitted to no rows")
    }
}

pub(super) fn draws(chains: usize, count: usize, components: usize) -> Draws {
    let mut layout = Layout::new();
    let labels = (0..components).map(|k| k.to_string()).collect();
    layout.push_vector("parameters", "index", labels);
    let mut stream = stream(10);
    let values = (0..chains * count * components).map(|_| stream.normal()).collect();
    Draws { draws: count, values, ..Draws::empty(layout, chains, 0) }
}

#[test]
fn every_row_holds_the_parameters_of_every_draw() {
    let draws = draws(3, 37, 3);
    let mut stream = stream(11);
    let inputs = Matrix::from_fn(5, 2, |_, _| stream.normal());
    let table = PredictiveTable::new(&mut Curve, &draws, 0..111, &inputs);
    assert_eq!((table.rows(), table.draws()), (5, 111));
    assert_eq!(table.family(), Family::Normal { outputs: 1 });
    let mut one = [0.0; 10];
    for number in 0..111 {
        Curve.at(draws.draw(number / 37, number % 37), &inputs, &mut one);
        for row in 0..5 {
            let found = &table.parameters(row)[2 * number..2 * number + 2];
            assert_eq!(found.to_vec(), one[2 * row..2 * row + 2].to_vec());
        }
    }
    let weights = vec![0.0; 111];
    let (equal, weighted) = (table.predictive(2), table.weighted(2, &weights));
    assert!((equal.log_density(&[0.5]) - weighted.log_density(&[0.5])).abs() < 1e-13);
}

#[test]
fn parts_join_to_the_whole_and_rows_do_not_depend_on_their_block() {
    let draws = draws(2, 50, 3);
    let mut stream = stream(12);
    let inputs = Matrix::from_fn(7, 2, |_, _| stream.normal());
    let whole = PredictiveTable::new(&mut Curve, &draws, 0..100, &inputs);
    let part = |range| PredictiveTable::new(&mut Curve, &draws, range, &inputs);
    let joined = PredictiveTable::join(&[part(0..33), part(33..34), part(34..100)]);
    let block = Matrix::from_fn(2, 2, |row, column| inputs[(4 + row, column)]);
    let block = PredictiveTable::new(&mut Curve, &draws, 0..100, &block);
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for row in 0..7 {
        assert_eq!(bits(whole.parameters(row)), bits(joined.parameters(row)));
    }
    assert_eq!(bits(whole.parameters(5)), bits(block.parameters(1)));
    let nothing = PredictiveTable::new(&mut Curve, &draws, 0..100, &Matrix::zeros(0, 2));
    assert_eq!(nothing.rows(), 0);
}

#[test]
fn blocks_stay_in_memory() {
    for (family, draws) in [(Family::Bernoulli, 1), (Family::StudentT { outputs: 3 }, 4000)] {
        let rows = PredictiveTable::rows_at_once(family, draws);
        assert!(rows * draws * family.width() * 8 <= 128 << 20);
        assert!((rows + 1) * draws * family.width() * 8 > 128 << 20);
    }
    assert_eq!(PredictiveTable::rows_at_once(Family::Bernoulli, usize::MAX), 1);
}
