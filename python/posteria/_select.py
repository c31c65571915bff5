"""Which inputs matter."""

import json

from . import _posteria
from ._fit import spec_of
from ._models import as_model, plain
from ._progress import working
from ._results import Selection
from ._table import as_table
from ._warnings import warn_of_draws


def select(
    data,
    target=None,
    model="linear",
    *,
    utility=None,
    folds=None,
    chains=None,
    warmup=None,
    draws=None,
    ess=None,
    time=None,
    seed=1,
    threads=None,
    progress=None,
    **options,
):
    """Sample which inputs are in the model, and choose the smallest set that predicts as well as all.

    ``data``, ``target``, ``model`` and options as in :func:`fit`; sets are judged by leave-one-out, or by
    so many ``folds``, and by ``utility`` (the log predictive density if absent). The model may have
    ``selection``, a dictionary with a prior of sets, groups, and inputs that are always in.
    """
    model = as_model(model)
    table, targets = as_table(data, target=target)
    if len(targets) != 1:
        raise _posteria.SpecificationError("inputs are selected for one target; name its column")
    spec = spec_of(model, targets, options)
    how = {"chains": chains, "warmup": warmup, "draws": draws, "ess": ess, "time": time, "seed": seed}
    how.update(utility=utility, folds=folds)
    done = working(threads, progress)
    found = _posteria.select(table, targets[0], json.dumps(spec), json.dumps(plain(how)), done)
    found = Selection.of_json(found)
    warn_of_draws(found.warnings, see="the probabilities with care")
    return found
