//! Read the data of a specification and condition its model on them.

use std::fs::File;
use std::io::{self, Read};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use posteria::approximate::{Ensemble, TemperedPosterior};
use posteria::caution::Caution;
use posteria::data::{Dataset, Encoder, FoldSpec, Missing, Roles, Table, TextFormat};
use posteria::model::gp::GaussianProcess;
use posteria::model::linear::{Linear, LinearPosterior};
use posteria::model::mixture::Mixture;
use posteria::model::mlp::{Mlp, MlpPosterior};
use posteria::model::pca::Pca;
use posteria::model::spec::{InferenceChoice, MissingPolicy, ModelKind, Spec, StartChoice};
use posteria::model::{KernelFactory, Posterior, VariationalFindings};
use posteria::sample::Plan;
use posteria::sample::hmc::{MetricKind, Nuts, NutsOptions};
use posteria_store::Run;
use sha2::{Digest, Sha256};

use crate::failure::{Classify, Failure, Result};
use crate::fitted::{Fitted, fitted};

/// Most parameters for which a dense metric is learned: beyond, warm-up is too short for it.
const DENSE_METRIC: usize = 50;

/// Everything a fit needs.
pub struct Prepared {
    /// The specification with every default, the data's digest and this version.
    pub spec: Spec,
    /// The data.
    pub data: Dataset,
    /// How the table became the data.
    pub encoder: Encoder,
    /// What to be careful about in the data.
    pub cautions: Vec<Caution>,
    /// The model conditioned on the data.
    pub posterior: Conditioned,
    /// How to sample.
    pub plan: Plan,
}

/// A model conditioned on data, by what becomes of it.
pub enum Conditioned {
    /// Chains sample it.
    Sampled(Box<dyn Posterior>),
    /// Draws are from an approximation that was found without chains.
    Variational(Box<dyn Posterior>, VariationalFindings),
    /// A committee is trained in its place.
    Committee(Box<MlpPosterior>),
    /// An approximation takes its place, or chains start from one.
    Approximated(Approximable),
}

/// A posterior that can be approximated.
pub enum Approximable {
    /// Of a network.
    Network(Box<MlpPosterior>),
    /// Of a linear model.
    Linear(Box<LinearPosterior>),
}

impl Deref for Conditioned {
    type Target = dyn Posterior;

    fn deref(&self) -> &Self::Target {
        match self {
            Conditioned::Sampled(posterior) | Conditioned::Variational(posterior, _) => {
                &**posterior
            }
            Conditioned::Committee(posterior) => &**posterior,
            Conditioned::Approximated(Approximable::Network(posterior)) => &**posterior,
            Conditioned::Approximated(Approximable::Linear(posterior)) => &**posterior,
        }
    }
}

/// Reads the table at `path` and conditions the model of `spec` on it. A digest in `spec` must
/// be that of the file.
pub fn prepare(mut spec: Spec, path: &Path) -> Result<Prepared> {
    let (table, digest) = read_table(path, spec.data.header)?;
    if let Some(expected) = &spec.data.sha256
        && *expected != digest
    {
        return Err(Failure::bad_input(format!(
            "{} is not the file that the specification was written for (SHA-256 {}…, expected \
             {}…); give back the old file, or start a new run with the new one",
            path.display(),
            &digest[..digest.len().min(12)],
            expected.chars().take(12).collect::<String>(),
        )));
    }
    let roles = Roles {
        targets: spec.data.target.clone(),
        inputs: spec.data.inputs.clone(),
        group: spec.data.group.clone(),
        fold: None,
        task: spec.model.task,
        standardize: spec.data.standardize,
        missing: policy(&spec),
        max_levels: spec.data.max_levels,
    };
    let missing = roles.missing;
    let encoding = Encoder::fit(&table, &roles).bad_input()?;
    let (mut data, mut encoder) = (encoding.dataset, encoding.encoder);
    let mut cautions = encoding.cautions;
    if let Some(fold) = &mut spec.data.fold {
        let rows = (data, encoding.rows);
        (data, _) = leave_out(fold, rows, &table, spec.data.standardize)?;
        encoder = encoder.rescaled(&data);
    }
    let test = match &spec.data.test {
        Some(test) if matches!(spec.model.kind, ModelKind::Mlp | ModelKind::Gp) => {
            let path = PathBuf::from(test);
            spec.data.test = Some(saved_path(&path)?);
            Some(test_rows(&spec, &path, (&data, &encoder), missing)?)
        }
        Some(_) => return Err(Failure::bad_input("--test is for --model mlp or gp; omit it")),
        None => None,
    };
    spec.complete(data.task).bad_input()?;
    spec.version = Some(env!("CARGO_PKG_VERSION").into());
    spec.data.path = if is_stdin(path) { None } else { Some(saved_path(path)?) };
    spec.data.sha256 = Some(digest);
    spec.data.rows = Some(data.rows());
    let posterior = condition(&spec, &data, test.as_ref())?;
    let pointwise = spec.sampling.keeps_log_lik(spec.model.kind, posterior.rows());
    let plan = Plan { pointwise, ..plan(&spec)? };
    cautions.extend(tempering(&spec).map(|beta| Caution::Tempered { inverse_temperature: beta }));
    Ok(Prepared { spec, data, encoder, cautions, posterior, plan })
}

