"""Fits, and what is asked of them: the same numbers as the command line, bit for bit."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest

import posteria as pt

FEW = {"chains": 2, "warmup": 60, "draws": 40, "progress": False}
FLAGS = ["--chains", "2", "--warmup", "60", "--draws", "40"]


def same(one, other):
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.filterwarnings("ignore::posteria.PosteriaWarning")
@pytest.mark.parametrize(
    ("model", "flags"),
    [
        (pt.Linear(), ["--model", "linear"]),
        (pt.MLP(hidden=3), ["--model", "mlp", "--hidden", "3"]),
        (pt.GP(), ["--model", "gp"]),
        (pt.Linear(residual="student-t"), ["--model", "linear", "--residual", "student-t"]),
        (pt.MLP(hidden=2, inference="laplace"), ["--model", "mlp", "--hidden", "2", "--inference", "laplace"]),
    ],
    ids=["linear", "mlp", "gp", "student", "laplace"],
)
def test_draws_and_answers_are_those_of_the_command_line(model, flags, waves, command, tmp_path):
    waves.to_csv(tmp_path / "waves.csv", index=False)
    amounts = ["--draws", "40"] if "laplace" in flags else FLAGS
    command("fit", "waves.csv", "--target", "y", *flags, *amounts, "--out", "run", cwd=tmp_path)
    options = {"draws": 40, "progress": False} if "laplace" in flags else FEW
    fit = pt.fit(tmp_path / "waves.csv", target="y", model=model, **options)
    theirs = pt.load(tmp_path / "run")
    same(fit.draws(), theirs.draws())
    of_frame = pt.fit(waves, target="y", model=model, **options)
    same(of_frame.draws(), theirs.draws())
    new = waves.head(7)
    new.to_csv(tmp_path / "new.csv", index=False)
    told = json.loads(command("predict", "run", "new.csv", "--json", cwd=tmp_path))
    mine = fit.predict(new)
    for name in ("mean", "sd", "q05", "q50", "q95", "log_density"):
        np.testing.assert_array_equal(mine[name], [row[name] for row in told["rows"]], err_msg=name)
    assert mine.figures.rmse == told["rmse"]
    told = json.loads(command("assess", "run", "--json", cwd=tmp_path))
    loo = fit.loo()
    for key in ("elpd_loo", "se", "p_loo"):
        assert loo[key] == told[key], key
    assert [it.mean for it in loo.utilities] == [it["mean"] for it in told["utilities"]]
    assert set(told) - {"run", "format"} <= set(loo)


def test_a_fit_goes_on_and_survives_a_folder_and_a_pickle(waves, tmp_path):
    whole = pt.fit(waves, "y", pt.Linear(residual="student-t"), **{**FEW, "draws": 100})
    part = pt.fit(waves, "y", pt.Linear(residual="student-t"), **FEW)
    part.save(tmp_path / "run")
    loaded = pt.load(tmp_path / "run")
    same(part.resume(draws=100).draws(), whole.draws())
    same(loaded.resume(draws=100).draws(), whole.draws())
    again = pickle.loads(pickle.dumps(whole))
    same(again.draws(), whole.draws())
    np.testing.assert_array_equal(again.predict(waves)["mean"], whole.predict(waves)["mean"])
    with pytest.raises(pt.PosteriaError):
        part.save(tmp_path / "run")
    part.save(tmp_path / "run", force=True)
    assert pt.load(tmp_path / "run").facts.draws == 100


def test_rows_are_predicted_whatever_they_come_as(line, waves):
    """By position, as one row, without those that lack something."""
    mean = line.predict(waves)["mean"].to_numpy()
    array = waves[["a", "b", "c"]].to_numpy()
    np.testing.assert_array_equal(line.predict(array)["mean"], mean)
    one = {"a": array[0, 0], "b": array[0, 1], "c": array[0, 2]}
    assert line.predict(one)["mean"].iloc[0] == mean[0]
    assert line.predict(waves.iloc[0])["mean"].iloc[0] == mean[0]
    holes = waves.assign(a=waves.a.where(waves.index % 2 == 0))
    with pytest.raises(pt.DataError, match='missing="drop"'):
        line.predict(holes)
    dropped = line.predict(holes, missing="drop")
    np.testing.assert_array_equal(dropped["mean"], mean[::2])
    assert list(dropped.index) == list(waves.index[::2])
    found = line.predict(waves, 0.5)
    assert "q50" in found and "q05" not in found
    again = pickle.loads(pickle.dumps(found))
    np.testing.assert_array_equal(again["mean"], mean)
    with pytest.raises(pt.PosteriaError, match="fit.samples"):
        again.samples()
    assert line.samples(waves, 5).shape == (5, 60)


def test_models_without_targets_have_no_predictions_to_judge(waves):
    fit = pt.fit(waves[["a", "b"]], model=pt.Mixture(components=2), progress=False)
    for asked in (fit.loo, lambda: fit.samples(waves)):
        with pytest.raises(pt.PosteriaError, match="no targets"):
            asked()


def test_classes_are_predicted_with_their_names(classes):
    fit = pt.fit(classes, target="kind", model=pt.Linear(), draws=100, chains=2, progress=False)
    found = fit.predict(classes)
    assert list(found.columns) == ["predicted", "prob[elm]", "prob[fir]", "prob[oak]", "log_density"]
    np.testing.assert_allclose(found.filter(like="prob").sum(axis=1), 1.0)
    assert found.figures.accuracy > 0.7
    drawn = found.samples(50)
    assert drawn.shape == (50, 60) and set(np.unique(drawn)) <= {"elm", "fir", "oak"}
    assert fit.loo().utilities[1].name == "accuracy"


def test_samples_have_the_predictive_moments(line, waves):
    """Of 800 draws; four standard errors of a mean of normal draws, and 20 % of an sd."""
    found = line.predict(waves)
    drawn = line.samples(waves)
    assert drawn.shape == (800, 60)
    error = (drawn.mean(axis=0) - found["mean"]) / (found["sd"] / np.sqrt(800))
    assert np.abs(error).max() < 4.5
    np.testing.assert_allclose(drawn.std(axis=0), found["sd"], rtol=0.2)
    functions = line.functions(waves, 100)
    assert functions.shape == (100, 60)
    assert functions.std(axis=0).max() < drawn.std(axis=0).min()


def test_folds_keep_groups_together(line, waves):
    groups = np.repeat(np.arange(12), 5)
    found = line.kfold(4, groups=groups, utility=["elpd", "mae"])
    assert found.folds == 4 and found.method == "kfold"
    assert list(found.pointwise.columns) == ["elpd", "mae"]
    assert len(found.pointwise) == len(waves)
    plain = line.kfold(4, utility="mae")
    assert plain.utilities[0].mean != found.utilities[1].mean
    table = waves.assign(batch=groups)
    options = {"draws": 200, "inputs": ["a", "b", "c"], "progress": False}
    named = pt.fit(table, "y", pt.Linear(), **options).kfold(4, groups="batch", utility="mae")
    assert named.utilities[0].mean == found.utilities[1].mean
    with pytest.raises(pt.PosteriaError, match="60 rows"):
        line.kfold(4, groups=[1, 2, 3])


def test_models_are_compared(line, process):
    found = pt.compare({"line": line, "process": process}, utility=["elpd", "rmse"])
    assert [row.model for row in found.table] == ["process", "line"]
    assert found.p_better[1][0] > 0.99
    assert {it.name for it in found.utilities} == {"elpd", "rmse"}
    with pytest.raises(pt.PosteriaError, match="same fit"):
        pt.compare({"a": line, "b": line})
    with pytest.raises(pt.PosteriaError):
        pt.compare({"a": line})


def test_evidence_has_the_closed_form(waves):
    prior = {"weights": pt.Prior(fixed=1.0), "intercept": pt.Prior(fixed=5.0)}
    fit = pt.fit(waves, "y", pt.Linear(prior=prior), draws=100, progress=False)
    found = fit.evidence("exact")
    assert found.method == "exact" and found.usable
    assert found.mcse == 0.0 and np.isfinite(found.log_evidence)
    with pytest.raises(pt.SpecificationError, match="use one of"):
        fit.evidence("exakt")


def test_inputs_are_selected(waves):
    found = pt.select(waves, "y", pt.Linear(), draws=200)
    assert found.chosen and set(found.chosen) <= {"a", "b", "c"}
    assert {it.name: it.probability > 0.9 for it in found.inputs}["a"]


def test_summaries_are_frames(line):
    summary = line.summary()
    assert {"mean", "sd", "r_hat", "ess_bulk"} <= set(summary.columns)
    assert "residual_scale" in summary.index
    found = line.diagnose()
    assert found.predictions.fitted.r_hat <= found.predictions.r_hat < 1.05
    assert len(found.variables) == len(summary) and "mean" in repr(found)
    assert list(summary.columns)[:2] == ["mean", "sd"]
    assert "linear model of y" in repr(line)


def test_doubts_are_warnings_with_a_cure(waves):
    with pytest.warns(pt.ConvergenceWarning, match=";"):
        pt.fit(waves, "y", pt.MLP(hidden=8), chains=4, warmup=5, draws=10, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = pt.fit(waves, "y", "linear", progress=False)
        from sklearn.datasets import load_diabetes

        diabetes = load_diabetes(as_frame=True).frame.sample(120, random_state=0)
        pt.fit(diabetes, "target", progress=False)
    far = pd.DataFrame({"a": [50.0], "b": [0.0], "c": [0.0]})
    with pytest.warns(pt.PosteriaWarning, match="range"):
        fit.predict(far)


def test_the_report_is_a_page(process, tmp_path):
    page = process.report(tmp_path / "page.html").read_text()
    assert page.startswith("<!doctype html>") or page.lower().startswith("<!doctype html>")
    shown = process._repr_html_()
    assert shown.startswith("<pre>") and "<iframe srcdoc=" in shown and "Gaussian process" in shown
    assert "gp-of-y" in page
