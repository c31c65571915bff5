"""What every set of draws has: names, summaries, arrays."""

import numpy as np

from ._results import Result, frame


class Drawn:
    """Draws that the compiled part holds, as ``_native``."""

    def _summary(self):
        return Result.of_json(self._native.summary())

    def summary(self):
        """Mean, spread and convergence of every variable, as a frame."""
        return variables_frame(self._summary().variables)

    def layout(self):
        """What a draw holds: names, dimensions and labels of all variables."""
        return Result.of_json(self._native.layout())

    def draws(self):
        """All draws by the name of the variable: arrays of chain, draw and its own dimensions."""
        values = self._native.values()
        chains, count, _ = values.shape
        drawn = {}
        for variable in self.layout().variables:
            shape = [len(dimension.labels) for dimension in variable.dimensions]
            part = values[..., variable.offset : variable.offset + variable.length]
            drawn[variable.name] = part.reshape(chains, count, *shape)
        return drawn


def variables_frame(variables):
    """The summaries of variables as a frame, a row each."""
    keys = dict.fromkeys(key for variable in variables for key in variable if key != "name")
    columns = {key: numbers([variable.get(key) for variable in variables]) for key in keys}
    return frame(columns, index=[variable.name for variable in variables])


def numbers(values):
    """A column of numbers, in which what does not exist is NaN, or of anything else."""
    if all(value is None or isinstance(value, (int, float)) for value in values):
        if all(isinstance(value, bool) for value in values):
            return np.array(values)
        return np.array([np.nan if value is None else value for value in values], dtype=float)
    return np.array(values, dtype=object)
