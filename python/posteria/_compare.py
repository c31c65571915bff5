"""Compare fits by what they predict of the same rows, and by their evidences."""

import json

from . import _posteria
from ._candidates import Candidates, natives_of
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
    data=None,
    target=None,
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
    unit=None,
    **options,
):
    """Which of the ``fits`` (a dictionary of names, or a list) predicts better, and how sure that is.

    Among them may be models that are not fitted yet (``pt.MLP(hidden=8)``, or ``"gp"``): they are fitted
    to the column ``target`` of ``data``, with the options of :func:`fit`, and ``seed`` if there is one. The
    result has them as ``.fits``.

    All rows are left out in turn (``method="loo"``, with the options of :meth:`Fit.loo`) or in folds
    (``"kfold"``, with the options of :meth:`Fit.kfold`), or the fits predict the rows of ``test``, which
    none of them has seen (as :meth:`Fit.assess`). ``utility`` names what predictions are worth, one or
    several. ``difference`` also asks for the probability of being better by more than that. With
    ``client``, ``plan`` and ``unit``, as :meth:`Fit.kfold` has them, the folds of all fits are fitted
    elsewhere, and before them the chains of models: say how long they run with ``warmup`` and ``draws``.
    """
    all_named = Candidates(_named(fits), (data, target), options | {"seed": seed}, (threads, progress))
    method = method or ("loo" if test is None else "holdout")
    if method == "kfold":
        asked = by_kfold(folds, repeats, block, seed, (client, unit))
        if groups is not None:
            asked["labels"] = all_named.labels(groups)
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
    if unit is not None and method != "kfold":
        raise _posteria.SpecificationError(
            f"unit=… is a fold or a chain of one, and method={method!r} has no folds; omit it"
        )
    utilities = [utility] if isinstance(utility, str) else list(utility or [])
    table = None if test is None else as_table(test)[0]
    folded = method == "kfold"
    if not folded and not all_named.models and (client is not None or plan is not None):
        raise _posteria.SpecificationError('only folds are fitted elsewhere: use method="kfold"')
    done, asked = working(threads, progress), json.dumps(asked)

    def begin(folder):
        """Plan what can be done at once."""
        if all_named.models:
            all_named.begin(folder)
        else:
            folds_of(natives_of(all_named.fits), asked, utilities)(folder)

    def more(folder):
        """Plan the folds once models are fitted; whether there are any that are not planned."""
        if not all_named.models:
            return False
        natives = natives_of(all_named.collected(folder))
        return folded and _posteria.add_folds(natives, asked, utilities, folder, done)

    with done_by((client, plan), begin, progress, more) as folder:
        fits = all_named.fitted() if folder is None else all_named.fits
        natives = natives_of(fits)
        folder = folder if folded else None
        found = _posteria.compare(natives, asked, utilities, table, difference, folder, done)
    found = Comparison.of_json(found)
    found.fits = fits
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
    done, natives = working(threads, progress), natives_of(fits)
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
