//! Read and write a specification as TOML, with the place of every error.

use super::{SamplingSpec, Spec, SpecError};

impl Spec {
    /// Reads the text of a specification file.
    ///
    /// # Errors
    /// [`SpecError::Syntax`] with line and column.
    ///
    /// ```
    /// use posteria::model::spec::Spec;
    ///
    /// let spec = Spec::from_toml("[data]\ntarget = ['y']\n[model]\nkind = 'linear'")?;
    /// assert_eq!(spec.sampling.chains, 4);
    /// let error = Spec::from_toml("[sampling]\nchain = 4").unwrap_err().to_string();
    /// assert!(error.starts_with("line 2, column 1: unknown field `chain`"));
    /// # Ok::<(), posteria::model::spec::SpecError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, SpecError> {
        let located = |error: toml::de::Error| {
            let start = error.span().map_or(0, |span| span.start);
            let (line, column) = place(text, start);
            SpecError::Syntax { line, column, message: error.message().to_string() }
        };
        let table: toml::Table = toml::from_str(text).map_err(located)?;
        let spec: Spec = toml::from_str(text).map_err(located)?;
        Ok(spec.with_usual_numbers(&table))
    }

    /// Reads the keys of a specification file from a JSON object of objects; nulls are as absent.
    ///
    /// # Errors
    /// [`SpecError::Keys`] if it is not one, or a key is unknown or has a value that it cannot have.
    ///
    /// ```
    /// use posteria::model::spec::Spec;
    ///
    /// let spec = Spec::from_json(r#"{"model": {"kind": "mlp", "hidden": 3}}"#)?;
    /// assert_eq!(spec, Spec::from_toml("[model]\nkind = 'mlp'\nhidden = 3")?);
    /// let error = Spec::from_json(r#"{"model": {"hiden": 3}}"#).unwrap_err().to_string();
    /// assert!(error.starts_with("unknown field `hiden`"));
    /// # Ok::<(), posteria::model::spec::SpecError>(())
    /// ```
    pub fn from_json(text: &str) -> Result<Self, SpecError> {
        let keys = |error: &dyn std::fmt::Display| {
            // The place in a text that nobody has written says nothing.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            SpecError::Keys { message: plainly(message) }
        };
        let mut value: serde_json::Value =
            serde_json::from_str(text).map_err(|error| keys(&error))?;
        drop_nulls(&mut value);
        let table = toml::Table::try_from(value).map_err(|error| keys(&error))?;
        let spec: Spec = table.clone().try_into().map_err(|error| keys(&error))?;
        Ok(spec.with_usual_numbers(&table))
    }

    /// What a number that `table` does not give means depends on the model and on the method.
    fn with_usual_numbers(mut self, table: &toml::Table) -> Self {
        let SamplingSpec { seed, .. } = self.sampling;
        let kind = self.model.kind;
        let usual = SamplingSpec::of_inference(self.sampling.inference(), kind, seed);
        let given = |key| table.get("sampling").is_some_and(|s| s.get(key).is_some());
        let own = &mut self.sampling;
        for (key, slot, value) in [
            ("chains", &mut own.chains, usual.chains),
            ("warmup", &mut own.warmup, usual.warmup),
            ("draws", &mut own.draws, usual.draws),
        ] {
            if !given(key) {
                *slot = value;
            }
        }
        // A number that is given is meant, and so is one chain of many: neither waits for a goal.
        let alone = own.only_chain.is_some();
        if !given("settle") && !given("warmup") && !alone {
            own.settle = usual.settle;
        }
        *own = match own.ess {
            Some(ess) if !given("draws") => own.with_goal(ess, kind),
            None if !given("draws") && alone => {
                SamplingSpec { ess: usual.ess, ..*own }.without_goal(kind)
            }
            None if !given("draws") => SamplingSpec { ess: usual.ess, ..*own },
            _ => *own,
        };
        self
    }

    /// The specification as TOML; [`Spec::from_toml`] reads it back unchanged.
    ///
    /// # Errors
    /// [`SpecError::Write`] if a number does not exist in TOML (a seed beyond 2⁶³).
    pub fn to_toml(&self) -> Result<String, SpecError> {
        toml::to_string(self).map_err(|error| SpecError::Write { message: error.to_string() })
    }
}

/// What is wrong with keys, without words of the program's own.
fn plainly(message: &str) -> String {
    let mut text = message.trim_end_matches('\n').replace('\n', ", ");
    for (own, plain) in [
        ("expected usize", "expected a whole number"),
        ("expected u64", "expected a whole number"),
        ("expected f64", "expected a number"),
        ("unknown variant", "unknown value"),
        ("expected internally tagged enum", "expected the keys of"),
        ("expected struct", "expected the keys of"),
    ] {
        text = text.replace(own, plain);
    }
    text
}