/// What a run was begun with, from its own folder: for tables that cannot be read a second time.
pub fn prepare_kept(spec: Spec, run: (&Path, &Run)) -> Result<Prepared> {
    let Fitted { encoder, dataset: data, posterior } = fitted(run, &spec, None)?;
    let plan = plan(&spec)?;
    let posterior = match &spec.data.test {
        None => posterior,
        Some(test) => {
            let missing = policy(&spec);
            let test = test_rows(&spec, Path::new(test), (&data, &encoder), missing)?;
            condition(&spec, &data, Some(&test))?
        }
    };
    Ok(Prepared { spec, data, encoder, cautions: Vec::new(), posterior, plan })
}

/// What happens to rows with missing cells.
fn policy(spec: &Spec) -> Missing {
    match spec.data.missing {
        MissingPolicy::Error => Missing::Error,
        MissingPolicy::Drop => Missing::Drop,
    }
}

/// The rows of `data`, of these numbers in `table`, without those of `fold` and of the folds around it.
fn leave_out(
    fold: &mut FoldSpec,
    (mut data, mut rows): (Dataset, Vec<usize>),
    table: &Table,
    standardize: bool,
) -> Result<(Dataset, Vec<usize>)> {
    if let Some(around) = &mut fold.within {
        (data, rows) = leave_out(around, (data, rows), table, standardize)?;
    }
    fold.scheme = fold.scheme.resolved(&data);
    let column = fold.scheme.column.as_ref();
    let labels = column.map(|name| table.labels(name, &rows)).transpose().bad_input()?;
    let (training, _) = fold.rows(&data, labels.as_deref()).bad_input()?;
    let (data, _) = divide(&data, &training, &[], standardize);
    Ok((data, training.iter().map(|row| rows[*row]).collect()))
}

/// How a completed specification is sampled.
pub fn plan(spec: &Spec) -> Result<Plan> {
    let plan = spec.sampling.plan().bad_input()?;
    Ok(Plan { fold: spec.data.fold.as_ref().map_or(0, FoldSpec::number), ..plan })
}

/// The `training` and the `held_out` rows of `data`, standardised by the former alone if data are
/// to be standardised.
pub fn divide(
    data: &Dataset,
    training: &[usize],
    held_out: &[usize],
    standardize: bool,
) -> (Dataset, Dataset) {
    if standardize {
        data.split(training, held_out)
    } else {
        (data.select(training), data.select(held_out))
    }
}

/// Conditions the model of a completed specification on data. A network records its error on
/// the `test` rows with every draw.
pub fn condition(spec: &Spec, data: &Dataset, test: Option<&Dataset>) -> Result<Conditioned> {
    Ok(match spec.model.kind {
        ModelKind::Mlp => {
            let model = Mlp::new(spec).bad_input()?;
            let posterior = Box::new(model.condition(data, test).bad_input()?);
            match spec.sampling.inference() {
                InferenceChoice::Mcmc if spec.sampling.start == Some(StartChoice::Variational) => {
                    Ensemble::check(&posterior).bad_input()?;
                    Conditioned::Approximated(Approximable::Network(posterior))
                }
                InferenceChoice::Mcmc => sampled(spec, posterior),
                InferenceChoice::Committee => Conditioned::Committee(posterior),
                InferenceChoice::Variational => {
                    Ensemble::check(&posterior).bad_input()?;
                    Conditioned::Approximated(Approximable::Network(posterior))
                }
                InferenceChoice::Laplace | InferenceChoice::Map => {
                    // Said before anything is done, in a dry run too.
                    posterior.regularised().bad_input()?;
                    Conditioned::Approximated(Approximable::Network(posterior))
                }
            }
        }
        ModelKind::Gp => {
            let model = GaussianProcess::new(spec).bad_input()?;
            Conditioned::Sampled(Box::new(model.condition(data, test).bad_input()?))
        }
        ModelKind::Mixture => {
            let model = Mixture::new(spec).bad_input()?;
            let posterior = model.condition(data, spec.sampling.seed()).bad_input()?;
            let findings = VariationalFindings::Mixture(posterior.findings());
            Conditioned::Variational(Box::new(posterior), findings)
        }
        ModelKind::Pca => {
            let posterior = Pca::new(spec).bad_input()?.condition(data).bad_input()?;
            let findings = VariationalFindings::Pca(posterior.findings());
            Conditioned::Variational(Box::new(posterior), findings)
        }
        ModelKind::Linear => {
            let model = Linear::new(spec).bad_input()?;
            let posterior = Box::new(model.condition(data, kernel()).bad_input()?);
            match spec.sampling.inference() {
                InferenceChoice::Mcmc => sampled(spec, posterior),
                _ => {
                    posterior.regularised().bad_input()?;
                    Conditioned::Approximated(Approximable::Linear(posterior))
                }
            }
        }
    })
}

