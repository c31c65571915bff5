//! Show expected utilities with their distributions, and which model is better.

use super::{DensityGroup, Sample, precise};
use crate::figure::{Axis, Colours, Figure, Mark, Palette, Shape, Table};
use crate::number::percent;
use crate::page::{Section, TextTable};

/// Expected utilities of one or several models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Utilities {
    /// How they were estimated, in a sentence.
    pub method: String,
    /// Utilities; those of the same name are shown together.
    pub utilities: Vec<Utility>,
    /// Paired comparisons of models.
    pub comparisons: Vec<Comparison>,
}

/// An expected utility and its distribution.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Utility {
    /// Its name, such as `elpd`.
    pub name: String,
    /// What it is of; may be empty if there is one model only.
    pub model: String,
    /// The expected utility.
    pub mean: f64,
    /// Its standard deviation.
    pub sd: f64,
    /// Its 5 % and 95 % quantiles.
    pub interval: [f64; 2],
    /// Draws of its distribution (Bayesian bootstrap replicates); may be empty.
    pub draws: Vec<f64>,
    /// Whether small is good.
    pub is_cost: bool,
}

/// Which of several models is better.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// By which utility.
    pub utility: String,
    /// The names of the models.
    pub models: Vec<String>,
    /// P(model of the row better than model of the column), row by row.
    pub probability_better: Vec<Vec<f64>>,
}

impl Utilities {
    /// A table, a density per utility, and a heat map per comparison.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Expected utilities");
        if self.utilities.is_empty() && self.comparisons.is_empty() {
            return section;
        }
        if !self.method.is_empty() {
            section.text(&self.method);
        }
        for name in self.names() {
            let own: Vec<&Utility> = self.utilities.iter().filter(|u| u.name == name).collect();
            let with_draws = own.iter().filter(|utility| !utility.draws.is_empty());
            let samples: Vec<Sample> = with_draws
                .map(|utility| {
                    let model = if utility.model.is_empty() { name } else { &utility.model };
                    Sample { name: model.into(), draws: utility.draws.clone() }
                })
                .collect();
            if samples.is_empty() {
                continue;
            }
            let better = if own.iter().any(|u| u.is_cost) { "smaller" } else { "larger" };
            let group = DensityGroup {
                name: format!("utility-{name}"),
                title: format!("{name}: what to expect of new rows; {better} is better"),
                label: name.into(),
                samples,
                ..DensityGroup::default()
            };
            section.figure(group.figure());
        }
        let comparisons = self.comparisons.iter().filter(|c| c.models.len() > 1);
        comparisons.for_each(|comparison| section.figure(comparison.figure()));
        if !self.utilities.is_empty() {
            section.table(self.table());
        }
        section
    }

    /// The names of the utilities, each once.
    fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for utility in &self.utilities {
            if !names.contains(&&utility.name[..]) {
                names.push(&utility.name);
            }
        }
        names
    }

    /// What is said about every model, utility by utility.
    fn table(&self) -> TextTable {
        let names = self.names();
        let row = |u: &Utility| {
            let name = match &u.model[..] {
                "" => u.name.clone(),
                model => format!("{} · {model}", u.name),
            };
            let numbers = [u.mean, u.sd, u.interval[0], u.interval[1]];
            [name].into_iter().chain(numbers.map(|value| precise(value, u.sd))).collect()
        };
        TextTable {
            title: "Expected utilities".into(),
            header: ["utility", "mean", "sd", "5 %", "95 %"].map(String::from).into(),
            rows: names
                .iter()
                .flat_map(|name| self.utilities.iter().filter(move |it| it.name == *name))
                .map(row)
                .collect(),
            ..TextTable::default()
        }
    }
}

impl Comparison {
    /// The names of the models with numbers.
    fn numbered(&self) -> Vec<String> {
        let names = self.models.iter().enumerate();
        names.map(|(index, name)| format!("{}. {name}", index + 1)).collect()
    }

    fn figure(&self) -> Figure {
        let columns = self.models.len();
        let cell = |row: usize, column: usize| {
            let value = self.probability_better.get(row).and_then(|row| row.get(column));
            if row == column { f64::NAN } else { value.copied().unwrap_or(f64::NAN) }
        };
        let cells = (0..columns * columns).map(|index| cell(index / columns, index % columns));
        let values: Vec<f64> = cells.collect();
        let texts = values.iter().map(|p| match *p {
            p if p.is_nan() => String::new(),
            // Certainty is never had from finitely many rows.
            p if p > 0.99 => "> 99 %".into(),
            p if p < 0.01 => "< 1 %".into(),
            p => percent(p),
        });
        let tiles = Shape::Tiles {
            columns,
            values: values.clone(),
            texts: texts.collect(),
            colours: Colours { palette: Palette::Diverging, low: 0.0, high: 1.0 },
        };
        let mut table = Table::new().texts("better", &self.models);
        for (column, name) in self.models.iter().enumerate() {
            let own: Vec<f64> = (0..columns).map(|row| cell(row, column)).collect();
            table = table.numbers(name, &own);
        }
        Figure {
            name: format!("better-{}", self.utility),
            title: format!("{}: probability that the row is better than the column", self.utility),
            caption:
                "Above 50 % (orange) the model of the row is probably better; near 50 % the data \
                      do not tell."
                    .into(),
            x: Axis::named("than", (1..=columns).map(|number| number.to_string()).collect()),
            y: Axis::named("better", self.numbered()),
            marks: vec![Mark::new(tiles)],
            table,
            height: 90.0 + 34.0 * columns as f64,
            ..Figure::default()
        }
    }
}
