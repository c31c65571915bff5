"""Anyone's density, anyone's log likelihoods."""

import numpy as np
import pytest

import posteria as pt


def normal(x):
    return -0.5 * ((x - 3.0) ** 2).sum(), 3.0 - x


@pytest.mark.parametrize("kernel", ["nuts", "hmc", "slice", "metropolis"])
def test_a_normal_density_is_sampled_by_every_kernel(kernel):
    few = {"warmup": 400, "draws": 400}
    density = normal if kernel in ("nuts", "hmc") else lambda x: normal(x)[0]
    found = pt.sample(density, [0.0, 0.0], kernel=kernel, names=["a", "b"], **few)
    summary = found.summary().loc[["a", "b"]]
    # Five standard errors: a false-alarm rate of 5e-6 for all eight.
    assert (np.abs(summary["mean"] - 3.0) < 5 * summary["mcse_mean"]).all()
    assert (np.abs(summary["sd"] - 1.0) < 5 * summary["mcse_sd"]).all()
    again = pt.sample(density, [0.0, 0.0], kernel=kernel, names=["a", "b"], threads=1, **few)
    np.testing.assert_array_equal(found.values(), again.values())


def test_what_a_density_raises_is_raised():
    def broken(x):
        raise ZeroDivisionError("the density is broken")

    with pytest.raises(ZeroDivisionError, match="broken"):
        pt.sample(broken, [0.0], draws=10)
    with pytest.raises(ValueError, match="gradient"):
        pt.sample(lambda x: (0.0, [1.0, 2.0]), [0.0], draws=10)
    with pytest.raises(pt.PosteriaError):
        pt.sample(lambda x: (-np.inf, [0.0]), [0.0], draws=10)
    with pytest.raises(pt.SpecificationError, match="nuts"):
        pt.sample(normal, [0.0], kernel="gibbs")


def test_leave_one_out_of_any_log_likelihoods(line):
    log_lik = line._native.log_likelihood()
    found = pt.psis_loo(log_lik)
    loo = line.loo()
    assert abs(found.elpd_loo - loo.elpd_loo) < 0.1
    assert len(found.pointwise) == 60
    with pytest.raises(pt.DataError):
        pt.psis_loo([1.0, 2.0])
    with pytest.raises(pt.PosteriaError):
        pt.psis_loo(np.full((4, 100, 3), np.nan))
