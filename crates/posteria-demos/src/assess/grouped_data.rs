//! Assess a network on rows that come in groups [Vehtari 2001, §3.4.3].

use posteria::assess::{Bootstrap, PointwiseUtilities, bayesian_bootstrap};
use posteria::data::recipes::images::{ROWS_PER_IMAGE, TRAINING_IMAGES, draw};
use posteria::data::{Column, Folds, Table, Task};
use posteria::model::spec::{ModelKind, Priors, Spec};
use posteria::random::Purpose;
use posteria::sample::Plan;

use super::{Assessor, Demonstration, Quantity, Settings, Study, mean_and_sd, numbers};
use super::{unpublished, utilities};
use crate::Result;

/// Folds of the thesis.
const FOLDS: usize = 8;
/// New images that the true error is known from.
const NEW_IMAGES: usize = 400;
const HIDDEN: usize = 8;
const GROUP: &str = "image";

const WORDS: &str = "\
Classes of 15 rows in each of 24 images: all rows of an image share a lighting, and a tendency to one
class that lighting says nothing about in other images. A network with 8 hidden units is given lighting
and two inputs that count anywhere. The true error is that of its predictions in 400 new images. Where
other rows of the same image are in the training set, which is so for leave-one-out and random folds, the
network knows the image, and the estimate is far too good, however small its sd. Folds of whole
images ask what is to be known, predictions of new images, and their sd by images is the
honest one. In kind the forest scenes of the thesis (48 images of 100 places, not public), whose figure
shows the same order: training, leave-one-out and random folds below grouped folds.
";

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let seed = settings.seed;
    let mut stream = seed.stream(Purpose::Data, [32, 0]);
    let images = if settings.quick { 6 } else { TRAINING_IMAGES };
    let drawn = draw(images * ROWS_PER_IMAGE, &mut stream);
    let new_images = if settings.quick { 6 } else { NEW_IMAGES };
    let new = without_groups(&draw(new_images * ROWS_PER_IMAGE, &mut stream));
    let groups: Vec<usize> = numbers(&drawn, GROUP).iter().map(|image| *image as usize).collect();
    let table = without_groups(&drawn);
    let mut spec = Spec::default();
    spec.model.kind = ModelKind::Mlp;
    spec.model.priors = Some(Priors::Mcmcstuff);
    spec.model.hidden = Some(HIDDEN);
    let study = Study { targets: vec!["class"], task: Task::Binary, spec };
    let fitted = study.fit(&table, &settings.plan(500, 6), settings)?;
    let utilities = utilities(&["error-rate"], &fitted)?;
    let assessor = Assessor { study: &study, table: &table, utilities: &utilities, settings };
    let mut r_hat = fitted.r_hat();
    let mut results = vec![true_error(&fitted.predict(&new)?, &new)];
    let rows = Bootstrap::new(seed);
    results.push(figure("training rows", &assessor.training(&fitted)?[0], &rows)?);
    let (by_loo, loo) = assessor.leave_one_out(&fitted)?;
    results.push(figure("leave-one-out", &by_loo[0], &rows)?);
    let bad = loo.shapes.bad as f64 / table.rows() as f64;
    let count = if settings.quick { 2 } else { FOLDS };
    let mut of_folds = seed.stream(Purpose::Data, [32, 1]);
    let random = Folds::random(table.rows(), count, &mut of_folds)?;
    let grouped = Folds::grouped(&groups, count, &mut of_folds)?;
    let by_groups = Bootstrap { groups: Some(groups), ..rows.clone() };
    for (label, folds, bootstrap) in
        [("random folds", random, rows), ("folds of images", grouped, by_groups)]
    {
        settings.console.message(label);
        let (found, of_folds) = assessor.folds(&fitted, &folds, &fold_plan(settings))?;
        results.push(figure(label, &found[0], &bootstrap)?);
        r_hat = of_folds.max(r_hat);
    }
    results.push(unpublished("share of rows whose Pareto k is bad", bad, None));
    Ok(settings.conclude("grouped-data", results, WORDS.into(), r_hat))
}

fn fold_plan(settings: &Settings) -> Plan {
    if settings.quick {
        return settings.plan(0, 1);
    }
    // Begun where the fit to all rows ended: what is left of the warm-up is a fifth.
    Plan { thin: 16, ..Plan::new(2, 300, 300) }
}

fn figure(label: &str, found: &PointwiseUtilities, bootstrap: &Bootstrap) -> Result<Quantity> {
    let expected = bayesian_bootstrap(found, bootstrap)?;
    Ok(unpublished(format!("{label}: error rate"), expected.mean(), Some(expected.sd())))
}

/// The share of rows of new images whose class is not the most probable one; its error by
/// images.
fn true_error(predictions: &posteria::predict::PredictiveTable, new: &Table) -> Quantity {
    let classes = numbers(new, "class");
    let wrong = |row: usize| {
        let most = predictions.predictive(row).most_probable();
        f64::from(u8::from(most != classes[row] as usize))
    };
    let wrong: Vec<f64> = (0..new.rows()).map(wrong).collect();
    let share = |image: &[f64]| image.iter().sum::<f64>() / image.len() as f64;
    let by_image: Vec<f64> = wrong.chunks(ROWS_PER_IMAGE).map(share).collect();
    let (mean, sd) = mean_and_sd(&by_image);
    let sd = sd / (by_image.len() as f64).sqrt();
    unpublished("new images: true error rate", mean, Some(sd))
}

/// The table without the numbers of images, which say nothing about a new one.
fn without_groups(table: &Table) -> Table {
    let names = table.names().iter().filter(|name| *name != GROUP);
    let column = |name: &String| (name.clone(), Column::numbers(numbers(table, name).to_vec()));
    Table::new(table.file(), names.map(column).collect()).expect("the columns of a table")
}
