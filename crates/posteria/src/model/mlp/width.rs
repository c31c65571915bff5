//! Divide the scale of a group of weights by a power of the number of feeding units.

use std::fmt;

use super::defaults::GROUPS;
use super::spec::{GroupPrior, GroupScale, Mlp, WeightFamily};
use crate::model::prior::{DofChoice, SpreadChoice};
use crate::model::spec::{Sharing, WidthRule};

/// What the scale s of a group of weights is divided by, given K feeding units. `Display` writes
/// the formula with its numbers, as in `8^(1/2)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WidthScaling {
    /// The convention.
    pub rule: WidthRule,
    /// K.
    pub fan_in: usize,
    /// The power of K.
    pub power: WidthPower,
}

/// The power of the fan-in K that keeps the width of a sum over K feeding units.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum WidthPower {
    /// K^(1/2): terms of finite variance s².
    Root,
    /// (K ν/(ν - 2))^(1/2): terms whose variance is that of Student's t.
    RootOfVariance {
        /// ν > 2.
        dof: f64,
    },
    /// (K log K)^(1/2): ν = 2, just without a variance.
    RootOfLogarithm,
    /// K^(1/ν): the sum is stable with index ν < 2 [Neal 1996, §2.2]; in the convention of
    /// MCMCstuff for every ν.
    Inverse {
        /// ν.
        dof: f64,
    },
}

impl WidthScaling {
    /// The number that s is divided by; 1 for a single feeding unit.
    pub fn divisor(&self) -> f64 {
        let count = self.fan_in as f64;
        if self.fan_in <= 1 {
            return 1.0;
        }
        match self.power {
            WidthPower::Root => count.sqrt(),
            WidthPower::RootOfVariance { dof } => (count * dof / (dof - 2.0)).sqrt(),
            WidthPower::RootOfLogarithm => (count * count.ln()).sqrt(),
            WidthPower::Inverse { dof } => count.powf(1.0 / dof),
        }
    }
}

impl fmt::Display for WidthScaling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.fan_in;
        match self.power {
            _ if count <= 1 => write!(f, "1"),
            WidthPower::Root => write!(f, "{count}^(1/2)"),
            WidthPower::RootOfVariance { dof } => {
                write!(f, "({count} × {dof}/({dof} - 2))^(1/2)")
            }
            WidthPower::RootOfLogarithm => write!(f, "({count} log {count})^(1/2)"),
            WidthPower::Inverse { dof } => write!(f, "{count}^(1/{dof})"),
        }
    }
}

impl Mlp {
    /// How the scale of `group` (`input_weights`, …) is divided in a network with this many
    /// inputs; `None` where it is not, and for a group that is not known.
    pub fn width_scaling(&self, group: &str, inputs: usize) -> Option<WidthScaling> {
        let index = GROUPS.iter().position(|name| *name == group)?;
        let prior = &self.groups[index];
        match &prior.scale {
            GroupScale::Fixed(_) => None,
            GroupScale::Sampled { width, .. } => {
                width_scaling(prior, *width, fan_in(index, inputs, self.hidden))
            }
        }
    }
}

/// Number of units that feed those at the other end of the weights of a group.
pub(super) fn fan_in(group: usize, inputs: usize, hidden: usize) -> usize {
    if group == 2 { hidden } else { inputs }
}

/// How the scale of a group is divided for `fan_in` feeding units.
pub(super) fn width_scaling(
    prior: &GroupPrior,
    rule: Option<WidthRule>,
    fan_in: usize,
) -> Option<WidthScaling> {
    let GroupScale::Sampled { spread, top, .. } = &prior.scale else { return None };
    // Of degrees of freedom that are sampled, the middle of the grid.
    let known = |dof: &DofChoice| match dof {
        DofChoice::Known(dof) => *dof,
        DofChoice::Grid(values) => values[values.len() / 2],
        DofChoice::Continuous(_) => f64::INFINITY,
    };
    // Log-normal scales have every moment: the sum has the width of a normal one.
    let of_spread = |spread: &SpreadChoice| match spread {
        SpreadChoice::Dof(dof) => known(dof),
        SpreadChoice::LogSd(_) => f64::INFINITY,
    };
    let rule = rule?;
    let power = match rule {
        WidthRule::Mcmcstuff => {
            match top.map_or(of_spread(spread), |top| top.dof().unwrap_or(f64::INFINITY)) {
                dof if dof.is_finite() => WidthPower::Inverse { dof },
                _ => WidthPower::Root,
            }
        }
        WidthRule::Fbm => {
            // Degrees of freedom of the lowest level below the top one.
            let below = match (&prior.family, prior.sharing, top) {
                (WeightFamily::StudentT(dof), ..) => known(dof),
                (_, Sharing::PerInput, _) | (_, _, Some(_)) => of_spread(spread),
                _ => f64::INFINITY,
            };
            if below.is_infinite() {
                WidthPower::Root
            } else if below > 2.0 {
                WidthPower::RootOfVariance { dof: below }
            } else if below < 2.0 {
                WidthPower::Inverse { dof: below }
            } else {
                WidthPower::RootOfLogarithm
            }
        }
    };
    Some(WidthScaling { rule, fan_in, power })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::spec::Spec;

    fn scaling(prior: &str, group: &str, inputs: usize) -> Option<WidthScaling> {
        let text = format!("[model]\nkind = 'mlp'\nhidden = 8\n{prior}");
        Mlp::new(&Spec::from_toml(&text).unwrap()).unwrap().width_scaling(group, inputs)
    }

    #[test]
    fn both_conventions_say_what_they_divide_by() {
        // Figures of the two programs for 0.05 with ν = 0.5 and 8 hidden units.
        let output = |rule: &str| {
            let prior = format!("[prior.output_weights]\nscale = 0.05\ndof = 0.5\n{rule}");
            scaling(&prior, "output_weights", 3)
        };
        let fbm = output("").unwrap();
        assert_eq!((fbm.to_string().as_str(), fbm.rule), ("8^(1/2)", WidthRule::Fbm));
        assert!((0.05 / fbm.divisor() - 0.0177).abs() < 5e-5);
        let mcmcstuff = output("width_scaled = 'mcmcstuff'").unwrap();
        assert_eq!(mcmcstuff.to_string(), "8^(1/0.5)");
        assert!((0.05 / mcmcstuff.divisor() - 0.000_78).abs() < 5e-6);
        assert_eq!(output("width_scaled = false"), None);
        assert_eq!(scaling("", "output_bias", 3), None, "fixed");
        assert_eq!(scaling("", "nonsense", 3), None);
        assert_eq!(scaling("", "input_weights", 1).unwrap().to_string(), "1");
    }

    #[test]
    fn the_power_follows_the_level_below() {
        let input = |dof: f64| {
            let prior =
                format!("[prior.input_weights]\nsharing = 'per-input'\nscale = 1.0\ndof = {dof:?}");
            scaling(&prior, "input_weights", 4).unwrap()
        };
        for (dof, words, divisor) in [
            (0.5, "4^(1/0.5)", 16.0),
            (2.0, "(4 log 4)^(1/2)", (4.0 * 4.0_f64.ln()).sqrt()),
            (4.0, "(4 × 4/(4 - 2))^(1/2)", 8.0_f64.sqrt()),
        ] {
            let scaling = input(dof);
            assert_eq!(scaling.to_string(), words);
            assert!((scaling.divisor() - divisor).abs() < 1e-12);
        }
    }
}
