//! Put what is known about runs into the order of the page: verdict, answer, posterior,
//! convergence, model.

use std::path::PathBuf;

use posteria::random::Seed;
use posteria_report::sections::{Doubt, Predictions, Utilities, Verdict};
use posteria_report::{Part, Section};

use super::comparison::{self, Compared, RowDensities};
use super::effects::strongest;
use super::kept::Assessment;
use super::part::{Gathered, RowsOfData};
use super::rows::RowNote;
use crate::failure::Result;
use crate::text;

/// The parts of the page about these runs.
pub fn parts(folders: &[PathBuf], mut runs: Vec<Gathered>, seed: Seed) -> Result<Vec<Part>> {
    if let [one] = &mut runs[..] {
        return Ok(vec![alone(one)]);
    }
    let names = short_names(&runs);
    let mut answer = Part::new("All runs together");
    answer.key = String::new();
    answer.push(verdicts(&runs, &names).section());
    let are_alike = are_of_the_same_rows(&runs);
    let mut has_utilities = false;
    if are_alike {
        let found = compared(folders, &runs, &names, seed)?;
        if found.is_none() {
            let mut section = Section::new("Which model predicts better?");
            let all: Vec<&str> = runs.iter().map(|run| &run.name[..]).collect();
            section.text(format!(
                "Not known yet: run posteria compare {}, then report again.",
                all.join(" ")
            ));
            answer.push(section);
        }
        let Compared { forest, utilities, .. } = found.unwrap_or_default();
        let Utilities { method, utilities, comparisons } = utilities;
        let better = Utilities { comparisons, ..Utilities::default() };
        let mut section = forest.section();
        section.extend(better.section());
        answer.push(section);
        let shared = share(&mut runs, &names);
        answer.push(shared.section());
        answer.push(shared.inputs_section());
        has_utilities = !utilities.is_empty();
        answer.push(Utilities { method, utilities, comparisons: Vec::new() }.section());
    } else {
        let mut section = Section::new("Which model predicts better?");
        section.text(
            "These runs are of different rows or targets, so they are not compared; each has a part \
             of its own below.",
        );
        answer.push(section);
    }
    let own = runs.iter_mut().zip(&names);
    let own = own.map(|(run, name)| one_of_several(run, name, has_utilities));
    Ok([answer].into_iter().chain(own).collect())
}

/// The part about the only run.
fn alone(run: &mut Gathered) -> Part {
    let mut part = Part::new(run.name.clone());
    part.push(run.verdict.section());
    run.predictions.effects = strongest(std::mem::take(&mut run.predictions.effects));
    part.push(run.predictions.section());
    part.push(inputs(run));
    part.push(worth(run, false));
    run.checks.iter().for_each(|it| part.push(it.section()));
    run.evidence.iter().for_each(|it| part.push(it.section()));
    for section in [&run.posterior, &run.convergence, &run.model] {
        part.push(section.clone());
    }
    part
}

/// The part about one of several runs: what they share is told already.
fn one_of_several(run: &mut Gathered, name: &str, has_utilities: bool) -> Part {
    // Files of figures are named after the folder alone, wherever it is.
    let mut part = Part { name: run.name.clone(), ..Part::new(name) };
    part.push(run.verdict.section());
    run.predictions.effects = strongest(std::mem::take(&mut run.predictions.effects));
    let mut predictions = Section::new("Predictions");
    let own = run.predictions.section();
    predictions.folded(Section { title: "Predictions of this run alone".into(), ..own });
    if has_utilities {
        predictions.extend(worth(run, true));
    }
    part.push(predictions);
    part.push(inputs(run));
    if !has_utilities {
        part.push(worth(run, false));
    }
    run.checks.iter().for_each(|it| part.push(it.section()));
    run.evidence.iter().for_each(|it| part.push(it.section()));
    part.push(run.posterior.clone());
    part.push(run.convergence.clone());
    let mut model = Section::new(run.model.title.clone());
    let mut words = run.model.clone();
    words.title = "Model, priors and data in words".into();
    model.folded(words);
    part.push(model);
    part
}

