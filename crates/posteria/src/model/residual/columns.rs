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
