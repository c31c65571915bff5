"""Gaussian processes of posteria beside JAX, scikit-learn and NumPyro, on one core in one session.

Two things are timed. *Density*: the log marginal likelihood with its gradient (squared exponential
with one relevance per input, constant of 10², noise) at n = 225 (2 inputs), 1000 and 2000 (8 inputs), microseconds
of the quickest of several calls. *Sampling*: smallest bulk ESS per CPU second of the log hyperparameters (and of 20
latent values for classes) of the same posterior, FBM's priors, data as they are. Read the ratios: absolute
figures drift with the machine.

    cargo build --release --manifest-path bench/Cargo.toml --bin gp
    cargo bench -p posteria --bench gp          # posteria's densities, also on two threads
    python bench/gp.py --data TABLES [--only density,sampling] [--problems P6,P6big,P7,cdata] [--draws 300]

TABLES is a folder with P4.tr (P6), P6big.tr, P2.tr (P7) and P3.tr (cdata); it is filled with simulated
tables of the same kind if it is empty. Needs numpy, jax, scikit-learn, numpyro and arviz.
"""

import argparse
import os
import subprocess
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def simulate(folder):
    """Tables of the same kind as the published ones."""
    from networks import simulate as simulate_networks

    simulate_networks(folder)
    rng = np.random.default_rng(6)
    x = rng.standard_normal((1000, 8))
    y = np.sin(1.5 * x[:, 0]) + x[:, 1] * np.exp(-0.3 * x[:, 2] ** 2) + 0.3 * x[:, 3]
    table = np.column_stack([x, y + 0.2 * rng.standard_normal(1000)])
    np.savetxt(os.path.join(folder, "P6big.tr"), table, fmt="%.9g")


def quickest(call, seconds=2.0):
    call()
    best, begin = np.inf, time.perf_counter()
    while time.perf_counter() - begin < seconds:
        start = time.perf_counter()
        call()
        best = min(best, time.perf_counter() - start)
    return 1e6 * best


def density(rows, inputs):
    """Quickest evaluation with gradient by JAX and scikit-learn."""
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((rows, inputs)), rng.standard_normal(rows)
    at, targets = jnp.asarray(x), jnp.asarray(y)

    def log_density(logs):
        scaled = at * jnp.exp(logs[2:])
        norms = jnp.sum(scaled**2, 1)
        square = jnp.maximum(norms[:, None] + norms[None] - 2 * scaled @ scaled.T, 0)
        covariance = 100.0 + jnp.exp(2 * logs[0] - square) + jnp.exp(2 * logs[1]) * jnp.eye(rows)
        factor = jnp.linalg.cholesky(covariance)
        z = jax.scipy.linalg.solve_triangular(factor, targets, lower=True)
        return -0.5 * z @ z - jnp.sum(jnp.log(jnp.diag(factor)))

    compiled = jax.jit(jax.value_and_grad(log_density))
    logs = jnp.concatenate([jnp.array([0.0, -1.0]), -0.5 * jnp.ones(inputs)])
    ours = quickest(lambda: jax.block_until_ready(compiled(logs)))
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    kernel = ConstantKernel(1.0) * RBF(np.ones(inputs)) + ConstantKernel(100.0, "fixed") + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel, optimizer=None).fit(x, y)
    theta = model.kernel_.theta
    theirs = quickest(lambda: model.log_marginal_likelihood(theta, eval_gradient=True, clone_kernel=False))
    print(f"density n={rows} d={inputs}: JAX {ours:.0f} us, scikit-learn {theirs:.0f} us", flush=True)


def numpyro(name, folder, draws):
    """Smallest bulk ESS per CPU second of NumPyro's NUTS on a regression."""
    import arviz as az
    import jax
    import jax.numpy as jnp
    import numpyro as pyro
    import numpyro.distributions as dist
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    table = np.loadtxt(os.path.join(folder, {"P6": "P4.tr", "P6big": "P6big.tr"}[name]))
    x, y = jnp.asarray(table[:, :-1]), jnp.asarray(table[:, -1])

    def log_scale(key, scale, dof):
        return jnp.log(scale) - 0.5 * jnp.log(pyro.sample(key, dist.Gamma(dof / 2, dof / 2)))

    def model():
        magnitude = pyro.deterministic("magnitude", log_scale("m", 0.05, 0.5))
        above, noise = log_scale("a", 0.05, 0.5), pyro.deterministic("noise", log_scale("n", 0.05, 0.5))
        with pyro.plate("inputs", x.shape[1]):
            each = pyro.sample("e", dist.Gamma(0.5, 0.5))
        relevance = pyro.deterministic("relevance", above - 0.5 * jnp.log(each))
        scaled = x * jnp.exp(relevance)
        norms = jnp.sum(scaled**2, 1)
        square = jnp.maximum(norms[:, None] + norms[None] - 2 * scaled @ scaled.T, 0)
        diagonal = (jnp.exp(2 * noise) + 1e-6) * jnp.eye(len(y))
        covariance = 100.0 + jnp.exp(2 * magnitude - square) + diagonal
        pyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(y)), covariance_matrix=covariance), obs=y)

    mcmc = MCMC(NUTS(model), num_warmup=draws, num_samples=draws, num_chains=4, chain_method="sequential", progress_bar=False)
    mcmc.warmup(jax.random.PRNGKey(1))
    begin = time.process_time()
    mcmc.run(jax.random.PRNGKey(2))
    seconds = time.process_time() - begin
    summary = az.summary(az.from_numpyro(mcmc), var_names=["magnitude", "noise", "relevance"])
    size, r_hat = summary["ess_bulk"].min(), summary["r_hat"].max()
    print(f"{name} numpyro min_ess_per_s {size / seconds:.3f} max_rhat {r_hat:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--only", default="density,sampling")
    parser.add_argument("--problems", default="P6,P6big,P7,cdata")
    parser.add_argument("--numpyro", default="P6", help="problems that NumPyro samples too")
    parser.add_argument("--draws", type=int, default=300, help="draws and warm-up of each of NumPyro's four chains")
    arguments = parser.parse_args()
    os.makedirs(arguments.data, exist_ok=True)
    if not os.listdir(arguments.data):
        simulate(arguments.data)
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    if "density" in arguments.only:
        for rows, inputs in ((225, 2), (1000, 8), (2000, 8)):
            density(rows, inputs)
    if "sampling" in arguments.only:
        program = os.path.join(HERE, "target", "release", "gp")
        for name in arguments.problems.split(","):
            # Few draws where each costs a third of a second.
            size = ["--warmup", "200", "--draws", "60"] if name == "P6big" else []
            subprocess.run([program, name, arguments.data, *size], check=True)
        for name in filter(None, arguments.numpyro.split(",")):
            numpyro(name, arguments.data, arguments.draws)


if __name__ == "__main__":
    main()
