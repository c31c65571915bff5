//! Show published figures beside those found here.

use super::precise;
use crate::figure::{Axis, Figure, Ink, Kind, Mark, Shape, Span, Table};
use crate::number::short;
use crate::page::{Section, TextTable};

/// Height of a row of a figure, and of what is above and below them all.
const ROW: f64 = 19.0;
const AROUND: f64 = 78.0;
/// Most rows of one figure.
const ROWS: usize = 40;
/// Ratio of the largest to the least from which on an axis is logarithmic.
const WIDE: f64 = 8.0;

/// Published figures beside those found here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// All of them.
    pub quantities: Vec<Quantity>,
}

/// One figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantity {
    /// What it is: `group: what`, `what of which`, or just a name.
    pub name: String,
    /// As published; NaN: not published.
    pub published: f64,
    /// As found here.
    pub here: f64,
    /// Its standard deviation; NaN: not known.
    pub sd: f64,
}

impl Quantity {
    /// The name in two parts: what is measured, and of which.
    fn parts(&self) -> Option<(&str, &str)> {
        let name = self.name.split(" (").next().unwrap_or_default();
        if let Some((which, what)) = name.rsplit_once(": ") {
            return Some((what, which));
        }
        name.split_once(" of ")
    }

    fn interval(&self) -> [f64; 2] {
        let sd = if self.sd.is_finite() { self.sd } else { 0.0 };
        [self.here - sd, self.here + sd]
    }
}

impl Results {
    /// All figures as a table, their ratios, and groups of the same kind on one axis.
    pub fn section(&self) -> Section {
        let mut section = Section::new("Published, and found here");
        if self.quantities.is_empty() {
            return section;
        }
        section.table(self.table());
        self.ratios().into_iter().for_each(|figure| section.figure(figure));
        for (what, group) in self.groups() {
            section.figure(dots(what, &group));
        }
        section
    }

    fn table(&self) -> TextTable {
        let cells = |it: &Quantity| {
            let numbers = [short(it.published), precise(it.here, it.sd), precise(it.sd, it.sd)];
            [it.name.clone()].into_iter().chain(numbers).collect()
        };
        TextTable {
            title: "All figures".into(),
            header: ["quantity", "published", "here", "sd"].map(String::from).into(),
            rows: self.quantities.iter().map(cells).collect(),
            ..TextTable::default()
        }
    }

    /// Everything that was published on one axis: here over published.
    fn ratios(&self) -> Option<Figure> {
        let is_comparable = |it: &&Quantity| it.published.is_finite() && it.published.abs() > 0.0;
        let shown: Vec<Quantity> = self
            .quantities
            .iter()
            .filter(is_comparable)
            .take(ROWS)
            .map(|it| Quantity {
                name: it.name.clone(),
                published: 1.0,
                here: it.here / it.published,
                sd: it.sd / it.published.abs(),
            })
            .collect();
        if shown.len() < 2 {
            return None;
        }
        let figure = rows(&shown, "here over published", &[]);
        let marks = [Mark::upright(1.0).called("as published")].into_iter().chain(figure.marks);
        Some(Figure {
            title: "Here over published: 1 where both are equal".into(),
            caption:
                "Dot: what was found here, as a multiple of what was published. Bar: one standard \
                      deviation to either side, where it is known."
                    .into(),
            marks: marks.collect(),
            span: Span::Whole,
            ..figure
        })
    }

    /// Figures that measure the same, of two or more things.
    fn groups(&self) -> Vec<(&str, Vec<&Quantity>)> {
        let mut groups: Vec<(&str, Vec<&Quantity>)> = Vec::new();
        for quantity in &self.quantities {
            let Some((what, _)) = quantity.parts() else { continue };
            match groups.iter_mut().find(|(of, _)| *of == what) {
                Some((_, group)) => group.push(quantity),
                None => groups.push((what, vec![quantity])),
            }
        }
        groups.retain(|(_, group)| (2..=ROWS).contains(&group.len()));
        groups
    }
}

/// Figures of one kind, each with what was published.
fn dots(what: &str, group: &[&Quantity]) -> Figure {
    let shown: Vec<Quantity> = group
        .iter()
        .map(|it| Quantity {
            name: it.parts().map_or(String::new(), |(_, which)| which.into()),
            ..(*it).clone()
        })
        .collect();
    let published: Vec<f64> = shown.iter().map(|it| it.published).collect();
    let figure = rows(&shown, what, &published);
    let any = published.iter().any(|value| value.is_finite());
    let title = if any { format!("{what}: published, and here") } else { what.to_string() };
    let mut caption = String::from(
        "Dot: what was found here; bar: one standard deviation to either side, where it is known.",
    );
    if any {
        caption.push_str(" Ring: as published.");
    }
    Figure { title, caption, ..figure }
}

