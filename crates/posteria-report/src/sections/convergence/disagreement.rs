//! Show what chains that do not mix disagree about.

use super::super::precise;
use crate::number::fixed;
use crate::page::{Section, TextTable};

/// What chains disagree about: how well each fits the rows, and predicts those left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Disagreement {
    /// Which chains are worse, in one sentence; empty if none is.
    pub verdict: String,
    /// Every chain.
    pub chains: Vec<ChainOnRows>,
    /// What the columns are, in a sentence or two.
    pub note: String,
}

/// One chain by what it says about the rows; NaN where that is not known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChainOnRows {
    /// Mean and standard deviation over its draws of the log density.
    pub log_density: [f64; 2],
    /// Mean error of a draw at the rows of the fit.
    pub training_error: f64,
    /// Mean log likelihood of all rows.
    pub log_likelihood: f64,
    /// Log predictive density of rows left out.
    pub elpd: f64,
    /// Less that of the best chain, and its standard error.
    pub below_best: [f64; 2],
    /// Rows whose importance weights fail.
    pub failing: usize,
    /// Of its means of f from those of all chains, in standard deviations of f.
    pub distance: f64,
    /// By stacking.
    pub weight: f64,
    /// Whether it predicts worse than the best one, by more than chance.
    pub is_worse: bool,
}

impl Disagreement {
    /// The verdict, and the table folded away.
    pub fn section(&self) -> Section {
        let mut section = Section::new("What the chains disagree about");
        if self.chains.is_empty() {
            return section;
        }
        if !self.verdict.is_empty() {
            section.text(&self.verdict);
        }
        section.table(self.table());
        section
    }

    fn table(&self) -> TextTable {
        let has_error = self.chains.iter().any(|chain| chain.training_error.is_finite());
        let fit = if has_error { "training error" } else { "log likelihood" };
        let header = [
            "chain",
            "log density",
            "sd",
            fit,
            "elpd, rows left out",
            "below the best",
            "its se",
            "Pareto k too high",
            "distance",
            "stacked weight",
        ];
        let row = |(index, chain): (usize, &ChainOnRows)| {
            let [log_density, sd] = chain.log_density;
            let fit = match has_error {
                true => precise(chain.training_error, chain.training_error),
                false => fixed(chain.log_likelihood, 1),
            };
            vec![
                (index + 1).to_string(),
                fixed(log_density, 1),
                fixed(sd, 1),
                fit,
                fixed(chain.elpd, 1),
                fixed(chain.below_best[0], 1),
                fixed(chain.below_best[1], 1),
                chain.failing.to_string(),
                fixed(chain.distance, 2),
                fixed(chain.weight, 2),
            ]
        };
        let noticed = self.chains.iter().enumerate().filter(|(_, chain)| chain.is_worse);
        TextTable {
            title: format!("What the chains disagree about, chain by chain. {}", self.note),
            header: header.map(String::from).into(),
            rows: self.chains.iter().enumerate().map(row).collect(),
            noticed: noticed.map(|(index, _)| index).collect(),
            is_folded: true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Block;

    #[test]
    fn worse_chains_are_noticed_and_counted_from_one() {
        let chain = |lower: f64| ChainOnRows {
            elpd: -50.0 - lower,
            below_best: [lower, 3.0],
            training_error: f64::NAN,
            log_likelihood: -44.0,
            is_worse: lower > 10.0,
            ..ChainOnRows::default()
        };
        let shown = Disagreement {
            verdict: "chain 2 fits worse".into(),
            chains: vec![chain(0.0), chain(12.0), chain(5.0)],
            note: String::new(),
        };
        let section = shown.section();
        let table = section.blocks.iter().find_map(|block| match block {
            Block::Table(table) => Some(table),
            _ => None,
        });
        let table = table.expect("a table");
        assert_eq!((&table.noticed[..], table.is_folded), (&[1][..], true));
        assert_eq!((&table.rows[1][0][..], &table.rows[1][4][..]), ("2", "-62.0"));
        assert_eq!(table.header[3], "log likelihood");
        assert!(Disagreement::default().section().blocks.is_empty());
    }
}
