"""What is compared: fits, and models whose chains are run first, here or on other machines."""

import json

from . import _posteria
from ._fit import Fit, fit, spec_of
from ._models import Model, as_model
from ._progress import working
from ._table import as_table, labels_of


def natives_of(fits):
    """The compiled part of fits by name."""
    natives = []
    for name, fitted in fits.items():
        if not hasattr(fitted, "_native"):
            kind = type(fitted).__name__
            raise _posteria.SpecificationError(f"{name} is a {kind}, not a fit; give what pt.fit gave")
        natives.append((str(name), fitted._native))
    return natives


def _is_model(it):
    """Whether this is a model, or the name of one."""
    return isinstance(it, (Model, str)) or (isinstance(it, type) and issubclass(it, Model))


class Candidates:
    """Fits and models by name, with the data that the models are of."""

    def __init__(self, named, of, options, work):
        self.fits, (self.data, self.target), self.work = named, of, work
        self.options = {key: value for key, value in options.items() if value is not None}
        self.models = {name: as_model(it) for name, it in named.items() if _is_model(it)}
        self._collected = False
        given = [key for key in self.options if key != "seed"]
        given += [key for key, it in zip(("data", "target"), of) if it is not None]
        if given and not self.models:
            raise _posteria.SpecificationError(
                f"{', '.join(given)}: for models that are not fitted yet, and all of these are fits"
            )
        if self.models and self.data is None:
            raise _posteria.SpecificationError(
                f"{next(iter(self.models))} is a model, not a fit: give data=… and target=…, too"
            )

    def labels(self, groups):
        """A number for every row, the same for rows of a group."""
        first = next(iter(self.fits.values()))
        return labels_of(groups, self.data) if _is_model(first) else first._labels(groups)

    def fitted(self):
        """The fits, and those of the models, made here."""
        threads, progress = self.work
        how = {"threads": threads, "progress": progress, **self.options}
        for name, model in self.models.items():
            self.fits[name] = made = fit(self.data, self.target, model, **how)
            if made.facts.stopped == "interrupted":
                raise KeyboardInterrupt
        return self.fits

    def begin(self, folder):
        """Plan the chains of the models."""
        _posteria.plan_chains(*self._asked(), folder, working(*self.work))

    def collected(self, folder):
        """The fits, and those of the models by the chains that a plan has run."""
        if not self._collected:
            threads, progress = self.work
            natives = _posteria.planned_fits(*self._asked(), folder, working(*self.work))
            for name, native in zip(self.models, natives):
                self.fits[name] = made = Fit(native, threads=threads, progress=progress)
                made._data = self.data
                made._tell(first=True)
            self._collected = True
        return self.fits

    def _asked(self):
        table, targets = as_table(self.data, target=self.target)
        specs = {name: spec_of(model, targets, self.options) for name, model in self.models.items()}
        return table, [(str(name), json.dumps(spec)) for name, spec in specs.items()]
