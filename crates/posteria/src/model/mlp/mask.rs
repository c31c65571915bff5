//! Show the likelihood the weights of those inputs that are in.

use super::network::Shape;
use crate::model::selection::Selection;

/// The weights as the likelihood sees them: 0 where the input is out.
#[derive(Clone, Debug)]
pub(super) struct Mask {
    shape: Shape,
    /// 1 for every weight that counts, else 0; empty if all do.
    factors: Vec<f64>,
    seen: Vec<f64>,
}

impl Mask {
    /// All inputs are in.
    pub(super) fn none(shape: Shape) -> Self {
        Mask { shape, factors: Vec::new(), seen: Vec::new() }
    }

    /// Takes the set of `state`, if inputs may leave; whether it changed.
    pub(super) fn condition(&mut self, selection: Option<&Selection>, state: &[f64]) -> bool {
        let Some(selection) = selection else { return false };
        let Shape { inputs, hidden, outputs, .. } = self.shape;
        let mut changed = self.factors.is_empty();
        self.factors.resize(self.shape.len(), 1.0);
        self.seen.resize(self.shape.len(), 0.0);
        let direct = self.shape.direct_weights();
        for input in 0..inputs {
            let factor = f64::from(selection.has(state, input));
            let own = input * hidden..(input + 1) * hidden;
            let of_outputs = direct.start + input * outputs..direct.start + (input + 1) * outputs;
            let of_outputs = if direct.is_empty() { 0..0 } else { of_outputs };
            for slot in self.factors[own].iter_mut() {
                changed |= slot.to_bits() != factor.to_bits();
                *slot = factor;
            }
            for slot in self.factors[of_outputs].iter_mut() {
                changed |= slot.to_bits() != factor.to_bits();
                *slot = factor;
            }
        }
        changed
    }

    /// 1 if a weight counts, else 0.
    pub(super) fn factor(&self, weight: usize) -> f64 {
        self.factors.get(weight).copied().unwrap_or(1.0)
    }

    /// The weights that the likelihood sees in place of these, the first of all or all of them.
    pub(super) fn see<'a>(&'a mut self, weights: &'a [f64]) -> &'a [f64] {
        self.see_parts(weights, &[]).0
    }

    /// As [`Mask::see`], of the first weights of all, and of what belongs to the last of them.
    pub(super) fn see_parts<'a>(
        &'a mut self,
        first: &'a [f64],
        last: &'a [f64],
    ) -> (&'a [f64], &'a [f64]) {
        if self.factors.is_empty() {
            return (first, last);
        }
        let (seen, rest) = self.seen.split_at_mut(first.len());
        let (factors, of_rest) = self.factors.split_at(first.len());
        for (slot, (weight, factor)) in seen.iter_mut().zip(first.iter().zip(factors)) {
            *slot = weight * factor;
        }
        for (slot, (weight, factor)) in rest.iter_mut().zip(last.iter().zip(of_rest)) {
            *slot = weight * factor;
        }
        (seen, &rest[..last.len()])
    }

    /// Takes the derivatives by weights that do not count.
    pub(super) fn clear(&self, slopes: &mut [f64]) {
        slopes.iter_mut().zip(&self.factors).for_each(|(slope, factor)| *slope *= factor);
    }
}
