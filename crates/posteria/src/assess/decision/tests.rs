//! Check decisions against arithmetic by hand.

use super::*;
use crate::assess::TargetFacts;
use crate::density::checks::assert_relative;
use crate::predict::Family;

fn classes(labels: &[&str]) -> TargetFacts {
    TargetFacts::Classes { labels: labels.iter().map(|label| label.to_string()).collect() }
}

fn real(count: usize) -> TargetFacts {
    let names = (1..=count).map(|k| format!("t{k}")).collect();
    TargetFacts::Real { names, deviations: vec![1.0; count] }
}

fn words(all: &[&str]) -> Vec<String> {
    all.iter().map(|word| word.to_string()).collect()
}

/// Columns in another order than the classes.
const TABLE: &str = "action,sick,healthy\nhealthy,100,0\nsick,0,10\nask,5,4\n";

fn probability_of_sick(p: f64) -> [f64; 1] {
    [(p / (1.0 - p)).ln()]
}

#[test]
fn the_least_expected_cost_is_chosen() {
    let costs = Costs::from_table("c.csv", TABLE, &classes(&["healthy", "sick"])).unwrap();
    assert_eq!(costs.actions(), ["healthy", "sick", "ask"]);
    assert_relative(costs.cost(0, 1.0), 100.0, 1e-15);
    // Expected: healthy 100p, sick 10(1 - p), ask 4 + p.
    for (p, action, cost) in [(0.01, 0, 1.0), (0.2, 2, 4.2), (0.7, 1, 3.0)] {
        let parameters = probability_of_sick(p);
        let predictive = Predictive::new(Family::Bernoulli, &parameters);
        let decision = costs.decide(&predictive, Rule::Expected);
        assert_eq!(decision.action, action, "{p}");
        assert_relative(decision.expected_cost, cost, 1e-12);
        assert!(decision.worst_cost.is_none());
        // The worst that may come: ask, unless one class is out of the question.
        let minimax = costs.decide(&predictive, Rule::MINIMAX);
        assert_eq!(minimax.action, 2, "{p}");
        assert_relative(minimax.worst_cost.expect("minimax"), 5.0, 1e-12);
        assert_relative(minimax.expected_cost, 4.0 + p, 1e-12);
    }
    let parameters = probability_of_sick(0.001);
    let healthy = Predictive::new(Family::Bernoulli, &parameters);
    assert_eq!(costs.decide(&healthy, Rule::MINIMAX).action, 0);
    let plain = costs.decide(&healthy, Rule::Minimax { negligible: 0.0 });
    assert_eq!(plain.action, 2);
    // What it costs in fact.
    let utility = ActionCost::new(costs, Rule::Expected);
    assert_relative(utility.evaluate(&healthy, &[1.0]), 100.0, 1e-15);
    assert!(utility.evaluate(&healthy, &[0.0]).abs() < 1e-15);
    assert_eq!((utility.name(), utility.better()), ("cost", Better::Lower));
}

#[test]
fn a_formula_makes_the_same_matrix() {
    let targets = classes(&["healthy", "sick"]);
    let text = "if(a == ask, if(y == sick, 5, 4), if(a == y, 0, if(y == sick, 100, 10)))";
    let by_formula = Costs::from_formula(text, &targets, &words(&["healthy", "sick", "ask"]));
    assert_eq!(by_formula.unwrap(), Costs::from_table("c.csv", TABLE, &targets).unwrap());
    let zero_one = Costs::from_formula("a != y", &targets, &[]).unwrap();
    assert_eq!(zero_one.actions(), ["healthy", "sick"]);
    let parameters = probability_of_sick(0.3);
    let decision =
        zero_one.decide(&Predictive::new(Family::Bernoulli, &parameters), Rule::Expected);
    assert_eq!(decision.action, 0);
    assert_relative(decision.expected_cost, 0.3, 1e-12);
}

