//! Order the variables of a summary into sections, and count what is not shown.

use posteria::diagnose::{Summary, VariableSummary};
use posteria::draws::{Layout, Role, Variable};
use posteria::model::spec::ModelKind;

use crate::text;

/// What a section is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Parameters that mean themselves.
    Parameters,
    /// Scales of the weights out of single inputs, or inverse length scales.
    Relevance,
    /// Other scales of priors and processes, and their degrees of freedom.
    Scales,
    /// The residual model.
    Residual,
    /// Errors and the log density.
    Quality,
}

impl Topic {
    const ALL: [Topic; 5] =
        [Topic::Parameters, Topic::Relevance, Topic::Scales, Topic::Residual, Topic::Quality];

    /// The heading of a section with these variables.
    pub fn title(self, variables: &[&VariableSummary], kind: ModelKind) -> &'static str {
        match self {
            Topic::Scales if kind == ModelKind::Gp => "Hyperparameters",
            Topic::Quality if variables.iter().all(|v| v.role == Role::LogDensity) => "Log density",
            Topic::Parameters => "Parameters",
            Topic::Relevance => "Relevance of inputs",
            Topic::Scales => "Scales",
            Topic::Residual => "Residual",
            Topic::Quality => "Errors and log density",
        }
    }

    /// Whether the section holds scales, whose own moments need not exist.
    pub fn is_of_scales(self) -> bool {
        matches!(self, Topic::Relevance | Topic::Scales | Topic::Residual)
    }

    /// What a reader of the section must know, if the draws are of such a model.
    pub fn note(self, kind: ModelKind) -> Option<&'static str> {
        match (self, kind) {
            (Topic::Relevance, ModelKind::Gp) => Some(
                "inverse length scales ρ of inputs with standard deviation 1, no factor ½: f changes \
                 over distances of about 1/ρ.\nThey grow with how strongly f bends along an input, \
                 not only with how much it matters for predictions [Vehtari 2001, §2.2.4]",
            ),
            (Topic::Relevance, _) => Some(
                "the prior scale of the weights out of an input: it grows with how strongly f bends \
                 along the input,\nnot only with how much the input matters for predictions \
                 [Vehtari 2001, §2.2.4]",
            ),
            _ => None,
        }
    }

    /// The topic of a variable; `None` for one of the blocks that are not shown by default.
    fn of(variable: &Variable) -> Option<Self> {
        match variable.role {
            _ if !variable.identified => None,
            Role::Fitted | Role::FittedMean | Role::CaseScale | Role::Latents => None,
            Role::Relevance | Role::TermRelevance => Some(Topic::Relevance),
            Role::TrainingError | Role::TestError => Some(Topic::Quality),
            role if role.is_residual() => Some(Topic::Residual),
            // The scale above relevances is not one of an input.
            role if role.is_scale() || role == Role::Dof => Some(Topic::Scales),
            _ => Some(Topic::Parameters),
        }
    }
}

/// The variables of a summary in the order they are shown.
pub struct Sections<'s> {
    /// Sections that are not empty.
    pub sections: Vec<(Topic, Vec<&'s VariableSummary>)>,
    /// What is not shown, in a line each.
    pub hidden: Vec<String>,
}

impl<'s> Sections<'s> {
    /// Orders the variables of `summary`, whose first components `layout` names; `all` hides
    /// none.
    pub fn new(summary: &'s Summary, layout: &Layout, all: bool) -> Self {
        let mut of_topic = Topic::ALL.map(|topic| (topic, Vec::new()));
        let mut put = |topic: Topic, variables: &'s [VariableSummary]| {
            let section = of_topic.iter_mut().find(|(of, _)| *of == topic);
            section.into_iter().for_each(|(_, section)| section.extend(variables));
        };
        let (mut weights, mut blocks) = (Vec::new(), Vec::new());
        for variable in layout.variables() {
            let components = &summary.variables[variable.range()];
            match Topic::of(variable) {
                Some(topic) => put(topic, components),
                None if all => put(Topic::Parameters, components),
                None if variable.identified => blocks.push(block(variable, components)),
                None => weights.push(variable),
            }
        }
        // What follows the components is the log density.
        put(Topic::Quality, &summary.variables[layout.len()..]);
        let mut sections: Vec<_> =
            of_topic.into_iter().filter(|(_, section)| !section.is_empty()).collect();
        for (topic, section) in &mut sections {
            if *topic == Topic::Relevance {
                section.sort_by(|a, b| b.median.total_cmp(&a.median));
            }
        }
        let mut hidden: Vec<String> = unidentified(&weights).into_iter().collect();
        hidden.extend(blocks);
        Sections { sections, hidden }
    }

    /// Whether everything fits under one heading: parameters and a log density, say.
    pub fn is_one_table(&self) -> bool {
        self.sections.iter().all(|(topic, _)| matches!(topic, Topic::Parameters | Topic::Quality))
    }
}

