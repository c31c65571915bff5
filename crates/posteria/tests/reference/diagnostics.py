"""Write diagnostics.json: what ArviZ, NumPy and SciPy say about fixed chains.

    python diagnostics.py > diagnostics.json

`arviz` fields come from ArviZ itself, `scipy` and `numpy` fields from those libraries; fields
under `formula` have no such source and are evaluated here straight from their definitions, by
plain loops over numpy's own covariances. The arrays are rounded to six decimals and stored, so
that nothing depends on a random generator.
"""

import json
import logging
import warnings

import arviz as az
import numpy as np
import scipy
from scipy import special, stats

warnings.filterwarnings("ignore")
logging.getLogger("arviz").setLevel(logging.ERROR)

rng = np.random.default_rng(20260101)


def autoregressive(chains, draws, rho, shift=0.0):
    noise = rng.normal(size=(chains, draws))
    x = np.empty_like(noise)
    x[:, 0] = noise[:, 0]
    for t in range(1, draws):
        x[:, t] = rho * x[:, t - 1] + np.sqrt(1 - rho**2) * noise[:, t]
    return x + shift * np.arange(chains)[:, None]


def cases():
    yield "independent", rng.normal(size=(4, 100))
    yield "one_chain", autoregressive(1, 200, 0.5)
    yield "odd_length", autoregressive(3, 57, 0.3)
    yield "long", autoregressive(2, 1000, 0.8)
    yield "heavy_tailed", stats.t(1).rvs(size=(4, 150), random_state=rng)
    yield "integers", rng.poisson(3.0, size=(4, 60)).astype(float)
    yield "binary", (rng.random(size=(2, 80)) < 0.9).astype(float)
    yield "constant", np.full((4, 20), 0.25)
    yield "stuck_apart", np.repeat(np.arange(3.0)[:, None], 12, axis=1)
    yield "anticorrelated", autoregressive(4, 150, -0.5)
    yield "strongly_anticorrelated", autoregressive(2, 100, -0.95)
    yield "slow", autoregressive(4, 250, 0.95)
    yield "shifted", autoregressive(4, 100, 0.2, shift=0.7)
    yield "trend", rng.normal(size=(2, 90)) + np.linspace(0, 3, 90)
    yield "far_from_zero", 1e6 + rng.normal(size=(3, 64))
    yield "four_draws", rng.normal(size=(2, 4))
    yield "five_draws", rng.normal(size=(2, 5))
    yield "three_draws", rng.normal(size=(4, 3))
    missing = rng.normal(size=(2, 30))
    missing[1, 7] = np.nan
    yield "missing", missing


def of_arviz(x):
    return {
        "r_hat": az.rhat(x, method="rank"),
        "r_hat_split": az.rhat(x, method="split"),
        "ess_bulk": az.ess(x, method="bulk"),
        "ess_tail": az.ess(x, method="tail"),
        "ess_mean": az.ess(x, method="mean"),
        "ess_sd": az.ess(x, method="sd"),
        "ess_quantile_25": az.ess(x, method="quantile", prob=0.25),
        "ess_median": az.ess(x, method="median"),
        "ess_local_10_40": az.ess(x, method="local", prob=(0.1, 0.4)),
        "mcse_mean": az.mcse(x, method="mean"),
        "mcse_sd": az.mcse(x, method="sd"),
        "mcse_quantile_90": az.mcse(x, method="quantile", prob=0.9),
        "mcse_quantile_50": az.mcse(x, method="quantile", prob=0.5),
        "hdi_94": az.hdi(x.ravel(), hdi_prob=0.94),
        "hdi_50": az.hdi(x.ravel(), hdi_prob=0.5),
        "bfmi": az.bfmi(x),
        "autocorrelation": az.autocorr(x[0])[: min(8, x.shape[1])],
    }


def of_numpy(x):
    probabilities = [0.0, 0.03, 0.055, 0.25, 0.5, 0.9, 0.945, 1.0]
    return {
        "mean": np.mean(x),
        "sd": np.std(x, ddof=1),
        "quantiles": np.quantile(x, probabilities),
        "probabilities": probabilities,
    }


def of_scipy(x):
    first, last = ends(x)
    d = stats.ks_2samp(first, last, method="exact")
    n = len(first) * len(last) / (len(first) + len(last))
    # Stephens (1970): the limiting distribution at a corrected argument.
    corrected = (np.sqrt(n) + 0.12 + 0.11 / np.sqrt(n)) * d.statistic
    return {
        "ks_statistic": d.statistic,
        "ks_p_exact": d.pvalue,
        "ks_p_asymptotic": special.kolmogorov(corrected),
    }


