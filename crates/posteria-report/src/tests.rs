//! Pages and figures as a whole: well-formed, harmless, whatever the numbers are.

mod samples;

use proptest::prelude::*;

use self::samples::sections;
use crate::figure::Figure;
use crate::{Part, Report, Section, png};

const HOSTILE: &str = "\"><script>alert(1)</script><img src=x onerror='y'> & \u{1b}\u{202e}, \"q\"";

fn report(numbers: &[f64], name: &str) -> Report {
    let mut part = Part::new(name);
    sections(numbers, name).into_iter().for_each(|section| part.push(section));
    Report { title: name.into(), parts: vec![part, Part::new(name)] }
}

fn figures(report: &Report) -> Vec<&Figure> {
    report.parts.iter().flat_map(|part| &part.sections).flat_map(Section::figures).collect()
}

/// Every picture parses as XML, in the page and as a file.
fn check(report: &Report) {
    let page = report.html();
    let mut rest = &page[..];
    let mut pictures = 0;
    while let Some(start) = rest.find("<svg xmlns") {
        let close = rest[start..].find("<figcaption>").expect("a caption follows");
        let picture = &rest[start..start + close];
        let tree = roxmltree::Document::parse(picture).unwrap_or_else(|e| panic!("{e}: {picture}"));
        for attribute in tree.descendants().flat_map(|node| node.attributes()) {
            let drawn = ["d", "x", "y", "width", "height", "cx", "cy", "data-x", "data-y"];
            let value = attribute.value();
            let is_odd = value.contains("NaN") || value.contains("inf");
            assert!(!drawn.contains(&attribute.name()) || !is_odd, "{value}");
        }
        rest = &rest[start + close..];
        pictures += 1;
    }
    assert_eq!(pictures, figures(report).len());
    for (name, figure) in report.figures() {
        assert!(!name.contains(['/', '.']));
        let file = figure.svg();
        roxmltree::Document::parse(&file).unwrap_or_else(|error| panic!("{error}: {name}"));
        assert!(!file.contains("var("), "a file has colours of its own");
    }
}

#[test]
fn every_section_is_shown_and_every_figure_has_a_title_and_a_table() {
    let numbers: Vec<f64> = (0..60).map(|i| 0.5 + 0.4 * (f64::from(i) * 1.7).sin()).collect();
    let report = report(&numbers, "name");
    check(&report);
    assert_eq!(report.parts[0].sections.len(), 12);
    let figures = figures(&report);
    assert!(figures.len() > 20, "{}", figures.len());
    let page = report.html();
    for figure in &figures {
        assert!(!figure.title.is_empty() && !figure.caption.is_empty());
        assert!(figure.table.rows() > 0, "{} has no table", figure.title);
    }
    assert_eq!(page.matches("<a download=").count(), figures.len());
    assert!(page.find("Do not trust").expect("said") < page.find("<svg").expect("a figure"));
    let names: Vec<String> = report.figures().into_iter().map(|(name, _)| name).collect();
    let mut unique = names.clone();
    unique.sort();
    unique.dedup();
    assert_eq!((names.len(), unique.len()), (figures.len(), figures.len()));
}

#[test]
fn names_of_figures_do_not_depend_on_numbers() {
    let named = |numbers: &[f64]| -> Vec<String> {
        report(numbers, "y").figures().into_iter().map(|(name, _)| name).collect()
    };
    let one: Vec<f64> = (0..60).map(|i| 0.5 + 0.4 * (f64::from(i) * 1.7).sin()).collect();
    let other: Vec<f64> = one.iter().map(|v| 0.3 + 0.5 * v * v).collect();
    assert_eq!(named(&one), named(&other));
    for name in ["y-r-hat", "y-trace-y", "y-pit-ecdf-a-y", "y-roc-a", "y-elpd-differences"] {
        assert!(named(&one).iter().any(|own| own == name), "{name} of {:?}", named(&one));
    }
    // The only part needs no name before those of its figures.
    let mut part = Part::new("run");
    sections(&one, "y").into_iter().for_each(|section| part.push(section));
    let alone = Report { title: "t".into(), parts: vec![part] };
    assert!(alone.figures().iter().any(|(name, _)| name == "r-hat"));
}

#[test]
fn what_is_folded_is_there_and_closed() {
    let numbers: Vec<f64> = (0..60).map(|i| 0.5 + 0.4 * (f64::from(i) * 1.7).sin()).collect();
    let page = report(&numbers, "name").html();
    let start = page.find("<details><summary>More about these predictions").expect("a fold");
    let end = start + page[start..].find("</details>").expect("its end");
    assert!(page[start..end].contains("PIT histogram") && !page.contains("<details open"));
    let opened = page.matches("<details>").count();
    assert_eq!(opened, page.matches("</details>").count());
}

#[test]
fn figures_in_pixels_are_not_blank() {
    let numbers: Vec<f64> = (0..60).map(|i| 0.5 + 0.4 * (f64::from(i) * 1.7).sin()).collect();
    let report = report(&numbers, "name");
    for (index, (name, figure)) in report.figures().into_iter().enumerate() {
        // One as a file has it, the others at a third of the size, to be quick.
        let (width, picture) = match index {
            0 => (1320, figure.png()),
            _ => (440, png::paint_at(&figure.svg(), 1.0)),
        };
        let pixels = tiny_skia::Pixmap::decode_png(&picture).expect("a PNG");
        assert_eq!(pixels.width(), width, "{name}");
        let ground = pixels.pixel(0, 0).expect("a pixel");
        let inked = pixels.pixels().iter().filter(|pixel| **pixel != ground).count();
        // Letters and lines alone cover more.
        assert!(inked > 1_500, "{name}: {inked} pixels");
    }
}

#[test]
fn a_page_asks_for_nothing() {
    let page = report(&[0.1, 0.5, 0.9], "name").html().replace("http://www.w3.org/2000/svg", "");
    for address in ["http:", "https:", "//", "url(", "@import", "src="] {
        let script = page.find("<script>").expect("a script");
        let (before, after) = page.split_at(script);
        assert!(!before.contains(address), "{address}");
        // Comments of the script begin with two slashes.
        assert!(address == "//" || !after.contains(address), "{address}");
    }
}

#[test]
fn hostile_names_stay_text() {
    let report = report(&[0.1, 0.5, 0.9, 1.5], HOSTILE);
    check(&report);
    let page = report.html();
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    assert!(!page.contains("<img") && !page.contains("onerror='"));
    assert!(!page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn odd_numbers_are_no_trouble() {
    let cases: [&[f64]; 8] = [
        &[],
        &[0.0],
        &[3.0, 3.0, 3.0],
        &[f64::NAN],
        &[f64::INFINITY, f64::NEG_INFINITY, 1.0],
        &[1e308, -1e308],
        &[5e-324, 1e-310],
        &[-1.0, -2.0, f64::NAN, -3.0],
    ];
    for numbers in cases {
        let report = report(numbers, HOSTILE);
        check(&report);
        for (_, figure) in report.figures() {
            // Small, to be quick.
            assert!(png::paint_at(&figure.svg(), 0.2).starts_with(b"\x89PNG"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_numbers_and_names_make_a_page(
        numbers in prop::collection::vec(prop::num::f64::ANY, 0..12),
        name in any::<String>(),
    ) {
        check(&report(&numbers, &name));
    }
}
