//! Check formulas against arithmetic, and that no text does harm.

use proptest::prelude::*;

use super::super::TargetFacts;
use super::*;

/// Targets 7 and 2, mean 1 and 2, sd 0.5, median 3, classes by code.
struct Row {
    class: f64,
    action: f64,
}

impl Facts for Row {
    fn fact(&self, fact: Fact) -> f64 {
        match fact {
            Fact::Observed(0) if self.class >= 0.0 => self.class,
            Fact::Observed(target) => [7.0, 2.0][target],
            Fact::Mean(target) => (target + 1) as f64,
            Fact::Sd(_) => 0.5,
            Fact::Median(_) => f64::NAN,
            Fact::LogDensity => -1.5,
            Fact::MostProbable => 2.0,
            Fact::Action => self.action,
            Fact::Censored | Fact::Aggregate(_) => f64::NAN,
        }
    }
    fn quantile(&self, target: usize, probability: f64) -> f64 {
        100.0 * (target + 1) as f64 * probability
    }
    fn cdf(&self, target: usize, value: f64) -> f64 {
        value / 10.0 + target as f64
    }
    fn probability(&self, class: usize) -> f64 {
        [0.2, 0.3, 0.5][class]
    }
}

fn names(all: &[&str]) -> Vec<String> {
    all.iter().map(|name| name.to_string()).collect()
}

fn real(all: &[&str]) -> TargetFacts {
    TargetFacts::Real { names: names(all), deviations: vec![1.0; all.len()] }
}

fn classes(all: &[&str]) -> TargetFacts {
    TargetFacts::Classes { labels: names(all) }
}

fn value(text: &str, targets: &TargetFacts, class: f64) -> f64 {
    let formula = Formula::parse(text, &Scope::prediction(targets));
    formula.unwrap_or_else(|error| panic!("{error}")).evaluate(&Row { class, action: f64::NAN })
}

#[track_caller]
fn same(found: f64, expected: f64) {
    let same = (found - expected).abs() <= 1e-12 * expected.abs();
    assert!(same || (found.is_nan() && expected.is_nan()), "found {found}, expected {expected}");
}

#[test]
fn arithmetic_is_as_on_paper() {
    let one = real(&["t"]);
    for (text, expected) in [
        ("1 + 2*3^2", 19.0),
        ("-2^2", -4.0),
        ("2^3^2", 512.0),
        ("2^-1", 0.5),
        ("8 - 4 - 2", 2.0),
        ("16/4/2", 2.0),
        ("-(1 + .5e1) * 2", -12.0),
        ("1 < 2 and not 3 <= 2 or 0", 1.0),
        ("1 or 0 and 0", 1.0),
        ("not 1 == 1", 0.0),
        ("(1 < 2) + (2 != 2) + (3 >= 3)", 2.0),
        ("if(y > 5, y - mean, 1/0)", 6.0),
        ("if(y < 5, 1, if(sd > 0, 2, 3)) + 10", 12.0),
        ("min(3, 1, 2) + max(1, 5) + pow(2, 3)", 14.0),
        ("abs(-3) + sqrt(16) + log(exp(2)) + floor(1.7) + ceil(1.2) + round(2.6) + sign(-4)", 14.0),
        ("sign(0)", 0.0),
        ("y + mean + sd + log_density", 7.0),
        ("q(0.9) - q(.1) + cdf(y)", 80.7),
        ("y(1) + q(0.5, t)", 57.0),
        ("+-+5", -5.0),
        // Not a number stays: it decides nothing.
        ("if(median > 1, 1, 2)", f64::NAN),
        ("median > 1 or 1", f64::NAN),
        ("min(median, 1)", f64::NAN),
        ("max(1, median)", f64::NAN),
        ("not median", f64::NAN),
    ] {
        same(value(text, &one, -1.0), expected);
    }
    let two = real(&["left", "right arm"]);
    same(value("y(2) * 10 + mean(\"right arm\") + y(left) + q(0.5, 2)", &two, -1.0), 129.0);
}