def ends(x):
    if x.shape[0] > 1:
        return x[0], x[-1]
    third = x.shape[1] // 3
    return x[0, :third], x[0, -third:]


def potential_scale_reduction(x):
    """Brooks and Gelman (1998), section 1.2, with Gelman and Rubin's (1992) variance of V."""
    m, n = x.shape
    x = x - x.mean()  # no effect but on rounding: var_v subtracts squared means
    mean, variance = x.mean(axis=1), x.var(axis=1, ddof=1)
    w, b = variance.mean(), n * mean.var(ddof=1)
    v = (n - 1) / n * w + (m + 1) / (m * n) * b
    var_v = (
        ((n - 1) / n) ** 2 / m * variance.var(ddof=1)
        + ((m + 1) / (m * n)) ** 2 * 2 / (m - 1) * b**2
        + 2 * (m + 1) * (n - 1) / (m * n**2) * n / m
        * (np.cov(variance, mean**2)[0, 1] - 2 * mean.mean() * np.cov(variance, mean)[0, 1])
    )
    d = 2 * v**2 / var_v
    return np.sqrt(v / w), np.sqrt((d + 3) / (d + 1) * v / w)


def geyer(x, monotone):
    """Geyer (1992), section 3.3: autocorrelation time from the initial sequence estimator."""
    n = x.shape[1]
    gamma = np.zeros(n)
    for chain in x - x.mean(axis=1, keepdims=True):
        gamma += [np.dot(chain[: n - k], chain[k:]) / n for k in range(n)]
    if gamma[0] == 0:
        return np.nan
    rho = gamma / gamma[0]
    total, previous = 0.0, np.inf
    for k in range(0, n - 1, 2):
        pair = rho[k] + rho[k + 1]
        if not pair > 0:
            break
        previous = min(pair, previous) if monotone else pair
        total += previous
    return max(2 * total - 1, 1 / np.log10(x.size))


def of_formulas(x):
    m, n = x.shape
    third = n // 3
    thirds = np.stack([x[0, :third], x[0, -third:]])
    plain, corrected = potential_scale_reduction(x) if m > 1 else (np.nan, np.nan)
    return {
        "psrf": plain,
        "psrf_corrected": corrected,
        "psrf_thirds": potential_scale_reduction(thirds)[1] if third > 1 else np.nan,
        "time_monotone": geyer(x, True),
        "time_positive": geyer(x, False),
        "time_first_chain": geyer(x[:1], True),
    }


def multivariate():
    """Brooks and Gelman (1998), section 4.1."""
    mix = np.array([[1.0, 0.4, 0.0], [0.0, 1.0, -0.3], [0.2, 0.0, 0.5]])
    x = np.round(autoregressive(3 * 4, 50, 0.4).reshape(3, 4, 50), 6)
    x = np.round(np.einsum("ij,jmn->imn", mix, x), 6)
    n, m = x.shape[2], x.shape[1]
    w = np.mean([np.cov(x[:, j, :]) for j in range(m)], axis=0)
    between = np.cov(x.mean(axis=2))
    largest = np.max(np.linalg.eigvals(np.linalg.solve(w, between)).real)
    return {"variables": x.tolist(), "value": (n - 1) / n + (m + 1) / m * largest}


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if np.ndim(value):
        return [plain(item) for item in value]
    value = float(value)
    if np.isnan(value):
        return None
    return value if np.isfinite(value) else repr(value)


def short(number):
    return None if np.isnan(number) else int(number) if number == int(number) else float(number)


def main():
    out = {
        "source": f"arviz {az.__version__}, numpy {np.__version__}, scipy {scipy.__version__}; "
        "tests/reference/diagnostics.py",
        "multivariate": multivariate(),
        "cases": [],
    }
    for name, x in cases():
        x = np.round(x, 6)
        case = {"name": name, "chains": [[short(v) for v in chain] for chain in x]}
        case["arviz"] = plain(of_arviz(x))
        case["numpy"] = plain(of_numpy(x))
        if not np.isnan(x).any():
            case["formula"] = plain(of_formulas(x))
            if x.shape[1] > 5:
                case["scipy"] = plain(of_scipy(x))
        out["cases"].append(case)
    print(json.dumps(out, separators=(",", ":")).replace('{"name"', '\n{"name"'))


main()
