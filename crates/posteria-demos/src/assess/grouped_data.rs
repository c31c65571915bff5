//! Assess a network on rows that come in groups [Vehtari 2001, §3.4.3].

use posteria::assess::{Bootstrap, PointwiseUtilities, Terms, bayesian_bootstrap};
use posteria::data::recipes::images::{
    FOREST, FOREST_IMAGES, Images, ROWS_PER_IMAGE, SMALL, TRAINING_IMAGES,
};
use posteria::data::{Column, Folds, Table, Task};
use posteria::model::spec::{ModelKind, Priors, Spec};
use posteria::predict::PredictiveTable;
use posteria::random::Purpose;
use posteria::sample::Plan;

use super::references::{Classify, References};
use super::{
    Assessor, Demonstration, Estimate, Quantity, Settings, Study, mean_and_sd, numbers,
    unpublished, utilities,
};
use crate::Result;

/// Folds of the thesis.
const FOLDS: usize = 8;
const GROUP: &str = "image";
/// New rows are predicted from one draw of so many.
const PREDICTED: usize = 4;
/// Errors of the thesis in folds of images (table 2.3).
const PUBLISHED: Published = Published { network: 0.11, neighbours: 0.20, tree: 0.30 };

const WORDS: &str = "\
Classes of 15 rows in each of 24 images: all rows of an image share a lighting, and a tendency to one
class that lighting says nothing about in other images. A network with 8 hidden units is given lighting
and two inputs that count anywhere. The true error is that of its predictions in 400 new images. Where
other rows of the same image are in the training set, which is so for leave-one-out and random folds, the
network knows the image, and the estimate is far too good, however small its sd. Folds of whole
images ask what is to be known, predictions of new images, and their sd by images is the
honest one. In kind the forest scenes of the thesis (48 images of 100 places, not public), whose figure
shows the same order: training, leave-one-out and random folds below grouped folds. For reference, in the
same folds of images: k nearest neighbours, k chosen by leaving out every training row in turn, and a tree of
binary splits, its depth chosen by images left out of the training rows (not pruned, as CART is). --full
does all at the size of the thesis, 48 images of 100 rows and 84 inputs with 20 hidden units, where its
classification errors stand beside (Vehtari 2001, table 2.3).
";

/// Published error rates in folds of images.
#[derive(Clone, Copy)]
struct Published {
    network: f64,
    neighbours: f64,
    tree: f64,
}

/// How much is done.
struct Size {
    recipe: Images,
    images: usize,
    /// New images that the true error is known from.
    new_images: usize,
    hidden: usize,
    folds: usize,
    published: Option<Published>,
}

impl Size {
    fn of(settings: &Settings) -> Self {
        let small = Size {
            recipe: SMALL,
            images: TRAINING_IMAGES,
            new_images: 400,
            hidden: 8,
            folds: FOLDS,
            published: None,
        };
        let full = Size {
            recipe: FOREST,
            images: FOREST_IMAGES,
            new_images: 100,
            hidden: 20,
            published: Some(PUBLISHED),
            ..small
        };
        let size = if settings.full { full } else { small };
        if settings.quick {
            let recipe = Images { rows: ROWS_PER_IMAGE, ..size.recipe };
            return Size { recipe, images: 6, new_images: 6, folds: 2, ..size };
        }
        size
    }
}

