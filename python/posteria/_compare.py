"""Compare fits by what they predict of the same rows."""

import json

from . import _posteria
from ._progress import shower
from ._results import Comparison
from ._warnings import warn


def compare(
    fits,
    utility=None,
    *,
    method="loo",
    folds=10,
    groups=None,
    repeats=1,
    block=None,
    matching=True,
    refit=None,
    difference=None,
    threads=None,
    progress=None,
):
    """Which of the ``fits`` (a dictionary of names, or a list) predicts better, and how sure that is.

    All rows are left out in turn (``method="loo"``, with the options of :meth:`Fit.loo`) or in folds (``"kfold"``, with the options of
    :meth:`Fit.kfold`); ``utility`` names what predictions are worth, one or several. ``difference`` also
    asks for the probability of being better by more than that.
    """
    if not hasattr(fits, "items"):
        fits = {f"model {number}": fitted for number, fitted in enumerate(fits, 1)}
    asked = {"method": method}
    if method == "kfold":
        asked.update(folds=folds, repeats=repeats, block=block)
        if groups is not None:
            asked["labels"] = next(iter(fits.values()))._labels(groups)
    elif method == "loo":
        asked.update(matching=bool(matching), refit=refit)
    else:
        raise _posteria.SpecificationError(f"method is {method!r}; use 'loo' or 'kfold'")
    utilities = [utility] if isinstance(utility, str) else list(utility or [])
    named = [(str(name), fitted._native) for name, fitted in fits.items()]
    working = (threads, shower(progress))
    found = _posteria.compare(named, json.dumps(asked), utilities, difference, working)
    found = Comparison.of_json(found)
    warn(found.warnings)
    return found
