//! Show which inputs a model needs.

use crate::figure::{Axis, Colours, Figure, Hover, Ink, Mark, Palette, Shape, Table};
use crate::number::{percent, short};
use crate::page::Section;

/// Models of the grid, and inputs of a figure.
const MODELS: usize = 12;
const INPUTS: usize = 40;

/// What a search over sets of inputs found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selection {
    /// Every input.
    pub inputs: Vec<InputFacts>,
    /// Numbers of inputs.
    pub sizes: Vec<SizeFacts>,
    /// Sets of inputs, the most probable first.
    pub models: Vec<ModelFacts>,
    /// The expected utility of the k most probable inputs.
    pub utilities: Vec<UtilityOfSize>,
    /// What that utility is.
    pub utility_name: String,
    /// The expected utility with all inputs; NaN if unknown.
    pub full_utility: f64,
    /// The inputs that suffice.
    pub chosen: Vec<String>,
    /// What search and choice are worth for rows that neither has seen.
    pub nested: Option<NestedFacts>,
}

/// What search and choice, repeated without each of some folds, are worth for these.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct NestedFacts {
    /// Number of folds.
    pub folds: usize,
    /// Expected utility, and its standard deviation.
    pub utility: [f64; 2],
    /// By how much the utility of the chosen set is too good, and its standard deviation.
    pub optimism: [f64; 2],
}

/// One input.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InputFacts {
    /// Its name.
    pub name: String,
    /// Posterior probability that it is in the model.
    pub probability: f64,
    /// Monte Carlo standard deviation of that.
    pub sd: f64,
    /// Prior probability; NaN if unknown.
    pub prior: f64,
    /// Change of predictions per standard deviation of the input; NaN if unknown.
    pub comparison: f64,
    /// Relevance in the model; NaN if unknown.
    pub relevance: f64,
    /// Utility that is lost without it; NaN if unknown.
    pub loss: f64,
}

/// One number of inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeFacts {
    /// The number.
    pub size: usize,
    /// Its posterior probability.
    pub probability: f64,
    /// Its prior probability; NaN if unknown.
    pub prior: f64,
}

/// One set of inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFacts {
    /// Whether each input is in it, in the order of the inputs.
    pub is_in: Vec<bool>,
    /// Its posterior probability.
    pub probability: f64,
}

/// How well the k most probable inputs predict.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UtilityOfSize {
    /// k.
    pub size: usize,
    /// Expected utility.
    pub mean: f64,
    /// Its 5 % and 95 % quantiles.
    pub interval: [f64; 2],
}

