//! Name the parts of a flat draw.

use std::ops::Range;

use serde::Serialize;

use super::Role;

/// One named array inside a draw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Name, unique in its layout.
    pub name: String,
    /// Dimensions, in row-major order; empty for a scalar.
    pub dimensions: Vec<Dimension>,
    /// Where the variable begins in a draw.
    pub offset: usize,
    /// Whether its value means the same in every chain. Weights of a network do not: hidden
    /// units may change places and signs, so their convergence says nothing.
    pub identified: bool,
    /// What it is to those who read draws.
    pub role: Role,
}

/// One axis of a variable: its name and the label of every index along it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dimension {
    /// Name of the axis (`input`, `hidden_unit`, …).
    pub name: String,
    /// One label per index.
    pub labels: Vec<String>,
}

impl Dimension {
    /// Name of an axis along rows of the data, as ArviZ has it; labels are their numbers from 0.
    pub const ROWS: &'static str = "obs_id";

    /// Whether the axis is along rows of the data.
    pub fn is_rows(&self) -> bool {
        // So called before it had the name that the data themselves have in a store.
        self.name == Dimension::ROWS || self.name == "row"
    }
}

impl Variable {
    /// Number of indices along each axis.
    pub fn shape(&self) -> Vec<usize> {
        self.dimensions.iter().map(|dimension| dimension.labels.len()).collect()
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.dimensions.iter().map(|dimension| dimension.labels.len()).product()
    }

    /// Whether the variable has no component.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Where the components lie in a draw.
    pub fn range(&self) -> Range<usize> {
        self.offset..self.offset + self.len()
    }

    /// Name of one component as tables show it: `weights[age]`, or the bare name of a scalar.
    ///
    /// # Panics
    /// If `component` is not below [`Variable::len`].
    pub fn component_name(&self, component: usize) -> String {
        assert!(component < self.len(), "{} has {} components", self.name, self.len());
        if self.dimensions.is_empty() {
            return self.name.clone();
        }
        let mut labels = vec![""; self.dimensions.len()];
        let mut rest = component;
        for (label, dimension) in labels.iter_mut().zip(&self.dimensions).rev() {
            *label = &dimension.labels[rest % dimension.labels.len()];
            rest /= dimension.labels.len();
        }
        format!("{}[{}]", self.name, labels.join(", "))
    }
}

/// Names and ranges of everything in a draw: one for the sampler, the file and the report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    variables: Vec<Variable>,
    len: usize,
}

impl Layout {
    /// An empty layout.
    pub fn new() -> Self {
        Layout::default()
    }

    /// Appends a scalar; returns its offset.
    ///
    /// # Panics
    /// If the name is taken.
    pub fn push_scalar(&mut self, name: impl Into<String>) -> usize {
        self.push(name, Vec::new()).start
    }

    /// Appends a vector whose components are called by `labels`; returns its range.
    ///
    /// # Panics
    /// If the name is taken.
    pub fn push_vector(
        &mut self,
        name: impl Into<String>,
        dimension: impl Into<String>,
        labels: Vec<String>,
    ) -> Range<usize> {
        self.push(name, vec![Dimension { name: dimension.into(), labels }])
    }

    /// Appends the one variable with this role; returns its range.
    ///
    /// # Panics
    /// If there is one, or several may have the role.
    pub(crate) fn push_role(&mut self, role: Role, dimensions: Vec<Dimension>) -> Range<usize> {
        self.push(role.name(), dimensions)
    }

    /// Appends an array, whose role its name tells; returns its range.
    ///
    /// # Panics
    /// If the name is taken.
    pub fn push(&mut self, name: impl Into<String>, dimensions: Vec<Dimension>) -> Range<usize> {
        let name = name.into();
        let role = Role::of_name(&name);
        let variable = Variable { name, dimensions, offset: self.len, identified: true, role };
        assert!(self.variable(&variable.name).is_none(), "{} is named twice", variable.name);
        let range = variable.range();
        self.len = range.end;
        self.variables.push(variable);
        range
    }

    /// Says that the variable called `name` is not identified, see [`Variable::identified`].
    ///
    /// # Panics
    /// If there is no such variable.
    pub fn set_unidentified(&mut self, name: &str) {
        let variable = self.variables.iter_mut().find(|variable| variable.name == name);
        variable.expect("a variable of the layout").identified = false;
    }

