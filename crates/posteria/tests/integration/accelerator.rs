//! Processes on an accelerator: a reference one, made of the algebra that the processor uses.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use posteria::data::{Dataset, TextFormat};
use posteria::fit::{Fit, FitError, Workers};
use posteria::model::accelerator::{
    AcceleratedNetwork, AcceleratedProcess, Accelerator, AcceleratorError, AcceleratorName,
    Accelerators, Placement, ProcessPoint, bring,
};
use posteria::model::gp::covariance::Covariance;
use posteria::model::spec::{DeviceChoice, Spec};
use posteria::random::{Purpose, Seed};
use posteria::{FitOptions, Table, Utility};
use posteria_linalg::{Cholesky, Matrix};

use crate::accelerated_networks::ReferenceNetwork;

/// What the devices of these numbers are.
const WORKING: usize = 0;
const ABSENT: usize = 1;
const FULL: usize = 2;
/// Is lost after so many answers as its number.
const LOST: usize = 300;
/// Fewest rows that the devices are chosen for.
const FEWEST_ROWS: usize = 30;

pub struct Devices;

struct Reference {
    name: AcceleratorName,
    ordinal: usize,
}

impl Accelerators for Devices {
    fn open(&self, ordinal: Option<usize>) -> Result<Arc<dyn Accelerator>, AcceleratorError> {
        let ordinal = ordinal.unwrap_or(WORKING);
        if ordinal == ABSENT {
            return Err(AcceleratorError::Absent { why: "there is no such device".into() });
        }
        let device = DeviceChoice::Cuda(Some(ordinal));
        let name = AcceleratorName { device, name: "reference".into(), chip: "none".into() };
        Ok(Arc::new(Reference { name, ordinal }))
    }
}

impl Accelerator for Reference {
    fn fewest_chains(&self) -> usize {
        3
    }

    fn network(
        &self,
        spec: &Spec,
        _data: &Dataset,
    ) -> Result<Box<dyn AcceleratedNetwork>, AcceleratorError> {
        if spec.model.hidden == Some(9) {
            return Err(AcceleratorError::NotAvailable { what: "networks of 9 units".into() });
        }
        Ok(Box::new(ReferenceNetwork::of(self.ordinal == LOST)))
    }

    fn name(&self) -> &AcceleratorName {
        &self.name
    }

    fn fewest_rows(&self) -> usize {
        FEWEST_ROWS
    }

    fn process(
        &self,
        covariance: &Covariance,
        inputs: &Matrix,
        jitter: f64,
    ) -> Result<Box<dyn AcceleratedProcess>, AcceleratorError> {
        if self.ordinal == FULL {
            return Err(AcceleratorError::Memory { what: "8 MB are needed, 1 is free".into() });
        }
        Ok(Box::new(ReferenceProcess {
            covariance: covariance.clone(),
            inputs: inputs.clone(),
            jitter,
            answers: AtomicUsize::new(0),
            most: if self.ordinal == LOST { LOST } else { usize::MAX },
        }))
    }
}

struct ReferenceProcess {
    covariance: Covariance,
    inputs: Matrix,
    jitter: f64,
    answers: AtomicUsize,
    most: usize,
}

impl ReferenceProcess {
    /// The factor of B, and W^½.
    fn factor(&self, at: ProcessPoint<'_>) -> Result<(Cholesky, Vec<f64>), AcceleratorError> {
        if self.answers.fetch_add(1, Ordering::Relaxed) >= self.most {
            return Err(AcceleratorError::Failed { what: "it fell off the bus".into() });
        }
        let mut evaluator = self.covariance.evaluator(&self.inputs);
        evaluator.set(at.log_parameters);
        let roots: Vec<f64> = at.precisions.iter().map(|w| w.sqrt()).collect();
        let mut matrix = Matrix::zeros(roots.len(), roots.len());
        evaluator.fill(&mut matrix);
        for column in 0..roots.len() {
            matrix[(column, column)] += self.jitter * self.jitter;
            for row in column..roots.len() {
                let value = roots[column] * roots[row] * matrix[(row, column)];
                matrix[(row, column)] = value;
            }
            matrix[(column, column)] += 1.0;
        }
        let failed = |pivot| AcceleratorError::NotPositiveDefinite { pivot };
        Ok((Cholesky::new(&matrix).map_err(|error| failed(error.pivot))?, roots))
    }

    fn inverse(&self, at: ProcessPoint<'_>) -> Result<(Matrix, Vec<f64>), AcceleratorError> {
        let (factor, roots) = self.factor(at)?;
        let mut inverse = Matrix::zeros(roots.len(), roots.len());
        factor.inverse(&mut inverse);
        Ok((inverse, roots))
    }
}

impl AcceleratedProcess for ReferenceProcess {
    fn factorize(&self, at: ProcessPoint<'_>) -> Result<f64, AcceleratorError> {
        Ok(-0.5 * self.factor(at)?.0.log_determinant())
    }

