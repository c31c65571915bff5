//! Say how rows are divided into folds, so that anyone can divide them the same way again.

use serde::{Deserialize, Serialize};

use super::{Dataset, FoldError, Folds, Targets};
use crate::random::{Purpose, Seed};

/// By what rows are divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FoldBy {
    /// At random.
    Random,
    /// At random, every class with its share in every fold.
    Stratified,
    /// At random, rows of one group together.
    Group,
    /// In the order of the rows, with a gap around every fold (h-block).
    Block,
    /// By regions in the space of some inputs, with a distance kept around every fold.
    Space,
    /// As a column says.
    Column,
    /// Every row a fold of its own.
    Row,
}

/// How rows are divided into folds. The same scheme and data give the same folds, so models
/// that are compared share them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldScheme {
    /// Number of folds; of a column or of rows, as many as they are.
    pub count: usize,
    /// By what rows are divided; absent: see [`FoldScheme::resolved`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<FoldBy>,
    /// The column of the groups or of the folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<String>,
    /// Rows left out of training on each side of a held-out row.
    #[serde(default)]
    pub gap: usize,
    /// The inputs whose space is divided into regions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub space: Vec<String>,
    /// Rows nearer than this to a held-out row are left out of training: Euclidean distance in the
    /// space, in the units of its inputs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub buffer: f64,
    /// Seed of the division.
    #[serde(default = "one")]
    pub seed: u64,
    /// Which of several divisions with this seed.
    #[serde(default)]
    pub repetition: u64,
}

/// One fold of a scheme: `[data.fold]` of a specification.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FoldSpec {
    /// Which fold is held out, from 1.
    pub index: usize,
    /// How rows are divided.
    pub scheme: FoldScheme,
    /// The fold that was held out before the rows left were divided: nested folds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<Box<FoldSpec>>,
}

fn one() -> u64 {
    1
}

fn is_zero(distance: &f64) -> bool {
    distance.abs() <= 0.0
}

impl FoldScheme {
    /// `count` folds by what is usual for the data.
    pub fn new(count: usize, seed: u64) -> Self {
        FoldScheme {
            count,
            by: None,
            column: None,
            gap: 0,
            space: Vec::new(),
            buffer: 0.0,
            seed,
            repetition: 0,
        }
    }

    /// The scheme with `by` filled in: of a space, regions; with a gap, blocks; groups stay together if a column or
    /// the data say which; classes have their shares; else at random.
    #[must_use]
    pub fn resolved(&self, data: &Dataset) -> Self {
        let usual = match (&data.groups, &data.targets) {
            _ if !self.space.is_empty() => FoldBy::Space,
            _ if self.gap > 0 => FoldBy::Block,
            _ if self.column.is_some() => FoldBy::Group,
            (Some(_), _) => FoldBy::Group,
            (None, Targets::Classes { .. }) => FoldBy::Stratified,
            (None, _) => FoldBy::Random,
        };
        FoldScheme { by: self.by.or(Some(usual)), ..self.clone() }
    }

    /// Divides the rows of `data`. `labels` are the values of [`FoldScheme::column`] in every
    /// row, as numbers that are equal where the values are; without, groups are those of the data.
    ///
    /// # Errors
    /// [`FoldError`] if the rows cannot be divided so.
    ///
    /// # Panics
    /// If `labels` has not one entry per row.
    pub fn divide(&self, data: &Dataset, labels: Option<&[usize]>) -> Result<Folds, FoldError> {
        let rows = data.rows();
        assert!(labels.is_none_or(|labels| labels.len() == rows), "one label per row");
        let mut stream = Seed(self.seed).stream(Purpose::Folds, [self.repetition, 0]);
        let known = labels.or(data.groups.as_deref());
        let by = self.by.or(self.resolved(data).by).unwrap_or(FoldBy::Random);
        match (by, &data.targets) {
            (FoldBy::Stratified, Targets::Classes { codes, .. }) => {
                Folds::stratified(codes, self.count, &mut stream)
            }
            (FoldBy::Random | FoldBy::Stratified, _) => {
                Folds::random(rows, self.count, &mut stream)
            }
            (FoldBy::Group, _) => {
                let groups = known.ok_or(FoldError::NoLabels { what: "groups" })?;
                Folds::grouped(groups, self.count, &mut stream)
            }
            (FoldBy::Block, _) => Folds::blocks(rows, self.count, self.gap),
            (FoldBy::Space, _) => Folds::regions(&self.points(data)?, self.count, self.buffer),
            (FoldBy::Column, _) => {
                Folds::given(labels.ok_or(FoldError::NoLabels { what: "folds" })?)
            }
            (FoldBy::Row, _) => Folds::leave_one_block_out(rows, self.gap),
        }
    }
}

impl FoldScheme {
    /// Where every row is in the space that is divided, in the user's units.
    fn points(&self, data: &Dataset) -> Result<Vec<Vec<f64>>, FoldError> {
        let input = |name: &String| {
            let known = data.input_names.iter().position(|input| input == name);
            known.ok_or_else(|| FoldError::NoInput {
                name: name.clone(),
                inputs: data.input_names.clone(),
            })
        };
        let columns = self.space.iter().map(input).collect::<Result<Vec<usize>, _>>()?;
        let of_row = |row: usize| {
            let user =
                |column: &usize| data.input_scaling[*column].invert(data.inputs[(row, *column)]);
            columns.iter().map(user).collect()
        };
        Ok((0..data.rows()).map(of_row).collect())
    }
}

