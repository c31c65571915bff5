//! A summary as text, within about 80 columns.

use std::collections::HashMap;
use std::fmt;

use super::{Summary, VariableSummary};

/// Components of a variable beyond which they are counted and not shown: fitted values, latents.
const SHOWN: usize = 30;
/// Characters of a name.
const NAME: usize = 24;

impl fmt::Display for Summary {
    /// A line per variable, as precise as its spread deserves, without variables that mean nothing
    /// by themselves and those of very many components; then what to be careful about.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let block = |variable: &VariableSummary| {
            variable.name.split('[').next().unwrap_or_default().to_string()
        };
        let mut sizes: HashMap<String, usize> = HashMap::new();
        for variable in &self.variables {
            *sizes.entry(block(variable)).or_default() += 1;
        }
        let is_shown = |it: &&VariableSummary| it.identified && sizes[&block(it)] <= SHOWN;
        let [low, high] = self.variables.first().map(|it| it.interval).unwrap_or_default().names();
        let ends = format!("{low:>10} {high:>10}");
        writeln!(f, "{:NAME$} {:>10} {:>9} {ends} {:>6} {:>6}", "", "mean", "sd", "ess", "r_hat")?;
        let mut shown = 0;
        for variable in self.variables.iter().filter(is_shown) {
            let name: String = variable.name.chars().filter(|c| !c.is_control()).collect();
            let decimals = match variable.sd > 0.0 && variable.sd.is_finite() {
                true => (2 - variable.sd.log10().floor() as i32).clamp(0, 9) as usize,
                false => 2,
            };
            let [mean, sd, low, high] = [variable.mean, variable.sd, variable.low, variable.high]
                .map(|value| match value.abs() < 1e7 {
                    true => format!("{value:.decimals$}"),
                    false => format!("{value:.2e}"),
                });
            let ess = variable.ess_bulk;
            let r_hat = match variable.r_hat.is_nan() {
                true => "-".into(),
                false => format!("{:.3}", variable.r_hat),
            };
            writeln!(
                f,
                "{name:NAME$} {mean:>10} {sd:>9} {low:>10} {high:>10} {ess:>6.0} {r_hat:>6}"
            )?;
            shown += 1;
        }
        if shown < self.variables.len() {
            writeln!(f, "and {} more", self.variables.len() - shown)?;
        }
        self.cautions.iter().try_for_each(|caution| writeln!(f, "careful: {caution}"))
    }
}

#[cfg(test)]
mod tests {
    use crate::diagnose::{SummaryOptions, summarize};
    use crate::draws::{Draws, Layout};

    #[test]
    fn lines_are_short_and_many_components_are_counted() {
        let mut layout = Layout::new();
        layout.push_scalar("slope");
        layout.push_vector("fitted", "row", (0..50).map(|row| row.to_string()).collect());
        let mut draws = Draws::empty(layout, 1, 0);
        draws.draws = 40;
        draws.values = (0..40)
            .flat_map(|draw| (0..51).map(move |i| f64::from(draw % 7) + f64::from(i)))
            .collect();
        let text = summarize(&draws, &SummaryOptions::default()).to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("ess  r_hat"), "{text}");
        assert!(lines[1].starts_with("slope"), "{text}");
        assert_eq!(lines[2], "and 50 more");
        assert!(lines[..3].iter().all(|line| line.chars().count() <= 82), "{text}");
    }
}
