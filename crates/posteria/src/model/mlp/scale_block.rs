//! Coordinates of all sampled scales of a network: those of its weights and its residuals.

use std::ops::Range;

use super::hierarchy::{Hierarchy, Scale};
use crate::model::prior::{LevelDensities, Levels};

/// Groups of single relevances are moved one by one up to this many inputs.
const SINGLE_SCALES: usize = 12;

/// The sampled scales of some groups of weights and of the residuals as coordinates.
pub(super) struct ScaleBlock<'p> {
    parts: Vec<Part<'p>>,
    len: usize,
}

struct Part<'p> {
    levels: &'p Levels,
    range: Range<usize>,
    /// Index of the group of weights; none for residuals.
    group: Option<usize>,
    /// For the degrees of freedom of the present state; none before there is one.
    densities: Option<LevelDensities>,
}

impl<'p> ScaleBlock<'p> {
    pub(super) fn new(hierarchy: &'p Hierarchy, residual: Option<&'p Levels>) -> Self {
        let mut parts = Vec::new();
        let mut len = 0;
        let mut push = |levels: &'p Levels, group| {
            let range = len..len + levels.coordinates();
            len = range.end;
            parts.push(Part { levels, range, group, densities: None });
        };
        for (index, group) in hierarchy.groups.iter().enumerate() {
            if let Scale::Sampled(levels) = &group.scale {
                push(levels, Some(index));
            }
        }
        if let Some(levels) = residual {
            push(levels, None);
        }
        ScaleBlock { parts, len }
    }

    /// Number of coordinates.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Directions in which scales are moved with their weights: input weights, hidden bias, output
    /// weights and residuals each and against each other, and single relevances.
    pub(super) fn directions(
        &self,
        hierarchy: &Hierarchy,
        inputs: usize,
    ) -> Vec<Vec<(usize, f64)>> {
        let group = |name: &str| {
            let index = hierarchy.groups.iter().position(|group| group.name == name);
            index.map_or(Vec::new(), |index| self.shift(Some(index)))
        };
        let (input, bias) = (group("input_weights"), group("hidden_bias"));
        let (output, residual) = (group("output_weights"), self.shift(None));
        let direct = group("direct_weights");
        let mut all: Vec<Vec<(usize, f64)>> = Vec::new();
        let mut push = |parts: &[(&Vec<usize>, f64)]| {
            let direction: Vec<(usize, f64)> = parts
                .iter()
                .flat_map(|(coordinates, sign)| coordinates.iter().map(|c| (*c, *sign)))
                .collect();
            if parts.iter().all(|(coordinates, _)| !coordinates.is_empty()) {
                all.push(direction);
            }
        };
        push(&[(&input, 1.0)]);
        push(&[(&bias, 1.0)]);
        push(&[(&output, 1.0)]);
        push(&[(&direct, 1.0)]);
        push(&[(&residual, 1.0)]);
        push(&[(&input, 1.0), (&bias, 1.0)]);
        push(&[(&input, 1.0), (&bias, 1.0), (&output, -1.0)]);
        push(&[(&bias, 1.0), (&output, -1.0)]);
        push(&[(&input, 1.0), (&output, -1.0)]);
        if inputs > 1 && inputs <= SINGLE_SCALES {
            for coordinate in self.singles() {
                all.push(vec![(coordinate, 1.0)]);
            }
        }
        all
    }

    /// Coordinates whose common shift multiplies all scales of a group (`None`: of the
    /// residuals); empty if they are known.
    fn shift(&self, group: Option<usize>) -> Vec<usize> {
        let Some(part) = self.parts.iter().find(|part| part.group == group) else {
            return Vec::new();
        };
        if part.range.len() > part.levels.slots.len() {
            // The level above carries all below it.
            vec![part.range.start]
        } else {
            part.range.clone().collect()
        }
    }

    /// The coordinates of scales of single inputs.
    fn singles(&self) -> impl Iterator<Item = usize> {
        let several = |part: &&Part<'p>| part.group.is_some() && part.levels.slots.len() > 1;
        let range = |part: &Part<'p>| part.range.end - part.levels.slots.len()..part.range.end;
        self.parts.iter().filter(several).flat_map(range)
    }

    /// Writes the coordinates of `state`.
    pub(super) fn enter(&mut self, state: &[f64], coordinates: &mut [f64]) {
        for part in &mut self.parts {
            part.densities = part.levels.densities(state);
            part.levels.enter(state, &mut coordinates[part.range.clone()]);
        }
    }

    /// Writes the scales that the coordinates stand for into `state`.
    pub(super) fn leave(&self, coordinates: &[f64], state: &mut [f64]) {
        for part in &self.parts {
            part.levels.leave(&coordinates[part.range.clone()], state);
        }
    }

    /// Log prior density of the coordinates, adding its gradient. `derivative(group, part)` is
    /// the derivative of the rest of the target with respect to a log scale.
    pub(super) fn log_density_gradient(
        &self,
        coordinates: &[f64],
        gradient: &mut [f64],
        mut derivative: impl FnMut(Option<usize>, usize) -> f64,
    ) -> Option<f64> {
        let mut value = 0.0;
        for part in &self.parts {
            let gradient = &mut gradient[part.range.clone()];
            let first = part.range.len() - part.levels.slots.len();
            for (k, slot) in gradient[first..].iter_mut().enumerate() {
                *slot = derivative(part.group, k);
            }
            let coordinates = &coordinates[part.range.clone()];
            let densities = part.densities.as_ref()?;
            value += part.levels.log_density_gradient(densities, coordinates, gradient)?;
        }
        Some(value)
    }
}
