"""Estimators for scikit-learn: Bayesian networks, Gaussian processes and linear models.

>>> from posteria.sklearn import BayesianMLPRegressor
>>> model = BayesianMLPRegressor(hidden=10).fit(X, y)
>>> mean, sd = model.predict(X_new, return_std=True)
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin
from sklearn.feature_selection import SelectorMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _fit
from ._models import GP, MLP, Linear
from ._select import select

__all__ = [
    "BayesianLinearClassifier",
    "BayesianLinearRegressor",
    "BayesianMLPClassifier",
    "BayesianMLPRegressor",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "InputSelector",
]


def _keep(estimator, given):
    """Keep the parameters of a constructor as they were given, which is all that it may do."""
    for name, value in given.items():
        if name not in ("self", "__class__"):
            setattr(estimator, name, value)


class _Estimator(BaseEstimator):
    """What all estimators have: how much is sampled, and by whom."""

    #: Names of parameters that are keys of the model.
    _keys: tuple = ()
    _model: type = Linear

    def _fit(self, X, y):
        keys = {key: getattr(self, key) for key in self._keys}
        model = self._model(**{**keys, **(self.model_options or {})})
        target = "y"
        while target in self._names():
            target += "_"
        self.fit_ = _fit.fit(
            {**self._columns(X), target: y},
            target,
            model,
            chains=self.chains,
            warmup=self.warmup,
            draws=self.draws,
            ess=self.ess,
            time=self.time,
            seed=_seed(self.random_state),
            threads=_threads(self.n_jobs),
            progress=False,
        )
        return self

    def _names(self):
        usual = [f"x{i + 1}" for i in range(self.n_features_in_)]
        return list(getattr(self, "feature_names_in_", usual))

    def _columns(self, X):
        return {name: X[:, i] for i, name in enumerate(self._names())}

    def _new(self, X):
        check_is_fitted(self)
        return self._columns(validate_data(self, X, reset=False, dtype=np.float64))

    def sample_y(self, X, n_samples=1, random_state=0):
        """Draw targets from the posterior predictive distribution: an array of row and sample."""
        X = self._new(X)
        random = check_random_state(random_state)
        drawn = self._drawn(X)
        chosen = random.choice(len(drawn), size=n_samples, replace=n_samples > len(drawn))
        return drawn[chosen].T


def _seed(random_state):
    if random_state is None:
        return 1
    if isinstance(random_state, (int, np.integer)):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31 - 1))


def _threads(n_jobs):
    return None if n_jobs is None or n_jobs < 1 else int(n_jobs)


class _Regressor(RegressorMixin, _Estimator):
    def fit(self, X, y):
        """Fit the model to the rows of ``X`` and their targets."""
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        return self._fit(X, y)

    def predict(self, X, return_std=False):
        """Predictive means, and with ``return_std`` the standard deviations of new targets."""
        X = self._new(X)
        found = self.fit_.predict(X, quantiles=())
        mean = np.asarray(found["mean"])
        return (mean, np.asarray(found["sd"])) if return_std else mean

    def predict_quantiles(self, X, quantiles=(0.05, 0.5, 0.95)):
        """Quantiles of new targets: an array of row and quantile."""
        X = self._new(X)
        found = self.fit_.predict(X, quantiles=quantiles)
        return np.column_stack([np.asarray(found[name]) for name in found if name[:1] == "q"])

    def _drawn(self, X):
        return self.fit_.samples(X)


class _Classifier(ClassifierMixin, _Estimator):
    def fit(self, X, y):
        """Fit the model to the rows of ``X`` and their classes."""
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("The target has one class only; at least two are needed.")
        # The library orders classes by their names.
        width = len(str(len(self.classes_)))
        self._labels = [f"c{code:0{width}}" for code in range(len(self.classes_))]
        return self._fit(X, np.asarray(self._labels, dtype=object)[codes])

    def predict_proba(self, X):
        """The probability of every class."""
        X = self._new(X)
        found = self.fit_.predict(X)
        return np.column_stack([np.asarray(found[f"prob[{label}]"]) for label in self._labels])

    def predict_log_proba(self, X):
        """Their logarithms."""
        return np.log(self.predict_proba(X))

    def predict(self, X):
        """The most probable classes."""
        check_is_fitted(self)
        return self.classes_[np.argmax(self.predict_proba(X), axis=1)]

    def _drawn(self, X):
        names = {label: code for code, label in enumerate(self._labels)}
        drawn = self.fit_.samples(X)
        codes = np.vectorize(names.__getitem__, otypes=[int])(drawn)
        return self.classes_[codes]


_COMMON = """
    Parameters
    ----------
{own}    chains, warmup, draws : int, optional
        Numbers of chains and of sweeps; without ``draws`` chains run until predictions have converged.
    ess : float, optional
        Effective draws of predictions that are enough.
    time : str, optional
        The time that a fit may take, such as ``"10m"``.
    model_options : dict, optional
        Any other key of the model, such as ``{{"prior": {{...}}}}`` or ``{{"inference": "laplace"}}``.
    random_state : int or RandomState, optional
        The seed.
    n_jobs : int, optional
        Threads; as many as the machine has if absent. Results do not depend on it.

    Attributes
    ----------
    fit_ : posteria.Fit
        The fit, with all that can be asked of it: ``fit_.loo()``, ``fit_.to_arviz()``, ….
