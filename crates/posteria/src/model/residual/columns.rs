//! Tell columns that divide the rows into groups from numbers along which the scale changes.

use std::collections::BTreeSet;

use crate::data::{Dataset, Encoder};
use crate::model::spec::ResidualSpec;

/// Numbers of at most so many different values divide the rows into groups.
const MOST_VALUES: usize = 10;

impl ResidualSpec {
    /// Takes columns of numbers with more than ten different values, or more than half as many as
    /// rows, out of `by` and into `slopes`: along these the log of the residual scale is linear.
    /// Numbers of fewer values and classes divide the rows into groups.
    pub(crate) fn tell_slopes_from_groups(&mut self, data: &Dataset, encoder: &Encoder) {
        let Some(by) = &mut self.by else { return };
        let columns = encoder.input_columns();
        let is_continuous = |name: &String| {
            let column = columns.iter().find(|column| column.name == *name);
            column.filter(|column| column.is_number).is_some_and(|column| {
                let values = data.inputs.column(column.inputs.start).iter();
                let values: BTreeSet<u64> = values.map(|value| value.to_bits()).collect();
                values.len() > MOST_VALUES.min(data.rows() / 2).max(2)
            })
        };
        let (slopes, groups): (Vec<String>, Vec<String>) =
            std::mem::take(by).into_iter().partition(is_continuous);
        *by = groups;
        if !slopes.is_empty() {
            self.slopes.get_or_insert_default().extend(slopes);
        }
        if by.is_empty() {
            self.by = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Roles, Table, TextFormat};

    #[test]
    fn numbers_of_many_values_have_slopes_and_all_else_divides_rows() {
        let rows: String = (0..40)
            .map(|row| format!("{},{},{},{}\n", row % 11, row % 10, ["a", "b", "c"][row % 3], row))
            .collect();
        let text = format!("many,few,class,y\n{rows}");
        let table = Table::from_text("d", text.as_bytes(), &TextFormat::default()).unwrap();
        let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
        let encoding = Encoder::fit(&table, &roles).unwrap();
        let told = |by: &[&str], slopes: Option<&[&str]>| {
            let own = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
            let mut residual = ResidualSpec {
                by: Some(own(by)),
                slopes: slopes.map(own),
                ..ResidualSpec::default()
            };
            residual.tell_slopes_from_groups(&encoding.dataset, &encoding.encoder);
            let once = residual.clone();
            residual.tell_slopes_from_groups(&encoding.dataset, &encoding.encoder);
            assert_eq!(once, residual, "a completed specification stays as it is");
            [once.by, once.slopes].map(|names| names.unwrap_or_default().join(" "))
        };
        let all = ["class", "many", "few", "unknown"];
        assert_eq!(told(&all, None), ["class few unknown", "many"]);
        assert_eq!(told(&["many"], None), ["", "many"]);
        // Who names a slope has one, however few values there are.
        assert_eq!(told(&["class"], Some(&["few"])), ["class", "few"]);
    }
}
