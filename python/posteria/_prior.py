"""What the prior of a model says, before it is fitted."""

import json

import numpy as np

from . import _posteria
from ._fit import spec_of
from ._models import as_model
from ._options import whole
from ._progress import working
from ._results import Result
from ._table import as_table
from ._warnings import warn

#: What a draw holds that follows from parameters and data.
DERIVED = ("fitted", "fitted_mean", "training_error", "test_error")


def prior_draws(
    data, target=None, model="linear", draws=1000, *, threads=None, progress=None, **options
):
    """Draw parameters of ``model`` from their prior, and from each new targets at the rows of ``data``.

    ``data``, ``target``, ``model`` and options as in :func:`fit`. The result has ``parameters``, arrays
    of draw and their own dimensions by name, and ``targets``, by name arrays of draw and row; classes
    are their labels. There may be fewer draws than asked for where covariances of extreme
    hyperparameters cannot be computed.
    """
    model = as_model(model)
    table, targets = as_table(data, target=target)
    spec = spec_of(model, targets, options)
    draws = whole("draws", draws)
    done = working(threads, progress)
    about, drawn, values = _posteria.prior_draws(table, json.dumps(spec), draws, done)
    about = Result.of_json(about)
    parameters = Result()
    for variable in about.layout.variables:
        if variable.name not in DERIVED:
            shape = [len(dimension.labels) for dimension in variable.dimensions]
            part = drawn[:, variable.offset : variable.offset + variable.length]
            parameters[variable.name] = part.reshape(len(drawn), *shape)
    labels = np.asarray(about.labels, dtype=object)
    named = Result()
    for place, name in enumerate(about.targets):
        column = values[..., place]
        named[name] = labels[column.astype(int)] if len(labels) else column
    warn(about.warnings)
    return Result(parameters=parameters, targets=named)