/// Takes out what is said to be absent.
fn drop_nulls(value: &mut serde_json::Value) {
    if let serde_json::Value::Object(keys) = value {
        keys.retain(|_, value| !value.is_null());
        keys.values_mut().for_each(drop_nulls);
    }
}

/// Line and column, both from 1, of the byte at `offset`.
fn place(text: &str, offset: usize) -> (usize, usize) {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let line_start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    // Columns count characters: continuation bytes of UTF-8 do not begin one.
    let column = before[line_start..].iter().filter(|&&byte| byte & 0xC0 != 0x80).count() + 1;
    (line, column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Task;
    use crate::model::spec::ModelKind;

    const TOY: &str = r#"
[data]
path = "toy.csv"
target = "y"
inputs = ["x1", "x2"]

[model]
kind = "linear"
intercept = false

[prior.weights]
family = "independent"
shape = 0.5
rate_scale = 100.0

[residual]
precision = { shape = 2.0, scale = 5.0 }

[sampling]
chains = 2
seed = 7
"#;

    #[test]
    fn a_completed_specification_survives_writing_and_reading() {
        for text in ["", TOY] {
            let mut spec = Spec::from_toml(text).unwrap();
            spec.complete(Task::Regression).unwrap();
            let written = spec.to_toml().unwrap();
            let read = Spec::from_toml(&written).unwrap();
            assert_eq!(read, spec, "{written}");
            let mut again = read.clone();
            again.complete(Task::Regression).unwrap();
            assert_eq!(again, read, "completing twice changes nothing");
        }
    }

    #[test]
    fn completing_writes_every_default() {
        let mut spec = Spec::from_toml("[data]\ntarget = ['y']").unwrap();
        spec.complete(Task::Regression).unwrap();
        let text = spec.to_toml().unwrap();
        for key in [
            "standardize = true",
            "missing = \"error\"",
            "kind = \"linear\"",
            "task = \"regression\"",
            "intercept = true",
            "[prior.weights]",
            "sharing = \"common\"",
            "[prior.intercept]",
            "priors = \"weakly-informative\"",
            "fixed = 1.5",
            "scale = 0.3",
            "log_sd = 1.4",
            "chains = 4",
            "warmup = 1000",
            "settle = true",
            "draws = 4000",
            "ess = 400.0",
            "thin = 1",
            "seed = 1",
        ] {
            assert!(text.contains(key), "{key} is missing in\n{text}");
        }
        let mut spec = Spec::default();
        spec.complete(Task::Binary).unwrap();
        assert_eq!(spec.residual, None, "classes have no residual");
    }

    #[test]
    fn errors_name_the_place_and_the_known_keys() {
        let error = |text: &str| Spec::from_toml(text).unwrap_err().to_string();
        let unknown = error("[data]\ntarget = ['y']\n\n[prior.weights]\nscael = 1.0");
        assert!(unknown.starts_with("line 5, column 1: unknown field `scael`"), "{unknown}");
        assert!(unknown.contains("`scale`") && unknown.contains("`rho`"), "{unknown}");
        let variant = error("[model]\nkind = 'neural'");
        assert!(variant.starts_with("line 2, column 8: "), "{variant}");
        assert!(variant.contains("`linear`") && variant.contains("`mlp`"), "{variant}");
        let kind = error("# ä\n[sampling]\nchains = 'four'");
        assert!(kind.starts_with("line 3, column 10: invalid type"), "{kind}");
        let section = error("[smapling]\nchains = 4");
        assert!(section.contains("unknown field `smapling`"), "{section}");
        assert!(error("[data\n").starts_with("line 1, column"));
        for dof in ["'many'", "{ scale = 6.0 }", "{ grid = [2.0], above = 2.0 }"] {
            let text = format!("[residual]\ndof = {dof}");
            assert!(error(&text).contains("expected a number, \"unknown\""), "{text}");
        }
    }

    #[test]
    fn a_committee_has_counts_of_its_own() {
        let text = "[model]\nkind = 'mlp'\n[sampling]\ninference = 'committee'\nseed = 4";
        let mut spec = Spec::from_toml(text).unwrap();
        assert_eq!(spec.sampling, SamplingSpec::committee(4));
        spec.complete(Task::Regression).unwrap();
        assert_eq!(Spec::from_toml(&spec.to_toml().unwrap()).unwrap(), spec);
        assert_eq!(Spec::from_toml(&format!("{text}\ndraws = 25")).unwrap().sampling.draws, 25);
        for (text, says) in [
            (format!("{text}\nchains = 2"), "members in place of chains"),
            (text.replace("mlp", "linear"), "known: mcmc, laplace, map"),
            (
                text.replace("committee", "variational").replace("mlp", "linear"),
                "known: mcmc, laplace, map",
            ),
            (text.replace("committee", "map") + "\ndraws = 3", "finds one point"),
            ("[model]\nkind = 'mlp'\n[sampling]\nstaged = true".into(), "kernel = \"auto\""),
        ] {
            let error = Spec::from_toml(&text).unwrap().complete(Task::Regression).unwrap_err();
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
        let staged = "[model]\nkind = 'mlp'\n[sampling]\nstaged = true\nkernel = 'hmc'";
        assert!(Spec::from_toml(staged).unwrap().complete(Task::Binary).is_ok());
    }

    #[test]
    fn what_is_not_built_is_said_to_be_so() {
        for (text, what) in [
            ("[prior.weights]\nfamily = 'laplace'", "family"),
            ("[prior.weights]\ntop_dof = 1.0", "top_dof"),
        ] {
            let error = Spec::from_toml(text).unwrap().complete(Task::Regression).unwrap_err();
            assert!(
                matches!(&error, SpecError::NotAvailable { what: w } if w.contains(what)),
                "{error}"
            );
        }
    }

    #[test]
    fn numbers_out_of_range_and_keys_that_exclude_each_other_are_refused() {
        for (text, says) in [
            ("[sampling]\nchains = 0", "at least 1"),
            ("[sampling]\nthin = 0", "at least 1"),
            ("[prior.weights]\nscale = -1.0", "scale = -1 in [prior.weights] must be positive"),
            ("[prior.weights]\ndof = nan", "positive"),
            ("[prior.weights]\nfixed = inf", "positive"),
            ("[prior.weights]\nfixed = 1.0\nscale = 1.0", "does not go together"),
            ("[prior.weights]\nfamily = 'conjugate'", "needs rho"),
            ("[prior.weights]\nfamily = 'conjugate'\nrho = 0.0", "positive"),
            ("[prior.weights]\nrho = 0.1", "does not go together"),
            ("[prior.weights]\nfamily = 'independent'\nshape = 1.0", "needs rate_scale"),
            ("[prior.bias]\nfixed = 1.0", "known: weights, intercept"),
            ("[model]\nintercept = false\n[prior.intercept]\nfixed = 1.0", "intercept = false"),
            ("[residual]\nscale = 1.0\nprecision = { shape = 1.0, scale = 1.0 }", "precision"),
            ("[residual]\ndof = 4.0", "does not go together"),
            ("[prior.intercept]\nsharing = 'common'", "does not go together"),
            ("[residual]\nsharing = 'covariance'\nby = ['g']", "by"),
            ("[residual]\nfamily = 'student-t'\ndof = -1.0", "positive"),
            (
                "[residual]\nfamily = 'student-t'\ndof = { scale = 6.0, dof = 0.01 }",
                "between 0.1 and 1000",
            ),
            (
                "[residual]\nfamily = 'student-t'\ndof = { scale = 0.1, dof = 90.0 }",
                "dof.above = 2",
            ),
            (
                "[prior.weights]\nfamily = 'conjugate'\nrho = 1.0\n[residual]\nfamily = 'laplace'",
                "residuals other than normal",
            ),
            (
                "[prior.weights]\nfamily = 'conjugate'\nrho = 1.0\n[residual]\nby = ['g']",
                "residuals other than normal",
            ),
            (
                "[prior.weights]\nfamily = 'conjugate'\nrho = 1.0\n[prior.intercept]\nfixed = 1.0",
                "conjugate",
            ),
        ] {
            let error = Spec::from_toml(text).unwrap().complete(Task::Regression).unwrap_err();
            assert!(error.to_string().contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_that_are_not_given_are_those_of_the_model() {
        let sampling = |text: &str| Spec::from_toml(text).unwrap().sampling;
        let gp = sampling("[model]\nkind = 'gp'");
        assert_eq!((gp.chains, gp.warmup, gp.draws), (4, 250, 4000));
        assert_eq!(gp, SamplingSpec::usual(ModelKind::Gp));
        let given = sampling("[model]\nkind = 'gp'\n[sampling]\nwarmup = 1000\nseed = 3");
        assert_eq!((given.warmup, given.draws, given.seed), (1000, 4000, 3));
        assert_eq!((given.settle, given.ess), (None, Some(400.0)), "what is given is meant");
        let given = sampling("[sampling]\ndraws = 50");
        assert_eq!((given.settle, given.ess, given.draws), (Some(true), None, 50));
        let given = sampling("[sampling]\ness = 1000\ntime = '90s'");
        assert_eq!((given.ess, given.draws), (Some(1000.0), 10_000));
        assert_eq!(given.time.unwrap().to_string(), "1m30s");
        let alone = sampling("[sampling]\nonly_chain = 2");
        assert_eq!((alone.settle, alone.ess, alone.draws), (None, None, 1000));
        assert_eq!(sampling("[model]\nkind = 'mlp'"), SamplingSpec::usual(ModelKind::Mlp));
    }
}
