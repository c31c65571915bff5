//! Name the models that are validated.

/// What is observed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// So many real targets.
    Real(usize),
    /// One of so many classes.
    Classes(usize),
}

/// A model by its name and specification.
#[derive(Clone, Debug)]
pub struct Model {
    pub name: String,
    pub kind: Kind,
    pub spec: String,
}

const TARGETS: [(&str, Kind, &str); 17] = [
    ("normal", Kind::Real(1), ""),
    ("t-known", Kind::Real(1), "family = 'student-t'\ndof = 4.0"),
    ("t-grid", Kind::Real(1), "family = 'student-t'"),
    ("t-continuous", Kind::Real(1), "family = 'student-t'\ndof = 'continuous'"),
    ("laplace", Kind::Real(1), "family = 'laplace'"),
    ("per-case", Kind::Real(1), "family = 'per-case'"),
    ("per-case-grid", Kind::Real(1), "family = 'per-case'\ndof = { grid = [2.0, 5.0, 20.0] }"),
    ("groups", Kind::Real(1), "by = ['x0']"),
    ("t-groups", Kind::Real(1), "by = ['x0']\nfamily = 'student-t'"),
    ("common", Kind::Real(2), "sharing = 'common'"),
    ("per-target", Kind::Real(2), "sharing = 'per-target'"),
    ("t-per-target", Kind::Real(2), "family = 'student-t'\nsharing = 'per-target'"),
    ("laplace-groups", Kind::Real(2), "by = ['x0']\nfamily = 'laplace'\nsharing = 'common'"),
    ("covariance", Kind::Real(2), "sharing = 'covariance'"),
    ("binary", Kind::Classes(2), ""),
    ("classes", Kind::Classes(3), ""),
    (
        "t-above",
        Kind::Real(1),
        "family = 'student-t'\ndof = { scale = 6.0, dof = 1.0, above = 2.0 }",
    ),
];

const KERNELS: [(&str, &str); 3] = [
    ("auto", ""),
    ("hmc", "kernel = 'hmc'\nleapfrog_steps = 30\nwindow = 5\npersistence = 0.9"),
    ("nuts", "kernel = 'nuts'"),
];

/// Input weights, hidden bias, output weights, direct weights; output bias of scale 1.
const PRIORS: [[&str; 4]; 4] = [
    [
        "sharing = 'per-input'\nscale = 0.8\ndof = 5.0\ntop_dof = 6.0",
        "scale = 0.8\ndof = 5.0",
        "scale = 1.0\ndof = 5.0",
        "sharing = 'per-input'\nscale = 0.5\ndof = 5.0",
    ],
    [
        "family = 'laplace'\nsharing = 'common'\nscale = 0.6\ndof = 5.0",
        "scale = 0.8\ndof = 5.0\ntop_dof = 6.0",
        "family = 'laplace'\nscale = 0.8\ndof = { grid = [4.0, 8.0, 16.0] }",
        "family = 'laplace'\nsharing = 'per-input'\nscale = 0.4\ndof = 5.0",
    ],
    [
        "family = 'student-t'\nweight_dof = 'unknown'\nsharing = 'per-input'\nscale = 0.7\n\
         dof = 5.0",
        "family = 'student-t'\nscale = 0.7\ndof = 5.0",
        "family = 'student-t'\nweight_dof = { grid = [2.0, 5.0, 15.0] }\nscale = 0.8\ndof = 5.0",
        "family = 'student-t'\nsharing = 'common'\nscale = 0.4\ndof = 5.0\ntop_dof = 6.0",
    ],
    ["fixed = 0.8", "fixed = 0.9", "fixed = 0.7", "fixed = 0.5"],
];

/// All combinations that exist.
pub fn all() -> Vec<Model> {
    let mut models = Vec::new();
    for (target, kind, residual) in TARGETS {
        for (kernel, sampling) in KERNELS {
            if target == "covariance" && kernel != "auto" {
                continue;
            }
            for (number, priors) in PRIORS.iter().enumerate() {
                if target == "covariance" && (number == 1 || number == 2) {
                    continue; // Output weights must be normal.
                }
                let mut spec = "[model]\nhidden = 4\ndirect = true\n".to_string();
                let groups = ["input_weights", "hidden_bias", "output_weights", "direct_weights"];
                for (group, lines) in groups.iter().zip(priors) {
                    spec += &format!("[prior.{group}]\n{lines}\n");
                }
                if let Kind::Real(_) = kind {
                    spec += &format!("[residual]\nscale = 0.5\nscale_dof = 5.0\n{residual}\n");
                }
                spec += &format!("[sampling]\n{sampling}\n");
                models.push(Model { name: format!("{target}/{kernel}/{number}"), kind, spec });
            }
        }
    }
    models
}
