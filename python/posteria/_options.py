"""Numbers that are asked for, and methods of assessment as the library takes them."""

import operator

from ._posteria import SpecificationError


def whole(name, value, least=1, otherwise=""):
    """``value`` as a whole number of at least ``least``; ``None`` if it is that."""
    if value is None:
        return None
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        raise SpecificationError(
            f"{name} is {value!r}; give a whole number of at least {least}{otherwise}"
        )
    return number


def checked_threads(threads):
    return whole("threads", threads, otherwise=", or None for as many as the machine has")


def by_loo(matching, refit, seed):
    """Every row left out in turn."""
    refit, seed = whole("refit", refit, 0), whole("seed", seed, 0)
    return {"method": "loo", "matching": bool(matching), "refit": refit, "seed": seed}


def by_kfold(folds, repeats, block, seed, away=(None, None)):
    """Rows left out in folds; ``away`` is who fits them, if anybody else does, and what is a unit."""
    client, unit = away
    if unit not in (None, "fold", "chain"):
        raise SpecificationError(f"unit is {unit!r}; use 'fold' or 'chain'")
    if unit is not None and client is None:
        raise SpecificationError("unit=… is what a client does at once; give client=…")
    return {
        "each_chain": unit == "chain",
        "method": "kfold",
        "folds": whole("folds", folds, 2),
        "repeats": whole("repeats", repeats),
        "block": whole("block", block, 0),
        "seed": whole("seed", seed, 0),
    }


def by_holdout(seed, stacked=False):
    """Rows that no fit has seen."""
    return {"method": "holdout", "stacked": stacked, "seed": whole("seed", seed, 0)}
