//! Write the function itself at the new rows, draw by draw.

use std::num::NonZero;
use std::path::Path;

use posteria::data::{EncodedRows, Encoder};
use posteria::draws::{Dimension, Draws, Layout, WriteError, write_csv};
use posteria::fit::PosteriorPredictive;

use crate::failure::{Failure, Result};
use crate::file::write_whole;

/// Most numbers that are held: 2 GiB.
const MOST_NUMBERS: usize = 1 << 28;

/// Most rows of a function that has to be drawn at all of them together: 400 MB.
const MOST_JOINT_ROWS: usize = 5000;

/// Writes f of every row for all draws, or for about `asked` of them.
pub fn write(
    work: &PosteriorPredictive<'_>,
    new: &EncodedRows,
    encoder: &Encoder,
    path: &Path,
    asked: Option<NonZero<usize>>,
) -> Result<()> {
    let Draws { chains, draws, .. } = *work.draws;
    let per_chain = asked.map_or(draws, |asked| asked.get().div_ceil(chains).min(draws));
    let numbers = new.inputs.rows().checked_mul(work.family.functions());
    let numbers = numbers.and_then(|width| width.checked_mul(chains * per_chain));
    if numbers.is_none_or(|numbers| numbers > MOST_NUMBERS) {
        return Err(Failure::bad_input(format!(
            "{} draws of {} rows are too many for one file; ask for fewer with --function-draws N",
            chains * per_chain,
            new.inputs.rows()
        )));
    }
    if work.is_open && new.inputs.rows() > MOST_JOINT_ROWS {
        return Err(Failure::bad_input(format!(
            "--draws-out draws the function at all rows of NEW together, which {} rows are too \
             many for; give at most {MOST_JOINT_ROWS}",
            new.inputs.rows()
        )));
    }
    let layout = layout(work, new, encoder);
    let values = work.draw_functions(&new.inputs, per_chain)?;
    let draws = Draws { draws: per_chain, values, ..Draws::empty(layout, chains, 0) };
    write_whole(path, |writer| {
        write_csv(&draws, writer).map_err(|error| match error {
            WriteError::Io(error) => Failure::Running(error.into()),
            other => Failure::BadInput(other.into()),
        })
    })
}

/// `f[1]`, `f[2]`, … by the row of the table, or `f[1, TARGET]` for several functions.
fn layout(work: &PosteriorPredictive<'_>, new: &EncodedRows, encoder: &Encoder) -> Layout {
    let rows = new.rows.iter().map(|row| (row + 1).to_string()).collect();
    let mut dimensions = vec![Dimension { name: "row".into(), labels: rows }];
    if work.family.functions() > 1 {
        let labels = work.function_names(encoder);
        dimensions.push(Dimension { name: "output".into(), labels });
    }
    let mut layout = Layout::new();
    layout.push("f", dimensions);
    layout
}
