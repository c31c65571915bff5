//! Show predictions beside the data.

mod classes;
mod curve;
mod effect;
mod fitted;
mod surface;

pub use classes::ClassifiedRows;
pub use curve::{Band, Curve};
pub use effect::Effect;
pub use fitted::FittedRows;
pub use surface::{PointSet, Surface};

use crate::page::Section;

/// Predictions beside the data; what does not apply is empty.
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
    /// Rows with classes.
    pub classified: Option<ClassifiedRows>,
    /// What single inputs do.
    pub effects: Vec<Effect>,
}

impl Predictions {
    /// Curves and surfaces, then rows, then effects.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Predictions and data");
        self.curves.iter().for_each(|curve| section.figure(curve.figure()));
        self.surfaces.iter().for_each(|surface| section.figure(surface.figure()));
        for rows in &self.fitted {
            rows.figures().into_iter().for_each(|figure| section.figure(figure));
        }
        if let Some(rows) = &self.classified {
            rows.figures().into_iter().for_each(|figure| section.figure(figure));
        }
        if !section.blocks.is_empty() && !self.note.is_empty() {
            section.text(&self.note);
        }
        if !self.effects.is_empty() {
            section.text(
                "Partial effects: one input takes other values while all else stays as in each row \
                 of the data, and the prediction is averaged over rows. Inputs with the largest \
                 change come first.",
            );
            self.effects.iter().for_each(|effect| section.figure(effect.figure()));
        }
        section
    }
}
