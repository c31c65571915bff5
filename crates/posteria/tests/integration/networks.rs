//! Networks of every kind on small datasets.

use posteria::data::{Dataset, Standardization, Targets};
use posteria::model::mlp::{Mlp, MlpPosterior};
use posteria::model::spec::{ModelKind, Spec};
use posteria::random::{Purpose, Seed};
use posteria_linalg::Matrix;

use crate::tables::inputs;

/// A name, what is observed, and the specification after `[model]`.
const CASES: [(&str, Kind, &str); 12] = [
    ("normal", Kind::Real(1), ""),
    ("normal without hidden units", Kind::Real(1), "hidden = 0"),
    ("Student-t", Kind::Real(1), "[residual]\nfamily = 'student-t'"),
    (
        "Student-t, any degrees of freedom, priors of other families",
        Kind::Real(1),
        "direct = true\n[residual]\nfamily = 'student-t'\ndof = 'continuous'\n\
         [prior.input_weights]\nfamily = 'student-t'\nweight_dof = 'unknown'\n\
         [prior.output_weights]\nfamily = 'laplace'\nscale = 0.3\ndof = 'unknown'",
    ),
    ("Laplace, hmc", Kind::Real(1), "[residual]\nfamily = 'laplace'\n[sampling]\nkernel = 'hmc'"),
    ("per case", Kind::Real(1), "[residual]\nfamily = 'per-case'"),
    ("by groups, nuts", Kind::Real(1), "[residual]\nby = ['x0']\n[sampling]\nkernel = 'nuts'"),
    ("several targets", Kind::Real(2), "direct = true\n[residual]\nsharing = 'common'"),
    ("covariance", Kind::Real(2), "[residual]\nsharing = 'covariance'"),
    ("binary", Kind::Classes(2), ""),
    (
        "binary, hmc",
        Kind::Classes(2),
        "[sampling]\nkernel = 'hmc'\nwindow = 3\npersistence = 0.9\nleapfrog_steps = 10",
    ),
    ("classes", Kind::Classes(3), "direct = true"),
];

#[derive(Clone, Copy)]
enum Kind {
    Real(usize),
    Classes(usize),
}

/// One network of every kind, by name.
pub fn networks() -> Vec<(String, MlpPosterior)> {
    let build = |(name, kind, text): &(&str, Kind, &str)| {
        let hidden = if text.starts_with("hidden") { "" } else { "hidden = 3\n" };
        let text = format!("[model]\n{hidden}{text}");
        let mut spec = Spec::from_toml(&text).expect("a valid file");
        spec.model.kind = ModelKind::Mlp;
        let model = Mlp::new(&spec).expect("a valid specification");
        let posterior = model.condition(&dataset(*kind), None).expect("data that fit the model");
        ((*name).to_string(), posterior)
    };
    CASES.iter().map(build).collect()
}

/// Eighteen rows; the first input has two values.
fn dataset(kind: Kind) -> Dataset {
    let mut stream = Seed(9).stream(Purpose::Data, [0, 0]);
    let normal = inputs(18, 2, &mut stream);
    let inputs =
        Matrix::from_fn(18, 2, |i, k| if k == 0 { (i % 2) as f64 - 0.5 } else { normal[(i, 1)] });
    let signal = |i: usize| (2.0 * inputs[(i, 1)]).sin() + inputs[(i, 0)];
    let (targets, count) = match kind {
        Kind::Real(count) => {
            let value = |i: usize, o: usize| signal(i) * (o as f64 + 1.0) + 0.3 * stream.normal();
            let names = (0..count).map(|o| format!("y{o}")).collect();
            let values = Matrix::from_fn(18, count, value);
            (Targets::Real { names, values }, count)
        }
        Kind::Classes(count) => {
            let code = |i: usize| {
                let noisy = signal(i) + 0.3 * stream.normal();
                ((noisy + 1.0).max(0.0) * count as f64 / 2.0).min(count as f64 - 1.0) as usize
            };
            let codes = (0..18).map(code).collect();
            let labels = (0..count).map(|class| format!("class {class}")).collect();
            (Targets::Classes { name: "y".into(), labels, codes }, 0)
        }
    };
    Dataset {
        target_scaling: vec![Standardization { centre: 1.0, scale: 2.0 }; count],
        ..Dataset::unscaled(inputs, targets)
    }
}
