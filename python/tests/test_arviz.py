"""Fits in ArviZ, old and new."""

import numpy as np
import pytest

az = pytest.importorskip("arviz")
OLD = az.__version__.startswith("0.")


@pytest.mark.parametrize("which", ["line", "process"])
def test_arviz_has_every_group(which, request):
    fit = request.getfixturevalue(which)
    tree = fit.to_arviz()
    groups = set(tree.groups() if OLD else tree.children)
    assert {"posterior", "sample_stats", "log_likelihood", "observed_data", "constant_data"} <= groups
    assert "posterior_predictive" in groups
    summary = az.summary(tree, var_names=["residual_scale"])
    assert abs(float(summary["mean"].iloc[0]) - fit.summary().loc["residual_scale", "mean"]) < 0.01
    loo = az.loo(tree)
    elpd = float(loo.elpd_loo if OLD else loo.elpd)
    assert abs(elpd - fit.loo().elpd_loo) < 1.0
    assert tree["sample_stats"]["diverging"].dtype == bool
    assert tree["posterior_predictive"]["y"].dims == ("chain", "draw", "obs_id")


def test_pictures_are_drawn(line):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    tree = line.to_arviz()
    if OLD:
        az.plot_ppc(tree)
        az.plot_loo_pit(tree, y="y")
    else:
        az.plot_ppc_dist(tree)
        az.plot_loo_pit(tree)


def test_draws_of_a_density_open_too():
    import posteria as pt

    chains = pt.sample(lambda x: (-0.5 * x @ x, -x), np.zeros(2), draws=200)
    summary = az.summary(chains.to_arviz(), var_names=["x1", "x2"])
    assert list(summary.index) == ["x1", "x2"]