#[test]
fn classes_are_compared_and_have_probabilities() {
    let colours = classes(&["blue", "light blue", "red"]);
    for (text, expected) in [
        ("y == \"light blue\"", 1.0),
        ("y != 'blue' and class == y", 1.0),
        ("red == most_probable", 1.0),
        ("prob(blue) + prob(\"light blue\")", 0.5),
        ("prob(y)", 0.3),
        ("if(most_probable == y, 0, if(y == blue, 5, 1))", 1.0),
        ("log_density", -1.5),
    ] {
        same(value(text, &colours, 1.0), expected);
    }
    let numbers = classes(&["0", "1", "10"]);
    for (text, expected) in [
        ("(y - prob(1))^2", 9.7 * 9.7),
        ("y == 10", 1.0),
        ("10 == y", 1.0),
        ("y > most_probable - 1", 1.0),
        ("y < if(1, 20, 3)", 1.0),
        ("if(1, 20, 3) > y", 1.0),
        ("prob(10) + y", 10.5),
    ] {
        same(value(text, &numbers, 2.0), expected);
    }
}

#[test]
fn costs_know_the_target_and_the_action() {
    let cost = |text: &str, targets: &TargetFacts, actions: &[&str], chosen: usize, class: f64| {
        let scope = Scope::cost(targets, &names(actions));
        let formula = Formula::parse(text, &scope).unwrap_or_else(|error| panic!("{error}"));
        formula.evaluate(&Row { class, action: scope.action_values()[chosen] })
    };
    let (one, colours) = (real(&["t"]), classes(&["blue", "red"]));
    same(cost("abs(y - a)", &one, &["1", "2.5"], 1, -1.0), 4.5);
    same(cost("if(action == buy, 10 - y, 0)", &one, &["buy", "wait"], 0, -1.0), 3.0);
    same(cost("if(action == buy, 10 - y, 0)", &one, &["buy", "wait"], 1, -1.0), 0.0);
    let text = "if(a == \"?\", .3, a != y)";
    for (chosen, class, expected) in [(0, 0.0, 0.0), (0, 1.0, 1.0), (1, 1.0, 0.0), (2, 1.0, 0.3)] {
        same(cost(text, &colours, &["blue", "red", "?"], chosen, class), expected);
    }
    let refused = Formula::parse("mean - a", &Scope::cost(&one, &names(&["1"]))).unwrap_err();
    assert!(refused.to_string().contains("does not exist"), "{refused}");
}

#[test]
fn errors_point_at_the_place() {
    let (one, two) = (real(&["t"]), real(&["u", "v"]));
    let colours = classes(&["blue", "red"]);
    for (text, targets, column, says) in [
        ("abs(maen - y)", &one, 5, "unknown name `maen` (did you mean `mean`?)"),
        ("1 +", &one, 4, "found the end"),
        ("", &one, 1, "found the end"),
        ("(1", &one, 3, "`)`"),
        ("1 2", &one, 3, "an operator or the end"),
        ("y = 3", &one, 3, "`==`"),
        ("y && 1", &one, 3, "`and`"),
        ("1 < y < 3", &one, 7, "`and` between two comparisons"),
        ("ü + 1", &one, 1, "unknown name `ü`"),
        ("1 + ü", &one, 5, "unknown name `ü`"),
        ("sqrt(1, 2)", &one, 1, "`sqrt` takes one number"),
        ("if(1, 2)", &one, 1, "if(y > 0, 1, 2)"),
        ("min(1)", &one, 1, "`min` takes two numbers"),
        ("abs + 1", &one, 1, "`abs` takes arguments"),
        ("q(1.5)", &one, 3, "no probability"),
        ("prob(blue)", &one, 1, "`prob` does not exist for these targets; there are y, mean"),
        ("y == \"blue\"", &one, 6, "a class can be compared"),
        ("mean + 1", &two, 1, "say which: `mean(1)`"),
        ("y(3)", &two, 3, "no target `3`"),
        ("y + 1", &colours, 1, "y == \"blue\""),
        ("y == \"bleu\"", &colours, 6, "did you mean `blue`?"),
        ("y < red", &colours, 5, "by == or !="),
        ("mean", &colours, 1, "there are y, class, most_probable, log_density, prob(class)"),
        ("\"blue", &colours, 1, "not closed"),
        ("1e999", &one, 1, "no finite number"),
        (".", &one, 1, "no finite number"),
    ] {
        let error = Formula::parse(text, &Scope::prediction(targets)).expect_err(text);
        assert!(error.message().contains(says), "{text}: {}", error.message());
        assert_eq!(error.column(), column, "{text}: {error}");
        let shown = error.to_string();
        let caret = shown.lines().last().unwrap();
        assert_eq!(caret.chars().count(), column + 2, "{shown}");
    }
}

