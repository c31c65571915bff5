//! Show the evidence and the path that it was integrated along.

use super::{Doubt, precise};
use crate::figure::{Axis, Figure, Hover, Ink, Mark, Shape, Span, Table};
use crate::number::percent;
use crate::page::{Alert, Block, Level, Section};

/// The log evidence of a model, and of others beside it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Evidence {
    /// How it was estimated.
    pub method: String,
    /// Log evidence.
    pub log_evidence: f64,
    /// Its Monte Carlo standard error.
    pub mcse: f64,
    /// Why it cannot be used; empty if it can.
    pub refusal: String,
    /// The path, if there was one: in the order of inverse temperatures.
    pub path: Vec<PathPoint>,
    /// Models by evidence, if several are compared.
    pub models: Vec<ModelEvidence>,
}

/// One place on the path from prior to posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PathPoint {
    /// The power of the likelihood.
    pub inverse_temperature: f64,
    /// Mean log likelihood (minus the energy) on the way up, and its Monte Carlo error.
    pub forward: [f64; 2],
    /// The same on the way down; NaN if there was none.
    pub backward: [f64; 2],
}

/// The evidence of one of several models.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelEvidence {
    /// Its name.
    pub name: String,
    /// Log evidence.
    pub log_evidence: f64,
    /// Its probability if all were equally probable before.
    pub probability: f64,
}

/// Which of the two ways along the path.
type Way = fn(&PathPoint) -> [f64; 2];

impl Evidence {
    /// What the verdict of the page must say.
    pub fn doubts(&self) -> Vec<Doubt> {
        let text = format!("the evidence cannot be used: {}", self.refusal);
        let doubt = Doubt { level: Level::Bad, text };
        (!self.refusal.is_empty()).then_some(doubt).into_iter().collect()
    }

    /// The number, its path, and the probabilities of models.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Evidence");
        if self.method.is_empty() && self.path.is_empty() && self.models.is_empty() {
            return section;
        }
        for Doubt { level, text } in self.doubts() {
            let title = "This log evidence cannot be used".into();
            section.blocks.push(Block::Alert(Alert { level, title, lines: vec![text] }));
        }
        let number = precise(self.log_evidence, self.mcse);
        let error = precise(self.mcse, self.mcse);
        section.text(format!("Log evidence {number} ± {error} (Monte Carlo), by {}.", self.method));
        if !self.path.is_empty() {
            section.figure(self.path_figure());
        }
        if self.models.len() > 1 {
            section.figure(self.model_figure());
        }
        section
    }

    fn path_figure(&self) -> Figure {
        let x: Vec<f64> = self.path.iter().map(|point| point.inverse_temperature).collect();
        let mut marks = Vec::new();
        let mut table = Table::new().numbers("inverse temperature", &x);
        let ways: [(&str, Way); 2] =
            [("up from the prior", |p| p.forward), ("down from the posterior", |p| p.backward)];
        for (way, (name, of)) in ways.into_iter().enumerate() {
            let [mean, error] =
                [0, 1].map(|k| self.path.iter().map(|p| of(p)[k]).collect::<Vec<_>>());
            if mean.iter().all(|value| value.is_nan()) {
                continue;
            }
            let end =
                |sign: f64| mean.iter().zip(&error).map(|(m, e)| m + sign * 2.0 * e).collect();
            let shape = Shape::Intervals {
                at: x.clone(),
                low: end(-1.0),
                high: end(1.0),
                is_horizontal: false,
            };
            marks.push(Mark::new(shape).ink(Ink::Series(way)));
            marks.push(Mark::line(&x, &mean).called(name).series(way));
            marks.push(Mark::points(&x, &mean).ink(Ink::Series(way)).size(4.5));
            table = table.numbers(name, &mean).numbers(format!("{name}, mcse"), &error);
        }
        Figure {
            name: "evidence-path".into(),
            title: "The path to the evidence: both ways should agree".into(),
            caption:
                "Mean log likelihood (minus the energy) along prior × likelihood^β, ± 2 Monte \
                      Carlo errors. The log evidence is the area under the curve."
                    .into(),
            x: Axis::new("inverse temperature β (0: prior, 1: posterior)").within(-0.02, 1.02),
            y: Axis::new("mean log likelihood"),
            marks,
            table,
            hover: Hover::Row,
            span: Span::Whole,
            ..Figure::default()
        }
    }

    fn model_figure(&self) -> Figure {
        let names: Vec<String> = self.models.iter().map(|model| model.name.clone()).collect();
        let to: Vec<f64> = self.models.iter().map(|model| model.probability).collect();
        let logs: Vec<f64> = self.models.iter().map(|model| model.log_evidence).collect();
        let titles = names.iter().zip(&to).map(|(name, p)| format!("{name}: {}", percent(*p)));
        let shape = Shape::Bars {
            at: (0..to.len()).map(|row| row as f64).collect(),
            to: to.clone(),
            breadth: 0.6,
            is_horizontal: true,
            names: titles.collect(),
        };
        let table = Table::new().texts("model", &names);
        Figure {
            name: "model-probabilities".into(),
            title: "Probability of each model given the data".into(),
            caption: "If all were equally probable before.".into(),
            x: Axis::new("probability").within(0.0, 1.0),
            height: 70.0 + 26.0 * names.len() as f64,
            y: Axis::named("", names),
            marks: vec![Mark::new(shape).ink(Ink::Series(0))],
            table: table.numbers("log_evidence", &logs).numbers("probability", &to),
            ..Figure::default()
        }
    }
}
