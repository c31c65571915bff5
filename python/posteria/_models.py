"""Models and priors by the keys of a specification file.

The keys themselves are the library's: what is not one is refused by it, with a list of those that are.
"""

import json
from inspect import Parameter, Signature

from . import _posteria

#: Sections of a specification and the keys of each.
KEYS = dict(_posteria.spec_keys())

#: Keys of ``[sampling]`` that say by what method a model is fitted; the others say how much.
METHOD = (
    "inference",
    "kernel",
    "leapfrog_steps",
    "window",
    "persistence",
    "temperatures",
    "start",
    "staged",
    "latents",
    "inverse_temperature",
    "tempering",
)


def _signature(names) -> Signature:
    keys = [Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in names]
    return Signature(keys)


class _Keys:
    """Named values, all of them keys of a specification."""

    def __init__(self, *values, **keys):
        if values:
            raise _posteria.SpecificationError(
                f"name the keys of {type(self).__name__}, such as {self._allowed()[0]}=…"
            )
        unknown = [key for key in keys if key not in self._allowed()]
        if unknown:
            allowed = ", ".join(self._allowed())
            raise _posteria.SpecificationError(
                f"{type(self).__name__} has no key {unknown[0]!r}; its keys are {allowed}"
            )
        self._keys = {key: value for key, value in keys.items() if value is not None}

    @classmethod
    def _allowed(cls):
        raise NotImplementedError

    def __repr__(self) -> str:
        keys = ", ".join(f"{key}={value!r}" for key, value in self._keys.items())
        return f"{type(self).__name__}({keys})"

    def __eq__(self, other) -> bool:
        return type(self) is type(other) and self._keys == other._keys

    def __hash__(self):
        return hash((type(self), json.dumps(plain(self._keys), sort_keys=True)))

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls._allowed.__func__ is not _Keys._allowed.__func__:
            cls.__signature__ = _signature(cls._allowed())


class Prior(_Keys):
    """The prior of a group of weights or of a kind of hyperparameter, on the standardised scale.

    Keys are those of a section ``[prior.GROUP]``: ``Prior(fixed=1.5)``, ``Prior(family="laplace")``,
    ``Prior(scale=0.5, log_sd=0.3)``.
    """

    @classmethod
    def _allowed(cls):
        return KEYS["prior"]


class Model(_Keys):
    """A model: use :class:`Linear`, :class:`MLP`, :class:`GP`, :class:`Mixture` or :class:`PCA`.

    Besides the keys of ``[model]`` every model takes ``prior`` (a dictionary of groups and their
    :class:`Prior`), ``residual`` (a family, or a dictionary with the keys of ``[residual]``),
    ``hyperparameters``, ``selection``, and the method by which it is fitted: ``inference``
    (``"mcmc"``, ``"laplace"``, ``"variational"``, ``"map"``, ``"ml"``, ``"committee"``), ``kernel``,
    ``start``, ``temperatures`` and the like.
    """

    kind: str = ""

    def __init__(self, *values, **keys):
        super().__init__(*values, **keys)
        _posteria.check_spec(json.dumps(self.spec()))

    @classmethod
    def _allowed(cls):
        own = [key for key in KEYS["model"] if key != "kind"]
        return [*own, "residual", "prior", "hyperparameters", "selection", *METHOD]

    def spec(self) -> dict:
        """The specification as a dictionary of sections."""
        spec = {"model": {"kind": self.kind}, "sampling": {}}
        for key, value in self._keys.items():
            value = plain(value)
            if key in METHOD:
                spec["sampling"][key] = value
            elif key == "residual":
                spec[key] = {"family": value} if isinstance(value, str) else value
            elif key in ("prior", "hyperparameters", "selection"):
                spec[key] = value
            else:
                spec["model"][key] = value
        return spec


def plain(value):
    """Values as JSON has them."""
    if isinstance(value, _Keys):
        return plain(value._keys)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    # NumPy's arrays, numbers and truth values are none of Python's own.
    return value.tolist() if hasattr(value, "tolist") else value


class Linear(Model):
    """Linear, logistic or softmax regression, by the targets."""

    kind = "linear"


class MLP(Model):
    """A neural network with one layer of hidden units: ``MLP(hidden=10)``."""

    kind = "mlp"


class GP(Model):
    """A Gaussian process: ``GP()``, ``GP(covariance=["matern52"])``, ``GP(neighbours=30)``."""

    kind = "gp"


class Mixture(Model):
    """A mixture of normal distributions, of a table without targets."""

    kind = "mixture"


class PCA(Model):
    """Bayesian principal components, of a table without targets."""

    kind = "pca"


#: Models by the names that specification files have for them.
MODELS = {model.kind: model for model in (Linear, MLP, GP, Mixture, PCA)}


def as_model(model) -> Model:
    """The model itself, or the usual one of this name."""
    if isinstance(model, Model):
        return model
    if isinstance(model, type) and issubclass(model, Model):
        return model()
    if isinstance(model, str) and model.lower() in MODELS:
        return MODELS[model.lower()]()
    raise _posteria.SpecificationError(
        f"there is no model {model!r}; use posteria.Linear(), MLP(), GP(), Mixture() or PCA()"
    )
