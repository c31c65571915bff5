"""What is asked of fits besides their predictions: the numbers of the command line, bit for bit."""

import json

import numpy as np
import pandas as pd
import pytest

import posteria as pt

FEW = {"chains": 3, "warmup": 60, "draws": 50, "progress": False}
FLAGS = ["--chains", "3", "--warmup", "60", "--draws", "50"]


@pytest.fixture(scope="module")
def place(waves, classes, command, tmp_path_factory):
    """A folder with tables and runs of the command line."""
    folder = tmp_path_factory.mktemp("runs")
    rng = np.random.default_rng(3)
    new = pd.DataFrame(rng.uniform(-1, 1, (25, 3)), columns=["a", "b", "c"])
    new["y"] = np.sin(3 * new.a) + new.b**2 + 0.15 * rng.normal(size=25)
    new["g"] = np.arange(25) % 4
    for name, table in (("waves", waves), ("classes", classes), ("new", new)):
        table.to_csv(folder / f"{name}.csv", index=False)

    def fit(table, target, *flags):
        command("fit", f"{table}.csv", "--target", target, *flags, *FLAGS, cwd=folder)

    fit("waves", "y", "--model", "mlp", "--hidden", "3", "--out", "net")
    fit("waves", "y", "--residual", "student-t", "--out", "line")
    fit("classes", "kind", "--out", "kinds")
    return folder


@pytest.fixture(scope="module")
def net(place, waves):
    return pt.fit(waves, "y", pt.MLP(hidden=3), **FEW)


@pytest.fixture(scope="module")
def straight(place, waves):
    return pt.fit(waves, "y", pt.Linear(residual="student-t"), **FEW)


@pytest.fixture(scope="module")
def kinds(place, classes):
    return pt.fit(classes, "kind", pt.Linear(), **FEW)


@pytest.fixture(scope="module")
def told(place, command):
    """The JSON of a command in the folder."""

    def run(*arguments):
        return json.loads(command(*arguments, "--json", cwd=place))

    return run


@pytest.fixture(scope="module")
def new(place):
    return pd.read_csv(place / "new.csv")


def same(mine, theirs, path=""):
    """All that the command line tells is there, and equal."""
    if isinstance(theirs, dict):
        for key in theirs.keys() - {"run", "format", "warnings"}:
            same(mine[key], theirs[key], f"{path}.{key}")
    elif isinstance(theirs, list):
        assert len(mine) == len(theirs), path
        for place, (one, other) in enumerate(zip(mine, theirs)):
            same(one, other, f"{path}[{place}]")
    else:
        assert mine == theirs, path


def test_rows_held_out_judge_as_the_command_line(net, new, told):
    found = net.assess(new, utility=["elpd", "rmse", "mae"])
    theirs = told("assess", "net", "--test", "new.csv", "--utility", "elpd", "rmse", "mae")
    same(found, theirs)
    assert found.method == "holdout" and found.rows == 25 and len(found.pointwise) == 25
    assert "25 rows" in repr(found) and "elpd_holdout" in repr(found)
    assert found.utilities[1].mean == pytest.approx(net.predict(new).figures.rmse, rel=1e-12)
    grouped = told("assess", "net", "--test", "new.csv", "--utility", "rmse", "--group", "g")
    for groups in ("g", new.g.to_numpy()):
        with pytest.warns(pt.PosteriaWarning, match="4 groups"):
            same(net.assess(test=new, utility="rmse", groups=groups), grouped)
    again = net.assess(new, "rmse", seed=9).utilities[0]
    theirs = told("assess", "net", "--test", "new.csv", "--utility", "rmse", "--seed", "9")
    same([again], theirs["utilities"])
    assert again.sd != found.utilities[1].sd


def test_rows_held_out_must_be_others_and_complete(net, waves, new):
    for wrong, words in [
        (waves, "very rows"),
        (new.drop(columns="y"), "the target y"),
        (new.drop(columns="b"), '"b"'),
        (new.head(0), "."),
        (new.assign(a=np.nan), "missing"),
    ]:
        with pytest.raises(pt.PosteriaError, match=words):
            net.assess(wrong)
    with pytest.raises(pt.PosteriaError, match="25 rows"):
        net.assess(new, groups=[1, 2, 3])
    mixture = pt.fit(waves[["a", "b"]], model=pt.Mixture(components=2), progress=False)
    with pytest.raises(pt.PosteriaError, match="no targets"):
        mixture.assess(waves)
    # As the rows of the fit were treated: those with empty cells are left out.
    holes = waves.assign(a=waves.a.where(waves.index % 2 == 0))
    dropped = pt.fit(holes, "y", pt.Linear(), missing="drop", **FEW)
    gaps = new.assign(b=new.b.where(new.index > 4))
    with pytest.warns(pt.PosteriaWarning, match="groups"):
        assert dropped.assess(gaps, groups="g").rows == 20


