"""Write loo.json: what ArviZ says about fixed matrices of log likelihoods.

    python loo.py > loo.json

`loo` is `az.loo` with the likelihoods themselves as the posterior group, so that the relative
efficiency is theirs; `loo_independent` is `az.loo` with reff=1; `waic` is `az.waic`; `compare` are
`az.compare` of fixed pointwise values. `optimum` are stacking weights by scipy's SLSQP run to a far
smaller tolerance than ArviZ asks for. Matrices are chain x draw x row, rounded to five decimals and
stored, so that nothing depends on a random generator.
"""

import json
import warnings

import arviz as az
import numpy as np
import pandas as pd
import scipy
import xarray as xr
from arviz.stats.stats_utils import ELPDData
from scipy import optimize, stats

warnings.filterwarnings("ignore")

rng = np.random.default_rng(20260102)


def autoregressive(chains, draws, rho):
    noise = rng.normal(size=(chains, draws))
    x = np.empty_like(noise)
    x[:, 0] = noise[:, 0]
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    return x


def of_normal(mean, y):
    return stats.norm.logpdf(y, loc=mean[:, :, None])


def cases():
    y = rng.normal(size=7)
    yield "several_chains", of_normal(0.4 * rng.normal(size=(4, 100)), y)
    yield "one_chain", of_normal(0.5 * rng.normal(size=(1, 200)), y[:4])
    yield "odd_length", of_normal(0.3 * autoregressive(3, 57, 0.5), y[:3])
    yield "slow_chains", of_normal(0.5 * autoregressive(4, 150, 0.9), y[:3])
    outliers = np.array([0.1, 4.0, -6.0, 9.0])
    yield "heavy_tails", of_normal(0.7 * rng.normal(size=(2, 200)), outliers)
    yield "cauchy_ratios", -np.abs(stats.t(1).rvs(size=(2, 100, 2), random_state=rng))
    constant = of_normal(rng.normal(size=(2, 60)), np.array([0.0, 1.0, 2.0]))
    constant[:, :, 1] = -1.3
    yield "constant_row", constant
    yield "few_draws", of_normal(rng.normal(size=(1, 16)), y[:2])
    yield "short_tail", of_normal(rng.normal(size=(1, 21)), y[:2])
    yield "tied", np.round(of_normal(0.5 * rng.normal(size=(2, 80)), y[:2]), 1)
    yield "far_from_zero", 500.0 + of_normal(0.3 * rng.normal(size=(2, 80)), y[:2])
    yield "underflow", 1000.0 * of_normal(0.3 * rng.normal(size=(2, 80)), y[:2])
    yield "one_row", of_normal(0.5 * rng.normal(size=(2, 80)), y[:1])


def spelled(value):
    value = float(value)
    if np.isnan(value):
        return None
    return value if np.isfinite(value) else ("inf" if value > 0 else "-inf")


def listed(values):
    return [spelled(value) for value in np.asarray(values).ravel()]


def of_loo(result):
    return {
        "elpd": spelled(result["elpd_loo"]),
        "se": spelled(result["se"]),
        "p": spelled(result["p_loo"]),
        "good_k": spelled(result["good_k"]),
        "pointwise": listed(result["loo_i"]),
        "pareto_k": listed(result["pareto_k"]),
    }


def of_case(name, values):
    values = np.round(values, 5)
    likelihood = np.exp(values - values.max(axis=(0, 1)))
    data = az.from_dict(posterior={"likelihood": likelihood}, log_likelihood={"y": values})
    waic = az.waic(data, pointwise=True)
    return {
        "name": name,
        "shape": list(values.shape),
        "values": values.ravel().tolist(),
        "loo": of_loo(az.loo(data, pointwise=True)),
        "loo_independent": of_loo(az.loo(data, pointwise=True, reff=1.0)),
        "waic": {
            "elpd": spelled(waic["elpd_waic"]),
            "se": spelled(waic["se"]),
            "p": spelled(waic["p_waic"]),
            "pointwise": listed(waic["waic_i"]),
        },
    }


def of_models(name, values):
    values = np.round(values, 5)

    def elpd_data(pointwise):
        count = len(pointwise)
        se = np.sqrt(count * np.var(pointwise))
        entries = {
            "elpd_loo": pointwise.sum(),
            "se": se,
            "p_loo": 1.0,
            "n_samples": 1000,
            "n_data_points": count,
            "warning": False,
            "loo_i": xr.DataArray(pointwise),
            "scale": "log",
        }
        return ELPDData(data=list(entries.values()), index=list(entries))

    models = {str(index): elpd_data(row) for index, row in enumerate(values)}

    def table(method):
        frame = az.compare(models, method=method)
        return {
            "model": [int(index) for index in frame.index],
            "elpd": listed(frame["elpd_loo"]),
            "se": listed(frame["se"]),
            "elpd_diff": listed(frame["elpd_diff"]),
            "dse": listed(frame["dse"]),
            "weight": listed(frame["weight"]),
        }

    densities = np.exp(values - values.max(axis=0)).T
    count = len(values)
    best = optimize.minimize(
        lambda w: -np.mean(np.log(densities @ w)),
        np.full(count, 1 / count),
        jac=lambda w: -np.mean(densities / (densities @ w)[:, None], axis=0),
        bounds=[(0, 1)] * count,
        constraints=[{"type": "eq", "fun": lambda w: w.sum() - 1, "jac": np.ones_like}],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )
    return {
        "name": name,
        "pointwise": values.tolist(),
        "stacking": table("stacking"),
        "pseudo_bma": table("pseudo-bma"),
        "optimum": best.x.tolist(),
    }


def main():
    y = rng.normal(size=60)
    common = stats.norm.logpdf(y)
    several = [common + d * (rng.normal(size=60) - 0.3) for d in (0.2, 0.5, 0.3, 1.0)]
    complementary = [stats.norm.logpdf(y, loc=loc) for loc in (-1.0, 0.5, 1.5)]
    print(
        json.dumps(
            {
                "source": f"ArviZ {az.__version__}, NumPy {np.__version__}, SciPy {scipy.__version__}, "
                f"pandas {pd.__version__}",
                "cases": [of_case(name, values) for name, values in cases()],
                "models": [
                    of_models("several", np.array(several)),
                    of_models("complementary", np.array(complementary)),
                ],
            }
        )
    )


main()