/// One row for every quantity.
fn rows(shown: &[Quantity], label: &str, published: &[f64]) -> Figure {
    let places: Vec<f64> = (0..shown.len()).map(|row| row as f64).collect();
    let here: Vec<f64> = shown.iter().map(|it| it.here).collect();
    let [low, high] = [0, 1].map(|end| shown.iter().map(|it| it.interval()[end]).collect());
    let kind = kind(here.iter().chain(&low).chain(published));
    let told = |it: &Quantity| match it.sd.is_finite() {
        true => format!("{}: {} ± {}", it.name, short(it.here), short(it.sd)),
        false => format!("{}: {}", it.name, short(it.here)),
    };
    let bars = Shape::Intervals { at: places.clone(), low, high, is_horizontal: true };
    let mut marks = vec![Mark::new(bars).ink(Ink::Series(0)).size(2.0)];
    if published.iter().any(|value| value.is_finite()) {
        let names = published.iter().map(|value| format!("published: {}", short(*value)));
        let ring = Mark::named_points(published, &places, names.collect()).opacity(1.0);
        marks.push(ring.clone().ink(Ink::Series(1)).size(10.0).called("published"));
        marks.push(ring.ink(Ink::Ground).size(6.5));
    }
    let dots = Mark::named_points(&here, &places, shown.iter().map(told).collect());
    marks.push(dots.ink(Ink::Series(0)).size(6.0).opacity(1.0).called("here"));
    let names: Vec<String> = shown.iter().map(|it| it.name.clone()).collect();
    let sds: Vec<f64> = shown.iter().map(|it| it.sd).collect();
    let mut table = Table::new().texts("quantity", &names);
    if !published.is_empty() {
        table = table.numbers("published", published);
    }
    Figure {
        x: Axis::of(kind, label),
        y: Axis::named("", names),
        marks,
        table: table
            .numbers(if published.is_empty() { label } else { "here" }, &here)
            .numbers("sd", &sds),
        height: AROUND + ROW * shown.len() as f64,
        ..Figure::default()
    }
}

/// Logarithmic where numbers are positive and of very different sizes.
fn kind<'v>(values: impl Iterator<Item = &'v f64>) -> Kind {
    let finite = values.copied().filter(|value| value.is_finite());
    let [low, high] = finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], value| {
        [low.min(value), high.max(value)]
    });
    if low > 0.0 && high / low > WIDE { Kind::Log } else { Kind::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Block;

    fn quantity(name: &str, published: f64, here: f64, sd: f64) -> Quantity {
        Quantity { name: name.into(), published, here, sd }
    }

    #[test]
    fn figures_of_one_kind_stand_on_one_axis() {
        let results = Results {
            quantities: vec![
                quantity("a: RMSE", 2.0, 3.0, 0.5),
                quantity("b: RMSE (published: elsewhere)", f64::NAN, 4.0, f64::NAN),
                quantity("probability of x1", -1.0, -2.0, 0.1),
                quantity("probability of x2", 0.0, 0.5, 0.1),
                quantity("alone", f64::NAN, 1.0, f64::NAN),
            ],
        };
        let section = results.section();
        let figures = section.blocks.iter().filter_map(|block| match block {
            Block::Figure(figure) => Some(figure),
            _ => None,
        });
        let titles: Vec<&str> = figures.clone().map(|figure| figure.title.as_str()).collect();
        let expected = [
            "Here over published: 1 where both are equal",
            "RMSE: published, and here",
            "probability: published, and here",
        ];
        assert_eq!(titles, expected);
        let tables: Vec<String> = figures.map(|figure| figure.table.csv()).collect();
        // What was published as 0 or not at all has no ratio.
        assert_eq!(
            tables[0],
            "quantity,here over published,sd\na: RMSE,1.5,0.25\nprobability of x1,2,0.1\n"
        );
        assert_eq!(tables[1], "quantity,published,here,sd\na,2,3,0.5\nb,,4,\n");
        assert!(Results::default().section().blocks.is_empty());
    }

    #[test]
    fn sizes_of_all_orders_need_logarithms() {
        assert_eq!(kind([1.0, 20.0, f64::NAN].iter()), Kind::Log);
        assert_eq!(kind([1.0, 3.0].iter()), Kind::default());
        assert_eq!(kind([-1.0, 300.0].iter()), Kind::default());
        assert_eq!(kind([].iter()), Kind::default());
    }
}