    /// Whether `other` gives every component the same name.
    pub fn names_as(&self, other: &Layout) -> bool {
        let names = |variable: &Variable| (variable.name.clone(), variable.dimensions.clone());
        self.variables.iter().map(names).eq(other.variables.iter().map(names))
    }

    /// Whether draws that are laid out as `kept` can be used as draws of this layout: if it is the
    /// same, but for the name that an axis of rows had, and for [`Role::FittedMean`], which
    /// earlier versions called `fitted`.
    pub fn reads(&self, kept: &Layout) -> bool {
        let alike = |a: &Dimension, b: &Dimension| {
            a.labels == b.labels && (a.name == b.name || (a.is_rows() && b.is_rows()))
        };
        let same = |own: &Variable, kept: &Variable| {
            own.name == kept.name
                && own.identified == kept.identified
                && own.dimensions.len() == kept.dimensions.len()
                && own.dimensions.iter().zip(&kept.dimensions).all(|(a, b)| alike(a, b))
        };
        let had_mean = kept.of_role(Role::FittedMean).is_some();
        let own = self.variables.iter().filter(|it| had_mean || it.role != Role::FittedMean);
        own.clone().count() == kept.variables.len()
            && own.zip(&kept.variables).all(|(own, kept)| same(own, kept))
    }

    /// Whether each component belongs to an identified variable, in the order of a draw.
    pub fn identified_components(&self) -> Vec<bool> {
        let each = |variable: &Variable| vec![variable.identified; variable.len()];
        self.variables.iter().flat_map(each).collect()
    }

    /// The variables, in the order of a draw.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The variable called `name`.
    pub fn variable(&self, name: &str) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// The first variable with this role.
    pub fn of_role(&self, role: Role) -> Option<&Variable> {
        self.variables.iter().find(|variable| variable.role == role)
    }

    /// Where the first variable with this role is in a draw; nowhere if there is none.
    pub(crate) fn range_of(&self, role: Role) -> Range<usize> {
        self.of_role(role).map_or(0..0, Variable::range)
    }

    /// Length of a draw.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether a draw has no component.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Names of all components, in the order of a draw.
    pub fn component_names(&self) -> Vec<String> {
        self.variables
            .iter()
            .flat_map(|variable| (0..variable.len()).map(|i| variable.component_name(i)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Draws;

    #[test]
    fn components_are_named_in_row_major_order() {
        let mut layout = Layout::new();
        layout.push_scalar("noise");
        let labels = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
        layout.push(
            "weights",
            vec![
                Dimension { name: "input".into(), labels: labels(&["a", "b"]) },
                Dimension { name: "hidden_unit".into(), labels: labels(&["0", "1", "2"]) },
            ],
        );
        assert_eq!(layout.len(), 7);
        assert_eq!(layout.component_names()[0], "noise");
        assert_eq!(layout.component_names()[3], "weights[a, 2]");
        assert_eq!(layout.component_names()[4], "weights[b, 0]");
    }

    /// Draws of versions that had another name for rows, and no mean beside what is fitted.
    #[test]
    fn earlier_layouts_are_read() {
        let layout = |rows: &str, mean: bool, scale: &str| {
            let mut layout = Layout::new();
            layout.push_scalar(scale);
            layout.push_vector("fitted", rows, vec!["0".into(), "7".into()]);
            if mean {
                layout.push_vector("fitted_mean", rows, vec!["0".into(), "7".into()]);
            }
            layout.push_scalar("training_error");
            layout
        };
        let now = layout("obs_id", true, "scale");
        let before = layout("row", false, "scale");
        assert!(now.reads(&now) && now.reads(&before) && now.reads(&layout("row", true, "scale")));
        assert!(!before.reads(&now), "not the other way round");
        assert!(!now.reads(&layout("row", false, "other")));
        assert!(!now.reads(&layout("case", false, "scale")));
        let mut draws = Draws::empty(before, 1, 0);
        draws.draws = 2;
        draws.values = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
        let draws = draws.laid_out_as(&now);
        assert_eq!(draws.values, [1.0, 2.0, 3.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 6.0, 7.0, 8.0]);
        assert_eq!(draws.layout, now);
    }
}
