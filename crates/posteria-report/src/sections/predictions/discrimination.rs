//! Show how well one of two classes is told from the other.

use super::Basis;
use crate::figure::{Axis, Figure, Hover, Ink, Mark, Span, Table};
use crate::number::fixed;
use crate::thin::evenly;

/// Thresholds that are drawn.
const POINTS: usize = 400;

/// Rates of one model at every threshold of the probability of a class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RankedRows {
    /// The model; empty where there is one only.
    pub model: String,
    /// The target.
    pub target: String,
    /// The class that is told from the other.
    pub class: String,
    /// How the rows were predicted.
    pub basis: Basis,
    /// From the highest threshold down.
    pub rates: Vec<Rates>,
    /// Area under the ROC curve.
    pub area: f64,
    /// Its standard error.
    pub area_se: f64,
    /// Average precision.
    pub average_precision: f64,
    /// Share of rows with the class.
    pub prevalence: f64,
}

/// What happens at one threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// The threshold.
    pub threshold: f64,
    /// Share of rows with the class that are above it: recall.
    pub true_positive: f64,
    /// Share of rows without the class that are above it.
    pub false_positive: f64,
    /// Share of rows above it that have the class; NaN where there are none.
    pub precision: f64,
}

impl RankedRows {
    /// Both curves of one or several models, at least one.
    pub(super) fn figures(all: &[&RankedRows]) -> Vec<Figure> {
        vec![roc(all), precision_recall(all)]
    }

    fn thinned(&self, of: impl Fn(&Rates) -> f64) -> Vec<f64> {
        let mut kept = evenly(self.rates.len(), POINTS);
        kept.extend(self.rates.len().checked_sub(1));
        kept.dedup();
        kept.iter().map(|index| of(&self.rates[*index])).collect()
    }
}

fn roc(all: &[&RankedRows]) -> Figure {
    let first = all[0];
    let mut marks = vec![
        Mark::line(&[0.0, 1.0], &[0.0, 1.0]).ink(Ink::Muted).dash(1).size(1.0).called("chance"),
    ];
    for (index, one) in all.iter().enumerate() {
        let (x, y) = (one.thinned(|it| it.false_positive), one.thinned(|it| it.true_positive));
        marks.push(line(one, all.len(), (&x, &y), index));
    }
    let area = |one: &RankedRows| format!("{} ± {}", fixed(one.area, 3), fixed(one.area_se, 3));
    let title = match all {
        [one] => format!("{}: area under the ROC curve {}", first.class, area(one)),
        _ => format!("{}: ROC curves by model", first.class),
    };
    let mut caption = format!(
        "Share of rows with the class found against false alarms, at every threshold. Area: the \
         probability that a row with the class has the higher probability, ± standard error. {}",
        first.basis.caption()
    );
    if all.len() > 1 {
        let each: Vec<String> = all.iter().map(|it| format!("{} {}", it.model, area(it))).collect();
        caption.push_str(&format!(" Areas: {}.", each.join(", ")));
    }
    Figure {
        name: format!("roc-{}", first.target),
        title,
        caption,
        x: Axis::new("false positive rate").within(0.0, 1.0),
        y: Axis::new("true positive rate").within(0.0, 1.02),
        marks,
        table: table(all, ["false positive rate", "true positive rate"], |it| {
            [it.false_positive, it.true_positive]
        }),
        height: 340.0,
        hover: Hover::Point,
        span: Span::Half,
    }
}

fn precision_recall(all: &[&RankedRows]) -> Figure {
    let first = all[0];
    let mut marks = vec![Mark::level(first.prevalence).called("chance")];
    for (index, one) in all.iter().enumerate() {
        let (x, y) = (one.thinned(|it| it.true_positive), one.thinned(|it| it.precision));
        marks.push(line(one, all.len(), (&x, &y), index));
    }
    let title = match all {
        [one] => format!("{}: average precision {}", first.class, fixed(one.average_precision, 3)),
        _ => format!("{}: precision and recall by model", first.class),
    };
    let mut caption = format!(
        "Share of the rows above a threshold that have the class, against the share of the class that \
         is found. {}",
        first.basis.caption()
    );
    if all.len() > 1 {
        let of = |it: &&RankedRows| format!("{} {}", it.model, fixed(it.average_precision, 3));
        let each: Vec<String> = all.iter().map(of).collect();
        caption.push_str(&format!(" Average precision: {}.", each.join(", ")));
    }
    Figure {
        name: format!("precision-recall-{}", first.target),
        title,
        caption,
        x: Axis::new("recall").within(0.0, 1.0),
        y: Axis::new("precision").within(0.0, 1.02),
        marks,
        table: table(all, ["recall", "precision"], |it| [it.true_positive, it.precision]),
        height: 340.0,
        hover: Hover::Point,
        span: Span::Half,
    }
}

fn line(one: &RankedRows, models: usize, (x, y): (&[f64], &[f64]), index: usize) -> Mark {
    let mark = Mark::line(x, y).series(index).size(2.0);
    if models > 1 { mark.called(&one.model) } else { mark }
}

/// The points of all curves, one below the other.
fn table(all: &[&RankedRows], [across, up]: [&str; 2], of: impl Fn(&Rates) -> [f64; 2]) -> Table {
    let gather =
        |k: usize| -> Vec<f64> { all.iter().flat_map(|one| one.thinned(|it| of(it)[k])).collect() };
    let thresholds: Vec<f64> = all.iter().flat_map(|one| one.thinned(|it| it.threshold)).collect();
    let table = Table::new().numbers(across, &gather(0)).numbers(up, &gather(1));
    let table = table.numbers("threshold", &thresholds);
    if all.len() < 2 {
        return table;
    }
    let names: Vec<String> = all
        .iter()
        .flat_map(|one| vec![one.model.clone(); one.thinned(|it| it.threshold).len()])
        .collect();
    table.texts("model", &names)
}