/// A posterior for chains, tempered if that is asked for.
fn sampled(spec: &Spec, posterior: Box<dyn Posterior>) -> Conditioned {
    Conditioned::Sampled(match tempering(spec) {
        None => posterior,
        Some(beta) => Box::new(TemperedPosterior::new(posterior, beta)),
    })
}

/// The inverse temperature, unless it is that of the posterior.
fn tempering(spec: &Spec) -> Option<f64> {
    spec.sampling.inverse_temperature.filter(|beta| (beta - 1.0).abs() > 0.0)
}

/// The rows of a second table, encoded like the training data.
fn test_rows(
    spec: &Spec,
    path: &Path,
    (data, encoder): (&Dataset, &Encoder),
    missing: Missing,
) -> Result<Dataset> {
    let (table, _) = read_table(path, spec.data.header)?;
    let encoded = encoder.encode(&table, missing).bad_input()?;
    let targets = encoded.targets.ok_or_else(|| {
        let names = spec.data.target.join(", ");
        Failure::bad_input(format!("{}: test rows need the target {names}", path.display()))
    })?;
    Ok(Dataset { inputs: encoded.inputs, targets, groups: None, ..data.clone() })
}

/// The kernel for parameters whose conditional is not known: No-U-Turn, with a dense metric
/// for few parameters.
pub fn kernel() -> KernelFactory<'static> {
    Arc::new(|dim| {
        let metric = if dim <= DENSE_METRIC { MetricKind::Dense } else { MetricKind::Diagonal };
        Box::new(Nuts::new(dim, NutsOptions { metric, ..NutsOptions::default() }))
    })
}

/// The path as a specification keeps it: absolute, so that it can be used from any folder.
fn saved_path(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path)
        .with_context(|| format!("cannot tell where {} is", path.display()))
        .bad_input()?;
    absolute.into_os_string().into_string().map_err(|path| {
        let shown = path.display();
        Failure::bad_input(format!("the name of {shown} is not UTF-8; rename it"))
    })
}

/// Whether a table is to be read from standard input.
fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads the table at `path`, or from standard input where that is `-`, and the digest of what was
/// read. Whether the first line holds names is auto-detected unless `header` says so.
pub fn read_table(path: &Path, header: Option<bool>) -> Result<(Table, String)> {
    if is_stdin(path) {
        return read_text("standard input", io::stdin().lock(), header);
    }
    let shown = path.display().to_string();
    if path.is_dir() {
        return Err(Failure::bad_input(format!("{shown}: this is a folder, not a table of text")));
    }
    let open = || {
        let opened = File::open(path).map_err(|e| anyhow!("{shown}: cannot be opened: {e}"));
        opened.bad_input()
    };
    if path.extension().is_some_and(|ending| ending == "parquet") {
        let table = read_parquet(&shown, open()?)?;
        return Ok((table, Hashing::new(open()?).digest(&shown)?));
    }
    read_text(&shown, open()?, header)
}

/// A table of text that is called `shown`, and the digest of all of it.
fn read_text(shown: &str, source: impl Read, header: Option<bool>) -> Result<(Table, String)> {
    let mut reader = Hashing::new(source);
    let format = TextFormat { header, ..TextFormat::default() };
    let table = Table::from_text(shown, &mut reader, &format).bad_input()?;
    Ok((table, reader.digest(shown)?))
}

#[cfg(feature = "parquet")]
fn read_parquet(shown: &str, file: File) -> Result<Table> {
    Table::from_parquet(shown, file).bad_input()
}

#[cfg(not(feature = "parquet"))]
fn read_parquet(shown: &str, _: File) -> Result<Table> {
    Err(Failure::bad_input(format!(
        "{shown}: this posteria was built without Parquet; export the table as CSV, or build with \
         --features parquet"
    )))
}

/// Digests what is read through it: the digest is of the very bytes that were used.
struct Hashing<R> {
    inner: R,
    hash: Sha256,
}

impl<R: Read> Hashing<R> {
    fn new(inner: R) -> Self {
        Hashing { inner, hash: Sha256::new() }
    }

    /// The digest of everything, also of what the table did not need.
    fn digest(mut self, shown: &str) -> Result<String> {
        io::copy(&mut self, &mut io::sink())
            .with_context(|| format!("{shown}: cannot be read"))
            .bad_input()?;
        Ok(self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.hash.update(&buffer[..count]);
        Ok(count)
    }
}
