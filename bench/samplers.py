"""Effective draws per second of posteria, nuts-rs and NumPyro on the same densities.

Every peer runs its NUTS with default settings from the same kind of start, on one thread, in
one session; ESS is the smallest bulk ESS over coordinates (ArviZ) over all chains. Absolute
figures drift with the machine: read the ratios.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

# One core for everyone, helper threads of the compiler included.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import arviz as az
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))


def rust_peer(peer, problem, task, seed):
    with tempfile.NamedTemporaryFile() as file:
        command = [
            os.path.join(HERE, "target", "release", "posteria-bench"), peer, problem,
            str(task.chains), str(task.warmup), str(task.draws), str(seed), file.name,
        ]
        facts = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        values = np.fromfile(file.name, dtype="<f8")
    return values.reshape(task.chains, task.draws, facts["dim"]), facts


def numpyro_peer(problem, task, seed):
    import jax
    import jax.numpy as jnp
    from numpyro.infer import MCMC, NUTS

    jax.config.update("jax_enable_x64", True)
    dim = 10 if problem == "funnel" else 100
    precisions = 10.0 ** (2.0 - 4.0 * jnp.arange(100) / 99)
    axis = jnp.full(100, 0.1)

    def potential(x):
        if problem == "funnel":
            v, rest = x[0], x[1:]
            return v**2 / 18 + 0.5 * 9 * v + 0.5 * jnp.exp(-v) * jnp.sum(rest**2)
        if problem == "reflected":
            x = x - 2 * axis * jnp.dot(axis, x)
        return 0.5 * jnp.sum(precisions * x**2)

    starts = jax.random.normal(jax.random.PRNGKey(seed), (task.chains, dim))
    values, facts = [], {"warmup_seconds": 0.0, "sampling_seconds": 0.0, "gradients": 0,
                         "divergences": 0}
    def timed(draws, key, start):
        """Warm-up and sampling, each with its compilation: CPU seconds, draws, statistics."""
        mcmc = MCMC(NUTS(potential_fn=potential), num_warmup=task.warmup if draws > 1 else 1,
                    num_samples=draws, progress_bar=False)
        begin = time.process_time()
        mcmc.warmup(key, init_params=start)
        jax.block_until_ready(mcmc.post_warmup_state)
        warm = time.process_time()
        mcmc.run(mcmc.post_warmup_state.rng_key, init_params=start,
                 extra_fields=("num_steps", "diverging"))
        samples = np.asarray(mcmc.get_samples())
        return warm - begin, time.process_time() - warm, samples, mcmc.get_extra_fields()

    for chain in range(task.chains):
        key = jax.random.PRNGKey(1000 * seed + chain)
        # A run of one draw costs the compilation and nothing else: it is taken off.
        idle_warmup, idle_sampling, _, _ = timed(1, key, starts[chain])
        warmup, sampling, draws, extra = timed(task.draws, key, starts[chain])
        facts["warmup_seconds"] += max(warmup - idle_warmup, 0.0)
        facts["sampling_seconds"] += max(sampling - idle_sampling, 1e-9)
        facts["gradients"] += int(np.sum(extra["num_steps"]))
        facts["divergences"] += int(np.sum(extra["diverging"]))
        values.append(draws)
    return np.stack(values), facts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", nargs="+", default=["gaussian", "reflected", "funnel"])
    parser.add_argument("--peers", nargs="+",
                        default=["posteria", "posteria-dense", "posteria-slice", "nuts-rs", "numpyro"])
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--seeds", type=int, default=3)
    task = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=HERE, check=True)
    print(f"{'problem':10} {'peer':15} {'min ESS/s':>12} {'incl warm-up':>12} {'ESS/eval':>12}"
          f" {'us/eval':>11} {'R-hat':>6} {'diverging':>9}")
    for problem in task.problems:
        for peer in task.peers:
            if peer == "posteria-slice" and problem != "funnel":
                continue  # one coordinate at a time is for few coordinates
            rows = []
            for seed in range(1, task.seeds + 1):
                run = numpyro_peer if peer == "numpyro" else rust_peer
                arguments = (problem, task, seed) if peer == "numpyro" else (peer, problem, task, seed)
                values, facts = run(*arguments)
                dataset = az.convert_to_dataset({"x": values})
                ess = float(az.ess(dataset)["x"].min())
                r_hat = float(az.rhat(dataset)["x"].max())
                seconds = facts["sampling_seconds"]
                rows.append((ess / seconds, ess / (seconds + facts["warmup_seconds"]),
                             ess / facts["gradients"], 1e6 * seconds / facts["gradients"], r_hat,
                             facts["divergences"]))
            median = np.median(np.array(rows), axis=0)
            print(f"{problem:10} {peer:15} {median[0]:12.0f} {median[1]:12.0f} {median[2]:12.4f}"
                  f" {median[3]:11.2f} {median[4]:6.3f} {median[5]:9.0f}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
