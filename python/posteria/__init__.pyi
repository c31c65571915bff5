"""Bayesian neural networks, Gaussian processes and linear models for tables of data."""

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from typing_extensions import Unpack

from ._posteria import DataError as DataError
from ._posteria import InternalError as InternalError
from ._posteria import PosteriaError as PosteriaError
from ._posteria import SamplingError as SamplingError
from ._posteria import SpecificationError as SpecificationError
from ._posteria import __version__ as __version__

__all__ = [
    "GP",
    "MLP",
    "PCA",
    "Chains",
    "ConvergenceWarning",
    "DataError",
    "Fit",
    "InternalError",
    "Linear",
    "Mixture",
    "Model",
    "PosteriaError",
    "PosteriaWarning",
    "Prior",
    "Result",
    "SamplingError",
    "SpecificationError",
    "UnitsError",
    "__version__",
    "compare",
    "evidence",
    "fit",
    "load",
    "prior_draws",
    "psis_loo",
    "run_units",
    "sample",
    "select",
]

_Floats: TypeAlias = NDArray[np.float64]
_Path: TypeAlias = str | PathLike[str]
#: A pandas or polars frame, an Arrow table, a dictionary of columns, an array, or the path of a table.
_Table: TypeAlias = Any
#: The name of a column, several names, or the values themselves.
_Target: TypeAlias = str | Sequence[str] | ArrayLike | Any
_Task: TypeAlias = Literal["regression", "binary", "multiclass", "ordinal", "count", "duration"]
_Priors: TypeAlias = Literal["weakly-informative", "mcmcstuff", "fbm"]
_Residual: TypeAlias = Literal[
    "normal", "student-t", "laplace", "per-case", "poisson", "negative-binomial", "weibull", "log-normal"
]
_Inference: TypeAlias = Literal["mcmc", "laplace", "variational", "map", "ml", "committee"]
#: Degrees of freedom: a number, ``"unknown"``, or ``{"grid": [...]}``.
_Dof: TypeAlias = float | str | Mapping[str, Any]
_Kind: TypeAlias = Literal["linear", "mlp", "gp", "mixture", "pca"]

class PosteriaWarning(UserWarning):
    """Something about data or results that is worth knowing."""

class UnitsError(PosteriaError):
    """Some units failed; what the others found is kept."""

    failed: dict[str, str]
    plan: Path
    def __init__(self, failed: dict[str, str], plan: Path, total: int) -> None: ...

class ConvergenceWarning(PosteriaWarning):
    """A reason not to trust the draws; says what to do about it."""

class Result(dict[str, Any]):
    """Named results, also as attributes."""

    @classmethod
    def of_json(cls, text: str) -> Result: ...
    def __getattr__(self, name: str) -> Any: ...

class Prior:
    """The prior of a group of weights or of a kind of hyperparameter, on the standardised scale."""

    def __init__(
        self,
        *,
        family: str | None = None,
        sharing: str | None = None,
        fixed: float | None = None,
        scale: float | None = None,
        dof: _Dof | None = None,
        top_dof: _Dof | None = None,
        log_sd: float | None = None,
        top_log_sd: float | None = None,
        width_scaled: Literal["fbm", "mcmcstuff", False] | None = None,
        weight_dof: _Dof | None = None,
        rho: float | None = None,
        shape: float | None = None,
        rate_scale: float | None = None,
        lower: float | None = None,
        upper: float | None = None,
    ) -> None: ...