#[test]
fn numbers_are_integrated() {
    let family = Family::Normal { outputs: 1 };
    let predictive = Predictive::new(family, &[3.0, 2.0]);
    // Quadratic: variance + bias².
    let actions = words(&["0", "2.5", "4"]);
    let squared = Costs::from_formula("(y - a)^2", &real(1), &actions).unwrap();
    let decision = squared.decide(&predictive, Rule::Expected);
    assert_eq!(decision.action, 1);
    assert_relative(decision.expected_cost, 4.0 + 0.25, 2e-4);
    // Newsvendor: 1 per unit too many, 3 per unit too few; E|y - a| pieces of a normal variable.
    let text = "if(y > a, 3 * (y - a), a - y)";
    let vendor = Costs::from_formula(text, &real(1), &words(&["3", "4.349", "7"])).unwrap();
    let decision = vendor.decide(&predictive, Rule::Expected);
    assert_eq!(decision.action, 1);
    // At the ¾ quantile the expected cost is 4 σ φ(z), z = 0.6745.
    let z: f64 = 0.674_489_750_196_081_7;
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    assert_relative(decision.expected_cost, 8.0 * density, 1e-3);
    // A jump, at a place of no cell's end: P(y > 4) = 0.3085.
    let jump = Costs::from_formula("y > a", &real(1), &words(&["4"])).unwrap();
    let found = jump.decide(&predictive, Rule::Expected).expected_cost;
    assert!((found - 0.308_537_5).abs() < 0.005, "{found}");
    // The worst of the central 99 %: 2.576 sd away.
    let worst = squared.decide(&predictive, Rule::MINIMAX);
    assert_eq!(worst.action, 1);
    assert_relative(worst.worst_cost.expect("minimax"), (2.0 * 2.575_829_3 + 0.5f64).powi(2), 1e-5);
    // A prediction without width is a point.
    let point = Predictive::new(family, &[3.0, 1e-300]);
    assert_relative(squared.decide(&point, Rule::Expected).expected_cost, 0.25, 1e-9);
    // What is not a number is the last choice.
    let odd =
        Costs::from_formula("if(a == wait, 1, log(y - 100))", &real(1), &words(&["go", "wait"]));
    let decision = odd.unwrap().decide(&predictive, Rule::Expected);
    assert_eq!(decision.action, 1);
    assert_relative(decision.expected_cost, 1.0, 1e-9);
}

#[test]
fn tables_are_refused_by_place() {
    let targets = classes(&["healthy", "sick"]);
    for (text, says) in [
        ("", "no column for class \"healthy\""),
        ("action,healthy,sick\n", "no actions"),
        ("action,healthy\nx,1\n", "no column for class \"sick\""),
        (
            "action,healthy,sck\nx,1,2\n",
            "c.csv:1:3: there is no class \"sck\" (did you mean \"sick\"?)",
        ),
        ("action,sick,healthy,sick\n", "c.csv:1:4: class \"sick\" has a column"),
        ("action,healthy,sick\nx,1,2\nx,3,4\n", "c.csv:3: action \"x\""),
        ("action,healthy,sick\nx,1\n", "c.csv:2: 2 cells where the header has 3"),
        (
            "action,healthy,sick\nx,1,two\n",
            "c.csv:2:3: the cost of action \"x\" for class \"sick\" is \"two\"",
        ),
        ("action,healthy,sick\nx,1,inf\n", "no finite number"),
    ] {
        let error = Costs::from_table("c.csv", text, &targets).expect_err(text).to_string();
        assert!(error.contains(says), "{text:?}: {error}");
    }
    let tabs = Costs::from_table("c.tsv", "act\thealthy\tsick\nx y\t1\t2\n", &targets);
    assert_eq!(tabs.unwrap().actions(), ["x y"]);
    for (error, says) in [
        (Costs::from_table("c", TABLE, &real(1)).expect_err("numbers"), "is for classes"),
        (Costs::from_formula("y", &real(1), &[]).expect_err("no actions"), "needs the actions"),
        (Costs::from_formula("y", &real(2), &words(&["1"])).expect_err("two"), "there are 2"),
        (
            Costs::from_formula("mean", &real(1), &words(&["1"])).expect_err("mean"),
            "does not exist",
        ),
        (Costs::from_formula("y", &real(1), &words(&["1", "1"])).expect_err("twice"), "already"),
        (Costs::from_formula("1/(a == y)", &targets, &[]).expect_err("infinite"), "must be finite"),
    ] {
        assert!(error.to_string().contains(says), "{error}");
    }
}