#[test]
fn nothing_is_too_deep_or_too_long_to_refuse() {
    let scope = Scope::prediction(&real(&["t"]));
    let parse = |text: String| Formula::parse(&text, &scope);
    for text in ["(", "-", "not ", "2^", "abs(", "1+(", "if(1,", "max(1,", "1<("] {
        assert!(parse(text.repeat(4096 / text.len())).is_err(), "{text}");
        assert!(parse(text.repeat(100_000)).is_err(), "{text}");
    }
    // A long chain is not a deep one.
    let chain = parse(format!("0{}", "+y".repeat(2000))).expect("a chain");
    same(chain.evaluate(&Row { class: -1.0, action: 0.0 }), 14_000.0);
    // The deepest that is allowed uses the stack that there is.
    let deep = parse(format!("{}1{}", "1+2*3^(".repeat(20), ")".repeat(20)));
    assert!(
        deep.is_err() || deep.is_ok_and(|it| it.evaluate(&Row { class: -1.0, action: 0.0 }) > 0.0)
    );
}

fn pieces() -> impl Strategy<Value = String> {
    let words = [
        "y",
        "mean",
        "sd",
        "prob",
        "q",
        "if",
        "(",
        ")",
        ",",
        "+",
        "-",
        "*",
        "/",
        "^",
        "<",
        "==",
        "and",
        "or",
        "not",
        "1",
        ".5",
        "\"blue\"",
        "blue",
        "min",
        "abs",
        "class",
        "most_probable",
        " ",
        "cdf",
    ];
    proptest::collection::vec(proptest::sample::select(words.to_vec()), 0..40)
        .prop_map(|words| words.join(" "))
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        for targets in [real(&["t"]), real(&["u", "v"]), classes(&["blue", "1"]), TargetFacts::Absent] {
            match Formula::parse(&text, &Scope::prediction(&targets)) {
                Ok(formula) => { formula.evaluate(&Row { class: 0.0, action: 0.0 }); }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }

    #[test]
    fn no_sequence_of_words_panics(text in pieces()) {
        for targets in [real(&["t"]), classes(&["blue", "1"]), classes(&["0", "1"])] {
            let scopes = [Scope::prediction(&targets), Scope::cost(&targets, &names(&["blue", "z"]))];
            for scope in scopes {
                if let Ok(formula) = Formula::parse(&text, &scope) {
                    formula.evaluate(&Row { class: 0.0, action: 0.0 });
                }
            }
        }
    }
}

#[test]
fn statistics_are_of_all_rows() {
    let data = [3.0, 1.0, 2.0, 10.0];
    let of = |text: &str| Statistic::parse(text, &real(&["y"])).expect(text).of(&data);
    for (text, expected) in [
        ("mean(y)", 4.0),
        ("sum(y^2)", 114.0),
        ("min(y) + max(y)", 11.0),
        // Of two numbers, not of rows.
        ("min(mean(y), 1)", 1.0),
        ("median(y)", 2.5),
        ("quantile(y, 0.25)", 1.75),
        ("mean(y > 2 and y < 10)", 0.25),
        ("mean(abs(y - mean(y)))", 3.0),
        ("sd(y)", (50.0_f64 / 3.0).sqrt()),
        // Third moment (-1 - 27 - 8 + 216) / 4 over (50 / 4)^1.5.
        ("skewness(y)", 45.0 / 12.5_f64.powf(1.5)),
        // (-1)(-3) + (-3)(-2) + (-2)(6) over 50.
        ("autocorrelation(y)", -3.0 / 50.0),
        ("if(max(y) > 9, 1, 2)", 1.0),
    ] {
        same(of(text), expected);
    }
    let pairs = Statistic::parse("max(y(1) - y(\"b\"))", &real(&["a", "b"])).expect("a statistic");
    same(pairs.of(&[3.0, 1.0, 2.0, 10.0]), 2.0);
    let share = Statistic::parse("mean(y == \"red\")", &classes(&["blue", "red"]));
    same(share.expect("a share").of(&[0.0, 1.0, 1.0, 0.0, 1.0]), 0.6);
    for (text, part) in [
        ("y", "is of a row"),
        ("mean(y) + y", "is of a row"),
        ("quantile(y, 2)", "no probability"),
        ("quantile(y)", "takes a quantity of a row and a probability"),
        ("mean(y, 2)", "takes one quantity of a row"),
        ("avg(y)", "unknown name"),
        ("mean(sd)", "takes arguments"),
    ] {
        let error = Statistic::parse(text, &real(&["y"])).expect_err(text).to_string();
        assert!(error.contains(part), "{text}: {error}");
    }
    // Functions of all rows are not for utilities.
    assert!(Formula::parse("sum(y)", &Scope::prediction(&real(&["y"]))).is_err());
}
