//! Keep an encoder and its data as plain numbers and text, and get them back.

use posteria_linalg::Matrix;

use super::encoder::{Indicator, InputContent};
use super::target_encoding::TargetEncoding;
use super::{Column, DataError, Dataset, Encoder, Standardization, Table, Targets, Task};

fn refused<T>(what: impl Into<String>) -> Result<T, DataError> {
    Err(DataError::Stored { what: what.into() })
}

impl Encoder {
    /// The encoder as JSON; [`Encoder::from_json`] gives it back exactly.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("an encoder is plain data")
    }

    /// The encoder that [`Encoder::to_json`] wrote. Nothing in the text is believed unchecked.
    ///
    /// # Errors
    /// [`DataError::Stored`].
    pub fn from_json(text: &str) -> Result<Self, DataError> {
        let encoder: Encoder = match serde_json::from_str(text) {
            Ok(encoder) => encoder,
            Err(error) => return refused(format!("the encoding is not valid: {error}")),
        };
        encoder.check()?;
        Ok(encoder)
    }

    /// What encoding can rely on, whoever wrote the text.
    fn check(&self) -> Result<(), DataError> {
        let mut sound = true;
        let mut scale = |scaling: &Standardization| {
            sound &= scaling.centre.is_finite() && scaling.scale > 0.0 && scaling.scale.is_finite();
        };
        self.for_each_input(|_, scaling| scale(scaling));
        self.target_scaling().iter().for_each(scale);
        if !sound {
            return refused("a scale is not a positive number");
        }
        let mut names: Vec<&str> = self.inputs.iter().map(|input| input.column.as_str()).collect();
        let targets = self.target_names();
        names.extend(targets.iter().map(String::as_str));
        names.sort_unstable();
        if names.windows(2).any(|pair| pair[0] == pair[1]) {
            return refused("a column has two roles");
        }
        let empty = |content: &InputContent| matches!(content, InputContent::Classes { indicators, .. } if indicators.is_empty());
        if self.inputs.iter().any(|input| empty(&input.content)) {
            return refused("a column of classes has no class");
        }
        let fits = match (&self.targets, self.task) {
            (TargetEncoding::Real(_), task) => task == Task::Regression,
            (TargetEncoding::Classes { labels, .. }, Task::Binary) => labels.len() == 2,
            (TargetEncoding::Classes { labels, .. }, Task::Multiclass) => !labels.is_empty(),
            (TargetEncoding::Classes { labels, .. }, Task::Ordinal) => labels.len() > 1,
            (TargetEncoding::Counts { .. }, task) => task == Task::Count,
            (TargetEncoding::Durations { .. }, task) => task == Task::Duration,
            (TargetEncoding::Classes { .. }, _) => false,
        };
        let fits = fits
            && (self.exposure.is_none() || self.task == Task::Count)
            && (self.censoring.is_none() || self.task == Task::Duration);
        if fits { Ok(()) } else { refused("the target does not fit the task") }
    }

    /// The data with these inputs and targets, both on the user's scale: inputs row by row, one
    /// list per target (of a class: its index), the index of the group of every row, and what a column
    /// tells beside the target: the exposure of a count, 1 where a duration is censored and 0 elsewhere. The inverse
    /// of writing a [`Dataset`] on the user's scale, to rounding.
    ///
    /// # Errors
    /// [`DataError::Stored`] if lengths do not fit, a number is not finite or not the index of
    /// a class.
    pub fn restore(
        &self,
        inputs: &[f64],
        targets: &[Vec<f64>],
        groups: Option<&[f64]>,
        beside: Option<&[f64]>,
    ) -> Result<Dataset, DataError> {
        let mut input_scaling = Vec::new();
        self.for_each_input(|_, scaling| input_scaling.push(*scaling));
        let width = input_scaling.len();
        let rows = match targets.first() {
            Some(target) => target.len(),
            None => inputs.len() / width.max(1),
        };
        let columns = targets.len() == self.target_names().len();
        let lengths = targets.iter().all(|target| target.len() == rows)
            && rows.checked_mul(width) == Some(inputs.len())
            && groups.is_none_or(|groups| groups.len() == rows)
            && beside.is_none_or(|beside| beside.len() == rows);
        if (self.exposure.is_some() || self.censoring.is_some()) != beside.is_some() {
            return refused("the exposure of counts, or which durations are censored, is not told");
        }
        if !columns || !lengths {
            return refused("inputs and targets have different lengths");
        }
        if !inputs.iter().chain(targets.iter().flatten()).all(|value| value.is_finite()) {
            return refused("a number is not finite");
        }
        let kept = match &self.targets {
            TargetEncoding::Real(scales) => {
                let entry =
                    |row: usize, column: usize| scales[column].1.apply(targets[column][row]);
                let values = Matrix::from_fn(rows, scales.len(), entry);
                Targets::Real { names: self.target_names(), values }
            }
            TargetEncoding::Classes { column, labels } => Targets::Classes {
                name: column.clone(),
                labels: labels.clone(),
                codes: indices(&targets[0], labels.len())?,
            },
            TargetEncoding::Counts { column } => {
                if !targets[0].iter().all(|value| *value >= 0.0 && value.fract() <= 0.0) {
                    return refused("a count is not a whole number from 0 on");
                }
                Targets::Counts { name: column.clone(), values: targets[0].clone() }
            }
            TargetEncoding::Durations { column, .. } => {
                if !targets[0].iter().all(|time| *time > 0.0) {
                    return refused("a duration is not positive");
                }
                let censored = beside.map(|beside| indices(beside, 2)).transpose()?;
                let censored = censored.map(|all| all.iter().map(|code| *code == 1).collect());
                Targets::Durations { name: column.clone(), times: targets[0].clone(), censored }
            }
        };
        let entry = |row: usize, k: usize| input_scaling[k].apply(inputs[row * width + k]);
        Ok(Dataset {
            inputs: Matrix::from_fn(rows, width, entry),
            input_names: self.input_names(),
            targets: kept,
            target_scaling: self.target_scaling(),
            offsets: beside.filter(|_| self.exposure.is_some()).map(logarithms).transpose()?,
            groups: groups.map(|groups| indices(groups, rows)).transpose()?,
            task: self.task,
            input_scaling,
        })
    }

    /// The table of the columns that became `data`: numbers on the user's scale, to rounding, and
    /// names of classes; groups, whose names are not known any more, are numbered in the column
    /// `group`. Columns that had no role are not in it.
    ///
    /// # Errors
    /// [`DataError::Stored`] if the data are not those of this encoder.
    pub fn decode(&self, data: &Dataset, group: Option<&str>) -> Result<Table, DataError> {
        if data.input_names != self.input_names() {
            return refused("the data have other inputs");
        }
        let mut first = 0;
        let mut columns = Vec::with_capacity(self.columns.len());
        for input in &self.inputs {
            let decoded = match &input.content {
                InputContent::Number(scaling) => {
                    let values = data.inputs.column(first).iter();
                    Some(Column::numbers(values.map(|value| scaling.invert(*value)).collect()))
                }
                InputContent::Classes { baseline, indicators } => {
                    let is_class = |row: usize, (offset, it): (usize, &Indicator)| {
                        it.scaling.invert(data.inputs[(row, first + offset)]) > 0.5
                    };
                    let class = |row| {
                        let mut each = indicators.iter().enumerate();
                        let own = each.find(|it| is_class(row, *it)).map(|(_, it)| &it.class);
                        own.or(baseline.as_ref()).map_or("", String::as_str)
                    };
                    Column::categories((0..data.rows()).map(class))
                }
            };
            first += input.content.width();
            columns.push((input.column.clone(), decoded));
        }
        match &data.targets {
            Targets::Real { names, values } => {
                for (index, (name, scaling)) in names.iter().zip(&data.target_scaling).enumerate() {
                    let values = values.column(index).iter();
                    let values = values.map(|value| scaling.invert(*value)).collect();
                    columns.push((name.clone(), Some(Column::numbers(values))));
                }
            }
            Targets::Classes { name, labels, codes } => {
                let labels = codes.iter().map(|code| labels[*code].as_str());
                columns.push((name.clone(), Column::categories(labels)));
            }
            Targets::Counts { name, values } => {
                columns.push((name.clone(), Some(Column::numbers(values.clone()))));
            }
            Targets::Durations { name, times, censored } => {
                columns.push((name.clone(), Some(Column::numbers(times.clone()))));
                if let (Some(it), Some(censored)) = (&self.censoring, censored) {
                    let cells = censored.iter().map(|is_censored| it.cell(*is_censored)).collect();
                    columns.push((it.column.clone(), Some(Column::numbers(cells))));
                }
            }
        }
        if let (Some(name), Some(offsets)) = (&self.exposure, &data.offsets) {
            let exposures = offsets.iter().map(|offset| offset.exp()).collect();
            columns.push((name.clone(), Some(Column::numbers(exposures))));
        }
        if let (Some(name), Some(groups)) = (group, &data.groups) {
            let numbered: Vec<String> =
                groups.iter().map(|group| (group + 1).to_string()).collect();
            let numbered = Column::categories(numbered.iter().map(String::as_str));
            columns.push((name.to_string(), numbered));
        }
        let is_whole = |(name, column): (String, Option<Column>)| column.map(|it| (name, it));
        match columns.into_iter().map(is_whole).collect() {
            Some(columns) => Table::new("the data of the fit", columns),
            None => refused("the names of classes exceed 4 GiB"),
        }
    }

    /// Gives the columns of a table without names those of the training table: all of them in
    /// order, or all but the targets. A table with names stays as it is.
    ///
    /// # Errors
    /// [`DataError::Positions`] if the number of columns is neither.
    pub fn name_by_position(&self, table: Table) -> Result<Table, DataError> {
        if table.is_named() {
            return Ok(table);
        }
        let targets = self.target_names();
        let without: Vec<String> =
            self.columns.iter().filter(|name| !targets.contains(name)).cloned().collect();
        match table.columns().len() {
            found if found == self.columns.len() => table.renamed(self.columns.clone()),
            found if found == without.len() => table.renamed(without),
            found => Err(DataError::Positions {
                file: table.file().to_string(),
                found,
                expected: self.columns.len(),
                targets: targets.len(),
            }),
        }
    }
}