/// Which inputs matter: what they do, and which are needed.
fn inputs(run: &Gathered) -> Section {
    let mut section = run.predictions.inputs_section();
    if let Some(selection) = &run.selection {
        let found = selection.section();
        // The figures of a search come first: they answer the question.
        section.blocks = [found.blocks, section.blocks].concat();
    }
    section
}

/// What predictions are worth, and how far to trust that.
fn worth(run: &Gathered, is_told: bool) -> Section {
    let mut section = match &run.assessment {
        Some(assessment) if !is_told => assessment.utilities("").section(),
        _ => Section::new("Expected utilities"),
    };
    if let Some(weights) = &run.weights {
        let own = weights.section();
        match weights.doubts().is_empty() {
            true => section.folded(own),
            false => section.extend(own),
        }
    }
    section
}

/// Names of runs without the folder that all of them are in, if they still differ.
fn short_names(runs: &[Gathered]) -> Vec<String> {
    let folder = |name: &str| name.trim_end_matches('/').rfind('/').map_or(0, |at| at + 1);
    let first = runs.first().map_or("", |run| &run.name[..]);
    let common = &first[..folder(first)];
    let is_common =
        runs.iter().all(|run| run.name.starts_with(common) && folder(&run.name) == common.len());
    let skipped = if is_common { common.len() } else { 0 };
    runs.iter().map(|run| run.name[skipped..].trim_end_matches('/').to_string()).collect()
}

/// What is wrong with any of the runs.
fn verdicts(runs: &[Gathered], names: &[String]) -> Verdict {
    let doubts = runs.iter().zip(names).flat_map(|(run, name)| {
        run.verdict
            .doubts
            .iter()
            .map(move |doubt| Doubt { level: doubt.level, text: format!("{name}: {}", doubt.text) })
    });
    let doubts: Vec<Doubt> = doubts.collect();
    let reassurance = format!("No warnings in any of the {}", text::count(runs.len(), "run"));
    Verdict { doubts, facts: Vec::new(), reassurance }
}

/// Whether all runs predict the same targets of the same rows.
fn are_of_the_same_rows(runs: &[Gathered]) -> bool {
    let rows: Option<Vec<&RowsOfData>> = runs.iter().map(|run| run.rows.as_ref()).collect();
    let Some([first, others @ ..]) = rows.as_deref() else { return false };
    let is_same = |a: &f64, b: &f64| (a - b).abs() <= 1e-9 * a.abs().max(b.abs());
    others.iter().all(|other| {
        let pairs = first.observed.iter().flatten().zip(other.observed.iter().flatten());
        first.names == other.names
            && first.observed.len() == other.observed.len()
            && first.targets.labels() == other.targets.labels()
            && pairs.into_iter().all(|(a, b)| is_same(a, b))
    })
}

/// The runs beside each other, by the best of what is known about them.
fn compared(
    folders: &[PathBuf],
    runs: &[Gathered],
    names: &[String],
    seed: Seed,
) -> Result<Option<Compared>> {
    let named = || names.iter().cloned().zip(runs);
    let assessed: Option<Vec<(String, &Assessment)>> =
        named().map(|(name, run)| Some((name, run.assessment.as_ref()?))).collect();
    let targets = runs[0].rows.as_ref().map(|rows| &rows.targets);
    let assessed = match (assessed, targets) {
        (Some(assessed), Some(targets)) => comparison::of_assessments(&assessed, targets, seed),
        _ => None,
    };
    let draws: Vec<usize> = runs.iter().map(|run| run.draws).collect();
    match (comparison::kept(folders, names, &draws)?, assessed) {
        // An assessment keeps whole distributions, a comparison only their quantiles.
        (Some(kept), Some(assessed)) if kept.method == assessed.method => {
            let utilities = assessed.utilities.utilities;
            let utilities = Utilities { utilities, ..kept.utilities };
            return Ok(Some(Compared { utilities, ..kept }));
        }
        (Some(kept), _) => return Ok(Some(kept)),
        (None, Some(assessed)) => return Ok(Some(assessed)),
        (None, None) => {}
    }
    let densities: Option<Vec<(String, &RowDensities)>> =
        named().map(|(name, run)| Some((name, run.densities.as_ref()?))).collect();
    Ok(densities.and_then(|densities| comparison::of_densities(&densities)))
}

