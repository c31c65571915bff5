"""Sample anyone's log density, and assess anyone's log likelihoods."""

import numpy as np

from . import _posteria
from ._drawn import Drawn
from ._options import checked_threads
from ._progress import shower
from ._results import Result, frame
from ._warnings import warn, warn_of_draws


class Chains(Drawn):
    """Draws of a log density of one's own."""

    def __init__(self, native):
        self._native = native

    def __repr__(self) -> str:
        chains, draws, components = self.values().shape
        return f"<posteria.Chains: {chains} chains of {draws} draws, {components} components>"

    def values(self):
        """All draws: an array of chain, draw and component."""
        return self._native.values()

    def to_arviz(self):
        """The draws for ArviZ."""
        from ._arviz import chains_to_arviz

        return chains_to_arviz(self)


def sample(
    density,
    start,
    *,
    names=None,
    kernel="nuts",
    chains=4,
    warmup=1000,
    draws=1000,
    widths=1.0,
    seed=1,
    threads=None,
    progress=None,
):
    """Sample a log density of one's own, which need not be normalised.

    ``density`` takes an array and returns the log density and its gradient (``kernel="nuts"`` or
    ``"hmc"``), or the log density alone (``"slice"``, ``"metropolis"``, whose first steps have
    ``widths``); it may be NumPy, JAX, or anything that gives numbers. All chains start at ``start``, or
    each at a row of it. -inf is outside of the support.
    """
    starts = np.atleast_1d(np.asarray(start, dtype=float))
    starts = np.tile(starts, (chains, 1)) if starts.ndim == 1 else starts
    count = starts.shape[1]
    names = [f"x{i + 1}" for i in range(count)] if names is None else [str(it) for it in names]
    how = {
        "names": names,
        "starts": starts.tolist(),
        "kernel": kernel,
        "widths": np.broadcast_to(np.asarray(widths, dtype=float), (count,)).tolist(),
        "warmup": int(warmup),
        "draws": int(draws),
        "seed": int(seed),
        "threads": checked_threads(threads),
    }
    if kernel in ("nuts", "hmc"):

        def called(x):
            value, gradient = density(x)
            return float(value), np.asarray(gradient, dtype=float).tolist()

    else:

        def called(x):
            return float(density(x))

    found = Chains(_posteria.sample(called, how, shower(progress)))
    warn_of_draws(found._summary().warnings, see="summary()")
    return found


def psis_loo(log_lik, *, relative_efficiency=None, threads=None):
    """Leave-one-out by Pareto-smoothed importance sampling, of anyone's log likelihoods: an array of
    chain, draw and row, or of draw and row."""
    log_lik = np.asarray(log_lik, dtype=float)
    if log_lik.ndim == 2:
        log_lik = log_lik[None]
    if log_lik.ndim != 3:
        raise _posteria.DataError("log likelihoods are by chain, draw and row, or by draw and row")
    found = _posteria.psis_loo(log_lik, relative_efficiency, checked_threads(threads))
    result = Result.of_json(found["json"])
    result["pointwise"] = frame({key: found[key] for key in ("elpd", "pareto_k", "m_eff")})
    warn(result.warnings)
    return result
