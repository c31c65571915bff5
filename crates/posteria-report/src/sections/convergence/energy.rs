//! Show whether the sampler moves between energies as it should.

use crate::density::estimate;
use crate::figure::{Axis, Figure, Ink, Kind, Mark, Table};
use crate::number::fixed;

/// The energies of the draws of all chains.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Energy {
    /// Energies less the mean of their chain.
    pub marginal: Vec<f64>,
    /// Energies less that of the draw before.
    pub transition: Vec<f64>,
    /// The smallest E-BFMI of a chain.
    pub fraction: f64,
}

impl Energy {
    pub(super) fn figure(&self) -> Figure {
        let mut marks = Vec::new();
        let (mut names, mut x, mut y) = (Vec::new(), Vec::new(), Vec::new());
        let both = [("marginal", &self.marginal), ("transition", &self.transition)];
        for (index, (name, draws)) in both.into_iter().enumerate() {
            let Some(curve) = estimate(draws, Kind::Linear) else { continue };
            let zero = vec![0.0; curve.x.len()];
            marks.push(Mark::band(&curve.x, &zero, &curve.y).ink(Ink::Series(index)));
            marks.push(Mark::line(&curve.x, &curve.y).series(index).size(1.8).called(name));
            names.extend(vec![name; curve.x.len()]);
            x.extend(curve.x);
            y.extend(curve.y);
        }
        Figure {
            name: "energy".into(),
            title: format!("Energy: smallest E-BFMI {}, below 0.3 is bad", fixed(self.fraction, 2)),
            caption: "Energies about the mean of their chain (marginal), and changes from draw to draw \
                      (transition). Where transitions are much narrower, the tails are explored slowly."
                .into(),
            x: Axis::new("energy"),
            y: Axis::new("density").including([0.0]),
            marks,
            table: Table::new().numbers("energy", &x).numbers("density", &y).texts("of", &names),
            height: 320.0,
            ..Figure::default()
        }
    }
}
