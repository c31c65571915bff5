//! Which entries of a state share one scale.

use super::Squares;

/// Weights sharing one scale hyperparameter: `count` entries of the state, `stride` apart.
/// With a stride the weights out of one input are a group however the matrix is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WeightGroup {
    /// Index of the first weight in the state.
    pub start: usize,
    /// Number of weights.
    pub count: usize,
    /// Distance between neighbours.
    pub stride: usize,
}

impl WeightGroup {
    /// Neighbouring weights.
    pub fn contiguous(start: usize, count: usize) -> Self {
        WeightGroup { start, count, stride: 1 }
    }

    /// Indices of the weights in the state.
    pub fn indices(&self) -> impl Iterator<Item = usize> + use<> {
        let WeightGroup { start, count, stride } = *self;
        (0..count).map(move |i| start + i * stride)
    }

    /// What the weights tell about their variance.
    ///
    /// # Panics
    /// If the state is too short.
    pub fn squares(&self, state: &[f64]) -> Squares {
        Squares::of(self.indices().map(|index| state[index]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strided_group_takes_every_second_weight() {
        let group = WeightGroup { start: 1, count: 2, stride: 2 };
        assert_eq!(group.indices().collect::<Vec<_>>(), [1, 3]);
        let squares = group.squares(&[9.0, 1.0, 9.0, 2.0, 9.0]);
        assert!((squares.sum - 5.0).abs() < 1e-15 && (squares.count - 2.0).abs() < 1e-15);
        assert_eq!(WeightGroup::contiguous(3, 2).indices().collect::<Vec<_>>(), [3, 4]);
    }
}