impl Selection {
    /// Probabilities of inputs, sizes and models, and utilities by size.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Selection of inputs");
        if self.inputs.is_empty() {
            return section;
        }
        if !self.chosen.is_empty() {
            section.text(format!("Inputs that suffice: {}.", self.chosen.join(", ")));
        }
        if let Some(NestedFacts { folds, utility, optimism }) = self.nested {
            section.text(format!(
                "Nested cross-validation: search and choice, repeated without each of {folds} folds, give \
                 {} ± {} ({}) for held-out rows. The chosen set looks better than that by {} ± {} \
                 (selection bias), since the same rows chose it.",
                short(utility[0]),
                short(utility[1]),
                self.utility_name,
                short(optimism[0]),
                short(optimism[1]),
            ));
        }
        section.figure(self.input_figure());
        if !self.sizes.is_empty() {
            section.figure(self.size_figure());
        }
        if !self.models.is_empty() {
            section.figure(self.model_figure());
        }
        if !self.utilities.is_empty() {
            section.figure(self.utility_figure());
        }
        section
    }

    /// Indices of inputs, the most probable first.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.inputs.len()).collect();
        order.sort_by(|a, b| self.inputs[*b].probability.total_cmp(&self.inputs[*a].probability));
        order.truncate(INPUTS);
        order
    }

    fn input_figure(&self) -> Figure {
        let shown: Vec<&InputFacts> = self.order().into_iter().map(|i| &self.inputs[i]).collect();
        let names: Vec<String> = shown.iter().map(|input| input.name.clone()).collect();
        let of = |value: fn(&InputFacts) -> f64| shown.iter().map(|i| value(i)).collect::<Vec<_>>();
        let (to, at) = (of(|i| i.probability), rows(shown.len()));
        let titles = shown
            .iter()
            .map(|i| format!("{}: {} ± {}", i.name, percent(i.probability), percent(i.sd)));
        let bars = Shape::Bars {
            at: at.clone(),
            to: to.clone(),
            breadth: 0.6,
            is_horizontal: true,
            names: titles.collect(),
        };
        let errors = Shape::Intervals {
            at: at.clone(),
            low: of(|i| i.probability - 2.0 * i.sd),
            high: of(|i| i.probability + 2.0 * i.sd),
            is_horizontal: true,
        };
        let mut marks = vec![Mark::new(bars).ink(Ink::Series(0)), Mark::new(errors)];
        let priors = of(|i| i.prior);
        if priors.iter().any(|prior| prior.is_finite()) {
            marks.push(Mark::points(&priors, &at).ink(Ink::Series(1)).called("prior"));
        }
        let mut table = Table::new()
            .texts("input", &names)
            .numbers("probability", &to)
            .numbers("sd", &of(|i| i.sd))
            .numbers("prior", &priors);
        for (name, values) in [
            ("change per sd", of(|i| i.comparison)),
            ("relevance", of(|i| i.relevance)),
            ("lost without it", of(|i| i.loss)),
        ] {
            if values.iter().any(|value| value.is_finite()) {
                table = table.numbers(name, &values);
            }
        }
        Figure {
            name: "inputs".into(),
            title: "Which inputs are in the model".into(),
            caption: "Posterior probability of every input, ± 2 Monte Carlo standard errors. Relevance, where \
                      the table has it, measures how much the function bends along an input, not how much \
                      the input matters."
                .into(),
            x: Axis::new("probability").within(0.0, 1.02),
            height: 80.0 + 22.0 * names.len() as f64,
            table,
            y: Axis::named("", names),
            marks,
            ..Figure::default()
        }
    }

    fn size_figure(&self) -> Figure {
        let x: Vec<f64> = self.sizes.iter().map(|size| size.size as f64).collect();
        let y: Vec<f64> = self.sizes.iter().map(|size| size.probability).collect();
        let prior: Vec<f64> = self.sizes.iter().map(|size| size.prior).collect();
        let names = self.sizes.iter().map(|s| {
            format!("{} inputs: {}, prior {}", s.size, percent(s.probability), percent(s.prior))
        });
        let bars = Shape::Bars {
            at: x.clone(),
            to: y.clone(),
            breadth: 0.7,
            is_horizontal: false,
            names: names.collect(),
        };
        Figure {
            name: "input-counts".into(),
            title: "How many inputs, against the prior".into(),
            caption: "Where bars and line differ, the data are informative.".into(),
            x: Axis::new("number of inputs"),
            y: Axis::new("probability").including([0.0]),
            marks: vec![
                Mark::new(bars).ink(Ink::Series(0)).opacity(0.8).called("posterior"),
                Mark::line(&x, &prior).ink(Ink::Series(1)).called("prior"),
                Mark::points(&x, &prior).ink(Ink::Series(1)),
            ],
            table: Table::new()
                .numbers("inputs", &x)
                .numbers("probability", &y)
                .numbers("prior", &prior),
            ..Figure::default()
        }
    }

    fn model_figure(&self) -> Figure {
        let order = self.order();
        let shown = &self.models[..self.models.len().min(MODELS)];
        let is_in = |model: &ModelFacts, input: usize| model.is_in.get(input) == Some(&true);
        let cells = order.iter().flat_map(|input| shown.iter().map(move |m| (m, *input)));
        let values: Vec<f64> =
            cells.map(|(m, i)| if is_in(m, i) { 0.0 } else { f64::NAN }).collect();
        let tiles = Shape::Tiles {
            columns: shown.len(),
            texts: Vec::new(),
            values,
            colours: Colours { palette: Palette::Diverging, low: 0.0, high: 1.0 },
        };
        let names: Vec<String> = order.iter().map(|i| self.inputs[*i].name.clone()).collect();
        let inputs = |model: &ModelFacts| {
            let own = order.iter().filter(|input| is_in(model, **input));
            own.map(|input| self.inputs[*input].name.clone()).collect::<Vec<_>>().join(" + ")
        };
        let sets: Vec<String> = self.models.iter().map(inputs).collect();
        let probabilities: Vec<f64> = self.models.iter().map(|model| model.probability).collect();
        Figure {
            name: "input-sets".into(),
            title: "The most probable models, and what is in them".into(),
            caption: "One column per model, blue where an input is in it.".into(),
            x: Axis::named(
                "probability of the model",
                shown.iter().map(|model| percent(model.probability)).collect(),
            ),
            height: 80.0 + 22.0 * names.len() as f64,
            y: Axis::named("", names),
            marks: vec![Mark::new(tiles)],
            table: Table::new().texts("inputs", &sets).numbers("probability", &probabilities),
            ..Figure::default()
        }
    }

    fn utility_figure(&self) -> Figure {
        let x: Vec<f64> = self.utilities.iter().map(|u| u.size as f64).collect();
        let y: Vec<f64> = self.utilities.iter().map(|u| u.mean).collect();
        let end = |k: usize| self.utilities.iter().map(|u| u.interval[k]).collect::<Vec<_>>();
        let (low, high) = (end(0), end(1));
        let intervals = Shape::Intervals {
            at: x.clone(),
            low: low.clone(),
            high: high.clone(),
            is_horizontal: false,
        };
        let names = self.utilities.iter().map(|u| format!("{} inputs: {}", u.size, short(u.mean)));
        let mut marks = vec![
            Mark::new(intervals).ink(Ink::Series(0)),
            Mark::line(&x, &y).ink(Ink::Series(0)),
            Mark::named_points(&x, &y, names.collect()).ink(Ink::Series(0)).opacity(1.0),
        ];
        if self.full_utility.is_finite() {
            marks.push(Mark::level(self.full_utility).called("all inputs"));
        }
        Figure {
            name: "inputs-that-suffice".into(),
            title: "How many inputs suffice to predict".into(),
            caption: "Expected utility of the k most probable inputs, 5 % to 95 %. The smallest \
                      set that reaches the level of all inputs suffices."
                .into(),
            x: Axis::new("number of inputs k"),
            y: Axis::new(&self.utility_name),
            marks,
            table: Table::new()
                .numbers("inputs", &x)
                .numbers("mean", &y)
                .numbers("5 %", &low)
                .numbers("95 %", &high),
            hover: Hover::Row,
            ..Figure::default()
        }
    }
}

fn rows(count: usize) -> Vec<f64> {
    (0..count).map(|row| row as f64).collect()
}