def test_models_are_compared_by_rows_held_out(net, straight, new, told):
    found = pt.compare({"line": straight, "net": net}, utility=["rmse"], test=new)
    theirs = told("compare", "line", "net", "--test", "new.csv", "--utility", "rmse")
    same(found, theirs)
    assert found.method == "holdout" and "new rows" in repr(found)
    with pytest.raises(pt.SpecificationError, match="omit one"):
        pt.compare({"line": straight, "net": net}, test=new, method="loo")
    with pytest.raises(pt.PosteriaError, match="not seen"):
        pt.compare({"line": straight, "net": net}, method="holdout")


@pytest.mark.parametrize("run", ["net", "kinds"])
def test_effects_are_those_of_the_command_line(run, request, told, place):
    """Bit for bit of the run; in memory inputs may differ in the last place from those of a folder, which
    are read on the user's scale."""
    found = pt.load(place / run).effects()
    table = "new.csv" if run == "net" else "classes.csv"
    theirs = told("predict", run, table, "--effects")["effects"]
    assert found["input"].tolist() == [it["input"] for it in theirs]
    assert found["output"].tolist() == [it["output"] for it in theirs]
    for name in ("comparison", "mean_absolute_derivative", "rms_derivative"):
        for ending, part in (("", "mean"), ("_sd", "sd")):
            assert found[name + ending].tolist() == [it[name][part] for it in theirs], name
    pd.testing.assert_frame_equal(request.getfixturevalue(run).effects(), found, rtol=1e-9)


def test_effects_need_a_target(waves):
    mixture = pt.fit(waves[["a", "b"]], model=pt.Mixture(components=2), progress=False)
    with pytest.raises(pt.PosteriaError, match="no targets"):
        mixture.effects()


def test_chains_are_stacked_as_by_the_command_line(net, straight, new, told):
    theirs = told("predict", "net", "new.csv", "--chains", "stacked")
    with pytest.warns(pt.PosteriaWarning):
        found = net.predict(new, chains="stacked")
    same(found.figures.stacking, theirs["stacking"])
    for name in ("mean", "sd", "q05", "q95", "log_density"):
        np.testing.assert_array_equal(found[name], [row[name] for row in theirs["rows"]])
    assert (found["mean"] != net.predict(new)["mean"]).any()
    with pytest.raises(pt.PosteriaError, match="alike"):
        found.samples()
    equal = net.predict(new, chains="equal")
    np.testing.assert_array_equal(equal["mean"], net.predict(new)["mean"])
    assessed = told("assess", "net", "--test", "new.csv", "--chains", "stacked")
    same(net.assess(new, chains="stacked"), assessed)
    with pytest.raises(pt.SpecificationError, match="'stacked'"):
        net.predict(new, chains="all")


def test_what_has_no_chains_to_weigh_is_refused(waves):
    one = pt.fit(waves, "y", pt.Linear(), chains=1, draws=30, progress=False)
    with pytest.raises(pt.PosteriaError, match="chains=4"):
        one.predict(waves, chains="stacked")
    mode = pt.fit(waves, "y", pt.Linear(inference="laplace"), draws=30, progress=False)
    with pytest.raises(pt.PosteriaError, match='inference="mcmc"'):
        mode.predict(waves, chains="stacked")


def test_actions_are_chosen_as_by_the_command_line(net, kinds, classes, new, told, place):
    formula = "if(y > a, 3*(y - a), a - y)"
    for rule in ("expected", "minimax"):
        theirs = told(
            "predict", "net", "new.csv", "--cost", formula, "--actions", "0,0.5,1", "--rule", rule
        )
        found = net.predict(new, cost=formula, actions=[0, 0.5, 1.0], rule=rule)
        for name in ("action", "expected_cost", *(["worst_cost"] if rule == "minimax" else [])):
            assert found[name].tolist() == [row[name] for row in theirs["rows"]], name
        assert found.figures.mean_cost == theirs["mean_cost"]
        assert ("worst_cost" in found) == (rule == "minimax")
    costs = {
        "fell": {"oak": 5.0, "elm": 1.0, "fir": 0.0},
        "keep": {"fir": 2.0, "oak": 0.0, "elm": 0.5},
    }
    frame = pd.DataFrame(costs).T
    frame.rename_axis("action").to_csv(place / "costs.csv")
    theirs = told("predict", "kinds", "classes.csv", "--cost", "costs.csv")
    for cost in (costs, frame, place / "costs.csv", str(place / "costs.csv")):
        found = kinds.predict(classes, cost=cost)
        assert found["action"].tolist() == [row["action"] for row in theirs["rows"]]
        assert found["expected_cost"].tolist() == [row["expected_cost"] for row in theirs["rows"]]
        assert found.figures.mean_cost == theirs["mean_cost"]


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"cost": "abs(y - b)", "actions": [1]}, "b"),
        ({"cost": "abs(y - a)"}, "actions"),
        ({"actions": [1, 2]}, "cost"),
        ({"cost": "abs(y - a)", "actions": [1, 1]}, "1"),
        ({"cost": {"go": {"x": 1.0}}}, "classes"),
        ({"cost": 3.0}, "formula"),
        ({"cost": "absent.csv"}, "absent.csv"),
        ({"cost": {"go": {"x": 1.0}}, "actions": [1]}, "omit actions"),
        ({"cost": "abs(y - a)", "actions": [1], "rule": "best"}, "'minimax'"),
    ],
)
def test_costs_that_make_no_sense_are_refused(net, new, asked, words):
    with pytest.raises(pt.PosteriaError, match=words):
        net.predict(new, **asked)