    fn solve(
        &self,
        at: ProcessPoint<'_>,
        targets: &[f64],
        solved: &mut [f64],
    ) -> Result<f64, AcceleratorError> {
        let (factor, roots) = self.factor(at)?;
        for ((slot, target), root) in solved.iter_mut().zip(targets).zip(&roots) {
            *slot = root * target;
        }
        factor.solve_lower(solved);
        let square = solved.iter().map(|z| z * z).sum();
        factor.solve_lower_transposed(solved);
        Ok(square)
    }

    fn inverse_diagonal(
        &self,
        at: ProcessPoint<'_>,
        diagonal: &mut [f64],
    ) -> Result<(), AcceleratorError> {
        let (inverse, _) = self.inverse(at)?;
        diagonal.iter_mut().enumerate().for_each(|(row, slot)| *slot = inverse[(row, row)]);
        Ok(())
    }

    fn gradient(
        &self,
        at: ProcessPoint<'_>,
        solved: &[f64],
        gradient: &mut [f64],
    ) -> Result<(), AcceleratorError> {
        let (inverse, roots) = self.inverse(at)?;
        let targets = (solved.len() / roots.len()) as f64;
        let mut evaluator = self.covariance.evaluator(&self.inputs);
        evaluator.set(at.log_parameters);
        let mut column = |j: usize, out: &mut [f64]| {
            for (slot, row) in out.iter_mut().zip(j..) {
                let each = solved.chunks_exact(roots.len());
                let products: f64 = each.map(|solved| solved[row] * solved[j]).sum();
                *slot = 0.5 * roots[row] * roots[j] * (products - targets * inverse[(row, j)]);
            }
        };
        evaluator.gradient(&mut column, gradient);
        Ok(())
    }

    fn inverse_among(
        &self,
        at: ProcessPoint<'_>,
        rows: &[usize],
        block: &mut Matrix,
    ) -> Result<(), AcceleratorError> {
        let (inverse, _) = self.inverse(at)?;
        for (j, column) in rows.iter().enumerate() {
            for (i, row) in rows.iter().enumerate().skip(j) {
                block[(i, j)] = inverse[(*row, *column)];
            }
        }
        Ok(())
    }

    fn whiten(&self, at: ProcessPoint<'_>, columns: &mut Matrix) -> Result<(), AcceleratorError> {
        self.factor(at)?.0.solve_lower_matrix(columns);
        Ok(())
    }

    fn predict(
        &self,
        at: ProcessPoint<'_>,
        solved: &[f64],
        new: &Matrix,
        (means, known): (&mut [f64], &mut [f64]),
    ) -> Result<(), AcceleratorError> {
        let (factor, roots) = self.factor(at)?;
        let mut evaluator = self.covariance.evaluator(&self.inputs);
        evaluator.set(at.log_parameters);
        let mut cross = Matrix::zeros(new.rows(), roots.len());
        evaluator.cross(new, &mut cross);
        let mut columns =
            Matrix::from_fn(roots.len(), new.rows(), |row, new| roots[row] * cross[(new, row)]);
        for (column, mean) in means.iter_mut().enumerate() {
            *mean = columns.column(column).iter().zip(solved).map(|(c, b)| c * b).sum();
        }
        factor.solve_lower_matrix(&mut columns);
        for (column, known) in known.iter_mut().enumerate() {
            *known = columns.column(column).iter().map(|v| v * v).sum();
        }
        Ok(())
    }

    fn draw_open(
        &self,
        at: ProcessPoint<'_>,
        epsilon: f64,
        values: &mut [f64],
    ) -> Result<(), AcceleratorError> {
        let (mut inverse, _) = self.inverse(at)?;
        inverse.values_mut().iter_mut().for_each(|value| *value = -*value);
        (0..values.len()).for_each(|row| inverse[(row, row)] += 1.0 + epsilon);
        let failed = |pivot| AcceleratorError::NotPositiveDefinite { pivot };
        let factor = Cholesky::new(&inverse).map_err(|error| failed(error.pivot))?;
        factor.multiply_lower(values);
        Ok(())
    }
}

pub fn table(rows: usize) -> Table {
    let mut stream = Seed(3).stream(Purpose::Data, [0, 0]);
    let mut text = String::from("a,b,y,class\n");
    for row in 0..rows {
        let (a, b) = (row as f64 / rows as f64, stream.uniform());
        let y = (6.0 * a).sin() + 0.5 * b + 0.2 * stream.normal();
        let class = if y > 0.5 { "high" } else { "low" };
        text += &format!("{a},{b},{y},{class}\n");
    }
    Table::from_text("memory", text.as_bytes(), &TextFormat::default()).expect("a table")
}

/// A short fit of `keys` on this device.
fn fit(rows: usize, keys: &str, device: Option<&str>) -> Result<Fit, FitError> {
    bring(Arc::new(Devices));
    let device = device.map_or(String::new(), |device| format!("device = '{device}'\n"));
    let text = format!(
        "[data]\nexclude = ['class']\n[model]\nkind = 'gp'\n{keys}\n[sampling]\nchains = 2\nwarmup = 30\ndraws = 15\n{device}"
    );
    let mut spec = Spec::from_toml(&text).expect("a specification");
    let mut target = "y";
    if keys.contains("binary") {
        (target, spec.data.exclude) = ("class", vec!["y".into()]);
    }
    let options = FitOptions { workers: workers(), ..FitOptions::default() };
    posteria::fit(&table(rows), target, spec, &options)
}