class Model:
    """A model: use :class:`Linear`, :class:`MLP`, :class:`GP`, :class:`Mixture` or :class:`PCA`."""

    kind: str

    def __init__(
        self,
        *,
        task: _Task | None = None,
        priors: _Priors | None = None,
        hidden: int | None = None,
        direct: bool | None = None,
        intercept: bool | None = None,
        basis: str | Mapping[str, Any] | None = None,
        covariance: str | Sequence[str] | None = None,
        mean: Literal["zero", "constant", "linear"] | None = None,
        jitter: float | None = None,
        link: Literal["logit", "probit"] | None = None,
        processes: Literal["separate", "shared"] | None = None,
        neighbours: int | None = None,
        components: int | None = None,
        residual: _Residual | Mapping[str, Any] | None = None,
        prior: Mapping[str, Prior | Mapping[str, Any]] | None = None,
        hyperparameters: Mapping[str, float | Sequence[float]] | None = None,
        selection: Mapping[str, Any] | None = None,
        inference: _Inference | None = None,
        kernel: Literal["auto", "hmc", "nuts"] | None = None,
        leapfrog_steps: int | None = None,
        window: int | None = None,
        persistence: float | None = None,
        temperatures: int | None = None,
        start: Literal["dispersed", "prior", "early-stopping", "variational"] | None = None,
        staged: bool | None = None,
        latents: Literal["auto", "elliptical", "metropolis"] | None = None,
        inverse_temperature: float | None = None,
        tempering: Literal["likelihood", "posterior", "opposed"] | None = None,
    ) -> None: ...
    def spec(self) -> dict[str, Any]: ...

class Linear(Model):
    """Linear, logistic or softmax regression, by the targets."""

class MLP(Model):
    """A neural network with one layer of hidden units."""

class GP(Model):
    """A Gaussian process."""

class Mixture(Model):
    """A mixture of normal distributions, of a table without targets."""

class PCA(Model):
    """Bayesian principal components, of a table without targets."""

class _SelectOptions(TypedDict, total=False):
    inputs: str | Sequence[str] | None
    exclude: str | Sequence[str] | None
    group: str | None
    exposure: str | None
    levels: Sequence[str] | None
    censored: str | None
    event: str | None
    standardize: bool | None
    missing: Literal["error", "drop"] | None
    max_levels: int | None
    thin: int | None
    log_lik_limit: float | None

class _PriorOptions(_SelectOptions, total=False):
    seed: int | None

class _CompareOptions(_SelectOptions, total=False):
    chains: int | None
    warmup: int | None
    draws: int | None
    ess: float | None
    time: str | None

class _Options(_CompareOptions, total=False):
    seed: int | None

def fit(
    data: _Table,
    target: _Target | None = None,
    model: Model | type[Model] | _Kind = "linear",
    *,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Unpack[_Options],
) -> Fit: ...
def load(path: _Path, *, threads: int | None = None, progress: bool | None = None) -> Fit: ...
def select(
    data: _Table,
    target: _Target | None = None,
    model: Model | type[Model] | _Kind = "linear",
    *,
    utility: str | None = None,
    folds: int | None = None,
    chains: int | None = None,
    warmup: int | None = None,
    draws: int | None = None,
    ess: float | None = None,
    time: str | None = None,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | None = None,
    client: Any = None,
    plan: _Path | None = None,
    **options: Unpack[_SelectOptions],
) -> Result: ...
def compare(
    fits: Mapping[str, Fit | Model | type[Model] | _Kind]
    | Sequence[Fit | Model | type[Model] | _Kind],
    utility: str | Sequence[str] | None = None,
    *,
    data: _Table | None = None,
    target: _Target | None = None,
    test: _Table | None = None,
    method: Literal["loo", "kfold", "holdout"] | None = None,
    folds: int = 10,
    groups: ArrayLike | None = None,
    repeats: int = 1,
    block: int | None = None,
    matching: bool = True,
    refit: int | None = None,
    difference: float | None = None,
    seed: int | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    client: Any = None,
    plan: _Path | None = None,
    unit: Literal["fold", "chain"] | None = None,
    **options: Unpack[_CompareOptions],
) -> Result: ...
def evidence(
    fits: Mapping[str, Fit] | Sequence[Fit],
    methods: str | Sequence[str] = ("path",),
    *,
    prior_weights: Mapping[str, float] | Sequence[float] | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    client: Any = None,
    plan: _Path | None = None,
) -> Result: ...
def run_units(plan: _Path, client: Any, *, progress: bool | None = None) -> None: ...
def prior_draws(
    data: _Table,
    target: _Target | None = None,
    model: Model | type[Model] | _Kind = "linear",
    draws: int = 1000,
    *,
    threads: int | None = None,
    progress: bool | None = None,
    **options: Unpack[_PriorOptions],
) -> Result: ...
def sample(
    density: Callable[[_Floats], Any],
    start: ArrayLike,
    *,
    names: Sequence[str] | None = None,
    kernel: Literal["nuts", "hmc", "slice", "metropolis"] = "nuts",
    chains: int = 4,
    warmup: int = 1000,
    draws: int = 1000,
    widths: ArrayLike = 1.0,
    seed: int = 1,
    threads: int | None = None,
    progress: bool | None = None,
) -> Chains: ...
def psis_loo(
    log_lik: ArrayLike, *, relative_efficiency: float | None = None, threads: int | None = None
) -> Result: ...

