//! Show by how much models differ in what they predict.

use super::{Doubt, precise};
use crate::figure::{Axis, Figure, Ink, Mark, Shape, Span, Table};
use crate::number::fixed;
use crate::page::{Alert, Block, Section, TextTable};

/// Models by their expected log predictive density, the best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElpdForest {
    /// How rows were predicted, in a sentence.
    pub method: String,
    /// The models, the best first.
    pub models: Vec<ElpdOfModel>,
    /// Whether rows have importance weights that cannot be trusted, which no error tells of.
    pub is_rough: bool,
    /// Reasons for doubt.
    pub doubts: Vec<Doubt>,
}

/// One model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElpdOfModel {
    /// Its name.
    pub name: String,
    /// Expected log predictive density of all rows.
    pub elpd: f64,
    /// Its standard error.
    pub se: f64,
    /// That of this model minus that of the best: 0 or less.
    pub difference: f64,
    /// Standard error of the difference, from differences row by row.
    pub difference_se: f64,
    /// Stacking weight; NaN if unknown.
    pub weight: f64,
}

impl ElpdForest {
    /// Differences to the best model, and a table.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Which model predicts better?");
        if self.models.len() < 2 {
            return section;
        }
        if let Some(level) = self.doubts.iter().map(|doubt| doubt.level).max() {
            let lines = self.doubts.iter().map(|doubt| doubt.text.clone()).collect();
            let title = "About this comparison".into();
            section.blocks.push(Block::Alert(Alert { level, title, lines }));
        }
        section.figure(self.figure());
        section.table(self.table());
        section
    }

    fn title(&self) -> String {
        let (best, second) = (&self.models[0], &self.models[1]);
        let by = format!(
            "{} ± {}",
            precise(-second.difference, second.difference_se),
            precise(second.difference_se, second.difference_se)
        );
        match -second.difference > 2.0 * second.difference_se {
            _ if self.is_rough => {
                format!("A rough comparison: {} is ahead of {} by {by}", best.name, second.name)
            }
            true => format!("{} predicts best, ahead of {} by {by}", best.name, second.name),
            false => {
                format!("No clear winner: {} is ahead of {} by {by}", best.name, second.name)
            }
        }
    }

    fn figure(&self) -> Figure {
        let places: Vec<f64> = (0..self.models.len()).map(|row| row as f64).collect();
        let of =
            |value: fn(&ElpdOfModel) -> f64| self.models.iter().map(value).collect::<Vec<f64>>();
        let ends = |by: f64| -> Vec<f64> {
            self.models.iter().map(|model| model.difference + by * model.difference_se).collect()
        };
        let bars = |by: f64| {
            let (low, high) = (ends(-by), ends(by));
            Mark::new(Shape::Intervals { at: places.clone(), low, high, is_horizontal: true })
        };
        let names: Vec<String> = self.models.iter().map(|model| model.name.clone()).collect();
        let told = |it: &ElpdOfModel| {
            let difference = precise(it.difference, it.difference_se);
            let error = precise(it.difference_se, it.difference_se);
            format!("{}: elpd difference {difference} ± {error}", it.name)
        };
        let points = Mark::named_points(
            &of(|it| it.difference),
            &places,
            self.models.iter().map(told).collect(),
        );
        let table = Table::new()
            .texts("model", &names)
            .numbers("difference", &of(|it| it.difference))
            .numbers("difference_se", &of(|it| it.difference_se));
        Figure {
            name: "elpd-differences".into(),
            title: self.title(),
            caption: format!(
                "Expected log predictive density less that of the best model. Thick: one standard error of \
                 the difference; thin: two. Differences below 4 are small whatever their error. {}",
                self.method
            ),
            x: Axis::new("elpd difference to the best model").including([0.0]),
            height: 84.0 + 26.0 * names.len() as f64,
            y: Axis::named("", names),
            marks: vec![
                Mark::upright(0.0),
                bars(2.0).ink(Ink::Series(0)).size(1.2),
                bars(1.0).ink(Ink::Series(0)).size(3.5),
                points.ink(Ink::Series(0)).size(8.0).opacity(1.0),
            ],
            table: table.numbers("elpd", &of(|it| it.elpd)).numbers("se", &of(|it| it.se)),
            span: Span::Whole,
            ..Figure::default()
        }
    }

    fn table(&self) -> TextTable {
        let row = |it: &ElpdOfModel| {
            vec![
                it.name.clone(),
                precise(it.elpd, it.se),
                precise(it.se, it.se),
                // As `posteria compare` and ArviZ print it: how far behind.
                precise(0.0 - it.difference, it.difference_se),
                precise(it.difference_se, it.difference_se),
                fixed(it.weight, 2),
            ]
        };
        let header = ["model", "elpd", "se", "elpd_diff", "dse", "weight"];
        TextTable {
            title: "Expected log predictive density (elpd) of all rows, the best first".into(),
            header: header.map(String::from).into(),
            rows: self.models.iter().map(row).collect(),
            ..TextTable::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_within_two_errors_has_no_winner() {
        let model = |name: &str, difference: f64, difference_se: f64| ElpdOfModel {
            name: name.into(),
            elpd: difference - 50.0,
            se: 3.0,
            difference,
            difference_se,
            weight: 0.5,
        };
        let forest = |difference| ElpdForest {
            models: vec![model("a", 0.0, 0.0), model("b", difference, 2.0)],
            ..ElpdForest::default()
        };
        assert_eq!(forest(-3.9).title(), "No clear winner: a is ahead of b by 3.90 ± 2.00");
        assert_eq!(forest(-4.1).title(), "a predicts best, ahead of b by 4.10 ± 2.00");
        let rough = ElpdForest { is_rough: true, ..forest(-40.0) };
        assert!(rough.title().starts_with("A rough comparison"), "{}", rough.title());
        let csv = forest(-4.1).figure().table.csv();
        assert_eq!(csv, "model,difference,difference_se,elpd,se\na,0,0,-50,3\nb,-4.1,2,-54.1,3\n");
        assert!(ElpdForest::default().section().blocks.is_empty());
    }
}
