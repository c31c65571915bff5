//! Show what each input does to the prediction.

use posteria::fit::NamedEffect;
use posteria::predict::Estimate;

use crate::output::{Table, heading};
use crate::text::{decimals_for, fixed};

/// The effects as text.
pub fn render(effects: &[NamedEffect]) -> String {
    let mut table =
        Table::new(&["", "of", "comparison", "sd", "mean |df/dx|", "sd", "rms df/dx", "sd"]);
    for NamedEffect { input, output, effect } in effects {
        let figures =
            [Some(effect.comparison), effect.mean_absolute_derivative, effect.rms_derivative];
        let cells = figures.into_iter().flat_map(|figure| {
            let Estimate { mean, sd } = figure.unwrap_or(Estimate { mean: f64::NAN, sd: f64::NAN });
            let decimals = decimals_for(sd, 3);
            [fixed(mean, decimals), fixed(sd, decimals)]
        });
        let names = [input.clone(), output.clone()];
        table.row(names.into_iter().chain(cells));
    }
    format!("{}{}", heading("change per unit of each input"), table.render())
}
