//! Write a page with every kind of section, of made-up numbers: `cargo run --example gallery -- FILE`.

use std::f64::consts::PI;
use std::process::ExitCode;

use posteria_report::figure::Kind;
use posteria_report::sections::*;
use posteria_report::{Level, Part, Report};

/// A repeatable source of numbers that look random: a linear congruence, good enough to look at.
struct Noise(u64);

impl Noise {
    fn uniform(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.uniform().ln()).sqrt() * (2.0 * PI * self.uniform()).cos()
    }

    fn normals(&mut self, count: usize) -> Vec<f64> {
        (0..count).map(|_| self.normal()).collect()
    }
}

fn main() -> ExitCode {
    let Some(path) = std::env::args().nth(1) else {
        return ExitCode::from(2);
    };
    let mut noise = Noise(7);
    let mut good = Part::new("runs/good");
    let reassurance = "No warnings: the chains agree and there are enough effective draws".into();
    let facts = [("draws", "4 chains of 1000 draws"), ("largest R-hat", "1.003")];
    let facts = facts.map(|(name, value)| (name.to_string(), value.to_string())).into();
    good.push(Verdict { doubts: Vec::new(), facts, reassurance }.section());
    let predictions = predictions(&mut noise);
    good.push(predictions.section());
    good.push(predictions.inputs_section());
    good.push(selection().section());
    good.push(utilities(&mut noise).section());
    good.push(evidence().section());
    good.push(densities(&mut noise).section());
    good.push(convergence(&mut noise, 0.0).section());
    good.push(model().section());
    let mut bad = Part::new("runs/<script>alert('bad')</script>");
    let weights = WeightReliability {
        pareto_shapes: (0..120)
            .map(|_| 0.15 + 0.2 * noise.normal() + 0.5 * noise.uniform().powi(4))
            .collect(),
        effective_sizes: (0..120).map(|_| 4000.0 * noise.uniform()).collect(),
        mass_of_largest: MassOfLargest {
            counts: vec![1, 4, 16, 64, 256, 1024, 4096],
            rows: (0..120)
                .map(|_| {
                    let steepness = 0.5 + noise.uniform().powi(4) * 20.0;
                    let share = |k: i32| 4_f64.powi(k) / 4096.0;
                    (0..7).map(|k| 1.0 - (1.0 - share(k)).powf(steepness)).collect()
                })
                .collect(),
        },
        draws: 4000,
    };
    let text = "the chains disagree: R-hat is 1.412 for residual_scale; draw longer, or look for \
                separate modes by running more chains";
    let mut doubts = vec![Doubt { level: Level::Bad, text: text.into() }];
    doubts.extend(weights.doubts());
    doubts.push(Doubt { level: Level::Doubtful, text: "3 row(s) were dropped".into() });
    bad.push(Verdict { doubts, ..Verdict::default() }.section());
    bad.push(convergence(&mut noise, 1.5).section());
    bad.push(weights.section());
    let report = Report { title: "Every kind of section".into(), parts: vec![good, bad] };
    match std::fs::write(path, report.html()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn model() -> Model {
    let words = "normal, variance inverse gamma about 0.05² with 0.5 degrees of freedom";
    Model {
        summary: "mlp regression of strength on 8 inputs, 1030 rows".into(),
        parts: vec![("input weights".into(), words.into()), ("residual".into(), words.into())],
        columns: ["strength", "cement", "age"]
            .map(|name| ColumnFacts {
                name: name.into(),
                role: "input".into(),
                numbers: [35.8, 16.7, 2.33, 82.6],
                words: String::new(),
            })
            .into(),
        found: Vec::new(),
        prior: None,
    }
}

fn convergence(noise: &mut Noise, shift: f64) -> Convergence {
    let names = ["residual_scale", "log_density", "relevance[cement]"];
    let trace = |(index, name): (usize, &&str)| {
        let mut chain = |c: usize| -> Vec<f64> {
            let walk = noise.normals(1000).into_iter().map(|z| z + shift * c as f64);
            if index == 1 {
                walk.map(|z| -1400.0 + 8.0 * z).collect()
            } else {
                walk.map(|z| (0.2 * z).exp()).collect()
            }
        };
        Trace {
            name: name.to_string(),
            kind: if index == 1 { Kind::Linear } else { Kind::Log },
            chains: (0..4).map(&mut chain).collect(),
            diverging: if shift > 0.0 { vec![[0, 100], [1, 300]] } else { Vec::new() },
            r_hat: 1.001 + shift / 4.0,
        }
    };
    let traces = names.iter().enumerate().map(trace).collect();
    let facts = |index: usize| {
        let block = ["fitted", "relevance", "residual_scale", "log_density"][(index / 40).min(3)];
        VariableFacts {
            name: format!("{block}[{index}]"),
            block: block.into(),
            mean: 12.3,
            sd: 0.5,
            interval: [11.4, 13.2],
            mcse_mean: 0.01,
            ess_bulk: 900.0 + 2000.0 * noise.uniform(),
            ess_tail: 800.0 + 2000.0 * noise.uniform(),
            r_hat: 1.0 + 0.004 * noise.uniform() + shift * 0.3 * noise.uniform().powi(3),
        }
    };
    Convergence {
        variables: (0..140).map(facts).collect(),
        traces,
        chains: vec![
            ChainFacts {
                divergences: 2,
                energy_fraction: 0.9,
                acceptance: 0.8,
                step_size: 0.1,
                steps: 20.0
            };
            4
        ],
        r_hat_limit: 1.01,
        needed: 400.0,
        interval: ["hdi_3%".into(), "hdi_97%".into()],
        notes: Vec::new(),
        ..Convergence::default()
    }
}

fn predictions(noise: &mut Noise) -> Predictions {
    let x: Vec<f64> = (0..121).map(|i| -3.0 + 0.05 * f64::from(i)).collect();
    let centre: Vec<f64> = x.iter().map(|x| 30.0 + 8.0 * (1.5 * x).sin()).collect();
    let band = |probability: f64, width: f64| Band {
        probability,
        low: centre.iter().map(|y| y - width).collect(),
        high: centre.iter().map(|y| y + width).collect(),
    };
    let across: Vec<f64> = noise.normals(150);
    let up: Vec<f64> =
        across.iter().map(|x| 30.0 + 8.0 * (1.5 * x).sin() + 2.0 * noise.normal()).collect();
    let predicted: Vec<f64> = up.iter().map(|y| y + 2.0 * noise.normal()).collect();
    let grid: Vec<f64> = (0..45).map(|i| -3.0 + 6.0 * f64::from(i) / 44.0).collect();
    let over = |f: fn(f64, f64) -> f64| -> Vec<f64> {
        grid.iter().flat_map(|y| grid.iter().map(move |x| f(*x, *y))).collect()
    };
    let points = |name: &str, noise: &mut Noise, at: f64| PointSet {
        name: name.into(),
        x: noise.normals(80).iter().map(|z| at + z).collect(),
        y: noise.normals(80),
        ..PointSet::default()
    };
    let surface = |output: &str, values, is_probability, points| Surface {
        inputs: ["first input".into(), "second input".into()],
        output: output.into(),
        x: grid.clone(),
        y: grid.clone(),
        values,
        is_probability,
        boundary: if is_probability { 0.5 } else { f64::NAN },
        points,
        ..Surface::default()
    };
    let probability: Vec<f64> = over(|x, y| 1.0 / (1.0 + (-2.0 * x - y.powi(2) / 2.0 + 0.8).exp()));
    let observed: Vec<usize> = (0..300).map(|_| usize::from(noise.uniform() < 0.4)).collect();
    let probabilities = observed.iter().map(|class| {
        let p = (0.25 + 0.5 * *class as f64 + 0.2 * noise.normal()).clamp(0.01, 0.99);
        vec![1.0 - p, p]
    });
    let classified = ClassifiedRows {
        target: "kind".into(),
        labels: vec!["plain".into(), "spotted".into()],
        probabilities: probabilities.collect(),
        observed: observed.clone(),
        ..ClassifiedRows::default()
    };
    let effect = |name: &str, classes: Vec<String>| {
        let count = if classes.is_empty() { 15 } else { classes.len() };
        let x: Vec<f64> = (0..count).map(|i| i as f64).collect();
        let mean: Vec<f64> = x.iter().map(|x| 30.0 + 3.0 * x.sqrt()).collect();
        let end = |by: f64| mean.iter().map(|y| y + by).collect();
        Effect {
            input: name.into(),
            output: "strength".into(),
            interval: [end(-2.0), end(2.0)],
            values: x.clone(),
            range: [25.0, 45.0],
            x,
            classes,
            mean: mean.clone(),
            ..Effect::default()
        }
    };
    Predictions {
        note: "Predicted by 400 evenly chosen draws: the 150 rows of the fit.".into(),
        curves: vec![Curve {
            input: "time".into(),
            output: "strength".into(),
            centre: centre.clone(),
            centre_name: "median".into(),
            bands: vec![band(0.9, 3.3), band(0.5, 1.4)],
            observed: [across, up.clone()],
            is_probability: false,
            x,
            ..Curve::default()
        }],
        surfaces: vec![
            surface(
                "strength",
                over(|x, y| (1.3 * x).sin() * y.cos()),
                false,
                vec![points("data", noise, 0.0)],
            ),
            surface(
                "P(spotted)",
                probability,
                true,
                vec![points("plain", noise, -1.0), points("spotted", noise, 1.3)],
            ),
        ],
        fitted: vec![FittedRows {
            target: "strength".into(),
            interval: [
                predicted.iter().map(|y| y - 3.3).collect(),
                predicted.iter().map(|y| y + 3.3).collect(),
            ],
            observed: up,
            predicted,
            basis: Basis::LeaveOneOut,
            ..FittedRows::default()
        }],
        classified: vec![classified.clone()],
        calibrated: vec![classified],
        effects: vec![
            effect("cement", Vec::new()),
            effect("colour", vec!["red".into(), "green".into(), "blue".into()]),
        ],
        ..Predictions::default()
    }
}

fn densities(noise: &mut Noise) -> Densities {
    let sample = |noise: &mut Noise, name: &str, at: f64| Sample {
        name: name.into(),
        draws: noise.normals(4000).iter().map(|z| at * (0.4 * z).exp()).collect(),
    };
    let inputs =
        [("age", 3.0), ("cement", 1.5), ("water", 0.8), ("superplasticiser of a long name", 0.1)];
    Densities {
        groups: vec![
            DensityGroup {
                title: "Noise: how far targets scatter about the function".into(),
                label: "scale, in the unit of the target".into(),
                kind: Kind::Log,
                samples: vec![sample(noise, "residual_scale", 2.0)],
                ..DensityGroup::default()
            },
            DensityGroup {
                title: "Relevance of inputs: the more, the stronger the function bends".into(),
                label: "prior scale of the weights".into(),
                kind: Kind::Log,
                samples: inputs.map(|(name, at)| sample(noise, name, at)).into(),
                ..DensityGroup::default()
            },
        ],
    }
}

fn utilities(noise: &mut Noise) -> Utilities {
    let models = ["linear", "mlp", "gp"];
    let utility = |(index, model): (usize, &&str)| {
        let mean = -1.2 + 0.2 * index as f64;
        Utility {
            name: "elpd".into(),
            model: model.to_string(),
            mean,
            sd: 0.08,
            interval: [mean - 0.13, mean + 0.13],
            draws: noise.normals(1000).iter().map(|z| mean + 0.08 * z).collect(),
            is_cost: false,
        }
    };
    Utilities {
        method: "By leave-one-out with importance weights.".into(),
        utilities: models.iter().enumerate().map(utility).collect(),
        comparisons: vec![Comparison {
            utility: "elpd".into(),
            models: models.map(String::from).into(),
            probability_better: vec![
                vec![0.5, 0.04, 0.01],
                vec![0.96, 0.5, 0.12],
                vec![0.99, 0.88, 0.5],
            ],
        }],
    }
}

fn evidence() -> Evidence {
    let point = |index: i32| {
        let beta = (f64::from(index) / 15.0).powi(3);
        let value = -40.0 - 160.0 * (-6.0 * beta).exp();
        PathPoint { inverse_temperature: beta, forward: [value, 2.0], backward: [value + 1.0, 2.0] }
    };
    let models = [("linear", -812.0, 0.03), ("mlp", -809.0, 0.62), ("gp", -809.6, 0.35)];
    Evidence {
        method: "path sampling".into(),
        log_evidence: -809.12,
        mcse: 0.21,
        refusal: String::new(),
        path: (0..=15).map(point).collect(),
        models: models
            .map(|(name, log_evidence, probability)| ModelEvidence {
                name: name.into(),
                log_evidence,
                probability,
            })
            .into(),
    }
}

fn selection() -> Selection {
    let inputs =
        [("age", 1.0), ("cement", 1.0), ("water", 0.83), ("ash", 0.31), ("fine aggregate", 0.07)];
    let sizes = [0.0, 0.0, 0.1, 0.55, 0.3, 0.05];
    let models = [
        ([true, true, true, false, false], 0.5),
        ([true, true, true, true, false], 0.25),
        ([true, true, false, false, false], 0.1),
    ];
    Selection {
        inputs: inputs
            .map(|(name, probability)| InputFacts {
                name: name.into(),
                probability,
                sd: 0.03,
                prior: 0.5,
                comparison: 0.6 * probability,
                relevance: 0.4,
                loss: f64::NAN,
            })
            .into(),
        sizes: sizes
            .iter()
            .enumerate()
            .map(|(size, probability)| SizeFacts {
                size,
                probability: *probability,
                prior: 1.0 / 6.0,
            })
            .collect(),
        models: models
            .map(|(is_in, probability)| ModelFacts { is_in: is_in.into(), probability })
            .into(),
        utilities: (1..6)
            .map(|size| {
                let mean = -1.0 - 1.0 / f64::from(size as i32).powi(3);
                UtilityOfSize { size, mean, interval: [mean - 0.1, mean + 0.1] }
            })
            .collect(),
        utility_name: "mean log predictive density".into(),
        full_utility: -1.0,
        chosen: vec!["age".into(), "cement".into(), "water".into()],
        nested: Some(NestedFacts { folds: 5, utility: [-1.08, 0.05], optimism: [0.03, 0.02] }),
    }
}
