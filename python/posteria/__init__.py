"""Bayesian neural networks, Gaussian processes and linear models for tables of data.

>>> import posteria as pt
>>> fit = pt.fit(table, target="strength", model=pt.MLP(hidden=10))
>>> fit.predict(new)            # mean, sd, quantiles, class probabilities
>>> fit.loo()                   # how good predictions of new rows will be
>>> pt.compare({"gp": a, "mlp": b})
"""

from ._compare import compare, evidence
from ._density import Chains, psis_loo, sample
from ._fit import Fit, fit, load
from ._models import GP, MLP, PCA, Linear, Mixture, Model, Prior
from ._posteria import (
    DataError,
    InternalError,
    PosteriaError,
    SamplingError,
    SpecificationError,
    __version__,
)
from ._prior import prior_draws
from ._results import Result
from ._select import select
from ._units import UnitsError, run_units
from ._warnings import ConvergenceWarning, PosteriaWarning

__all__ = [
    "GP",
    "MLP",
    "PCA",
    "Chains",
    "ConvergenceWarning",
    "DataError",
    "Fit",
    "InternalError",
    "Linear",
    "Mixture",
    "Model",
    "PosteriaError",
    "PosteriaWarning",
    "Prior",
    "Result",
    "SamplingError",
    "SpecificationError",
    "UnitsError",
    "__version__",
    "compare",
    "evidence",
    "fit",
    "load",
    "prior_draws",
    "psis_loo",
    "run_units",
    "sample",
    "select",
]