/// Logarithms of positive numbers.
fn logarithms(values: &[f64]) -> Result<Vec<f64>, DataError> {
    let logarithm = |value: &f64| match value.ln() {
        log if log.is_finite() => Ok(log),
        _ => refused("an exposure is not positive"),
    };
    values.iter().map(logarithm).collect()
}

/// Whole numbers below `count`.
fn indices(values: &[f64], count: usize) -> Result<Vec<usize>, DataError> {
    let index = |value: &f64| {
        let index = *value as usize;
        let whole = value.is_finite() && *value >= 0.0 && value.fract().abs() <= 0.0;
        if whole && index < count { Ok(index) } else { refused("a class or group is unknown") }
    };
    values.iter().map(index).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Missing, Roles, TextFormat};

    /// Encoded again, the decoded table is the same data: numbers, classes of two and of three,
    /// groups and the target.
    #[test]
    fn a_decoded_table_is_encoded_to_the_same_data() {
        let text = "unused,size,colour,sex,batch,y\n1,2.5,red,f,a,0.5\n2,3.5,green,m,b,1.5\n\
                    3,1.25,blue,m,a,2.5\n4,9,red,f,c,-1\n5,,red,f,c,-1\n6,4,green,f,b,3\n";
        let table = Table::from_text("d", text.as_bytes(), &TextFormat::default()).unwrap();
        for target in ["y", "colour", "sex"] {
            let inputs = ["size", "colour", "sex", "y"].into_iter().filter(|it| *it != target);
            let roles = Roles {
                targets: vec![target.into()],
                inputs: Some(inputs.map(String::from).collect()),
                group: Some("batch".into()),
                missing: Missing::Drop,
                ..Roles::default()
            };
            let encoding = Encoder::fit(&table, &roles).unwrap();
            let decoded = encoding.encoder.decode(&encoding.dataset, Some("batch")).unwrap();
            assert_eq!(decoded.rows(), 5);
            let again = Encoder::fit(&decoded, &roles).unwrap().dataset;
            let (own, other) = (&encoding.dataset, &again);
            assert_eq!((&own.input_names, &own.groups), (&other.input_names, &other.groups));
            let pairs = own.inputs.values().iter().zip(other.inputs.values());
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
            assert_eq!(
                encoding.encoder.observed(&own.targets),
                encoding.encoder.observed(&other.targets)
            );
        }
    }

    #[test]
    fn data_of_another_encoder_are_refused() {
        let of = |text: &str| {
            let table = Table::from_text("d", text.as_bytes(), &TextFormat::default()).unwrap();
            let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
            Encoder::fit(&table, &roles).unwrap()
        };
        let (one, other) = (of("a,y\n1,2\n2,3\n"), of("b,y\n1,2\n2,3\n"));
        assert!(matches!(one.encoder.decode(&other.dataset, None), Err(DataError::Stored { .. })));
    }
}
