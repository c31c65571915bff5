"""Effective draws per second of posteria, NumPyro and BlackJAX on the same networks.

Every sampler runs four chains of the same hierarchical posterior (FBM's priors, data as they are)
one after the other on one thread, in one session. ESS is the smallest bulk ESS of the outputs at 20
inputs (class probabilities for three classes); times are CPU seconds of sampling, without warm-up
and compilation. The mean of the first output with its Monte Carlo error tells whether samplers agree:
one that stays in one of two modes may have a fine R-hat. Absolute figures drift with the machine: read the ratios.

    cargo build --release --manifest-path bench/Cargo.toml --bin networks
    python bench/networks.py --data TABLES [--problems P1t,P1g,P2,P3,P4] [--peers posteria,numpyro,blackjax] [--cap SECONDS]

TABLES is a folder with P1.tr, P1.x20, ... (rows of inputs and target, no header); it is filled with
simulated tables of the same kind if it is empty.
"""

import argparse
import os
import subprocess
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# One core for everyone, helper threads of the compiler included.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# tables, hidden units, outputs, input scales: (top scale, its dof, dof of each input), bias, kind
PROBLEMS = {
    "P1t": ("P1", 8, 1, (0.05, 0.5, None), 100.0, "t"),
    "P1g": ("P1", 8, 1, (0.05, 0.5, None), 100.0, "normal"),
    "P2": ("P2", 10, 1, (0.05, 0.5, None), 1.0, "binary"),
    "P3": ("P3", 8, 3, (0.05, 0.5, 1.0), None, "softmax"),
    "P4": ("P4", 10, 1, (0.05, 0.5, None), 1.0, "normal"),
}


def simulate(folder):
    """Tables of the same kind as the published ones."""
    rng = np.random.default_rng(1)
    save = lambda name, table: np.savetxt(os.path.join(folder, name), table, fmt="%.9g")
    curve = lambda x: 0.3 + 0.4 * x + 0.5 * np.sin(2.7 * x) + 1.1 / (1 + x**2)
    x = rng.standard_normal(100)
    spread = np.where(rng.random(100) < 0.05, 1.0, 0.1)
    save("P1.tr", np.column_stack([x, curve(x) + spread * rng.standard_normal(100)]))
    save("P1.x20", np.linspace(-2, 2, 20)[:, None])
    centres = np.array([[(-0.7, 0.3), (0.3, 0.3)], [(-0.3, 0.7), (0.4, 0.7)]])
    label = np.arange(270) % 2
    points = centres[label, rng.integers(0, 2, 270)] + np.sqrt(0.03) * rng.standard_normal((270, 2))
    save("P2.tr", np.column_stack([points, label])[:250])
    save("P2.x20", points[250:])
    u = rng.random((420, 4))
    near = np.hypot(u[:, 0] - 0.4, u[:, 1] - 0.5) < 0.35
    label = np.where(near, 0, np.where(0.8 * u[:, 0] + 1.8 * u[:, 1] < 0.6, 1, 2))
    u = u + 0.1 * rng.standard_normal(u.shape)
    save("P3.tr", np.column_stack([u, label])[:400])
    save("P3.x20", u[400:])
    u = rng.random((225, 2))
    y = 1.9 * (1.35 + np.exp(u[:, 0]) * np.sin(13 * (u[:, 0] - 0.6) ** 2)
               * np.exp(-u[:, 1]) * np.sin(7 * u[:, 1]))
    z = (u - u.mean(0)) / u.std(0)
    save("P4.tr", np.column_stack([z, y - y.mean() + 0.25 * rng.standard_normal(225)]))
    grid = np.meshgrid(np.linspace(-1.5, 1.5, 5), np.linspace(-1.5, 1.5, 4), indexing="ij")
    save("P4.x20", np.stack(grid, -1).reshape(-1, 2))