pub fn workers() -> Workers {
    Workers { threads: NonZero::<usize>::MIN, ..Workers::default() }
}

pub fn placement(fit: &Fit) -> Placement {
    fit.prepared.placement()
}

#[track_caller]
fn assert_near(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.iter().zip(b) {
        assert!((a - b).abs() <= tolerance * (1.0 + b.abs()), "{a} and {b}");
    }
}

/// Nothing but the last digits of derivatives depends on who computed the densities, so that short chains stay
/// together: draws, what draws leave open, predictions and leave-one-out.
#[test]
fn a_fit_on_a_device_is_the_fit_of_the_processor() {
    for keys in ["", "covariance = ['matern-5/2', 'linear']\nmean = 'constant'"] {
        let (there, here) = (fit(34, keys, Some("cuda")), fit(34, keys, None));
        let (there, here) = (there.expect("a fit"), here.expect("a fit"));
        assert!(matches!(placement(&there), Placement::Device(_)), "{:?}", placement(&there));
        assert_eq!(placement(&here), Placement::Cpu);
        for component in 0..here.draws.layout.len() {
            let [a, b] = [&there, &here].map(|fit| fit.draws.component(component).concat());
            assert_near(&a, &b, 1e-6);
        }
        let new = table(5);
        let [a, b] = [&there, &here].map(|fit| fit.predict(&new).expect("predictions"));
        for (a, b) in a.rows.iter().zip(&b.rows) {
            let both = [a, b].map(|row| [row.outputs[0].mean, row.outputs[0].sd]);
            assert_near(&both[0], &both[1], 1e-6);
        }
        let [a, b] = [&there, &here].map(|fit| fit.loo(&[Utility::Elpd]).expect("estimates"));
        assert_near(&[a.expected[0].estimate], &[b.expected[0].estimate], 1e-6);
        let replicates = |fit: &Fit| {
            let found = fit.prepared.replicates(&fit.draws, 1 << 20, &workers());
            found.expect("drawn").expect("a model with targets")
        };
        let [a, b] = [&there, &here].map(replicates);
        assert_near(&a.values, &b.values, 1e-5);
        assert_near(&a.left_out.expect("some"), &b.left_out.expect("some"), 1e-5);
    }
}

#[test]
fn several_targets_share_a_device() {
    let mut spec = Spec::from_toml(
        "[data]\nexclude = ['class']\ntarget = ['y', 'b']\n[model]\nkind = 'gp'\nprocesses = 'shared'\n\
         [residual]\nsharing = 'common'\n[sampling]\nchains = 1\nwarmup = 20\ndraws = 10\n",
    )
    .expect("a specification");
    bring(Arc::new(Devices));
    let fitted = |spec: &Spec| {
        let prepared = posteria::fit::Prepared::new(spec.clone(), &table(31), None);
        prepared.expect("prepared").fit(&workers()).expect("a fit")
    };
    let here = fitted(&spec);
    spec.sampling.device = Some(DeviceChoice::Auto);
    let there = fitted(&spec);
    assert!(matches!(placement(&there), Placement::Device(_)));
    for component in 0..here.draws.layout.len() {
        let [a, b] = [&there, &here].map(|fit| fit.draws.component(component).concat());
        assert_near(&a, &b, 1e-6);
    }
}

#[test]
fn what_no_device_does_is_done_by_the_processor_and_said() {
    for (keys, what) in [
        ("neighbours = 5", "neighbours"),
        ("[residual]\nfamily = 'student-t'", "residuals other than normal"),
        ("task = 'binary'", "classes"),
    ] {
        let there = fit(31, keys, Some("cuda")).expect("a fit");
        let words = placement(&there).description().expect("words");
        assert!(words.starts_with("computed by the CPU: ") && words.contains(what), "{words}");
        let here = fit(31, keys, None).expect("a fit");
        for component in 0..here.draws.layout.len() {
            let [a, b] = [&there, &here].map(|fit| fit.draws.component(component).concat());
            assert!(a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits()), "{keys}");
        }
    }
    let small = fit(FEWEST_ROWS - 1, "", Some("auto")).expect("a fit");
    let words = placement(&small).description().expect("words");
    assert!(words.contains("fewer than 30 rows"), "{words}");
}

#[test]
fn a_device_that_was_named_and_is_not_to_be_had_is_an_error() {
    for (device, why) in [("cuda:1", "no such device"), ("cuda:2", "8 MB are needed")] {
        let error = fit(31, "", Some(device)).err().expect("refused").to_string();
        assert!(error.contains(device) && error.contains(why), "{error}");
        assert!(error.contains("--device cpu"), "{error}");
    }
}

#[test]
fn a_lost_device_ends_the_run_and_leaves_no_draws_of_afterwards() {
    let error = fit(31, "", Some("cuda:300")).err().expect("lost");
    assert!(matches!(error, FitError::DeviceFailed { .. }), "{error}");
    assert!(error.to_string().contains("fell off the bus"), "{error}");
}
