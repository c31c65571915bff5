"""Fits for ArviZ, with the groups and names of ``draws.zarr``."""

import json

import numpy as np

from ._posteria import __version__

#: Statistics that are counts or truth values.
WHOLE = {"n_steps": np.int64, "tree_depth": np.int64, "infeasible": np.int64, "diverging": bool}


def to_arviz(fitted):
    """All groups of a fit."""
    layout = fitted.layout()
    values = fitted._native.values()
    groups = {"posterior": _posterior(layout, values)}
    statistics = _statistics(layout, fitted._native.statistics())
    if statistics is not None:
        groups["sample_stats"] = statistics
    for group, name, axes, array in fitted._native.data():
        axes = json.loads(axes)
        dims = [axis["name"] for axis in axes]
        coords = {axis["name"]: _labels(axis["labels"]) for axis in axes}
        array = array.reshape([len(coords[dim]) for dim in dims])
        _add(groups.setdefault(group, _empty()), name, dims, coords, array)
    targets = fitted.facts.targets
    log_likelihood = fitted._native.log_likelihood()
    rows = {"obs_id": np.arange(fitted.facts.rows)}
    numbers = _numbers(values.shape)
    if log_likelihood is not None:
        name = targets[0] if targets else "y"
        group = groups["log_likelihood"] = _empty()
        _add(group, name, ["chain", "draw", "obs_id"], {**numbers, **rows}, log_likelihood)
    replicates = fitted._native.replicates(fitted._working())
    if replicates is not None:
        draws, drawn, left_out = replicates
        group = groups["posterior_predictive"] = _empty()
        coords = {"chain": numbers["chain"], "draw": np.asarray(draws), **rows}
        for suffix, all_of in (("", drawn), ("_loo", left_out)):
            if all_of is None:
                continue
            shape = (*all_of.shape[:2], fitted.facts.rows, len(targets))
            for place, target in enumerate(targets):
                array = all_of.reshape(shape)[..., place]
                _add(group, target + suffix, ["chain", "draw", "obs_id"], coords, array)
    return _tree(groups)


def chains_to_arviz(chains):
    """The groups of draws of one's own density."""
    layout, values = chains.layout(), chains.values()
    groups = {"posterior": _posterior(layout, values)}
    statistics = _statistics(layout, chains._native.statistics())
    if statistics is not None:
        groups["sample_stats"] = statistics
    return _tree(groups)


def _empty():
    return {}, {}


def _add(group, name, dims, coords, values):
    variables, all_coords = group
    variables[name] = (dims, values)
    all_coords.update(coords)


def _numbers(shape):
    return {"chain": np.arange(shape[0]), "draw": np.arange(shape[1])}


def _labels(labels):
    return np.arange(labels) if isinstance(labels, int) else np.asarray(labels)


def _posterior(layout, values):
    group = _empty()
    numbers = _numbers(values.shape)
    for variable in layout.variables:
        labels = {d.name: d.labels for d in variable.dimensions}
        coords = {name: _row_numbers(name, own) for name, own in labels.items()}
        dims = ["chain", "draw", *labels]
        shape = [*values.shape[:2], *(len(own) for own in labels.values())]
        # A view: no variable is copied.
        part = values[..., variable.offset : variable.offset + variable.length].reshape(shape)
        _add(group, variable.name, dims, {**numbers, **coords}, part)
    return group


def _row_numbers(name, labels):
    if name == "obs_id":
        return np.asarray([int(label) for label in labels])
    return np.asarray(labels)


def _statistics(layout, values):
    if values is None:
        return None
    group = _empty()
    numbers = _numbers(values.shape)
    for place, name in enumerate(layout.statistics):
        array = values[..., place]
        whole = WHOLE.get(name)
        if whole is not None and np.isfinite(array).all():
            array = array.astype(whole)
        _add(group, name, ["chain", "draw"], numbers, array)
    return group


def _tree(groups):
    import arviz
    import xarray

    attributes = {"inference_library": "posteria", "inference_library_version": __version__}
    data = {
        name: xarray.Dataset(variables, coords=coords, attrs=attributes)
        for name, (variables, coords) in groups.items()
    }
    if int(arviz.__version__.split(".")[0]) < 1:
        return arviz.InferenceData(**data)
    return xarray.DataTree.from_dict(data)