def posterior(name, folder):
    """Log density over non-centred coordinates, dimension, and outputs at the 20 inputs."""
    import jax
    import jax.numpy as jnp

    tables, hidden, outputs, (top, top_dof, each_dof), bias, kind = PROBLEMS[name]
    table = np.loadtxt(os.path.join(folder, tables + ".tr"))
    at = np.loadtxt(os.path.join(folder, tables + ".x20"), ndmin=2).reshape(20, -1)
    x, y = jnp.asarray(table[:, :-1]), jnp.asarray(table[:, -1])
    inputs = x.shape[1]
    sizes = {"w1": (inputs, hidden), "b1": (hidden,), "w2": (hidden, outputs), "b2": (outputs,),
             "log_w1": (), "log_b1": (), "log_w2": ()}
    if each_dof:
        sizes["each"] = (inputs,)
    if bias is None:
        sizes["log_b2"] = ()
    if kind in ("t", "normal"):
        sizes["log_noise"] = ()
    offsets = np.cumsum([0] + [int(np.prod(shape)) for shape in sizes.values()])

    def variance_prior(log_scale, scale, dof):
        """Inverse gamma density of a variance, on the log of its root."""
        return -dof * log_scale - 0.5 * dof * scale**2 * jnp.exp(-2 * log_scale)

    def unpack(q):
        parts = {key: q[a:b].reshape(shape)
                 for (key, shape), a, b in zip(sizes.items(), offsets, offsets[1:])}
        log_prior = (variance_prior(parts["log_w1"], top, top_dof)
                     + variance_prior(parts["log_b1"], 0.05, 0.5)
                     + variance_prior(parts["log_w2"], 0.05 / np.sqrt(hidden), 0.5))
        s1 = jnp.exp(parts["log_w1"])
        if each_dof:
            log_prior += jnp.sum(variance_prior(parts["each"], 1.0, each_dof))
            s1 = s1 * jnp.exp(parts["each"])[:, None]
        if bias is None:
            log_prior += variance_prior(parts["log_b2"], 0.05, 0.5)
        s2 = bias if bias is not None else jnp.exp(parts["log_b2"])
        for key in ("w1", "b1", "w2", "b2"):
            log_prior -= 0.5 * jnp.sum(parts[key] ** 2)
        weights = (parts["w1"] * s1, parts["b1"] * jnp.exp(parts["log_b1"]),
                   parts["w2"] * jnp.exp(parts["log_w2"]), parts["b2"] * s2)
        return weights, log_prior, parts.get("log_noise")

    def network(weights, x):
        w1, b1, w2, b2 = weights
        return jnp.tanh(x @ w1 + b1) @ w2 + b2

    def log_density(q):
        weights, log_prior, log_noise = unpack(q)
        f = network(weights, x)
        if kind in ("t", "normal"):
            z = (y - f[:, 0]) * jnp.exp(-log_noise)
            log_prior += variance_prior(log_noise, 0.05, 0.5) - len(y) * log_noise
            kernel = -0.5 * z**2 if kind == "normal" else -2.5 * jnp.log1p(z**2 / 4)
        elif kind == "binary":
            kernel = -jnp.logaddexp(0.0, jnp.where(y > 0.5, -f[:, 0], f[:, 0]))
        else:
            kernel = jnp.take_along_axis(jax.nn.log_softmax(f), y.astype(int)[:, None], 1)[:, 0]
        return log_prior + jnp.sum(kernel)

    def outputs_at(q):
        f = network(unpack(q)[0], jnp.asarray(at))
        return jax.nn.softmax(f).ravel() if outputs > 1 else f[:, 0]

    return log_density, int(offsets[-1]), outputs_at


