"""Which inputs matter."""

import json

from . import _posteria
from ._fit import spec_of
from ._models import as_model, plain
from ._progress import working
from ._results import Selection
from ._table import as_table
from ._units import done_by
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
    client=None,
    plan=None,
    **options,
):
    """Sample which inputs are in the model, and choose the smallest set that predicts as well as all.

    ``data``, ``target``, ``model`` and options as in :func:`fit`; sets are judged by leave-one-out, or by
    so many ``folds``, and by ``utility`` (the log predictive density if absent). The model may have
    ``selection``, a dictionary with a prior of sets, groups, inputs that are always in, and those that
    inputs require.

    With ``client`` and ``plan``, as :meth:`Fit.kfold` has them, all chains and folds are run elsewhere:
    those of the search, then those of the sets that the choice needs. Say how long they run with
    ``warmup`` and ``draws``.
    """
    model = as_model(model)
    table, targets = as_table(data, target=target)
    if len(targets) != 1:
        raise _posteria.SpecificationError("inputs are selected for one target; name its column")
    spec = spec_of(model, targets, options)
    how = {"chains": chains, "warmup": warmup, "draws": draws, "ess": ess, "time": time, "seed": seed}
    how.update(utility=utility, folds=folds)
    done = working(threads, progress)
    asked = (table, targets[0], json.dumps(spec), json.dumps(plain(how)))
    found = []

    def choose(folder):
        """Go as far as the fits allow; whether others are needed."""
        found[:] = [_posteria.select(*asked, folder, done)]
        return found[0] is None

    def begin(folder):
        _posteria.plan_selection(*asked, folder, done)

    with done_by((client, plan), begin, progress, choose) as folder:
        if folder is None:
            choose(None)
    found = Selection.of_json(found[0])
    warn_of_draws(found.warnings, see="the probabilities with care")
    return found
