//! Read draws of any origin from CSV.

use std::io::Read;

use super::ReadError;
use super::columns::columns_of;
use super::lines::{Cells, Lines};
use super::table::Table;
use crate::draws::Draws;

/// Reads draws from CSV files, each given with the name that errors call it by.
///
/// A file is one of
/// - our own ([`write_csv`](super::write_csv)) or anyone's: a header; a column `chain` (or `.chain`,
///   `chain__`) with integers, in any order; optionally `draw` (or `.draw`, `draw__`,
///   `.iteration`, `iteration`, `iter__`), by which the draws of a chain are then sorted;
///   every other column is a variable. Without `chain` the file is one chain. A first column
///   without a name holds row names and is skipped. Our ten statistics are recognised at the end
///   of the header, Stan's (`lp__`, …) anywhere.
/// - CmdStan's, with `#` comments, `lp__` and other columns ending in `__`, and parameters like
///   `beta.1.2`, which become `beta[1, 2]` in row-major order. Saved warm-up draws
///   (`save_warmup`, `num_warmup`) are left out.
///
/// Cells are separated by commas, or by tabs or semicolons if the header has no comma. `nan`,
/// `inf` and `-inf` are values. Several files are several chains (or sets of chains) of one run,
/// in the order given. Memory stays within a small multiple of the input.
///
/// # Errors
/// [`ReadError`], with file, line and column where there is one.
pub fn read_draws<R: Read>(
    sources: impl IntoIterator<Item = (String, R)>,
) -> Result<Draws, ReadError> {
    let mut all: Option<Draws> = None;
    for (file, source) in sources {
        let draws = read_one(&file, source)?;
        all = Some(match all {
            None => draws,
            Some(all) => append(all, draws, file)?,
        });
    }
    all.ok_or(ReadError::NoFile)
}

fn append(all: Draws, draws: Draws, file: String) -> Result<Draws, ReadError> {
    if all.layout != draws.layout {
        let (expected, names) = (all.layout.component_names(), draws.layout.component_names());
        let same = expected.iter().zip(&names).take_while(|(a, b)| a == b).count();
        let at = |names: &[String]| names.get(same).cloned().unwrap_or_default();
        return Err(ReadError::OtherVariables { file, name: at(&names), expected: at(&expected) });
    }
    let counts = vec![("files before".to_string(), all.draws), (file.clone(), draws.draws)];
    all.join(&draws).map_err(|_| ReadError::UnequalChains { file, counts })
}

fn read_one<R: Read>(file: &str, source: R) -> Result<Draws, ReadError> {
    let mut lines = Lines::new(file, source);
    let settings = skip_comments(file, &mut lines)?;
    lines.close_quotes()?;
    let delimiter = [b',', b'\t', b';'].into_iter().find(|byte| lines.line.contains(byte));
    let delimiter = delimiter.unwrap_or(b',');
    let mut cells = Cells::default();
    cells.split(&lines.line, delimiter);
    let names: Option<Vec<String>> = cells.iter().map(name).collect();
    let not_text = || ReadError::NotText { file: file.to_string(), line: lines.number };
    let names = names.ok_or_else(not_text)?;
    let mut table = Table::new(file, columns_of(file, lines.number, names, settings.any)?);
    while lines.advance()? {
        if lines.line.starts_with(b"#") || lines.line.trim_ascii().is_empty() {
            continue;
        }
        cells.split(&lines.line, delimiter);
        if cells.len() != table.width() {
            return Err(ReadError::Ragged {
                file: file.to_string(),
                line: lines.number,
                expected: table.width(),
                found: cells.len(),
            });
        }
        table.push(lines.number, cells.iter())?;
    }
    table.into_draws(settings.saved_warmup())
}

/// Goes to the header, past empty lines and comments, which may hold settings.
fn skip_comments<R: Read>(file: &str, lines: &mut Lines<R>) -> Result<Settings, ReadError> {
    let mut settings = Settings::default();
    while lines.advance()? {
        if lines.line.starts_with(b"#") {
            settings.note(&lines.line);
        } else if !lines.line.trim_ascii().is_empty() {
            return Ok(settings);
        }
    }
    Err(ReadError::NoHeader { file: file.to_string() })
}

/// The name of a column; `None` if it is not text.
fn name(cell: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(cell).ok()?;
    (!text.contains('\0')).then(|| text.trim().to_string())
}

/// The settings of CmdStan that matter for what the rows are.
#[derive(Default)]
struct Settings {
    any: bool,
    save_warmup: bool,
    num_warmup: usize,
    thin: usize,
}

impl Settings {
    /// Takes note of a comment like `#     num_warmup = 1000 (Default)`.
    fn note(&mut self, comment: &[u8]) {
        let text = String::from_utf8_lossy(comment);
        let Some((key, value)) = text.trim_start_matches('#').split_once('=') else { return };
        let value = value.split_whitespace().next().unwrap_or("");
        self.any = true;
        match key.trim() {
            "save_warmup" => self.save_warmup = matches!(value, "1" | "true"),
            "num_warmup" => self.num_warmup = value.parse().unwrap_or(0),
            "thin" => self.thin = value.parse().unwrap_or(1),
            _ => {}
        }
    }

    /// CmdStan keeps the iterations 0, thin, 2 thin, … of the warm-up.
    fn saved_warmup(&self) -> usize {
        if self.save_warmup { self.num_warmup.div_ceil(self.thin.max(1)) } else { 0 }
    }
}
