//! Show statistics of the data beside those of replicated data.

use super::count;
use crate::density::estimate;
use crate::figure::{Axis, Figure, Ink, Kind, Mark, Span, Table};
use crate::number::{fixed, short};
use crate::page::Section;

/// Statistics of the data and of replicated data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checks {
    /// Number of rows.
    pub rows: usize,
    /// Rows whose importance weights cannot be trusted.
    pub failing: usize,
    /// Every statistic.
    pub statistics: Vec<CheckedStatistic>,
}

/// A statistic of the data and of replicated data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckedStatistic {
    /// Its formula.
    pub statistic: String,
    /// Its value for the data.
    pub observed: f64,
    /// For data drawn from the posterior predictive distribution.
    pub posterior: Vec<f64>,
    /// The share of these that are larger.
    pub posterior_p: f64,
    /// For data drawn row by row from leave-one-out predictive distributions.
    pub loo: Vec<f64>,
    /// The share of these that are larger.
    pub loo_p: f64,
}

impl Checks {
    /// A figure per statistic.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Predictive checks");
        if self.statistics.is_empty() {
            return section;
        }
        section.text(format!(
            "A statistic of {} beside those of replicated data: all rows drawn together from the posterior \
             predictive distribution, which has seen them, and every row by itself from its leave-one-out \
             predictive distribution. p is the share of replicated data with a larger statistic; near 0 or 1 \
             it names something that the model does not describe.{}",
            count(self.rows, "row"),
            match self.failing {
                0 => String::new(),
                rows => format!(
                    " For {} importance weights fail, and leave-one-out is too forgiving there.",
                    count(rows, "row")
                ),
            }
        ));
        self.statistics.iter().enumerate().for_each(|(index, it)| section.figure(it.figure(index)));
        section
    }
}

impl CheckedStatistic {
    fn figure(&self, index: usize) -> Figure {
        let mut marks = Vec::new();
        let sources = [("posterior", &self.posterior, 0), ("leave-one-out", &self.loo, 1)];
        let mut table = Table::new();
        for (name, values, series) in sources {
            if let Some(curve) = estimate(values, Kind::Linear) {
                marks.push(Mark::line(&curve.x, &curve.y).series(series).size(2.0).called(name));
                table = table.numbers(name, &curve.x).numbers("density", &curve.y);
            }
        }
        marks.push(Mark::upright(self.observed).ink(Ink::Text).size(2.2).called("data"));
        let p = |value: f64| match value {
            value if value < 0.01 => "< 0.01".into(),
            value if value > 0.99 => "> 0.99".into(),
            value => fixed(value, 2),
        };
        Figure {
            name: format!("check-{}", index + 1),
            title: format!(
                "{} is {}: p {} by the posterior, {} leave-one-out",
                self.statistic,
                short(self.observed),
                p(self.posterior_p),
                p(self.loo_p)
            ),
            caption: "Densities of the statistic over replicated data, and its value for the data."
                .into(),
            x: Axis::new(&self.statistic).including([self.observed]),
            y: Axis::new("density").including([0.0]),
            marks,
            table,
            height: 300.0,
            span: Span::Half,
            ..Figure::default()
        }
    }
}
