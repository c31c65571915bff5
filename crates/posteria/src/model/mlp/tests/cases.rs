//! Name the models that the proofs go through.

/// What is observed, and the residual model of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Target {
    pub(super) name: &'static str,
    pub(super) link: Link,
    /// Lines of `[residual]`.
    pub(super) residual: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Link {
    Real,
    Several,
    Binary,
    Classes,
}

const fn target(name: &'static str, link: Link, residual: &'static str) -> Target {
    Target { name, link, residual }
}

pub(super) const NORMAL: Target = target("normal", Link::Real, "");
pub(super) const STUDENT_T: Target = target("t", Link::Real, "family = 'student-t'\ndof = 4.0\n");
pub(super) const STUDENT_T_GRID: Target =
    target("t, grid", Link::Real, "family = 'student-t'\ndof = { grid = [2.0, 5.0, 20.0] }\n");
pub(super) const STUDENT_T_CONTINUOUS: Target =
    target("t, continuous", Link::Real, "family = 'student-t'\ndof = 'continuous'\n");
pub(super) const STUDENT_T_ABOVE: Target =
    target("t, above 2", Link::Real, "family = 'student-t'\ndof = { scale = 6.0, dof = 3.0 }\n");
pub(super) const LAPLACE: Target = target("Laplace", Link::Real, "family = 'laplace'\n");
pub(super) const PER_CASE: Target =
    target("per case", Link::Real, "family = 'per-case'\ndof = 4.0\n");
pub(super) const COVARIANCE: Target =
    target("covariance", Link::Several, "sharing = 'covariance'\n");
pub(super) const BINARY: Target = target("binary", Link::Binary, "");
pub(super) const CLASSES: Target = target("classes", Link::Classes, "");

pub(super) const TARGETS: [Target; 22] = [
    NORMAL,
    STUDENT_T,
    STUDENT_T_GRID,
    STUDENT_T_CONTINUOUS,
    LAPLACE,
    PER_CASE,
    target("per case, grid", Link::Real, "family = 'per-case'\ndof = { grid = [2.0, 8.0] }\n"),
    target("normal by groups", Link::Real, "by = ['x0']\ntop_dof = 7.0\n"),
    target(
        "t by groups",
        Link::Real,
        "by = ['x0']\ntop_dof = 7.0\nfamily = 'student-t'\ndof = 4.0\n",
    ),
    target("Laplace by groups", Link::Real, "by = ['x0']\ntop_dof = 7.0\nfamily = 'laplace'\n"),
    target("normal, common", Link::Several, "sharing = 'common'\n"),
    target("normal, per target", Link::Several, "sharing = 'per-target'\n"),
    target("t, per target", Link::Several, "family = 'student-t'\ndof = { grid = [2.0, 9.0] }\n"),
    target("Laplace, common", Link::Several, "sharing = 'common'\nfamily = 'laplace'\n"),
    target(
        "per case by groups",
        Link::Several,
        "by = ['x0']\ntop_dof = 7.0\nfamily = 'per-case'\ndof = 5.0\n",
    ),
    COVARIANCE,
    BINARY,
    CLASSES,
    STUDENT_T_ABOVE,
    target("normal, slopes", Link::Real, "slopes = ['x1']\n"),
    target(
        "t by groups, slopes",
        Link::Real,
        "by = ['x0']\ntop_dof = 7.0\nslopes = ['x1']\nslope_sd = 0.4\nfamily = 'student-t'\n\
         dof = 4.0\n",
    ),
    target("Laplace, slopes", Link::Several, "family = 'laplace'\nslopes = ['x1']\n"),
];

/// Lines of `[prior.GROUP]` for input weights, hidden bias, output weights, output bias and
/// direct weights. Enough degrees of freedom that log scales have moments.
pub(super) type Priors = [&'static str; 5];

pub(super) const PRIORS: [Priors; 5] = [
    [
        "sharing = 'per-input'\nscale = 0.9\ndof = 6.0\ntop_dof = 7.0\nwidth_scaled = false",
        "scale = 0.8\ndof = 5.0",
        "family = 'student-t'\nweight_dof = 5.0\nscale = 0.8\ndof = 6.0\nwidth_scaled = false",
        "fixed = 1.0",
        "family = 'laplace'\nsharing = 'per-input'\nscale = 0.6\ndof = 6.0\nwidth_scaled = false",
    ],
    [
        "family = 'laplace'\nsharing = 'common'\nscale = 0.7\ndof = { grid = [4.0, 9.0] }\n\
         width_scaled = false",
        "family = 'student-t'\nfixed = 0.7",
        "scale = 0.9\ndof = 6.0\ntop_dof = 8.0\nwidth_scaled = 'fbm'",
        "family = 'laplace'\nscale = 0.8\ndof = 6.0",
        "sharing = 'common'\nscale = 0.7\ndof = 6.0\nwidth_scaled = false",
    ],
    [
        "family = 'student-t'\nweight_dof = { grid = [3.0, 12.0] }\nsharing = 'per-input'\n\
         scale = 0.8\ndof = 6.0\nwidth_scaled = false",
        "family = 'laplace'\nscale = 0.6\ndof = 7.0",
        "family = 'laplace'\nfixed = 0.8",
        "family = 'student-t'\nweight_dof = { grid = [2.5, 9.0] }\nscale = 0.7\ndof = 6.0",
        "family = 'student-t'\nsharing = 'per-input'\nscale = 0.5\n\
         dof = { grid = [4.0, 7.0, 12.0] }\ntop_dof = 9.0\nwidth_scaled = 'mcmcstuff'",
    ],
    NORMAL_PRIORS,
    ["fixed = 0.9", "fixed = 1.1", "fixed = 0.8", "fixed = 1.0", "fixed = 0.6"],
];

/// Normal weights, the only family beside a covariance of residuals.
pub(super) const NORMAL_PRIORS: Priors = [
    "sharing = 'per-input'\nscale = 0.9\ndof = { grid = [4.0, 8.0] }\ntop_dof = 7.0",
    "scale = 0.7\nlog_sd = 0.4\ntop_log_sd = 0.6",
    "scale = 1.2\nlog_sd = 0.5",
    "scale = 0.8\ndof = 6.0",
    "sharing = 'per-input'\nscale = 0.8\nlog_sd = 0.6\ntop_log_sd = 0.5\nwidth_scaled = false",
];

/// The priors of this number that go with the target.
pub(super) fn priors(target: &Target, number: usize) -> Priors {
    let mut priors = PRIORS[number % PRIORS.len()];
    if *target == COVARIANCE {
        priors[2..].copy_from_slice(&NORMAL_PRIORS[2..]);
    }
    priors
}

const GROUPS: [&str; 5] =
    ["input_weights", "hidden_bias", "output_weights", "output_bias", "direct_weights"];

/// A specification file.
pub(super) fn text(
    target: &Target,
    (hidden, direct): (usize, bool),
    priors: &Priors,
    sampling: &str,
) -> String {
    let mut text = format!("[model]\nhidden = {hidden}\ndirect = {direct}\n");
    for (index, lines) in priors.iter().enumerate() {
        let present = match index {
            3 => true,
            4 => direct,
            _ => hidden > 0,
        };
        if present {
            text += &format!("[prior.{}]\n{lines}\n", GROUPS[index]);
        }
    }
    if matches!(target.link, Link::Real | Link::Several) {
        text += &format!("[residual]\nscale = 0.6\nscale_dof = 6.0\n{}", target.residual);
    }
    text + &format!("[sampling]\n{sampling}\n")
}
