//! Pick from a summary what the report of a fit tells of a network or a Gaussian process.

use posteria::diagnose::{Summary, VariableSummary};
use posteria::draws::{Layout, Role, Variable};
use serde::Serialize;

use crate::text;

/// Inputs that are listed by name.
const LISTED: usize = 12;

/// What was found about inputs and errors; empty for models that have none of it.
#[derive(Debug, Default, Serialize)]
pub struct Findings {
    /// Inputs by decreasing relevance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    relevance: Vec<Relevance>,
    #[serde(skip_serializing_if = "Option::is_none")]
    training_error: Option<Spread>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_error: Option<Spread>,
    #[serde(skip)]
    classes: bool,
}

#[derive(Debug, Serialize)]
struct Relevance {
    input: String,
    median: f64,
}

/// A number of every draw.
#[derive(Clone, Copy, Debug, Serialize)]
struct Spread {
    mean: f64,
    sd: f64,
}

impl Findings {
    /// Finds it in the summary of draws that `layout` names; errors are shares if the targets are
    /// classes.
    pub fn new(summary: &Summary, layout: &Layout, classes: bool) -> Self {
        let of = |role: Role| -> Option<(&Variable, &[VariableSummary])> {
            let variable = layout.of_role(role)?;
            // Members of a committee are not summarised.
            Some((variable, summary.variables.get(variable.range())?))
        };
        let spread = |role: Role| {
            let (_, variable) = of(role)?;
            variable.first().map(|v| Spread { mean: v.mean, sd: v.sd })
        };
        let relevance_of = |variable: &Variable, (index, summary): (usize, &VariableSummary)| {
            // Inputs come last; before them perhaps the target, with a process of its own.
            let mut stride = variable.len();
            let labels = variable.dimensions.iter().map(|axis| {
                stride /= axis.labels.len();
                axis.labels[index / stride % axis.labels.len()].as_str()
            });
            let input = labels.collect::<Vec<_>>().join(", ");
            Relevance { input, median: summary.median }
        };
        let mut relevance: Vec<Relevance> = match of(Role::Relevance) {
            Some((variable, summaries)) if !variable.dimensions.is_empty() => {
                summaries.iter().enumerate().map(|it| relevance_of(variable, it)).collect()
            }
            _ => Vec::new(),
        };
        relevance.sort_by(|a, b| b.median.total_cmp(&a.median));
        let (training_error, test_error) = (spread(Role::TrainingError), spread(Role::TestError));
        Findings { relevance, training_error, test_error, classes }
    }

    /// The same without the errors of single draws.
    pub fn without_errors(self) -> Self {
        Findings { training_error: None, test_error: None, ..self }
    }

    /// A line each.
    pub fn render(&self) -> String {
        let mut lines = String::new();
        if self.relevance.len() > 1 {
            let shown = self.relevance.iter().take(LISTED);
            let mut inputs: Vec<String> = shown
                .map(|r| format!("{} ({})", text::printable(&r.input), text::short(r.median)))
                .collect();
            if self.relevance.len() > LISTED {
                inputs.push("…".into());
            }
            lines.push_str(&format!("inputs by relevance: {}\n", inputs.join(", ")));
        }
        let kind = if self.classes { "share of wrong classes" } else { "root mean square" };
        for (name, error) in [("training", self.training_error), ("test", self.test_error)] {
            if let Some(Spread { mean, sd }) = error {
                let decimals = text::decimals_for(if sd > 0.0 { sd } else { mean }, 2);
                lines.push_str(&format!(
                    "{name} error of a draw: {} ± {} ({kind})\n",
                    text::fixed(mean, decimals),
                    text::fixed(sd, decimals)
                ));
            }
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use posteria::diagnose::{SummaryOptions, summarize};
    use posteria::draws::{Dimension, Draws};

    use super::*;

    #[test]
    fn inputs_are_ordered_and_errors_told() {
        let mut layout = Layout::new();
        layout.push_vector("relevance", "input", ["age", "sex", "height"].map(String::from).into());
        layout.push_scalar("training_error");
        let mut draws = Draws::empty(layout, 1, 0);
        draws.draws = 3;
        draws.values = [0.0, 1.0, 2.0].iter().flat_map(|e| [1.0, 0.02, 30.0, 4.0 + e]).collect();
        let summary = summarize(&draws, &SummaryOptions::default());
        let findings = Findings::new(&summary, &draws.layout, false);
        assert_eq!(
            findings.render(),
            "inputs by relevance: height (30.0), age (1.00), sex (0.0200)\n\
             training error of a draw: 5.0 ± 1.0 (root mean square)\n"
        );
        let json = serde_json::to_value(&findings).expect("JSON");
        assert_eq!(json["relevance"][0]["input"], "height");
        assert!(json.get("test_error").is_none());
        assert_eq!(Findings::default().render(), "");
    }

    #[test]
    fn processes_of_several_targets_have_their_own_relevances() {
        let axis = |name: &str, labels: &[&str]| Dimension {
            name: name.into(),
            labels: labels.iter().map(ToString::to_string).collect(),
        };
        let mut layout = Layout::new();
        let dimensions = vec![axis("target", &["y1", "y2"]), axis("input", &["a", "b", "c"])];
        layout.push("relevance", dimensions);
        let mut draws = Draws::empty(layout, 1, 0);
        draws.draws = 2;
        draws.values = [[6.0, 5.0, 4.0, 3.0, 2.0, 1.0]; 2].concat();
        let summary = summarize(&draws, &SummaryOptions::default());
        let findings = Findings::new(&summary, &draws.layout, false);
        assert_eq!(
            findings.render(),
            "inputs by relevance: y1, a (6.00), y1, b (5.00), y1, c (4.00), y2, a (3.00), y2, b \
             (2.00), y2, c (1.00)\n"
        );
    }
}