def test_models_have_probabilities(waves, command, tmp_path):
    waves.to_csv(tmp_path / "waves.csv", index=False)
    prior = {"weights": pt.Prior(fixed=1.0), "intercept": pt.Prior(fixed=5.0)}
    fits = {}
    for name, inputs in (("one", ["a"]), ("two", ["a", "b"])):
        spec = (
            f'[data]\npath = "waves.csv"\ntarget = "y"\ninputs = {json.dumps(inputs)}\n[model]\nkind = '
            '"linear"\n[prior.weights]\nfixed = 1.0\n[prior.intercept]\nfixed = 5.0\n'
        )
        (tmp_path / f"{name}.toml").write_text(spec)
        model = pt.Linear(prior=prior)
        fits[name] = pt.fit(waves, "y", model, inputs=inputs, draws=50, progress=False)
    line = ("evidence", "one.toml", "two.toml", "--method", "exact", "--prior-weights", "3,1", "--json")
    theirs = json.loads(command(*line, cwd=tmp_path))
    found = pt.evidence(fits, "exact", prior_weights={"one": 3, "two": 1})
    same(found, theirs)
    assert [it.run for it in found.models] == ["one", "two"]
    assert sum(it.probability for it in found.models) == pytest.approx(1.0)
    assert "probability" in repr(found)
    exact = fits["one"].evidence("exact").log_evidence
    assert found.models[0].log_evidence == exact
    other = pt.fit(waves.head(30), "y", pt.Linear(prior=prior), draws=50, progress=False)
    for wrong, options, words in [
        ({"one": fits["one"], "other": other}, {}, "60 rows"),
        ({"one": fits["one"]}, {}, "two"),
        ({"a": fits["one"], "b": fits["one"]}, {}, "same fit"),
        (fits, {"prior_weights": [1.0]}, "1 prior weights for 2"),
        (fits, {"prior_weights": [1.0, -1.0]}, "-1"),
        (fits, {"prior_weights": {"one": 1.0}}, "names"),
        ([fits["one"], "two"], {}, "str"),
    ]:
        with pytest.raises(pt.PosteriaError, match=words):
            pt.evidence(wrong, "exact", **options)


def test_evidences_of_tables_without_targets_are_of_one_table(waves):
    fits = [
        pt.fit(waves[["a", "b"]], model=pt.Mixture(components=k), progress=False) for k in (1, 2)
    ]
    found = pt.evidence(fits, methods=[])
    assert [it.run for it in found.models] == ["model 1", "model 2"]
    other = pt.fit(waves[["a", "b"]] * 2, model=pt.Mixture(components=1), progress=False)
    with pytest.raises(pt.PosteriaError, match="different tables"):
        pt.evidence([fits[0], other], methods=[])


def test_prior_draws_follow_the_prior(waves):
    """Of 4000 draws; five standard errors of a mean, and of an sd, of normal draws."""
    prior = {"weights": pt.Prior(fixed=0.5), "intercept": pt.Prior(fixed=2.0)}
    model = pt.Linear(prior=prior, residual={"scale": 0.3, "log_sd": 0.2})
    found = pt.prior_draws(waves, "y", model, draws=4000)
    weights = found.parameters["weights"]
    assert weights.shape == (4000, 3) and found.targets["y"].shape == (4000, 60)
    # On the standardised scale they have a deviation of a half.
    scaled = weights * waves[["a", "b", "c"]].std(ddof=1).to_numpy() / waves.y.std(ddof=1)
    assert (np.abs(scaled.mean(axis=0)) < 5 * 0.5 / np.sqrt(4000)).all()
    np.testing.assert_allclose(scaled.std(axis=0), 0.5, rtol=5 / np.sqrt(8000))
    again = pt.prior_draws(waves, "y", model, draws=50, threads=1)
    np.testing.assert_array_equal(again.targets["y"], found.targets["y"][:50])
    other = pt.prior_draws(waves, "y", model, draws=50, seed=2)
    assert (other.targets["y"] != again.targets["y"]).all()


