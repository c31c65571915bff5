"""How fast a GPU is: ours and JAX on the same device, in the same run.

Run by `just bench-cuda`, after `cargo build --release -p posteria-cuda --example speed`; JAX is optional. Ours are
whole iterations (scales, momenta, trajectory, accept or reject), those of JAX leapfrog steps alone, all chains in
lockstep; gradients of Gaussian processes are from the covariances to the derivatives of all hyperparameters.
"""

import subprocess
import sys
import time


def timed(work, *arguments):
    """The median time of five calls, after one that compiles."""
    times = []
    for _ in range(6):
        begun = time.perf_counter()
        work(*arguments).block_until_ready()
        times.append(time.perf_counter() - begun)
    return sorted(times[1:])[2]


def networks(jax, inputs, hidden, rows, chains, steps=100):
    """Leapfrog steps per second of two classes."""
    np = jax.numpy
    key = jax.random.key(0)
    x = jax.random.normal(key, (rows, inputs), np.float32)
    y = (np.sin(x[:, 0]) > 0).astype(np.float32)
    size = (inputs + 2) * hidden + 1

    def energy(w):
        u, a = w[: inputs * hidden].reshape(inputs, hidden), w[inputs * hidden : (inputs + 1) * hidden]
        v, b = w[(inputs + 1) * hidden : -1], w[-1]
        f = np.tanh(x @ u + a) @ v + b
        return np.sum(np.logaddexp(0, f) - y * f) + 0.5 * np.sum(w * w)

    force = jax.vmap(jax.grad(energy))

    @jax.jit
    def trajectory(q, p):
        def leap(_, state):
            q, p = state
            q = q + 1e-3 * p
            return q, p - 1e-3 * force(q)

        return jax.lax.fori_loop(0, steps, leap, (q, p))[0]

    q = 0.3 * jax.random.normal(key, (chains, size), np.float32)
    rate = chains * steps / timed(trajectory, q, q)
    print(f"JAX: {inputs}-{hidden}-1 of {rows} rows, {chains} chains: {rate:.2e} leapfrog steps per second", flush=True)


def processes(jax, rows, inputs=8):
    """Milliseconds per gradient."""
    np = jax.numpy
    key = jax.random.key(0)
    x, y = jax.random.normal(key, (rows, inputs)), jax.random.normal(key, (rows,))

    def density(logs):
        z = x * np.exp(logs[2 : 2 + inputs])
        squares = np.sum(z * z, 1)
        distances = squares[:, None] + squares[None] - 2 * z @ z.T
        linear = (x * np.exp(2 * logs[2 + inputs :])) @ x.T
        k = np.exp(2 * logs[0]) + linear + np.exp(2 * logs[1]) * np.exp(-distances) + 0.05 * np.eye(rows)
        factor = np.linalg.cholesky(k)
        half = jax.scipy.linalg.solve_triangular(factor, y, lower=True)
        return -0.5 * half @ half - np.sum(np.log(np.diag(factor)))

    gradient = jax.jit(jax.grad(density))
    time_of_one = timed(gradient, np.full(2 + 2 * inputs, -1.0))
    print(f"JAX: Gaussian process of {rows} rows: {1e3 * time_of_one:.2f} ms per gradient", flush=True)


def main():
    subprocess.run([sys.argv[1]], check=True)
    try:
        import jax
    except ImportError:
        print("JAX is not installed: no comparison")
        return
    networks(jax, 2, 10, 250, 8000)
    networks(jax, 2, 10, 250, 500)
    networks(jax, 8, 10, 1030, 2000)
    jax.config.update("jax_enable_x64", True)
    for rows in (1000, 5000, 10000):
        processes(jax, rows)


if __name__ == "__main__":
    main()
