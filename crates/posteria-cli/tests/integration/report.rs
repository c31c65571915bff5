//! Check reports: what is promised, what comes first, what is refused.

use std::fs;

use crate::posteria::Place;
use crate::predict::{QUICK, with_run};

fn page(place: &Place, name: &str) -> String {
    fs::read_to_string(place.path(name)).expect("a page")
}

#[test]
fn a_report_is_one_page_and_its_figures() {
    let place = with_run();
    // A run is reported without its table.
    fs::remove_file(place.path("data.csv")).expect("removed");
    let outcome = place.call("report run -o out.html --figures pictures --json");
    let json = outcome.json();
    assert_eq!(json["report"], "out.html");
    assert!(outcome.stderr.contains("open it in a browser"), "{}", outcome.stderr);
    let figures = json["figures"].as_array().expect("figures");
    assert!(figures.len() > 20, "{}", figures.len());
    let (pixels, drawn): (Vec<&str>, Vec<&str>) = figures
        .iter()
        .map(|figure| figure.as_str().expect("a path"))
        .partition(|path| path.ends_with(".png"));
    for path in &drawn {
        let picture = page(&place, path);
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>"));
    }
    for path in &pixels {
        let picture = fs::read(place.path(path)).expect("a picture");
        assert!(picture.starts_with(b"\x89PNG") && picture.len() > 2000, "{path}");
    }
    let page = page(&place, "out.html");
    assert_eq!(page.matches("<figure").count(), drawn.len());
    assert_eq!(page.matches("<figure").count(), pixels.len());
    for words in
        ["linear regression of y on 2 inputs", "R-hat", "residual_scale", "the fitted surface"]
    {
        assert!(page.contains(words), "{words}");
    }
    let page = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!page.contains("http:") && !page.contains("https:"));
    assert_eq!(place.names(), ["out.html", "pictures", "run"]);
}

#[test]
fn a_bad_run_says_so_first_and_is_an_error_if_strict() {
    let place = with_run();
    let short =
        "fit data.csv --target y --inputs a b --chains 2 --warmup 0 --draws 5 -q --out short";
    assert_eq!(place.call(short).code, 0);
    let strict = place.call("report run short -o both.html --strict -q");
    assert_eq!(strict.code, 3, "{}", strict.stderr);
    let page = page(&place, "both.html");
    let at = |words: &str| page.find(words).unwrap_or_else(|| panic!("{words} is missing"));
    assert!(at("do not trust") < at("<svg"));
    let part = &page[at("<h2>short</h2>")..];
    let verdict = part.find("Do not trust these results yet").expect("a verdict");
    assert!(verdict < part.find("<svg").expect("a figure"));
    assert!(part.contains("draw longer"));
}

#[test]
fn every_kind_of_prediction_has_its_figures() {
    let place = Place::new();
    let rows = (0..60).map(|i| {
        let x = f64::from(i % 20) / 10.0 - 1.0;
        let class = ["low", "high"][usize::from(x + 0.3 * f64::from(i % 7 - 3) > 0.0)];
        format!("{x},{},{},{class}\n", ["p", "q", "r"][i as usize % 3], 2.0 * x)
    });
    place.write("t.csv", format!("x,kind,y,class\n{}", rows.collect::<String>()));
    for (inputs, target, words) in [
        ("x", "y", "y against x: the data should fill the bands"),
        ("x", "class", "How P(low) depends on x"),
        ("x kind", "y", "kind changes y by"),
        ("x kind", "class", "class: are predicted probabilities right? (leave-one-out)"),
    ] {
        let fit = format!("fit t.csv --target {target} --inputs {inputs} {QUICK} --out r");
        assert_eq!(place.call(&fit).code, 0);
        assert_eq!(place.call("report r -q").code, 0);
        assert!(page(&place, "report.html").contains(words), "{words}");
        fs::remove_dir_all(place.path("r")).expect("removed");
    }
}

#[test]
fn names_of_columns_stay_text() {
    let place = Place::new();
    let rows: String = (0..30).map(|i| format!("{i},{}\n", 2 * i + i % 3)).collect();
    place.write("evil.csv", format!("<script>alert(1)</script>,\"a\"\" onload=\"\"x\"\n{rows}"));
    let fit = format!("fit evil.csv --target <script>alert(1)</script> {QUICK} --out run");
    assert_eq!(place.call(&fit).code, 0);
    assert_eq!(place.call("report run -q").code, 0);
    let page = page(&place, "report.html");
    assert_eq!(page.matches("<script>").count(), 1, "the page's own");
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;"));
}

#[test]
fn bad_paths_are_refused_and_nothing_is_written() {
    let place = with_run();
    place.write("file", "precious");
    let before = place.names();
    for (call, words) in [
        ("report run -o data.csv", &["data.csv", ".html"][..]),
        ("report run -o absent/r.html", &["absent", "make it"]),
        ("report absent -o r.html", &["absent"]),
        ("report run absent -o r.html", &["absent"]),
        ("report run -o r.html --figures file", &["file", "folder"]),
        ("report data.csv -o r.html", &["data.csv"]),
    ] {
        place.call(call).assert_refused(call, words);
    }
    fs::create_dir(place.path("d.html")).expect("a folder");
    place.call("report run -o d.html").assert_refused("a folder", &["is a folder"]);
    fs::remove_dir(place.path("d.html")).expect("removed");
    assert_eq!(place.names(), before);
}
