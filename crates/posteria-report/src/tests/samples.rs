//! Sections of every kind, to be put into pages.

use crate::sections::*;
use crate::{Level, Section};

/// A section of every kind, made of one list of numbers and one name.
pub fn sections(numbers: &[f64], name: &str) -> Vec<Section> {
    let n = numbers.to_vec();
    let text = || name.to_string();
    let half = numbers.len() / 2;
    let codes: Vec<usize> = n.iter().map(|v| usize::from(*v > 0.0)).collect();
    let classified = ClassifiedRows {
        model: text(),
        target: text(),
        labels: vec![text(), "other".into()],
        observed: codes,
        probabilities: n.iter().map(|v| vec![1.0 - v, *v]).collect(),
        basis: Basis::LeaveOneOut,
    };
    let convergence = Convergence {
        variables: n
            .iter()
            .map(|v| VariableFacts {
                name: text(),
                block: text(),
                r_hat: *v,
                sd: *v,
                mean: *v,
                ..Default::default()
            })
            .collect(),
        traces: vec![Trace {
            name: text(),
            chains: vec![n.clone(), n[..half].to_vec()],
            diverging: vec![[0, 0], [9, 9]],
            r_hat: 1.4,
            ..Default::default()
        }],
        pairs: vec![Pair {
            names: [text(), text()],
            draws: [n.clone(), n.clone()],
            diverging: n.iter().map(|v| *v > 0.8).collect(),
            ..Default::default()
        }],
        energy: Some(Energy { marginal: n.clone(), transition: n.clone(), fraction: 0.9 }),
        disagreement: Some(Disagreement {
            verdict: text(),
            chains: n
                .iter()
                .map(|v| ChainOnRows { elpd: *v, below_best: [*v; 2], ..ChainOnRows::default() })
                .collect(),
            note: text(),
        }),
        chains: vec![ChainFacts { divergences: 3, ..Default::default() }],
        r_hat_limit: 1.01,
        needed: 400.0,
        interval: [text(), text()],
        notes: vec![text()],
    };
    let sample = |draws: &[f64]| Sample { name: text(), draws: draws.to_vec() };
    let group =
        |samples| DensityGroup { title: text(), label: text(), samples, ..Default::default() };
    let band = Band { probability: 0.9, low: n.clone(), high: n.clone() };
    let predictions = Predictions {
        note: text(),
        curves: [false, true]
            .map(|is_probability| Curve {
                model: text(),
                input: format!("{name} {is_probability}"),
                output: text(),
                x: n.clone(),
                centre: n.clone(),
                centre_name: text(),
                bands: vec![band.clone()],
                observed: [n.clone(), n.clone()],
                is_probability,
            })
            .into(),
        surfaces: [false, true]
            .map(|is_probability| Surface {
                model: text(),
                inputs: [text(), text()],
                output: text(),
                x: vec![0.0, 1.0, 2.0],
                y: vec![0.0, 1.0],
                values: (0..6).map(|i| n.get(i).copied().unwrap_or(f64::NAN)).collect(),
                is_probability,
                boundary: 0.5,
                points: vec![PointSet { name: text(), rows: vec![7], x: n.clone(), y: n.clone() }],
            })
            .into(),
        fitted: vec![FittedRows {
            target: text(),
            rows: vec![3],
            observed: n.clone(),
            predicted: n.clone(),
            interval: [n.clone(), n.clone()],
            ..Default::default()
        }],
        // One target of one model, another of two.
        pits: ["a", "b", "b"]
            .map(|target| Pit {
                model: text(),
                target: format!("{target} {name}"),
                at: n.clone(),
                difference: n.clone(),
                band: first_of(&n),
                histogram: n.clone(),
                histogram_band: [0.5, 1.5],
                coverage: first_of(&n),
                ..Default::default()
            })
            .into(),
        replicated: [vec![], vec![text(), "other".into()]]
            .map(|labels| Replicated {
                target: text(),
                labels,
                observed: n.clone(),
                tables: vec![n.clone(), n[..half].to_vec()],
            })
            .into(),
        classified: vec![classified.clone()],
        calibrated: vec![classified.clone(), classified],
        ranked: ["a", "b", "b"]
            .map(|target| RankedRows {
                model: text(),
                target: target.into(),
                class: text(),
                rates: n
                    .iter()
                    .map(|v| Rates {
                        threshold: *v,
                        true_positive: *v,
                        false_positive: *v,
                        precision: *v,
                    })
                    .collect(),
                ..Default::default()
            })
            .into(),
        effects: [vec![], vec![text(); n.len()]]
            .map(|classes| Effect {
                model: text(),
                input: format!("{name} {}", classes.len()),
                output: text(),
                x: n.clone(),
                classes,
                mean: n.clone(),
                interval: [n.clone(), n.clone()],
                values: n.clone(),
                range: [f64::NAN, 1.0],
            })
            .into(),
    };
    let utility = |model: &str| Utility {
        name: text(),
        model: model.into(),
        mean: n.first().copied().unwrap_or(f64::NAN),
        draws: n.clone(),
        ..Default::default()
    };
    let first = n.first().copied().unwrap_or(f64::NAN);
    let verdict = Verdict {
        doubts: vec![Doubt { level: Level::Bad, text: text() }],
        facts: vec![(text(), text())],
        reassurance: text(),
    };
    vec![
        verdict.section(),
        Model {
            summary: text(),
            parts: vec![(text(), text())],
            columns: vec![ColumnFacts {
                name: text(),
                role: text(),
                numbers: [first; 4],
                words: text(),
            }],
            found: vec![text()],
            prior: Some(PriorDraws {
                input: text(),
                output: text(),
                x: n.clone(),
                functions: vec![n.clone()],
                observed: [n.clone(), n.clone()],
                is_probability: false,
                sizes: vec![text()],
            }),
        }
        .section(),
        convergence.section(),
        Densities {
            groups: vec![group(vec![sample(&n)]), group(vec![sample(&n), sample(&n[..half])])],
        }
        .section(),
        predictions.section(),
        predictions.inputs_section(),
        ElpdForest {
            method: text(),
            models: n
                .iter()
                .map(|v| ElpdOfModel {
                    name: text(),
                    elpd: *v,
                    se: *v,
                    difference: -v,
                    difference_se: *v,
                    weight: *v,
                })
                .collect(),
            is_rough: false,
            doubts: vec![Doubt { level: Level::Doubtful, text: text() }],
        }
        .section(),
        Utilities {
            method: text(),
            utilities: vec![utility(""), utility("a"), utility("b")],
            comparisons: vec![Comparison {
                utility: text(),
                models: vec![text(), "b".into()],
                probability_better: vec![n.clone()],
            }],
        }
        .section(),
        WeightReliability {
            pareto_shapes: n.clone(),
            effective_sizes: n.clone(),
            mass_of_largest: MassOfLargest { counts: vec![1, 4], rows: vec![vec![0.1, 0.4]] },
            draws: 100,
        }
        .section(),
        Results {
            quantities: n
                .iter()
                .map(|v| Quantity {
                    name: format!("{name}: {name}"),
                    published: *v,
                    here: *v,
                    sd: v.abs(),
                })
                .collect(),
        }
        .section(),
        Evidence {
            method: text(),
            refusal: text(),
            log_evidence: first,
            mcse: first,
            path: n
                .iter()
                .map(|v| PathPoint {
                    inverse_temperature: *v,
                    forward: [*v; 2],
                    backward: [f64::NAN; 2],
                })
                .collect(),
            models: vec![
                ModelEvidence { name: text(), log_evidence: first, probability: first };
                2
            ],
        }
        .section(),
        Selection {
            inputs: n
                .iter()
                .map(|v| InputFacts {
                    name: text(),
                    probability: *v,
                    sd: *v,
                    prior: *v,
                    comparison: *v,
                    relevance: *v,
                    loss: *v,
                })
                .collect(),
            sizes: n.iter().map(|v| SizeFacts { size: 1, probability: *v, prior: *v }).collect(),
            models: vec![ModelFacts { is_in: vec![true], probability: first }],
            utilities: vec![UtilityOfSize { size: 1, mean: first, interval: [first; 2] }],
            utility_name: text(),
            full_utility: first,
            chosen: vec![text()],
            nested: Some(NestedFacts { folds: 2, utility: [first; 2], optimism: [first; 2] }),
        }
        .section(),
    ]
}

fn first_of(numbers: &[f64]) -> f64 {
    numbers.first().copied().unwrap_or(f64::NAN)
}