class Fit:
    """A model with its data and the draws of its posterior; see :func:`fit` and :func:`load`."""

    @property
    def facts(self) -> Result: ...
    @property
    def spec(self) -> str: ...
    # Frames are pandas frames, or dictionaries of arrays where there is no pandas.
    def summary(self) -> Any: ...
    def diagnose(self) -> Result: ...
    def layout(self) -> Result: ...
    def draws(self) -> dict[str, _Floats]: ...
    def resume(
        self, draws: int | None = None, *, ess: float | None = None, time: str | None = None
    ) -> Fit: ...
    def predict(
        self,
        new: _Table,
        quantiles: float | Sequence[float] = (0.05, 0.5, 0.95),
        *,
        missing: Literal["error", "drop"] = "error",
        chains: Literal["equal", "stacked"] | None = None,
        at: float | Sequence[float] | None = None,
        cost: str | PathLike[str] | Mapping[str, Mapping[str, float]] | Any | None = None,
        actions: Sequence[str | float] | None = None,
        rule: Literal["expected", "minimax"] = "expected",
    ) -> Any: ...
    def effects(self) -> Any: ...
    def samples(self, new: _Table, draws: int | None = None) -> NDArray[Any]: ...
    def functions(self, new: _Table, draws: int | None = None) -> _Floats: ...
    def loo(
        self,
        utility: str | Sequence[str] | None = None,
        *,
        matching: bool = True,
        refit: int | None = None,
        seed: int | None = None,
    ) -> Result: ...
    def kfold(
        self,
        folds: int = 10,
        *,
        groups: ArrayLike | None = None,
        repeats: int = 1,
        block: int | None = None,
        utility: str | Sequence[str] | None = None,
        seed: int | None = None,
        client: Any = None,
        plan: _Path | None = None,
        unit: Literal["fold", "chain"] | None = None,
    ) -> Result: ...
    def assess(
        self,
        test: _Table,
        utility: str | Sequence[str] | None = None,
        *,
        groups: str | ArrayLike | None = None,
        chains: Literal["equal", "stacked"] | None = None,
        seed: int | None = None,
    ) -> Result: ...
    def check(self, *statistics: str) -> Result: ...
    def evidence(
        self,
        methods: str | Sequence[str] = ("path",),
        *,
        client: Any = None,
        plan: _Path | None = None,
    ) -> Result: ...
    def save(self, path: _Path, *, force: bool = False) -> None: ...
    def report(self, path: _Path = "report.html") -> Path: ...
    def to_arviz(self) -> Any: ...

class Chains:
    """Draws of a log density of one's own."""

    def summary(self) -> Any: ...
    def layout(self) -> Result: ...
    def draws(self) -> dict[str, _Floats]: ...
    def values(self) -> _Floats: ...
    def to_arviz(self) -> Any: ...
