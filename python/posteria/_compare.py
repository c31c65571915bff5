"""Compare fits by what they predict of the same rows, and by their evidences."""

import json

from . import _posteria
from ._options import by_holdout, by_kfold, by_loo
from ._progress import working
from ._results import Comparison, EvidenceComparison
from ._table import as_table, labels_of
from ._units import done_by, folds_of, ladders_of
from ._warnings import warn


def compare(
    fits,
    utility=None,
    *,
    test=None,
    method=None,
    folds=10,
    groups=None,
    repeats=1,
    block=None,
    matching=True,
    refit=None,
    difference=None,
    seed=None,
    threads=None,
    progress=None,
    client=None,
    plan=None,
):
    """Which of the ``fits`` (a dictionary of names, or a list) predicts better, and how sure that is.

    All rows are left out in turn (``method="loo"``, with the options of :meth:`Fit.loo`) or in folds
    (``"kfold"``, with the options of :meth:`Fit.kfold`), or the fits predict the rows of ``test``, which
    none of them has seen (as :meth:`Fit.assess`). ``utility`` names what predictions are worth, one or
    several. ``difference`` also asks for the probability of being better by more than that. With
    ``client`` and ``plan``, as :meth:`Fit.kfold` has them, the folds of all fits are fitted elsewhere.
    """
    fits = _named(fits)
    method = method or ("loo" if test is None else "holdout")
    if method == "kfold":
        asked = by_kfold(folds, repeats, block, seed)
        if groups is not None:
            asked["labels"] = next(iter(fits.values()))._labels(groups)
    elif method == "loo":
        asked = by_loo(matching, refit, seed)
    elif method == "holdout":
        asked = by_holdout(seed)
        if groups is not None and test is not None:
            asked["labels"] = labels_of(groups, test)
    else:
        raise _posteria.SpecificationError(
            f"method is {method!r}; use 'loo' or 'kfold', or give test=… for rows that no fit has seen"
        )
    if test is not None and method != "holdout":
        raise _posteria.SpecificationError(
            f"test=… is for rows that no fit has seen, and method={method!r} predicts those of the "
            "fits; omit one of them"
        )
    utilities = [utility] if isinstance(utility, str) else list(utility or [])
    table = None if test is None else as_table(test)[0]
    if method != "kfold" and (client is not None or plan is not None):
        raise _posteria.SpecificationError('only folds are fitted elsewhere: use method="kfold"')
    done, natives, asked = working(threads, progress), _natives(fits), json.dumps(asked)
    with done_by((client, plan), folds_of(natives, asked, utilities), progress) as folder:
        found = _posteria.compare(natives, asked, utilities, table, difference, folder, done)
    found = Comparison.of_json(found)
    warn(found.warnings)
    return found


def evidence(
    fits,
    methods=("path",),
    *,
    prior_weights=None,
    threads=None,
    progress=None,
    client=None,
    plan=None,
):
    """How probable each of the ``fits`` (a dictionary of names, or a list) is given the data, which are
    the same for all of them.

    Log evidences are found by ``methods``, the first of which counts (see :meth:`Fit.evidence`);
    ``prior_weights`` are those of the models, in any unit: a dictionary by name or a list, equal if
    absent. With ``client`` and ``plan``, as :meth:`Fit.kfold` has them, the ladders of all models are run
    elsewhere.
    """
    fits = _named(fits)
    methods = [methods] if isinstance(methods, str) else list(methods)
    if hasattr(prior_weights, "items"):
        unknown = [name for name in prior_weights if name not in fits]
        if unknown or len(prior_weights) != len(fits):
            names = ", ".join(map(str, fits))
            raise _posteria.SpecificationError(f"prior_weights are by the names of the fits: {names}")
        prior_weights = [prior_weights[name] for name in fits]
    weights = [] if prior_weights is None else [float(weight) for weight in prior_weights]
    done, natives = working(threads, progress), _natives(fits)
    with done_by((client, plan), ladders_of(natives, methods), progress) as folder:
        found = _posteria.evidence_of_several(natives, methods, weights, folder, done)
    found = EvidenceComparison.of_json(found)
    warn(found.warnings)
    return found


def _named(fits):
    """Fits by name."""
    if hasattr(fits, "items"):
        return dict(fits)
    return {f"model {number}": fitted for number, fitted in enumerate(fits, 1)}


def _natives(fits):
    natives = []
    for name, fitted in fits.items():
        if not hasattr(fitted, "_native"):
            kind = type(fitted).__name__
            raise _posteria.SpecificationError(f"{name} is a {kind}, not a fit; give what pt.fit gave")
        natives.append((str(name), fitted._native))
    return natives
