//! Say what is meant: flags and specification file merged, checked, typed.

mod merge;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use posteria::model::spec::{ModelKind, Spec, SpecError};

use self::merge::merge;
use crate::args;
use crate::failure::{Classify, Failure, Result};

/// A fit that is asked for. Whether data and model go together is seen when the data are read.
#[derive(Debug)]
pub struct FitJob {
    /// The specification, with flags in place of what they override.
    pub spec: Spec,
    /// The file of the table.
    pub data: PathBuf,
    /// The run folder to create; none for a dry run.
    pub out: Option<PathBuf>,
    /// Whether a run that is there already is replaced.
    pub replace: bool,
    /// Whether the model is told in words before it is sampled.
    pub verbose: bool,
    /// About how many sweeps of other chains follow, for the time left.
    pub followed_by: usize,
}

impl FitJob {
    /// Merges flags with the specification file; flags win.
    pub fn new(flags: &args::Fit, seed: Option<u64>) -> Result<Self> {
        let mut spec = match &flags.spec {
            Some(path) => read_spec(path)?,
            // Where nothing is said, what a file that says nothing means.
            None => Spec::from_toml("").bad_input()?,
        };
        let data = match (&flags.data, &spec.data.path) {
            (Some(path), _) => {
                // Other data than those the file was written for.
                spec.data.sha256 = None;
                path.clone()
            }
            (None, Some(path)) => beside(flags.spec.as_deref(), Path::new(path)),
            (None, None) => return Err(no_data(flags)),
        };
        merge(&mut spec, flags, seed);
        if spec.sampling.is_committee() && spec.model.kind != ModelKind::Mlp {
            return Err(Failure::bad_input(
                "a committee is one of neural networks: --inference committee needs --model mlp",
            ));
        }
        let unsupervised = spec.model.kind.is_unsupervised();
        spec.check().map_err(|error| match &flags.spec {
            Some(path) => Failure::bad_input(format!("{}: {error}", path.display())),
            None => Failure::BadInput(error.into()),
        })?;
        if spec.data.target.is_empty() && !unsupervised {
            return Err(Failure::bad_input(
                "say which column is the target: --target COL, or target in [data]",
            ));
        }
        let out = match (&flags.out, flags.dry_run) {
            (_, true) => None,
            (Some(out), false) => Some(out.clone()),
            (None, false) => {
                return Err(Failure::bad_input(
                    "say where to keep the run: --out RUN (or --dry-run to sample nothing)",
                ));
            }
        };
        Ok(FitJob { spec, data, out, replace: flags.force, verbose: flags.verbose, followed_by: 0 })
    }
}

/// Reads a specification file.
pub fn read_spec(path: &Path) -> Result<Spec> {
    let shown = path.display();
    let text = fs::read_to_string(path)
        .with_context(|| format!("cannot read the specification {shown}"))
        .bad_input()?;
    Spec::from_toml(&text).map_err(|error| match error {
        SpecError::Syntax { line, column, message } => {
            Failure::bad_input(format!("{shown}:{line}:{column}: {message}"))
        }
        other => Failure::bad_input(format!("{shown}: {other}")),
    })
}

/// A relative path in a specification file is meant from the folder of that file; if nothing is
/// there, from the present folder.
pub fn beside(spec: Option<&Path>, path: &Path) -> PathBuf {
    match spec.and_then(Path::parent).map(|folder| folder.join(path)) {
        Some(beside) if beside.exists() => beside,
        _ => path.to_path_buf(),
    }
}