impl FoldSpec {
    /// A number of this fold that no other fold of any division with the same seed has, nested ones
    /// included, for up to 256 repetitions and 2^24 folds around it.
    pub fn number(&self) -> u64 {
        let around = self.within.as_ref().map_or(0, |outer| outer.number() << 40);
        around | (self.scheme.repetition << 32) | self.index as u64
    }

    /// The training rows and the held-out rows of this fold, of `data` that are what the folds
    /// around it leave.
    ///
    /// # Errors
    /// As [`FoldScheme::divide`]; also if there is no such fold.
    ///
    /// # Panics
    /// As [`FoldScheme::divide`].
    pub fn rows(
        &self,
        data: &Dataset,
        labels: Option<&[usize]>,
    ) -> Result<(Vec<usize>, Vec<usize>), FoldError> {
        let folds = self.scheme.divide(data, labels)?;
        let index = self.index.wrapping_sub(1);
        if index >= folds.count() {
            return Err(FoldError::NoSuchFold { index: self.index, folds: folds.count() });
        }
        Ok((folds.training(index), folds.held_out(index).to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Column, Roles, Table};

    fn data(group: bool) -> Dataset {
        let number = |name: &str, of: fn(usize) -> f64| {
            (name.to_string(), Column::numbers((0..12).map(of).collect()))
        };
        let columns = vec![
            number("x", |row| row as f64),
            number("g", |row| (row / 3) as f64),
            number("y", |row| (row * row) as f64),
        ];
        let table = Table::new("memory", columns).unwrap();
        let group = group.then(|| "g".to_string());
        let roles = Roles { targets: vec!["y".into()], group, ..Roles::default() };
        Dataset::new(&table, &roles).unwrap().0
    }

    #[test]
    fn one_fold_is_that_of_the_whole_division() {
        let data = data(false);
        let scheme = FoldScheme::new(5, 3).resolved(&data);
        assert_eq!(scheme.by, Some(FoldBy::Random));
        let folds = scheme.divide(&data, None).unwrap();
        for index in 1..=5 {
            let one = FoldSpec { index, scheme: scheme.clone(), within: None };
            let (training, held_out) = one.rows(&data, None).unwrap();
            assert_eq!(held_out, folds.held_out(index - 1));
            assert_eq!(training, folds.training(index - 1));
        }
        for index in [0, 6] {
            let none = FoldSpec { index, scheme: scheme.clone(), within: None };
            let error = none.rows(&data, None).unwrap_err();
            assert_eq!(error, FoldError::NoSuchFold { index, folds: 5 });
        }
        let again = FoldScheme { repetition: 1, ..scheme.clone() };
        assert_ne!(again.divide(&data, None).unwrap(), folds);
    }

    #[test]
    fn regions_are_in_the_units_of_the_inputs() {
        let data = data(false);
        let space = vec!["x".to_string()];
        let scheme = FoldScheme { space, buffer: 1.5, ..FoldScheme::new(3, 1) }.resolved(&data);
        assert_eq!(scheme.by, Some(FoldBy::Space));
        let folds = scheme.divide(&data, None).unwrap();
        assert_eq!(folds.held_out(1), [4, 5, 6, 7]);
        // 3 and 8 are at distance 1.
        assert_eq!(folds.training(1), [0, 1, 2, 9, 10, 11]);
        let unknown = FoldScheme { space: vec!["z".into()], ..scheme.clone() };
        assert!(unknown.divide(&data, None).unwrap_err().to_string().contains("z"));
        let wide = FoldScheme { buffer: 100.0, ..scheme.clone() };
        let error = wide.divide(&data, None).unwrap_err();
        assert_eq!(error, FoldError::BufferTooWide { rows: 12, fold: 1 });
        let text = toml::to_string(&scheme).unwrap();
        assert_eq!(toml::from_str::<FoldScheme>(&text).unwrap(), scheme);
    }

    #[test]
    fn nested_folds_have_numbers_of_their_own() {
        let of = |index, repetition, within| {
            let scheme = FoldScheme { repetition, ..FoldScheme::new(9, 1) };
            FoldSpec { index, scheme, within }
        };
        let mut numbers = std::collections::BTreeSet::new();
        for index in 1..=9 {
            for repetition in 0..2 {
                assert!(numbers.insert(of(index, repetition, None).number()));
                for outer in 1..=9 {
                    let within = Some(Box::new(of(outer, 0, None)));
                    assert!(numbers.insert(of(index, repetition, within).number()));
                }
            }
        }
        let text = toml::to_string(&of(2, 0, Some(Box::new(of(3, 0, None))))).unwrap();
        let again: FoldSpec = toml::from_str(&text).unwrap();
        assert_eq!((again.index, again.within.unwrap().index), (2, 3));
        assert!(!toml::to_string(&of(2, 0, None)).unwrap().contains("within"));
    }

    #[test]
    fn groups_come_from_the_data_or_from_labels() {
        let grouped = FoldScheme::new(4, 1).resolved(&data(true));
        assert_eq!(grouped.by, Some(FoldBy::Group));
        let folds = grouped.divide(&data(true), None).unwrap();
        assert!((0..4).all(|fold| folds.held_out(fold).len() == 3));
        let labels: Vec<usize> = (0..12).map(|row| row / 3).collect();
        assert_eq!(grouped.divide(&data(false), Some(&labels)).unwrap(), folds);
        let error = grouped.divide(&data(false), None).unwrap_err();
        assert_eq!(error, FoldError::NoLabels { what: "groups" });
        let given = FoldScheme { by: Some(FoldBy::Column), ..grouped };
        assert_eq!(given.divide(&data(true), Some(&labels)).unwrap().held_out(1), [3, 4, 5]);
        assert!(given.divide(&data(true), None).is_err());
    }
}