/// Takes out of the runs what several of them can show in one figure, or side by side.
fn share(runs: &mut [Gathered], names: &[String]) -> Predictions {
    for (run, name) in runs.iter_mut().zip(names) {
        let Predictions { curves, surfaces, fitted, pits, calibrated, ranked, effects, .. } =
            &mut run.predictions;
        curves.iter_mut().for_each(|it| it.model.clone_from(name));
        surfaces.iter_mut().for_each(|it| it.model.clone_from(name));
        fitted.iter_mut().for_each(|it| it.model.clone_from(name));
        pits.iter_mut().for_each(|it| it.model.clone_from(name));
        calibrated.iter_mut().for_each(|it| it.model.clone_from(name));
        ranked.iter_mut().for_each(|it| it.model.clone_from(name));
        effects.iter_mut().for_each(|it| it.model.clone_from(name));
    }
    let curves = common(runs, |it| &mut it.curves, |it| (it.input.clone(), it.output.clone()));
    let surfaces = common(runs, |it| &mut it.surfaces, |it| it.output.clone());
    let is_drawn = !curves.is_empty() || !surfaces.is_empty();
    // Where no curve shows predictions beside the data, their rows do.
    let fitted = match is_drawn {
        true => Vec::new(),
        false => common(runs, |it| &mut it.fitted, |it| it.target.clone()),
    };
    let bases = |run: &Gathered| run.predictions.pits.first().map(|it| it.basis);
    let are_alike = runs.windows(2).all(|pair| bases(&pair[0]) == bases(&pair[1]));
    let ranked_bases = |run: &Gathered| run.predictions.ranked.first().map(|it| it.basis);
    let are_ranked_alike =
        runs.windows(2).all(|pair| ranked_bases(&pair[0]) == ranked_bases(&pair[1]));
    let mut shared = Predictions { curves, surfaces, fitted, ..Predictions::default() };
    // Rows that were left out and rows of the fit never share a figure.
    if are_alike {
        shared.pits = common(runs, |it| &mut it.pits, |it| it.target.clone());
    }
    if are_ranked_alike {
        shared.ranked = common(runs, |it| &mut it.ranked, |it| it.target.clone());
        if runs.iter().all(|run| run.predictions.calibrated.iter().all(|it| it.labels.len() == 2)) {
            shared.calibrated = common(runs, |it| &mut it.calibrated, |it| it.target.clone());
        }
    }
    let effects =
        common(runs, |it| &mut it.effects, |it| (it.input.clone(), it.output.clone(), it.x.len()));
    shared.effects = strongest(effects);
    let notes: Vec<(&str, RowNote)> =
        names.iter().zip(runs).filter_map(|(name, run)| Some((&name[..], run.row_note?))).collect();
    shared.note = RowNote::of_several(&notes);
    shared
}

/// Takes out of every run what at least two of them have.
fn common<T, K: PartialEq>(
    runs: &mut [Gathered],
    of: impl Fn(&mut Predictions) -> &mut Vec<T>,
    key: impl Fn(&T) -> K,
) -> Vec<T> {
    let mut taken: Vec<Vec<T>> =
        runs.iter_mut().map(|run| std::mem::take(of(&mut run.predictions))).collect();
    let keys: Vec<Vec<K>> = taken.iter().map(|own| own.iter().map(&key).collect()).collect();
    let mut shared = Vec::new();
    for (run, own) in runs.iter_mut().zip(&mut taken) {
        for one in own.drain(..) {
            let its = key(&one);
            match keys.iter().filter(|keys| keys.contains(&its)).count() {
                0 | 1 => of(&mut run.predictions).push(one),
                _ => shared.push(one),
            }
        }
    }
    shared
}