fn no_data(flags: &args::Fit) -> Failure {
    let swallowed = flags.target.iter().chain(&flags.inputs).find(|name| Path::new(name).is_file());
    match swallowed {
        Some(file) => Failure::bad_input(format!(
            "no DATA is given, but {file} was taken for a column; put DATA before --target and \
             --inputs"
        )),
        None => Failure::bad_input("give a table: posteria fit DATA --target COL --out RUN"),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use posteria::model::spec::{
        KernelChoice, MissingPolicy, ResidualFamily, SamplingSpec, Sharing, StartChoice,
    };

    use super::*;
    use crate::args::{Cli, Command};

    fn job(line: &str) -> Result<FitJob> {
        let cli = Cli::try_parse_from(line.split_whitespace()).expect("a valid command line");
        let Command::Fit(flags) = cli.command else { panic!("not a fit") };
        FitJob::new(&flags, cli.global.seed)
    }

    fn refusal(line: &str) -> String {
        job(line).expect_err("refused").message().expect("a message")
    }

    #[test]
    fn flags_fill_the_specification() {
        let job = job("posteria fit d.csv --target y --inputs a b --chains 2 --iter_warmup 7 \
             --iter-sampling 9 --thin 3 --seed 5 --missing drop --no-standardize --out r")
        .expect("a job");
        let spec = job.spec;
        assert_eq!(spec.data.target, ["y"]);
        assert_eq!(spec.data.inputs.expect("inputs"), ["a", "b"]);
        assert_eq!(spec.data.missing, MissingPolicy::Drop);
        assert!(!spec.data.standardize);
        let s = spec.sampling;
        assert_eq!((s.chains, s.warmup, s.draws, s.thin, s.seed), (2, 7, 9, 3, 5));
        assert_eq!(job.data, Path::new("d.csv"));
        assert_eq!(job.out.expect("a folder"), Path::new("r"));
    }

    #[test]
    fn flags_win_over_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("m.toml");
        let text = "[data]\npath = 'd.csv'\ntarget = 'y'\nsha256 = 'x'\n[sampling]\ndraws = 50\n";
        fs::write(&file, text).expect("written");
        fs::write(folder.path().join("d.csv"), "y\n1\n").expect("written");
        let line = |rest: &str| format!("posteria fit {rest} --spec {} --out r", file.display());
        let from_file = job(&line("")).expect("a job");
        assert_eq!(from_file.data, folder.path().join("d.csv"), "meant from the file's folder");
        assert_eq!(from_file.spec.sampling.draws, 50);
        assert_eq!(from_file.spec.data.sha256.as_deref(), Some("x"));
        let overridden = job(&line("other.csv --draws 60 --target z")).expect("a job");
        assert_eq!(overridden.data, Path::new("other.csv"));
        assert_eq!(overridden.spec.sampling.draws, 60);
        assert_eq!(overridden.spec.data.target, ["z"]);
        assert_eq!(overridden.spec.data.sha256, None, "other data, other digest");
    }

    #[test]
    fn flags_of_networks_fill_the_specification() {
        let spec = |rest: &str| {
            job(&format!("posteria fit d.csv --target y --out r {rest}")).expect("a job").spec
        };
        let network = spec(
            "--model mlp --hidden 3 --relevance common --residual laplace --residual-by g \
             --test t.csv --kernel nuts --start prior --temperatures 4",
        );
        assert_eq!((network.model.kind, network.model.hidden), (ModelKind::Mlp, Some(3)));
        assert_eq!(network.prior["input_weights"].sharing, Some(Sharing::Common));
        let residual = network.residual.expect("residual");
        assert_eq!(residual.family, Some(ResidualFamily::Laplace));
        assert_eq!(residual.by.expect("columns"), ["g"]);
        assert_eq!(network.data.test.as_deref(), Some("t.csv"));
        let sampling = network.sampling;
        assert_eq!(sampling.kernel, Some(KernelChoice::Nuts));
        assert_eq!(sampling.start, Some(StartChoice::Prior));
        assert_eq!(sampling.temperatures, Some(4));
        assert_eq!(spec("--hidden 5").model.kind, ModelKind::Mlp, "only networks have them");
    }

    #[test]
    fn flags_of_processes_fill_the_specification() {
        let spec = |rest: &str| {
            job(&format!("posteria fit d.csv --target y --out r {rest}")).expect("a job").spec
        };
        let process = spec(
            "--model gp --covariance se(a)*periodic+linear --relevance common --residual-by g \
             --test t.csv --kernel nuts --start prior",
        );
        assert_eq!(process.model.kind, ModelKind::Gp);
        assert_eq!(process.model.covariance.expect("text"), ["se(a)*periodic+linear"]);
        assert_eq!(process.prior["relevance"].sharing, Some(Sharing::Common));
        assert_eq!(process.data.test.as_deref(), Some("t.csv"));
        assert_eq!(process.sampling.start, Some(StartChoice::Prior));
        let counts = |spec: Spec| (spec.sampling.warmup, spec.sampling.draws, spec.model.kind);
        assert_eq!(counts(spec("--covariance se")), (250, 4000, ModelKind::Gp));
        assert_eq!(counts(spec("--neighbours 20 --draws 7")), (250, 7, ModelKind::Gp));
        assert_eq!(counts(spec("--model mlp")), (400, 1000, ModelKind::Mlp));
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("m.toml");
        fs::write(&file, "[data]\ntarget = 'y'\n[sampling]\ndraws = 70\n").expect("written");
        let line = format!("posteria fit d.csv --spec {} --out r", file.display());
        assert_eq!(counts(job(&line).expect("a job").spec), (1000, 70, ModelKind::Linear));
        // Another model than the file's has its own usual numbers where the file has the usual.
        let gp = job(&format!("{line} --model gp")).expect("a job").spec;
        assert_eq!(counts(gp), (250, 70, ModelKind::Gp));
        fs::write(&file, "[data]\ntarget = 'y'\n[sampling]\ness = 800\n").expect("written");
        assert_eq!(counts(job(&line).expect("a job").spec), (1000, 8000, ModelKind::Linear));
        let gp = job(&format!("{line} --model gp")).expect("a job").spec;
        assert_eq!(counts(gp), (250, 8000, ModelKind::Gp));
        // Models without a target draw independently.
        let mixture = job("posteria fit d.csv --model mixture --out r").expect("a job").spec;
        assert_eq!(mixture.sampling, SamplingSpec::usual(ModelKind::Mixture));
    }

    #[test]
    fn numbers_are_meant_and_goals_have_a_limit() {
        let sampling = |rest: &str| {
            let line = format!("posteria fit d.csv --target y --out r {rest}");
            job(&line).expect("a job").spec.sampling
        };
        let told = |rest: &str| {
            let it = sampling(rest);
            (it.warmup, it.settle == Some(true), it.draws, it.ess)
        };
        assert_eq!(told(""), (1000, true, 4000, Some(400.0)));
        assert_eq!(told("--draws 1000"), (1000, true, 1000, None));
        assert_eq!(told("--warmup 300"), (300, false, 4000, Some(400.0)));
        assert_eq!(told("--ess 1000"), (1000, true, 10_000, Some(1000.0)));
        assert_eq!(told("--ess 1000 --model gp"), (250, true, 10_000, Some(1000.0)));
        assert_eq!(told("--ess 100 --draws 600"), (1000, true, 600, Some(100.0)));
        assert_eq!(told("--chain 2"), (1000, false, 1000, None));
        assert_eq!(sampling("--time 1h30m").time.expect("a time").to_string(), "1h30m");
        let fit = "posteria fit d.csv --target y --out r";
        assert!(refusal(&format!("{fit} --chain 2 --ess 100")).contains("only_chain"));
        let committee = format!("{fit} --hidden 3 --inference committee");
        assert!(refusal(&format!("{committee} --ess 100")).contains("ess in [sampling]"));
    }

    #[test]
    fn flags_that_a_process_does_not_have_are_refused() {
        let fit = "posteria fit d.csv --target y --out r";
        for (rest, words) in [
            ("--model gp --hidden 3", ["hidden in [model]", "kind = \"gp\""]),
            ("--model gp --start early-stopping", ["early-stopping", "kind = \"gp\""]),
            ("--model gp --inference committee", ["neural networks", "--model mlp"]),
            ("--model mlp --covariance se", ["covariance in [model]", "belongs to \"gp\""]),
            ("--model linear --neighbours 3", ["neighbours", "belongs to \"gp\""]),
            ("--covariance matern", ["column 1: 'matern'", "known: squared-exponential, matern-"]),
        ] {
            let said = refusal(&format!("{fit} {rest}"));
            assert!(words.iter().all(|word| said.contains(word)), "{rest}: {said}");
        }
    }

    #[test]
    fn another_kernel_leaves_the_keys_of_the_old_one() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("m.toml");
        let text = "[data]\ntarget = 'y'\n[model]\nkind = 'mlp'\n[sampling]\nkernel = 'hmc'\n\
                    window = 5\npersistence = 0.9\nleapfrog_steps = 20\n";
        fs::write(&file, text).expect("written");
        let sampling = |kernel: &str| {
            let line = format!("posteria fit d.csv --spec {} --out r {kernel}", file.display());
            job(&line).expect("a job").spec.sampling
        };
        assert_eq!(sampling("").window, Some(5));
        assert_eq!(sampling("--kernel hmc").persistence, Some(0.9));
        assert_eq!(sampling("--kernel auto").window, None);
        assert_eq!(sampling("--kernel auto").leapfrog_steps, Some(20));
        assert_eq!(sampling("--kernel nuts").leapfrog_steps, None);
    }

    #[test]
    fn a_committee_has_ten_members_unless_it_is_said_otherwise() {
        let fit = "posteria fit d.csv --target y --out r --inference committee";
        assert!(refusal(fit).contains("--model mlp"));
        let sampling = |rest: &str| job(&format!("{fit} {rest}")).expect("a job").spec.sampling;
        assert_eq!(sampling("--hidden 4 --seed 3"), SamplingSpec::committee(3));
        assert_eq!(sampling("--model mlp --draws 25").draws, 25);
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("m.toml");
        let line = |rest: &str| format!("posteria fit d.csv --spec {} {rest}", file.display());
        let text = "[data]\ntarget = 'y'\n[model]\nkind = 'mlp'\n[sampling]\n";
        // The counts and moves of chains are not those of a committee, and the other way round.
        fs::write(&file, format!("{text}draws = 500\nkernel = 'hmc'\nseed = 7\n"))
            .expect("written");
        let committee = job(&line("--inference committee --out r")).expect("a job");
        assert_eq!(committee.spec.sampling, SamplingSpec::committee(7));
        fs::write(&file, format!("{text}draws = 5\ninference = 'committee'\n")).expect("written");
        assert_eq!(job(&line("--out r")).expect("a job").spec.sampling.draws, 5);
        let mcmc = job(&line("--inference mcmc --out r")).expect("a job");
        assert_eq!(mcmc.spec.sampling, SamplingSpec::usual(ModelKind::Mlp));
    }

    #[test]
    fn what_is_missing_or_not_built_is_named() {
        assert!(refusal("posteria fit --target y --out r").contains("posteria fit DATA"));
        assert!(refusal("posteria fit d.csv --out r").contains("--target"));
        assert!(refusal("posteria fit d.csv --target y").contains("--out"));
        let said = refusal("posteria fit d.csv --target y --out r --chains 2 --chain 3");
        assert!(said.contains("only_chain = 3 in [sampling]"), "{said}");
        assert!(job("posteria fit d.csv --target y --inference mcmc --dry-run").is_ok());
    }
}
