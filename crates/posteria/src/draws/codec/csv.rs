//! Write draws as a table: chain, draw, components, statistics.

use std::collections::HashSet;
use std::io::{self, Write};

use super::WriteError;
use super::number;
use crate::draws::{Draws, Statistics};

/// Writes one row per draw: `chain` and `draw` counted from 0, the components called as
/// [`Layout::component_names`](crate::draws::Layout::component_names), and the statistics, if
/// there are any, called as [`Statistics::NAMES`]. [`read_draws`](super::read_draws) gives the
/// same values back, bit for bit.
///
/// # Errors
/// [`WriteError::NameTaken`] if a component is called like another column, [`WriteError::Io`].
pub fn write_csv<W: Write>(draws: &Draws, writer: W) -> Result<(), WriteError> {
    let mut header = vec!["chain".to_string(), "draw".to_string()];
    header.extend(draws.layout.component_names());
    if !draws.statistics.is_empty() {
        header.extend(Statistics::NAMES.map(String::from));
    }
    let mut seen = HashSet::new();
    if let Some(name) = header.iter().find(|name| !seen.insert(name.as_str())) {
        return Err(WriteError::NameTaken { name: name.clone() });
    }
    let mut writer = csv::Writer::from_writer(writer);
    writer.write_record(&header).map_err(io_error)?;
    let mut cell = String::new();
    for chain in 0..draws.chains {
        for draw in 0..draws.draws {
            for index in [chain, draw] {
                writer.write_field(index.to_string()).map_err(io_error)?;
            }
            let statistics = draws.statistics.get(chain * draws.draws + draw);
            let statistics = statistics.iter().flat_map(|statistics| statistics.to_array());
            for value in draws.draw(chain, draw).iter().copied().chain(statistics) {
                cell.clear();
                number::push(&mut cell, value);
                writer.write_field(&cell).map_err(io_error)?;
            }
            writer.write_record(None::<&[u8]>).map_err(io_error)?;
        }
    }
    Ok(writer.flush()?)
}

fn io_error(error: csv::Error) -> WriteError {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => WriteError::Io(error),
        other => WriteError::Io(io::Error::other(format!("{other:?}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::Layout;

    #[test]
    fn the_table_is_as_described() {
        let mut layout = Layout::new();
        layout.push_scalar("noise");
        layout.push_vector("w", "input", vec!["a b".into(), "c, d".into()]);
        let mut draws = Draws::empty(layout, 2, 0);
        draws.draws = 1;
        draws.values = vec![1.0, 0.5, f64::NAN, -2.0, 1e-30, 3.0];
        let mut out = Vec::new();
        write_csv(&draws, &mut out).unwrap();
        let expected = "chain,draw,noise,w[a b],\"w[c, d]\"\n0,0,1,0.5,nan\n1,0,-2,1e-30,3\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn a_component_called_like_a_column_is_refused() {
        let mut layout = Layout::new();
        layout.push_scalar("chain");
        let error = write_csv(&Draws::empty(layout, 1, 0), Vec::new());
        assert!(matches!(error, Err(WriteError::NameTaken { name }) if name == "chain"));
    }
}
