"""Compare Gaussian process regressions of posteria with long NumPyro NUTS runs.

For every problem both programs sample the same posterior; the script prints mean and standard deviation
of every log hyperparameter from both, and their difference in Monte Carlo errors. It fails if a mean is
further off than 4.5 errors, or a standard deviation further than 4.5 of its own.

    cargo build --release
    python validation/gp_regression.py --posteria target/release/posteria [--draws 4000]

Needs numpy, arviz, jax and numpyro. The tables are simulated from published recipes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from numpyro.infer import MCMC, NUTS

jax.config.update("jax_enable_x64", True)


def surface(rng):
    """225 rows of the surface of the two-input demonstration, noise 0.2."""
    x = rng.uniform(-2, 2, (225, 2))
    y = np.sin(1.5 * x[:, 0]) * np.exp(-0.3 * x[:, 1] ** 2) + 0.3 * x[:, 1]
    return x, y + 0.2 * rng.standard_normal(225), 'mean = "zero"\njitter = 0.01\n', "normal"


def outliers(rng):
    """100 rows of Neal's curve with one outlier in twenty, Student-t residuals with 4 degrees of freedom."""
    x = rng.standard_normal((100, 1))
    curve = 0.3 + 0.4 * x[:, 0] + 0.5 * np.sin(2.7 * x[:, 0]) + 1.1 / (1 + x[:, 0] ** 2)
    spread = np.where(rng.random(100) < 0.05, 1.0, 0.1)
    spec = 'mean = "constant"\njitter = 0.01\n'
    return x, curve + spread * rng.standard_normal(100), spec, "student-t"


PROBLEMS = {"surface": surface, "outliers": outliers}
PRIORS = """[prior.magnitude]
scale = 0.3
dof = 2.0
[prior.relevance]
scale = 0.3
dof = 2.0
top_dof = 3.0
"""


def posteria(program, x, y, spec, residual, draws, folder):
    names = [f"x{k}" for k in range(x.shape[1])]
    table = os.path.join(folder, "table.csv")
    np.savetxt(table, np.column_stack([x, y]), delimiter=",", header=",".join(names + ["y"]), comments="")
    text = f'[data]\npath = "{table}"\ntarget = ["y"]\nstandardize = false\n[model]\nkind = "gp"\n{spec}{PRIORS}'
    if spec.startswith('mean = "constant"'):
        text += "[prior.mean]\nfixed = 2.0\n"
    text += f'[residual]\nfamily = "{residual}"\nscale = 0.2\nscale_dof = 2.0\n'
    if residual == "student-t":
        text += "dof = 4.0\n"
    text += f"[sampling]\nchains = 4\nwarmup = 1000\ndraws = {draws}\n"
    path = os.path.join(folder, "spec.toml")
    with open(path, "w") as file:
        file.write(text)
    run = os.path.join(folder, "run")
    subprocess.run([program, "fit", "--spec", path, "--out", run, "--quiet"], check=True)
    out = subprocess.run([program, "export", run, "--format", "csv", "--out", os.path.join(folder, "draws.csv")],
                         check=True, capture_output=True, text=True)
    del out
    import csv

    with open(os.path.join(folder, "draws.csv")) as file:
        rows = list(csv.DictReader(file))
    wanted = ["magnitude"] + [f"relevance[{name}]" for name in names] + ["relevance_above", "residual_scale"]
    chains = sorted({row["chain"] for row in rows}, key=int)
    return {name: np.array([[np.log(float(row[name])) for row in rows if row["chain"] == chain] for chain in chains])
            for name in wanted}


def log_scale(name, scale, dof):
    """log of a standard deviation whose square is scaled inverse chi-square."""
    precision = numpyro.sample(name + "_precision", dist.Gamma(dof / 2, dof / 2))
    return jnp.log(scale) - 0.5 * jnp.log(precision)


def peer(x, y, residual, constant, draws):
    def model():
        magnitude = numpyro.deterministic("magnitude", log_scale("m", 0.3, 2.0))
        above = numpyro.deterministic("relevance_above", log_scale("a", 0.3, 3.0))
        relevances = [numpyro.deterministic(f"relevance[x{k}]", above + log_scale(f"r{k}", 1.0, 2.0))
                      for k in range(x.shape[1])]
        noise = numpyro.deterministic("residual_scale", log_scale("n", 0.2, 2.0))
        scaled = x * jnp.exp(jnp.stack(relevances))
        square = jnp.sum((scaled[:, None] - scaled[None]) ** 2, -1)
        variance = jnp.exp(2 * noise) * jnp.ones(len(y))
        if residual == "student-t":
            variance = variance / numpyro.sample("case", dist.Gamma(2.0, 2.0).expand([len(y)]))
        covariance = jnp.exp(2 * magnitude - square) + constant**2 + jnp.diag(variance + 1e-4)
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(y)), covariance_matrix=covariance), obs=y)

    mcmc = MCMC(NUTS(model, dense_mass=residual == "normal"), num_warmup=1000, num_samples=draws, num_chains=4,
                chain_method="sequential", progress_bar=False)
    mcmc.run(jax.random.PRNGKey(1))
    draws = mcmc.get_samples(group_by_chain=True)
    return {name: np.asarray(value) for name, value in draws.items()}


def errors(chains):
    """Mean, its error, standard deviation and its error, by batch means."""
    size = max(1, chains.shape[1] // 25)
    batches = chains[:, : chains.shape[1] // size * size].reshape(-1, size)
    error = batches.mean(1).std(ddof=1) / np.sqrt(len(batches))
    centred = (batches - chains.mean()) ** 2
    sd = chains.std()
    sd_error = centred.mean(1).std(ddof=1) / np.sqrt(len(batches)) / (2 * sd)
    return chains.mean(), error, sd, sd_error


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--posteria", required=True)
    parser.add_argument("--draws", type=int, default=4000)
    parser.add_argument("--problems", default=",".join(PROBLEMS))
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.posteria)
    worst = 0.0
    for name in arguments.problems.split(","):
        x, y, spec, residual = PROBLEMS[name](np.random.default_rng(1))
        with tempfile.TemporaryDirectory() as folder:
            ours = posteria(program, x, y, spec, residual, arguments.draws, folder)
        constant = 2.0 if spec.startswith('mean = "constant"') else 0.0
        theirs = peer(x, y, residual, constant, arguments.draws)
        print(f"{name}: log of       posteria (sd)        NumPyro (sd)        errors off: mean, sd")
        for variable, chains in ours.items():
            mean, error, sd, sd_error = errors(chains)
            other, other_error, other_sd, other_sd_error = errors(theirs[variable])
            off = (mean - other) / np.hypot(error, other_error)
            sd_off = (sd - other_sd) / np.hypot(sd_error, other_sd_error)
            worst = max(worst, abs(off), abs(sd_off))
            print(f"  {variable:18s} {mean:8.4f} ({sd:.4f})   {other:8.4f} ({other_sd:.4f})   {off:6.2f} {sd_off:6.2f}")
    print(json.dumps({"worst": worst}))
    sys.exit(0 if worst < 4.5 else 1)


if __name__ == "__main__":
    main()
