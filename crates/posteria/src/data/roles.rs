//! Say which column of a table plays which part.

use serde::{Deserialize, Serialize};

use super::{Censoring, DataError, Table, Task};

/// What to do with rows that have missing cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Missing {
    /// Refuse them.
    #[default]
    Error,
    /// Leave them out, and say so.
    Drop,
}

/// Which columns of a table are what, by name.
#[derive(Clone, Debug, PartialEq)]
pub struct Roles {
    /// Target columns; several only if they are numbers, none for models without targets.
    pub targets: Vec<String>,
    /// Input columns; absent: every column that has no other role and is not excluded.
    pub inputs: Option<Vec<String>>,
    /// Columns that are no inputs, where `inputs` does not say which are.
    pub exclude: Vec<String>,
    /// The column that says which rows belong together.
    pub group: Option<String>,
    /// The column that says in which fold a row is held out.
    pub fold: Option<String>,
    /// Of counts: the column with the exposure of every row, a positive number that the mean count
    /// is proportional to.
    pub exposure: Option<String>,
    /// Of durations: the column that says which are censored.
    pub censoring: Option<Censoring>,
    /// Of ordered classes: all of them, from the lowest on. Absent: numbers by value.
    pub levels: Option<Vec<String>>,
    /// What the targets set. Absent: regression if the targets are numbers; if the target is
    /// text, binary for at most two classes and multiclass for more.
    pub task: Option<Task>,
    /// Whether inputs and real targets are shifted and scaled to mean 0 and standard deviation 1.
    pub standardize: bool,
    /// What to do with missing cells. Only columns that have a role count.
    pub missing: Missing,
    /// The most different values that a column of classes may have. Absent: at most 256, fewer
    /// than there are rows, and not more than ten or two thirds of the rows, whichever is more (of
    /// dates, hexadecimal numbers and numbers with a unit ten); up to four rows may have a class each.
    pub max_levels: Option<usize>,
    /// Whether the first class of a column of text is a reference without an indicator, however many
    /// classes there are: beside an intercept, and without priors, the indicators of all classes
    /// would not be told apart.
    pub reference_classes: bool,
}

impl Default for Roles {
    fn default() -> Self {
        Roles {
            targets: Vec::new(),
            inputs: None,
            exclude: Vec::new(),
            group: None,
            fold: None,
            exposure: None,
            censoring: None,
            levels: None,
            task: None,
            standardize: true,
            missing: Missing::Error,
            max_levels: None,
            reference_classes: false,
        }
    }
}

/// The numbers of the columns that have roles.
pub(super) struct Indices {
    pub targets: Vec<usize>,
    pub inputs: Vec<usize>,
    pub group: Option<usize>,
    pub fold: Option<usize>,
    pub exposure: Option<usize>,
    pub censoring: Option<usize>,
}

impl Roles {
    pub(super) fn indices(&self, table: &Table) -> Result<Indices, DataError> {
        let find = |names: &[String]| -> Result<Vec<usize>, DataError> {
            names.iter().map(|name| table.index(name)).collect()
        };
        let find_one = |name: &Option<String>| name.as_deref().map(|n| table.index(n)).transpose();
        let targets = find(&self.targets)?;
        let exclude = find(&self.exclude)?;
        let (group, fold) = (find_one(&self.group)?, find_one(&self.fold)?);
        let exposure = find_one(&self.exposure)?;
        let censoring = self.censoring.as_ref().map(|it| table.index(&it.column)).transpose()?;
        let inputs = match &self.inputs {
            Some(names) => find(names)?,
            None => (0..table.columns().len())
                .filter(|index| !targets.contains(index) && !exclude.contains(index))
                .filter(|index| Some(*index) != group && Some(*index) != fold)
                .filter(|index| Some(*index) != exposure && Some(*index) != censoring)
                .collect(),
        };
        if inputs.is_empty() && self.inputs.is_none() {
            let targets = self.targets.clone();
            return Err(DataError::NoInputs { file: table.file().to_string(), targets });
        }
        if let Some(index) = exposure.filter(|it| targets.contains(it) || inputs.contains(it)) {
            let column = table.names()[index].clone();
            let (file, fault) =
                (table.file().to_string(), "is a target or an input too; name it once");
            return Err(DataError::Exposure { file, column, fault });
        }
        if let Some(index) = censoring.filter(|it| targets.contains(it) || inputs.contains(it)) {
            let column = table.names()[index].clone();
            let file = table.file().to_string();
            let option = self.censoring.as_ref().map_or("", Censoring::option);
            let fault = "it is a target or an input too; name it once";
            return Err(DataError::Censoring { file, column, option, fault });
        }
        let mut taken = vec![false; table.columns().len()];
        for &index in targets.iter().chain(&inputs) {
            if std::mem::replace(&mut taken[index], true) {
                let column = table.names()[index].clone();
                return Err(DataError::RoleTwice { file: table.file().to_string(), column });
            }
        }
        Ok(Indices { targets, inputs, group, fold, exposure, censoring })
    }
}

impl Indices {
    /// Every column that has a role, in the order of the table, and whether it holds numbers.
    pub(super) fn used(&self, table: &Table) -> Vec<(usize, bool)> {
        let mut used = [&self.targets[..], &self.inputs].concat();
        let others = self.exposure.into_iter().chain(self.censoring);
        used.extend(self.group.into_iter().chain(self.fold).chain(others));
        used.sort_unstable();
        used.dedup();
        used.into_iter().map(|index| (index, table.columns()[index].is_mostly_numbers())).collect()
    }
}