def jax_peer(peer, name, folder, task):
    import jax

    jax.config.update("jax_enable_x64", True)
    log_density, dim, outputs_at = posterior(name, folder)
    if peer == "numpyro":
        from numpyro.infer.hmc import hmc
        begin, kernel = hmc(lambda q: -log_density(q), algo="NUTS")
        start = lambda key: begin(0.1 * jax.random.normal(key, (dim,)), task.warmup, rng_key=key)
        place = lambda state: state.z
        step = lambda state, key: kernel(state)
        warm = lambda state, keys: jax.lax.scan(lambda s, k: (step(s, k), None), state, keys)[0]
    else:
        import blackjax
        adaptation = blackjax.window_adaptation(
            blackjax.hmc, log_density, num_integration_steps=task.leapfrogs)

        def warm(state, keys):
            (last, found), _ = adaptation.run(keys[0], state, num_steps=task.warmup)
            return last, found["step_size"], found["inverse_mass_matrix"]

        start = lambda key: 0.1 * jax.random.normal(key, (dim,))
        place = lambda state: state[0].position

        def step(state, key):
            position, size, metric = state
            jitter, key = jax.random.split(key)
            kernel = blackjax.hmc(
                log_density, step_size=size * jax.random.uniform(jitter, (), minval=0.8, maxval=1.2),
                inverse_mass_matrix=metric, num_integration_steps=task.leapfrogs)
            return kernel.step(key, position)[0], size, metric

    def run(state, keys):
        def one(state, key):
            state = step(state, key)
            return state, outputs_at(place(state))
        return jax.lax.scan(one, state, keys)

    keys = lambda seed, count: jax.random.split(jax.random.PRNGKey(seed), count)
    # Compiled ahead: compilation is not counted.
    first = start(jax.random.PRNGKey(0))
    warm = jax.jit(warm).lower(first, keys(1, task.warmup)).compile()
    chunk = max(1, task.draws // 20)
    run = jax.jit(run).lower(warm(first, keys(1, task.warmup)), keys(2, chunk)).compile()
    chains, seconds = [], []
    for chain in range(task.chains):
        state = warm(start(jax.random.PRNGKey(10 + chain)), keys(20 + chain, task.warmup))
        jax.block_until_ready(state)
        draws, clock = [], time.process_time()
        spent = lambda: time.process_time() - clock
        # In pieces, until the draws are there or the time is over.
        while len(draws) * chunk < task.draws and spent() < task.cap / task.chains:
            seed = 30 + chain + 100 * len(draws)
            state, outputs = jax.block_until_ready(run(state, keys(seed, chunk)))
            draws.append(np.asarray(outputs))
        seconds.append((spent(), len(draws)))
        chains.append(np.concatenate(draws))
    # The chains are compared at the length of the shortest, and paid for that length.
    length = min(len(draws) for draws in chains)
    seconds = sum(spent * length / (count * chunk) for spent, count in seconds)
    chains = [draws[:length] for draws in chains]
    import arviz as az
    data = az.convert_to_dataset({"f": np.stack(chains)})
    first = {"f": np.stack(chains)[:, :, :1]}
    mean = float(first["f"].mean()), float(az.mcse(az.convert_to_dataset(first))["f"].max())
    size, r_hat = float(az.ess(data, method="bulk")["f"].min()), float(az.rhat(data)["f"].max())
    return size, r_hat, seconds, mean


def posteria_peer(name, folder, task):
    command = [os.path.join(HERE, "target", "release", "networks"), name, folder,
               "--chains", str(task.chains), "--warmup", str(task.warmup), "--draws", str(task.draws)]
    if name == "P1g":
        # Two modes: replicas at higher temperatures find and weigh both.
        command += ["--sampling", "temperatures = 6"]
    printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    facts = {line.split()[2]: float(line.split()[3]) for line in printed.splitlines()}
    mean = facts["first_mean"], facts["first_mcse"]
    return facts["min_bulk_ess"], facts["max_rhat"], facts["sampling_cpu_s"], mean


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--problems", default="P1t,P1g,P2,P3,P4")
    parser.add_argument("--peers", default="posteria,numpyro,blackjax")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=500)
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--leapfrogs", type=int, default=200, help="BlackJAX: steps of a trajectory")
    parser.add_argument("--cap", type=float, default=60.0,
                        help="NumPyro and BlackJAX: CPU seconds of sampling per problem, then fewer draws do")
    task = parser.parse_args()
    os.makedirs(task.data, exist_ok=True)
    if not os.listdir(task.data):
        simulate(task.data)
    print(f"{'problem':8} {'sampler':9} {'min ESS':>8} {'R-hat':>6} {'seconds':>8} {'ESS/s':>8}"
          f" {'first output':>16}")
    for name in task.problems.split(","):
        for peer in task.peers.split(","):
            if peer == "posteria":
                size, r_hat, seconds, mean = posteria_peer(name, task.data, task)
            else:
                size, r_hat, seconds, mean = jax_peer(peer, name, task.data, task)
            rate = f"{size / seconds:.1f}" if r_hat < 1.05 else f"({size / seconds:.1f})"
            print(f"{name:8} {peer:9} {size:8.0f} {r_hat:6.3f} {seconds:8.2f} {rate:>8}"
                  f" {mean[0]:8.3f} ± {mean[1]:.3f}", flush=True)


if __name__ == "__main__":
    main()