def test_prior_draws_of_classes_are_labels(classes):
    found = pt.prior_draws(classes, "kind", pt.MLP(hidden=3), draws=30)
    assert set(np.unique(found.targets["kind"])) <= {"elm", "fir", "oak"}
    with pytest.raises(pt.SpecificationError, match="prior"):
        pt.prior_draws(classes[["u", "v"]], model=pt.Mixture(components=2))
    with pytest.raises(pt.SpecificationError, match="at least 1"):
        pt.prior_draws(classes, "kind", draws=0)
    with pytest.raises(pt.SpecificationError, match="too many"):
        pt.prior_draws(classes, "kind", draws=10**12)


def test_folds_have_a_seed_of_their_own(straight, told):
    found = straight.kfold(4, utility="rmse", seed=5)
    theirs = told(
        "assess", "line", "--method", "kfold", "--folds", "4", "--utility", "rmse", "--seed", "5"
    )
    same(found, theirs)
    assert found.elpd_kfold != straight.kfold(np.int64(4), utility="rmse").elpd_kfold
    with pytest.raises(pt.SpecificationError, match="-1"):
        straight.kfold(4, seed=-1)
    loo = straight.loo(seed=5, utility="rmse")
    same(loo, told("assess", "line", "--utility", "rmse", "--seed", "5"))


@pytest.mark.parametrize("threads", [0, -2, 1.5, "two"])
def test_threads_are_a_number_of_at_least_one(threads, waves, line):
    log_lik = line._native.log_likelihood()
    for asked in (
        lambda: pt.fit(waves, "y", threads=threads),
        lambda: pt.compare([line, line], threads=threads),
        lambda: pt.select(waves, "y", threads=threads),
        lambda: pt.prior_draws(waves, "y", threads=threads),
        lambda: pt.sample(lambda x: (0.0, x), [0.0], threads=threads),
        lambda: pt.psis_loo(log_lik, threads=threads),
    ):
        with pytest.raises(pt.SpecificationError, match=f"threads is {threads!r}; give a whole number"):
            asked()


def test_a_basis_has_a_short_form(waves):
    long = pt.Linear(basis={"kind": "polynomial", "degree": 3})
    short = pt.Linear(basis="polynomial:3")
    one, two = (pt.fit(waves, "y", model, **FEW) for model in (long, short))
    np.testing.assert_array_equal(one._native.values(), two._native.values())
    assert one.spec == two.spec
    with pytest.raises(pt.SpecificationError, match="polynomial:DEGREE"):
        pt.Linear(basis="cubic")


def test_statistics_of_replicated_data_are_those_of_the_command_line(straight, told):
    asked = ["max(y)", "mean(y < 0)"]
    here, there = straight.check(*asked), told("check", "line", "--statistic", *asked)
    assert [it.statistic for it in here.statistics] == asked
    for one, two in zip(here.statistics, there["statistics"]):
        assert (one.observed, one.posterior.p, one.loo.p) == (two["observed"], two["posterior"]["p"], two["loo"]["p"])
    assert "max(y)" in repr(here)
    with pytest.raises(pt.SpecificationError, match="is of a row"):
        straight.check("y")


def test_durations_are_asked_how_likely_they_are_to_last(tmp_path, command):
    rng = np.random.default_rng(6)
    table = pd.DataFrame({"x": rng.normal(size=60)})
    lasts = np.exp(table.x) * rng.exponential(size=60)
    table["days"] = np.minimum(lasts, 2.0)
    table["seen"] = (lasts < 2.0).astype(int)
    table.to_csv(tmp_path / "table.csv", index=False)
    fit = pt.fit(table, "days", event="seen", **FEW)
    found = fit.predict(table, at=[0.5, 2])
    command("fit", "table.csv", "--target", "days", "--event", "seen", *FLAGS, "--out", "run", cwd=tmp_path)
    command("predict", "run", "table.csv", "--at", "0.5,2", "--out", "at.csv", cwd=tmp_path)
    expected = pd.read_csv(tmp_path / "at.csv")
    for name in ("survival[0.5]", "survival[2]"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-9)
    assert (found["survival[0.5]"] > found["survival[2]"]).all()
    assert "survival[1]" in fit.predict(table, at=1)
    with pytest.raises(pt.SpecificationError, match="above 0"):
        fit.predict(table, at=[-1])


def test_other_targets_have_no_times(line, waves):
    with pytest.raises(pt.SpecificationError, match="longer"):
        line.predict(waves, at=1)
