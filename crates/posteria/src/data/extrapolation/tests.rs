//! Check which new rows are said to be unlike those of the fit, and how rarely by chance.

use super::super::{Column, Missing, Roles, Table, TextFormat};
use super::*;
use crate::random::{Purpose, Seed, Stream};

fn table(text: &str) -> Table {
    Table::from_text("d", text.as_bytes(), &TextFormat::default()).unwrap()
}

/// What is said of `new` after a fit to `training`, with and without standardising.
fn found(training: &str, new: &str) -> Option<Extrapolation> {
    let of = |standardize: bool| {
        let roles = Roles { targets: vec!["y".into()], standardize, ..Roles::default() };
        let fit = Encoder::fit(&table(training), &roles).unwrap();
        let new = fit.encoder.encode(&table(new), Missing::Error).unwrap();
        fit.encoder.extrapolation(&fit.dataset, &new.inputs)
    };
    let (standardized, raw) = (of(true), of(false));
    assert_eq!(standardized, raw, "the scale of the inputs does not matter");
    raw
}

/// x and z on a grid of six by six points, a constant and a rare class.
fn grid() -> String {
    let row = |i: usize| {
        let class = if i == 0 { "rare" } else { "usual" };
        format!("{},{},7,{class},{}\n", i % 6, 100 * (i / 6), i)
    };
    format!("x,z,c,k,y\n{}", (0..36).map(row).collect::<String>())
}

#[test]
fn rows_of_the_fit_are_not_counted_nor_rows_between_them() {
    assert_eq!(found(&grid(), &grid()), None);
    assert_eq!(found(&grid(), "x,z,c,k\n0.5,150,7,usual\n5,500,7,rare\n2.2,0,7,rare\n"), None);
}

#[test]
fn rows_outside_are_counted_by_column_and_far_ones_apart() {
    let new = "x,z,c,k\n9,50,7,usual\n-3,990,7,usual\n1,1,7,usual\n5.1,100,7,usual\n1,1,8,rare\n";
    let found = found(&grid(), new).unwrap();
    assert_eq!((found.rows, found.outside, found.far), (5, 4, 2));
    let named = |name: &str, count: usize| (name.to_string(), count);
    assert_eq!(found.columns, [named("x", 3), named("z", 1), named("c", 1)]);
    // Two columns that vary, 36 rows: 5 × 2 × 2/37.
    assert!((found.by_chance - 20.0 / 37.0).abs() < 1e-12);
    assert_eq!(
        found.to_string(),
        "4 of 5 row(s) are outside the range of the inputs of the fit (x 3, z 1, c 1), and 2 are \
         farther from every row of the fit than any of these from its nearest: there predictions \
         rest on the form of the model and its priors, not on data; check these rows, or fit with \
         rows like them"
    );
}

#[test]
fn a_gap_inside_the_range_is_far_from_every_row() {
    let rows: String = (0..20)
        .map(|i| if i < 10 { f64::from(i) } else { 91.0 + f64::from(i) })
        .map(|x| format!("{x},{x},{x}\n{x},{x},{x}\n"))
        .collect();
    let found = found(&format!("x,z,y\n{rows}"), "x,z\n50,50\n9,8\n104,104\n4,104\n").unwrap();
    assert_eq!((found.outside, found.far), (0, 2));
    assert!(found.to_string().starts_with("2 of 4 row(s) are farther"), "{found}");
}

#[test]
fn one_row_or_classes_alone_have_no_neighbours() {
    assert_eq!(found("x,y\n3,4\n", "x\n3\n"), None);
    let other = found("x,y\n3,4\n", "x\n3.5\n").unwrap();
    assert_eq!((other.outside, other.far), (1, 0));
    assert_eq!(found("k,y\na,1\nb,3\na,4\n", "k\nb\n"), None);
}

/// `rows` rows of three normal numbers and a target.
fn normal(rows: usize, stream: &mut Stream) -> Table {
    let mut column = |name: &str| {
        (name.to_string(), Column::numbers((0..rows).map(|_| stream.normal()).collect()))
    };
    Table::new("memory", ["a", "b", "c", "y"].map(&mut column).into()).unwrap()
}

/// Rows like those of the fit are outside with probability 6/(n + 1) at most and far with 1/(n + 1).
/// 200 fits to 20 rows, 20 new rows each: at most 1143 and 190 expected. Counts of one fit go
/// together, at worst all 20 rows: each bound is exceeded by 4 such deviations, √(200 × 20² × p), with
/// a probability below 1e-4.
#[test]
fn rows_like_those_of_the_fit_are_rarely_counted() {
    let mut stream = Seed(23).stream(Purpose::Data, [0, 0]);
    let (mut outside, mut far) = (0, 0);
    for _ in 0..200 {
        let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
        let fit = Encoder::fit(&normal(20, &mut stream), &roles).unwrap();
        let new = fit.encoder.encode(&normal(20, &mut stream), Missing::Error).unwrap();
        if let Some(found) = fit.encoder.extrapolation(&fit.dataset, &new.inputs) {
            outside += found.outside;
            far += found.far;
        }
    }
    let bound = |p: f64| 4000.0 * p + 4.0 * (200.0 * 400.0 * p).sqrt();
    assert!(f64::from(u32::try_from(outside).unwrap()) <= bound(6.0 / 21.0), "{outside}");
    assert!(f64::from(u32::try_from(far).unwrap()) <= bound(1.0 / 21.0), "{far}");
    // And some are, or nothing is counted at all.
    assert!(outside > 400 && far > 10, "{outside} {far}");
}

#[test]
fn many_rows_are_thinned_and_new_rows_are_all_counted() {
    let rows = 50_000;
    let numbers = |step: f64| (0..rows).map(|i| (f64::from(i) * step).fract()).collect::<Vec<_>>();
    let columns = [("x", 0.618_034), ("z", 0.754_878), ("y", 0.569_84)]
        .map(|(name, step)| (name.to_string(), Column::numbers(numbers(step))));
    let roles = Roles { targets: vec!["y".into()], ..Roles::default() };
    let fit = Encoder::fit(&Table::new("memory", columns.into()).unwrap(), &roles).unwrap();
    assert_eq!(fit.encoder.extrapolation(&fit.dataset, &fit.dataset.inputs), None);
    let mut new = fit.dataset.inputs.clone();
    new.column_mut(0).iter_mut().step_by(2).for_each(|value| *value += 9.0);
    let found = fit.encoder.extrapolation(&fit.dataset, &new).unwrap();
    assert_eq!((found.outside, found.far), (25_000, 25_000));
}
