//! Parse the options of `posteria report`.

use std::path::PathBuf;

use clap::Args;

/// Write one page about runs: verdict, predictions, posterior, convergence.
///
/// The page opens offline in any browser, on a phone and on paper, in light and dark. What is
/// wrong with a run comes first. Models of several runs share figures; a comparison by posteria
/// compare is shown. Works while a run goes on, and without the table of data.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  posteria report runs/houses -o houses.html\n  \
    posteria report runs/linear runs/network -o both.html\n  \
    posteria report runs/houses -o houses.html --figures figures")]
pub struct Report {
    /// Run folders; several are compared, and each has a part of the page
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,

    /// The page to write, ending in .html; one that is there is replaced
    #[arg(long, short, value_name = "FILE", default_value = "report.html")]
    pub out: PathBuf,

    /// Write every figure into this folder too, as SVG and as PNG; it is made if it is not there
    #[arg(long, value_name = "DIR")]
    pub figures: Option<PathBuf>,
}