"""

_HIDDEN = "    hidden : int\n        Number of hidden units.\n"
_RESIDUAL = (
    '    residual : str, optional\n        ``"normal"``, ``"student-t"``, ``"laplace"`` or '
    '``"per-case"``.\n'
)
_COVARIANCE = "    covariance : list of str, optional\n        The covariance function, a sum of these.\n"


def _documented(own):
    def decorate(cls):
        cls.__doc__ = cls.__doc__ + _COMMON.format(own=own)
        return cls

    return decorate


@_documented(_RESIDUAL)
class BayesianLinearRegressor(_Regressor):
    """Bayesian linear regression."""

    _model, _keys = Linear, ("residual",)

    def __init__(
        self,
        *,
        residual=None,
        chains=None,
        warmup=None,
        draws=None,
        ess=None,
        time=None,
        model_options=None,
        random_state=None,
        n_jobs=None,
    ):
        _keep(self, locals())


@_documented("")
class BayesianLinearClassifier(_Classifier):
    """Bayesian logistic regression, or softmax regression of several classes."""

    _model = Linear

    def __init__(
        self,
        *,
        chains=None,
        warmup=None,
        draws=None,
        ess=None,
        time=None,
        model_options=None,
        random_state=None,
        n_jobs=None,
    ):
        _keep(self, locals())


@_documented(_HIDDEN + _RESIDUAL)
class BayesianMLPRegressor(_Regressor):
    """A Bayesian neural network for regression."""

    _model, _keys = MLP, ("hidden", "residual")

    def __init__(
        self,
        hidden=10,
        *,
        residual=None,
        chains=None,
        warmup=None,
        draws=None,
        ess=None,
        time=None,
        model_options=None,
        random_state=None,
        n_jobs=None,
    ):
        _keep(self, locals())


@_documented(_HIDDEN)
class BayesianMLPClassifier(_Classifier):
    """A Bayesian neural network for classes."""

    _model, _keys = MLP, ("hidden",)

    def __init__(
        self,
        hidden=10,
        *,
        chains=None,
        warmup=None,
        draws=None,
        ess=None,
        time=None,
        model_options=None,
        random_state=None,
        n_jobs=None,
    ):
        _keep(self, locals())


@_documented(_COVARIANCE + _RESIDUAL)
class GaussianProcessRegressor(_Regressor):
    """A Gaussian process for regression, with its hyperparameters integrated out."""

    _model, _keys = GP, ("covariance", "residual")

    def __init__(
        self,
        *,
        covariance=None,
        residual=None,
        chains=None,
        warmup=None,
        draws=None,
        ess=None,
        time=None,
        model_options=None,
        random_state=None,
        n_jobs=None,
    ):
        _keep(self, locals())


@_documented(_COVARIANCE)
class GaussianProcessClassifier(_Classifier):
    """A Gaussian process for classes, with its hyperparameters integrated out."""

    _model, _keys = GP, ("covariance",)

    def __init__(
        self,
        *,
        covariance=None,
        chains=None,
        warmup=None,
        draws=None,
        ess=None,
        time=None,
        model_options=None,
        random_state=None,
        n_jobs=None,
    ):
        _keep(self, locals())


class InputSelector(SelectorMixin, TransformerMixin, BaseEstimator):
    """Keep the smallest set of inputs whose predictions are as good as those of all inputs.

    Parameters
    ----------
    model : posteria.Model, optional
        The model; linear if absent.
    task : str
        ``"regression"`` or ``"classification"``.
    draws, chains, warmup : int, optional
        How much is sampled of every set.
    random_state : int or RandomState, optional
        The seed.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    selection_ : posteria.Result
        All that was found, with the probability of every input.
    """

    def __init__(
        self,
        model=None,
        *,
        task="regression",
        draws=None,
        chains=None,
        warmup=None,
        random_state=None,
        n_jobs=None,
    ):
        _keep(self, locals())

    def fit(self, X, y):
        """Find the inputs that matter for ``y``."""
        classes = self.task == "classification"
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=not classes)
        if classes:
            check_classification_targets(y)
            _, codes = np.unique(y, return_inverse=True)
            y = np.asarray([f"c{code}" for code in codes], dtype=object)
        self.selection_ = select(
            X,
            y,
            self.model or Linear(),
            draws=self.draws,
            chains=self.chains,
            warmup=self.warmup,
            seed=_seed(self.random_state),
            threads=_threads(self.n_jobs),
            progress=False,
        )
        # By number: what inputs are called need not be names.
        names = [f"x{i + 1}" for i in range(X.shape[1])]
        self._support = np.isin(names, self.selection_.chosen)
        return self

    def _get_support_mask(self):
        check_is_fitted(self)
        return self._support

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
