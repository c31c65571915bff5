"""The contract of scikit-learn's estimators."""

import pickle
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from posteria import sklearn as ps

FEW = {"chains": 2, "warmup": 30, "draws": 30}
# Enough for the contract, which is not about convergence.
FEWER = {"chains": 1, "warmup": 10, "draws": 10}
ESTIMATORS = [
    ps.BayesianLinearRegressor(**FEW),
    ps.BayesianLinearClassifier(**FEW),
    ps.BayesianMLPRegressor(hidden=3, **FEWER),
    ps.BayesianMLPClassifier(hidden=3, **FEWER),
    # Without the search for modes, which takes most of the time of so few draws.
    ps.GaussianProcessRegressor(model_options={"start": "prior"}, **FEWER),
    ps.GaussianProcessClassifier(**FEWER),
    ps.InputSelector(**FEWER),
]


def checks():
    for estimator in ESTIMATORS:
        for one, check in estimator_checks_generator(estimator):
            name = getattr(check, "func", check).__name__
            yield pytest.param(one, check, id=f"{type(estimator).__name__}-{name}")


@pytest.mark.parametrize(("estimator", "check"), checks())
def test_estimators_keep_the_contract(estimator, check):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.filterwarnings("ignore::posteria.PosteriaWarning")
def test_estimators_predict_in_pipelines_and_survive_pickles(waves, classes):
    X, y = waves[["a", "b", "c"]], waves["y"]
    model = make_pipeline(StandardScaler(), ps.BayesianLinearRegressor(**FEW))
    assert np.mean(cross_val_score(model, X, y, cv=3)) > 0.1
    process = ps.GaussianProcessRegressor(**FEW).fit(X, y)
    mean, sd = process.predict(X, return_std=True)
    assert process.score(X, y) > 0.9 and (sd > 0).all()
    again = pickle.loads(pickle.dumps(process))
    np.testing.assert_array_equal(again.predict(X), mean)
    drawn = process.sample_y(X, 200)
    assert drawn.shape == (60, 200)
    assert np.abs(drawn.mean(axis=1) - mean).max() < 6 * sd.max() / np.sqrt(200)
    assert process.predict_quantiles(X, [0.1, 0.9]).shape == (60, 2)
    X, y = classes[["u", "v"]], classes["kind"]
    classifier = clone(ps.BayesianLinearClassifier(**FEW)).fit(X, y)
    assert classifier.score(X, y) > 0.7
    assert list(classifier.classes_) == ["elm", "fir", "oak"]
    np.testing.assert_allclose(classifier.predict_proba(X).sum(axis=1), 1.0)
    assert set(np.unique(classifier.sample_y(X, 5))) <= {"elm", "fir", "oak"}
    selector = ps.InputSelector(draws=200).fit(waves[["a", "b", "c"]], waves["y"])
    assert selector.get_support()[0] and list(selector.get_feature_names_out())[0] == "a"
