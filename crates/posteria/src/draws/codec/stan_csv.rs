//! Write one chain as CmdStan would have.

use std::collections::HashSet;
use std::io::Write;

use super::{STAN_STATISTICS, WriteError, number};
use crate::draws::{Draws, Variable};

/// Writes one chain as a CmdStan CSV file: `#` comments with the settings, a header with the
/// sampler's columns first and then the parameters as `beta.1.2` in column-major order with
/// indices from 1, one line per draw. Labels of indices are lost, and characters that a Stan name
/// cannot have become `_`. CmdStan's statistics are written; the others (`log_prior`, `log_lik`,
/// `infeasible`) have no column there.
///
/// # Errors
/// [`WriteError::NoSuchChain`]; [`WriteError::NameTaken`] if two names become the same;
/// [`WriteError::Io`].
pub fn write_stan_csv<W: Write>(
    draws: &Draws,
    chain: usize,
    mut writer: W,
) -> Result<(), WriteError> {
    if chain >= draws.chains {
        return Err(WriteError::NoSuchChain { chain, chains: draws.chains });
    }
    let columns: Vec<(String, usize)> = draws.layout.variables().iter().flat_map(columns).collect();
    let statistics = if draws.statistics.is_empty() { &[][..] } else { &STAN_STATISTICS[..] };
    let mut header: Vec<&str> = statistics.iter().map(|(name, _)| *name).collect();
    header.extend(columns.iter().map(|(name, _)| name.as_str()));
    let mut seen = HashSet::new();
    if let Some(name) = header.iter().find(|name| !seen.insert(**name)) {
        return Err(WriteError::NameTaken { name: name.to_string() });
    }

    writeln!(writer, "# posteria_version = {}", env!("CARGO_PKG_VERSION"))?;
    writeln!(writer, "# method = sample")?;
    writeln!(writer, "#   sample")?;
    writeln!(writer, "#     num_samples = {}", draws.draws)?;
    writeln!(writer, "#     num_warmup = 0")?;
    writeln!(writer, "#     save_warmup = 0")?;
    writeln!(writer, "#     thin = 1")?;
    writeln!(writer, "# id = {}", chain + 1)?;
    writeln!(writer, "{}", header.join(","))?;
    let mut line = String::new();
    for draw in 0..draws.draws {
        line.clear();
        let values = draws.draw(chain, draw);
        let of_draw = draws.statistics.get(chain * draws.draws + draw).map(|s| s.to_array());
        let of_draw = of_draw.iter().flat_map(|all| statistics.iter().map(|(_, i)| all[*i]));
        for value in of_draw.chain(columns.iter().map(|(_, i)| values[*i])) {
            if !line.is_empty() {
                line.push(',');
            }
            number::push(&mut line, value);
        }
        writeln!(writer, "{line}")?;
    }
    Ok(writer.flush()?)
}

/// Columns of a variable in column-major order: the first index runs fastest.
fn columns(variable: &Variable) -> Vec<(String, usize)> {
    let base: String = variable.name.chars().map(legal).collect();
    let shape = variable.shape();
    let mut index = vec![0; shape.len()];
    (0..variable.len())
        .map(|_| {
            let mut name = base.clone();
            index.iter().for_each(|i| name.push_str(&format!(".{}", i + 1)));
            let place = index.iter().zip(&shape).fold(0, |place, (i, size)| place * size + i);
            for (i, size) in index.iter_mut().zip(&shape) {
                *i += 1;
                if *i < *size {
                    break;
                }
                *i = 0;
            }
            (name, variable.offset + place)
        })
        .collect()
}

fn legal(character: char) -> char {
    if character.is_ascii_alphanumeric() { character } else { '_' }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draws::{Dimension, Layout, Statistics};

    fn sample() -> Draws {
        let mut layout = Layout::new();
        layout.push_scalar("residual scale");
        let axis = |name: &str, size: usize| Dimension {
            name: name.into(),
            labels: (0..size).map(|i| format!("{name}{i}")).collect(),
        };
        layout.push("beta", vec![axis("row", 2), axis("column", 2)]);
        let mut draws = Draws::empty(layout, 2, 0);
        draws.draws = 1;
        draws.values = vec![9.0, 11.0, 12.0, 21.0, 22.0, -9.0, -11.0, -12.0, f64::NAN, -22.0];
        let statistics = Statistics::from_array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 0.0, 0.0]);
        draws.statistics = vec![statistics; 2];
        draws
    }

    #[test]
    fn columns_are_those_of_cmdstan() {
        let mut out = Vec::new();
        write_stan_csv(&sample(), 1, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let table: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(
            table,
            [
                "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,\
                 residual_scale,beta.1.1,beta.2.1,beta.1.2,beta.2.2",
                "1,6,5,8,7,0,4,-9,-11,nan,-12,-22"
            ]
        );
        assert!(text.contains("\n#     num_samples = 1\n") && text.contains("\n# id = 2\n"));
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let error = write_stan_csv(&sample(), 2, Vec::new());
        assert!(matches!(error, Err(WriteError::NoSuchChain { chain: 2, chains: 2 })));
        let mut layout = Layout::new();
        layout.push_scalar("a b");
        layout.push_scalar("a_b");
        let error = write_stan_csv(&Draws::empty(layout, 1, 0), 0, Vec::new());
        assert!(matches!(error, Err(WriteError::NameTaken { name }) if name == "a_b"));
    }
}