/// Runs the demonstration.
pub fn run(settings: &Settings) -> Result<Demonstration> {
    let (seed, size) = (settings.seed, Size::of(settings));
    let mut stream = seed.stream(Purpose::Data, [32, 0]);
    let drawn = size.recipe.draw(size.images * size.recipe.rows, &mut stream);
    let new = without_groups(&size.recipe.draw(size.new_images * size.recipe.rows, &mut stream));
    let groups: Vec<usize> = numbers(&drawn, GROUP).iter().map(|image| *image as usize).collect();
    let table = without_groups(&drawn);
    let mut spec = Spec::default();
    spec.model.kind = ModelKind::Mlp;
    spec.model.priors = Some(Priors::Mcmcstuff);
    spec.model.hidden = Some(size.hidden);
    let study = Study { targets: vec!["class"], task: Task::Binary, spec };
    let fitted = study.fit(&table, &settings.plan(500, 6), settings)?;
    let fitted = fitted.predicting_from_one_in(PREDICTED);
    let utilities = utilities(&["error-rate"], &fitted)?;
    let assessor = Assessor { study: &study, table: &table, utilities: &utilities, settings };
    let mut r_hat = fitted.r_hat();
    let mut results = vec![true_error(&fitted.predict(&new)?, &new, size.recipe.rows)];
    let rows = Bootstrap::new(seed);
    results.push(figure("training rows", &assessor.training(&fitted)?[0], &rows, None)?);
    let (by_loo, loo) = assessor.leave_one_out(&fitted)?;
    results.push(figure("leave-one-out", &by_loo[0], &rows, None)?);
    let bad = loo.shapes.bad as f64 / table.rows() as f64;
    let mut of_folds = seed.stream(Purpose::Data, [32, 1]);
    let random = Folds::random(table.rows(), size.folds, &mut of_folds)?;
    let grouped = Folds::grouped(&groups, size.folds, &mut of_folds)?;
    let by_groups = Bootstrap { groups: Some(groups.clone()), ..rows.clone() };
    let published = size.published;
    for (label, folds, bootstrap, published) in [
        ("random folds", &random, &rows, None),
        ("folds of images", &grouped, &by_groups, published.map(|it| it.network)),
    ] {
        settings.console.message(label);
        let (found, of_folds) = assessor.folds(&fitted, folds, &fold_plan(settings))?;
        results.push(figure(label, &found[0], bootstrap, published)?);
        r_hat = of_folds.max(r_hat);
    }
    settings.console.message("references");
    let references = References::new(&table, "class", &groups, seed);
    for (label, classify, published) in [
        (
            "k nearest neighbours",
            References::neighbours as Classify,
            published.map(|it| it.neighbours),
        ),
        ("tree", References::tree as Classify, published.map(|it| it.tree)),
    ] {
        let wrong = references.in_folds(&grouped, classify, settings.threads)?;
        let found = PointwiseUtilities::new(&*utilities[0], Terms::from(wrong));
        let label = format!("{label}, folds of images");
        results.push(figure(&label, &found, &by_groups, published)?);
    }
    results.push(unpublished("share of rows whose Pareto k is bad", bad, None));
    Ok(settings.conclude("grouped-data", results, WORDS.into(), r_hat))
}

fn fold_plan(settings: &Settings) -> Plan {
    if settings.quick {
        return settings.plan(0, 1);
    }
    // Begun where the fit to all rows ended: what is left of the warm-up is a fifth. Thirteen times as
    // many rows leave less to explore, and take as much longer.
    let thin = if settings.full { 4 } else { 16 };
    Plan { thin, ..Plan::new(2, 300, 300) }
}

fn figure(
    label: &str,
    found: &PointwiseUtilities,
    bootstrap: &Bootstrap,
    published: Option<f64>,
) -> Result<Quantity> {
    let expected = bayesian_bootstrap(found, bootstrap)?;
    let estimate = Estimate { value: expected.mean(), sd: expected.sd() };
    Ok(Quantity::of(format!("{label}: error rate"), published, estimate))
}

/// The share of rows of new images whose class is not the most probable one; its error by
/// images.
fn true_error(predictions: &PredictiveTable, new: &Table, rows_of_image: usize) -> Quantity {
    let classes = numbers(new, "class");
    let wrong = |row: usize| {
        let most = predictions.predictive(row).most_probable();
        f64::from(u8::from(most != classes[row] as usize))
    };
    let wrong: Vec<f64> = (0..new.rows()).map(wrong).collect();
    let share = |image: &[f64]| image.iter().sum::<f64>() / image.len() as f64;
    let by_image: Vec<f64> = wrong.chunks(rows_of_image).map(share).collect();
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
