//! Say what was fitted to which data.

use super::PriorDraws;
use crate::number::short;
use crate::page::{Block, Section, TextTable};

/// Columns that are listed before the table is folded away.
const LISTED: usize = 12;

/// What was fitted to which data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Model {
    /// In one sentence.
    pub summary: String,
    /// Parts of the model and their priors: names and words.
    pub parts: Vec<(String, String)>,
    /// The columns of the data that were used.
    pub columns: Vec<ColumnFacts>,
    /// What was found besides draws, a sentence each.
    pub found: Vec<String>,
    /// Functions drawn from the prior, where the model can.
    pub prior: Option<PriorDraws>,
}

/// One column of the data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ColumnFacts {
    /// Its name.
    pub name: String,
    /// `target` or `input`.
    pub role: String,
    /// Mean, standard deviation, smallest and largest value; NaN for classes.
    pub numbers: [f64; 4],
    /// What there is to say of classes.
    pub words: String,
}

impl Model {
    /// The model and its data.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Model");
        if !self.summary.is_empty() {
            section.text(&self.summary);
        }
        if !self.parts.is_empty() {
            section.blocks.push(Block::Terms(self.parts.clone()));
        }
        self.prior.iter().filter_map(PriorDraws::figure).for_each(|it| section.figure(it));
        self.found.iter().for_each(|line| section.text(line));
        if !self.columns.is_empty() {
            let header = ["column", "role", "mean", "sd", "smallest", "largest", "classes"];
            let has_classes = self.columns.iter().any(|column| !column.words.is_empty());
            let shown = if has_classes { header.len() } else { header.len() - 1 };
            let row = |column: &ColumnFacts| {
                let mut cells = vec![column.name.clone(), column.role.clone()];
                cells.extend(column.numbers.map(short));
                cells.push(column.words.clone());
                cells.truncate(shown);
                cells
            };
            section.table(TextTable {
                title: "Data".into(),
                header: header[..shown].iter().map(|name| name.to_string()).collect(),
                rows: self.columns.iter().map(row).collect(),
                is_folded: self.columns.len() > LISTED,
                ..TextTable::default()
            });
        }
        section
    }
}
