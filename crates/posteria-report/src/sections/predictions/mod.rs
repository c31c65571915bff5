//! Show predictions beside the data.

mod basis;
mod classes;
mod curve;
mod discrimination;
mod effect;
mod fitted;
mod pit;
mod replicated;
mod surface;

pub use basis::Basis;
pub use classes::ClassifiedRows;
pub use curve::{Band, Curve};
pub use discrimination::{RankedRows, Rates};
pub use effect::Effect;
pub use fitted::FittedRows;
pub use pit::Pit;
pub use replicated::Replicated;
pub use surface::{PointSet, Surface};

use crate::page::Section;

/// Predictions of one or several models beside the data; what does not apply is empty. Curves,
/// transforms, rates and effects of several models that show the same thing share a figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions {
    /// What was predicted, by how many draws, in a sentence.
    pub note: String,
    /// Of one input: curves.
    pub curves: Vec<Curve>,
    /// Of two inputs: surfaces.
    pub surfaces: Vec<Surface>,
    /// Rows with real targets.
    pub fitted: Vec<FittedRows>,
    /// Where real targets fall in their predictive distributions.
    pub pits: Vec<Pit>,
    /// Tables drawn from the model beside the data.
    pub replicated: Vec<Replicated>,
    /// Rows with classes, to be counted by their most probable class.
    pub classified: Vec<ClassifiedRows>,
    /// Rows with classes, to be counted by their probabilities.
    pub calibrated: Vec<ClassifiedRows>,
    /// How well one of two classes is told from the other.
    pub ranked: Vec<RankedRows>,
    /// What single inputs do.
    pub effects: Vec<Effect>,
}

impl Predictions {
    /// Curves and surfaces, then rows. What looks at the data in other ways is folded away.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Predictions and data");
        for group in grouped(&self.curves, |it| (it.input.clone(), it.output.clone())) {
            section.figure(Curve::figure(&group));
        }
        self.surfaces.iter().for_each(|surface| section.figure(surface.figure()));
        // Where curves or surfaces show predictions beside the data, rows need not.
        let is_drawn = !self.curves.is_empty() || !self.surfaces.is_empty();
        let rows: Vec<_> = self.fitted.iter().filter_map(FittedRows::figure).collect();
        let (open, later) = if is_drawn { (Vec::new(), rows) } else { (rows, Vec::new()) };
        open.into_iter().for_each(|figure| section.figure(figure));
        for group in grouped(&self.pits, |it| it.target.clone()) {
            section.figure(Pit::figure(&group));
        }
        for group in grouped(&self.ranked, |it| (it.target.clone(), it.class.clone())) {
            RankedRows::figures(&group).into_iter().for_each(|figure| section.figure(figure));
        }
        self.classified
            .iter()
            .filter_map(ClassifiedRows::confusion)
            .for_each(|it| section.figure(it));
        for group in grouped(&self.calibrated, |it| it.target.clone()) {
            ClassifiedRows::calibration(&group).into_iter().for_each(|it| section.figure(it));
        }
        let mut more = Section::new("More about these predictions");
        later.into_iter().for_each(|figure| more.figure(figure));
        self.fitted.iter().filter_map(FittedRows::residuals).for_each(|it| more.figure(it));
        for group in grouped(&self.pits, |it| it.target.clone()) {
            if let [one] = group[..] {
                more.figure(one.histogram_figure());
            }
        }
        self.replicated.iter().filter_map(Replicated::figure).for_each(|it| more.figure(it));
        section.folded(more);
        if !section.blocks.is_empty() && !self.note.is_empty() {
            section.text(&self.note);
        }
        section
    }

    /// What single inputs do to the prediction.
    pub fn inputs_section(&self) -> Section {
        let mut section = Section::new("Which inputs matter?");
        if self.effects.is_empty() {
            return section;
        }
        section.text(
            "Partial dependence: one input is varied while all others stay as in each row of the \
             data, and the prediction is averaged over rows. Inputs with the largest change come \
             first.",
        );
        for group in grouped(&self.effects, |it| (it.input.clone(), it.output.clone())) {
            section.figure(Effect::figure(&group));
        }
        section
    }
}

/// Things with the same key together, in the order of the first of each.
fn grouped<T, K: PartialEq>(all: &[T], key: impl Fn(&T) -> K) -> Vec<Vec<&T>> {
    let mut groups: Vec<(K, Vec<&T>)> = Vec::new();
    for one in all {
        let own = key(one);
        match groups.iter_mut().find(|(of, _)| *of == own) {
            Some((_, group)) => group.push(one),
            None => groups.push((own, vec![one])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The name of a figure's file.
fn named(what: &str, output: &str, model: &str) -> String {
    if model.is_empty() { format!("{what}-{output}") } else { format!("{what}-{output}-{model}") }
}

/// A title, with the model where there are several.
fn of_model(title: String, model: &str) -> String {
    if model.is_empty() { title } else { format!("{model} · {title}") }
}
