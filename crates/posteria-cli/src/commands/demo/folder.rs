//! Make room for what a demonstration writes, and never in a folder of somebody else.

use std::fs;
use std::path::Path;

use crate::failure::{Classify, Failure, Result};

/// Where demonstrations write.
pub const FOLDER: &str = "posteria-demo";
/// The page about one.
pub const PAGE: &str = "report.html";
/// The file that marks a folder as ours.
const MARK: &str = "made-by-posteria-demo";
const MARK_TEXT: &str =
    "posteria demo made this folder and replaces what it wrote when it runs again.\n";

/// Makes a folder without `own` files and folders; one that is there must be ours, or empty.
pub fn make_room(folder: &Path, own: &[&str]) -> Result<()> {
    let shown = folder.display();
    let mark = folder.join(MARK);
    if folder.exists() && !mark.is_file() {
        let is_empty = fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
        if !is_empty {
            return Err(Failure::bad_input(format!(
                "there is a {shown} here that the demo did not make; go to another folder, rename \
                 it, or name another with --out"
            )));
        }
    }
    fs::create_dir_all(folder)
        .map_err(|error| Failure::bad_input(format!("cannot make the folder {shown}: {error}")))?;
    for path in own.iter().map(|name| folder.join(name)) {
        if path.is_dir() {
            fs::remove_dir_all(path).running()?;
        } else if path.exists() {
            fs::remove_file(path).running()?;
        }
    }
    fs::write(mark, MARK_TEXT).running()
}