/// What is not said about weights; `None` if there are none.
pub fn unidentified(weights: &[&Variable]) -> Option<String> {
    let names: Vec<&str> = weights.iter().map(|variable| variable.name.as_str()).collect();
    let count: usize = weights.iter().map(|variable| variable.len()).sum();
    (count > 0).then(|| {
        format!(
            "{}: {} not shown; hidden units may change places and signs, so single weights are not \
             identified and are not judged",
            names.join(", "),
            text::count(count, "component")
        )
    })
}

fn block(variable: &Variable, components: &[VariableSummary]) -> String {
    let r_hat = components.iter().map(|c| c.r_hat).fold(f64::NAN, f64::max);
    let bulk = components.iter().map(|c| c.ess_bulk).fold(f64::NAN, f64::min);
    let tail = components.iter().map(|c| c.ess_tail).fold(f64::NAN, f64::min);
    format!(
        "{}: {} not shown; largest R-hat {}, at least {} effective draws ({} in the tails)",
        variable.name,
        text::count(components.len(), "component"),
        text::fixed(r_hat, 3),
        text::fixed(bulk, 0),
        text::fixed(tail, 0)
    )
}

#[cfg(test)]
mod tests {
    use posteria::diagnose::{SummaryOptions, summarize};
    use posteria::draws::{Draws, Statistics};

    use super::*;

    fn network() -> Draws {
        let mut layout = Layout::new();
        let labels = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>();
        layout.push_vector("input_weights", "i", labels(3));
        layout.push_vector("output_bias", "target", labels(1));
        layout.push_vector("relevance", "input", labels(2));
        layout.push_scalar("input_weight_scale_above");
        layout.push_scalar("residual_scale");
        layout.push_scalar("residual_dof");
        layout.push_vector("fitted", "row", labels(4));
        layout.push_scalar("training_error");
        layout.set_unidentified("input_weights");
        let (dim, chains, count) = (layout.len(), 2, 20);
        let mut draws = Draws::empty(layout, chains, 0);
        draws.draws = count;
        for draw in 0..chains * count {
            // The second relevance is the larger one.
            draws.values.extend((0..dim).map(|k| 1.0 + ((draw * 7 + k) % 10 + k) as f64));
            let statistics = [draw as f64; Statistics::LEN];
            draws.statistics.push(Statistics::from_array(statistics));
        }
        draws
    }

    #[test]
    fn variables_stand_under_their_topics() {
        let draws = network();
        let summary = summarize(&draws, &SummaryOptions::default());
        let sections = Sections::new(&summary, &draws.layout, false);
        let found: Vec<(Topic, String)> = sections
            .sections
            .iter()
            .flat_map(|(topic, rows)| rows.iter().map(|row| (*topic, row.name.clone())))
            .collect();
        assert!(!sections.is_one_table());
        let expected = [
            (Topic::Parameters, "output_bias[0]"),
            (Topic::Relevance, "relevance[1]"),
            (Topic::Relevance, "relevance[0]"),
            (Topic::Scales, "input_weight_scale_above"),
            (Topic::Residual, "residual_scale"),
            (Topic::Residual, "residual_dof"),
            (Topic::Quality, "training_error"),
            (Topic::Quality, "log_density"),
        ];
        assert_eq!(found, expected.map(|(topic, name)| (topic, name.to_string())));
        assert!(sections.hidden[0].starts_with("input_weights: 3 components not shown"));
        assert!(sections.hidden[0].contains("not identified and are not judged"));
        assert!(sections.hidden[1].starts_with("fitted: 4 components not shown; largest R-hat"));
        let all = Sections::new(&summary, &draws.layout, true);
        assert!(all.hidden.is_empty());
        assert_eq!(all.sections[0].1.len(), 3 + 1 + 4);
    }
}
