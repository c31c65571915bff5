"""Predictions of new rows as frames, and what to do about them."""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np

from . import _posteria
from ._results import Result, frame
from ._warnings import warn

#: Endings of a name that is meant as a file, also if it is not there.
ENDINGS = (".csv", ".tsv", ".txt")
#: Figures over all rows, and what else is told of all of them.
FIGURES = ("mean_log_density", "rmse", "mae", "accuracy", "mean_cost", "stacking")


def predict(fitted, new, quantiles, *, missing, chains, at, cost, actions, rule):
    """Predictions of every row of ``new`` by a fit; see :meth:`Fit.predict`."""
    if missing not in ("error", "drop"):
        raise _posteria.SpecificationError(f"missing is {missing!r}; use 'error' or 'drop'")
    times = [] if at is None else [float(time) for time in np.atleast_1d(at)]
    how = {"drop": missing == "drop", "stacked": is_stacked(chains), "at": times}
    how.update(_decision(cost, actions, rule))
    table = fitted._table(new)
    quantiles = [float(p) for p in np.atleast_1d(quantiles)]
    found = _posteria.predict(fitted._native, table, quantiles, json.dumps(how), fitted._working())
    about = Result.of_json(found["json"])
    columns = {}
    several = len(about.targets) > 1
    for place, target in enumerate(about.targets if "mean" in found else []):
        parts = [found["mean"][:, place], found["sd"][:, place]]
        parts += list(found["quantiles"][:, place, :].T)
        for name, part in zip(["mean", "sd", *about.quantiles], parts):
            columns[f"{name}[{target}]" if several else name] = part
    for place, name in enumerate(about.survival):
        columns[name] = found["survival"][:, place]
    if "prob" in found:
        labels = np.asarray(about.labels, dtype=object)
        columns["predicted"] = labels[found["predicted"]]
        for place, label in enumerate(about.labels):
            columns[f"prob[{label}]"] = found["prob"][:, place]
    if "log_density" in found:
        columns["log_density"] = found["log_density"]
    if "action" in found:
        columns["action"] = np.asarray(about.actions, dtype=object)[found["action"]]
        for name in ("expected_cost", "worst_cost"):
            if name in found:
                columns[name] = found[name]
    warn(about.warnings)
    figures = Result((key, about[key]) for key in FIGURES if about[key] is not None)
    places = np.asarray(about.numbers, dtype=int) - 1
    # Samples take all draws alike, which is not what stacked chains predict.
    source = None if how["stacked"] else (fitted, table)
    return _predictions(columns, _index(new, table, places), source, figures)


def effects(fitted):
    """What every input does to the predictions of a fit; see :meth:`Fit.effects`."""
    found = json.loads(_posteria.effects(fitted._native, fitted._working()))
    columns = {key: [entry[key] for entry in found] for key in ("input", "output")}
    for name in ("comparison", "mean_absolute_derivative", "rms_derivative"):
        for part, ending in (("mean", ""), ("sd", "_sd")):
            values = [(entry[name] or {}).get(part) for entry in found]
            numbers = [np.nan if value is None else value for value in values]
            columns[name + ending] = np.array(numbers, dtype=float)
    return frame(columns)


def is_stacked(chains):
    """Whether chains are weighed by stacking, and do not count alike."""
    if chains in (None, "equal"):
        return False
    if chains == "stacked":
        return True
    raise _posteria.SpecificationError(f"chains is {chains!r}; use 'equal' or 'stacked'")


def _decision(cost, actions, rule):
    """What actions cost and how one is chosen."""
    if rule not in ("expected", "minimax"):
        raise _posteria.SpecificationError(f"rule is {rule!r}; use 'expected' or 'minimax'")
    if cost is None:
        if actions is not None:
            raise _posteria.SpecificationError("actions are chosen by what they cost; give cost=… too")
        return {}
    how = {"minimax": rule == "minimax"}
    table = _costs(cost)
    if table is None:
        chosen = [] if actions is None else np.atleast_1d(np.asarray(actions, dtype=object))
        return {**how, "formula": str(cost), "actions": [_action(action) for action in chosen]}
    if actions is not None:
        raise _posteria.SpecificationError("the actions are the lines of the table of costs; omit actions")
    return {**how, "table": table}


def _action(action):
    """An action as a formula has it: 1 for 1.0."""
    is_whole = isinstance(action, (float, np.floating)) and float(action).is_integer()
    return str(int(action)) if is_whole else str(action).strip()


def _costs(cost):
    """A table of costs by its name and as text; ``None`` for a formula."""
    if isinstance(cost, os.PathLike) or (isinstance(cost, str) and _is_file(cost)):
        try:
            return str(cost), Path(cost).read_text(encoding="utf-8")
        except OSError as error:
            raise _posteria.DataError(f"{cost}: cannot be read: {error.strerror}") from None
    if isinstance(cost, str):
        return None
    if hasattr(cost, "columns") and hasattr(cost, "iterrows"):
        rows = {str(action): dict(row) for action, row in cost.iterrows()}
    elif hasattr(cost, "items") and all(hasattr(row, "items") for row in cost.values()):
        rows = {str(action): dict(row) for action, row in cost.items()}
    else:
        raise _posteria.SpecificationError(
            "cost is a formula over y and a, the path of a table, or costs by action and class: a frame "
            "with a row per action, or {action: {class: cost}}"
        )
    classes = list(dict.fromkeys(label for row in rows.values() for label in row))
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["action", *classes])
    for action, row in rows.items():
        writer.writerow([action, *(row.get(label, "") for label in classes)])
    return "cost", text.getvalue()


def _is_file(name):
    return name.endswith(ENDINGS) or os.path.isfile(name)


def _index(new, table, places):
    """The labels of the rows that are predicted, where ``new`` has labels."""
    index = getattr(new, "index", None)
    if index is None or callable(index) or len(index) != table.rows:
        return None if len(places) == table.rows else places
    return index[places]


def _predictions(columns, index, source, figures):
    """Predictions as a frame that can draw samples, where there is pandas."""
    try:
        import pandas  # noqa: F401
    except ImportError:
        found = Result(columns)
        found["figures"] = figures
        return found
    from ._frames import Predictions

    found = Predictions(columns, index=index)
    found.figures = figures
    object.__setattr__(found, "_source", source)
    return found
