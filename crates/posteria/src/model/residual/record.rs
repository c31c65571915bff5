//! Write the residual model into draws on the user's scale.

use std::ops::Range;

use super::{Noise, Residual};
use crate::data::Standardization;
use crate::draws::{Dimension, Layout, Role};
use crate::model::prior::{Above, Levels};

impl Residual {
    /// Names what a draw holds of the residual model; `target` is the dimension of the targets.
    pub(in crate::model) fn push_layout(&self, layout: &mut Layout, target: &Dimension) {
        let several = self.outputs > 1;
        let targets = if several { vec![target.clone()] } else { Vec::new() };
        match &self.noise {
            Noise::Scales { levels, .. } => {
                let mut dimensions = targets.clone();
                if let Some(by) = &self.by {
                    let name = "residual_group".into();
                    dimensions.push(Dimension { name, labels: by.labels.clone() });
                }
                layout.push_role(Role::ResidualScale, dimensions);
                if let Above::Sampled { .. } = levels.above {
                    layout.push_role(Role::ResidualScaleAbove, targets.clone());
                }
            }
            Noise::Covariance { .. } => {
                let other = Dimension { name: "target_2".into(), labels: target.labels.clone() };
                layout.push_role(Role::ResidualCovariance, vec![target.clone(), other]);
            }
        }
        if let Some(slopes) = &self.slopes {
            let mut dimensions = if slopes.sets() > 1 { targets.clone() } else { Vec::new() };
            let name = "residual_input".into();
            dimensions.push(Dimension { name, labels: slopes.names.clone() });
            layout.push_role(Role::ResidualLogSlope, dimensions);
        }
        if self.dof.slot().is_some() {
            let groups = self.dof_by.iter().map(|groups| Dimension {
                name: "residual_dof_group".into(),
                labels: groups.by.labels.clone(),
            });
            layout.push_role(Role::ResidualDof, groups.collect());
        }
        if self.shows_cases() {
            let labels = (0..self.rows).map(|row| row.to_string()).collect();
            let mut dimensions = vec![Dimension { name: "case".into(), labels }];
            dimensions.extend(targets);
            layout.push_role(Role::CaseScale, dimensions);
        }
    }

    /// Entries of the state with the log scales of a target, one per group of rows, given the number
    /// of the scale of its first row.
    fn scale_slots(&self, levels: &Levels, of_first_row: u32) -> Range<usize> {
        let groups = self.by.as_ref().map_or(1, |by| by.labels.len());
        let first = levels.slots.start + of_first_row as usize / groups * groups;
        first..first + groups
    }

    /// Writes what [`Residual::push_layout`] names, in the units of the targets.
    pub(in crate::model) fn write(
        &self,
        state: &[f64],
        scaling: &[Standardization],
        mut push: impl FnMut(f64),
    ) {
        match &self.noise {
            Noise::Scales { levels, slot_of, .. } => {
                // A scale that several targets share is shown in the unit of each of them.
                for (target, scaling) in scaling.iter().enumerate() {
                    for slot in self.scale_slots(levels, slot_of[target * self.rows]) {
                        push(state[slot].exp() * scaling.scale);
                    }
                }
                if let Above::Sampled { slot, .. } = levels.above {
                    for scaling in scaling {
                        push(state[slot].exp() * scaling.scale);
                    }
                }
            }
            Noise::Covariance { slots, .. } => {
                let dim = self.outputs;
                for row in 0..dim {
                    for column in 0..dim {
                        let units = scaling[row].scale * scaling[column].scale;
                        push(state[slots.start + column * dim + row] * units);
                    }
                }
            }
        }
        if let Some(slopes) = &self.slopes {
            slopes.shown(state).for_each(&mut push);
        }
        if let Some(slot) = self.dof.slot() {
            state[slot..slot + self.dof_groups()].iter().copied().for_each(&mut push);
        }
        if let Some(cases) = self.cases.as_ref().filter(|_| self.shows_cases()) {
            for row in 0..self.rows {
                for (target, scaling) in scaling.iter().enumerate() {
                    let index = target * self.rows + row;
                    let kappa = state[cases.start + index];
                    let scale = self.log_scale(state, index).exp() / kappa.sqrt();
                    push(scale * scaling.scale);
                }
            }
        }
    }

    /// Reads what [`Residual::write`] wrote, except for κ that is no parameter,
    /// which starts anew: `take` gives one number after the other.
    pub(in crate::model) fn restore(
        &self,
        mut take: impl FnMut() -> f64,
        scaling: &[Standardization],
        state: &mut [f64],
    ) {
        match &self.noise {
            Noise::Scales { levels, slot_of, .. } => {
                for (target, scaling) in scaling.iter().enumerate() {
                    for slot in self.scale_slots(levels, slot_of[target * self.rows]) {
                        state[slot] = (take() / scaling.scale).ln();
                    }
                }
                if let Above::Sampled { slot, .. } = levels.above {
                    for scaling in scaling {
                        state[slot] = (take() / scaling.scale).ln();
                    }
                }
            }
            Noise::Covariance { slots, .. } => {
                let dim = self.outputs;
                for row in 0..dim {
                    for column in 0..dim {
                        let units = scaling[row].scale * scaling[column].scale;
                        state[slots.start + column * dim + row] = take() / units;
                    }
                }
            }
        }
        if let Some(slopes) = &self.slopes {
            slopes.restore(&mut take, state);
        }
        if let Some(slot) = self.dof.slot() {
            state[slot..slot + self.dof_groups()].fill_with(&mut take);
        }
        self.start_cases(state);
        if let Some(cases) = self.cases.as_ref().filter(|_| self.samples_cases) {
            for row in 0..self.rows {
                for (target, scaling) in scaling.iter().enumerate() {
                    let index = target * self.rows + row;
                    let root = self.log_scale(state, index).exp() * scaling.scale / take();
                    state[cases.start + index] = root * root;
                }
            }
        }
    }
}
