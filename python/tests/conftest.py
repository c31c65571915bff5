"""Tables and fits that several tests use."""

import subprocess
import sys

import numpy as np
import pytest

import posteria as pt

pd = pytest.importorskip("pandas")


@pytest.fixture(scope="session")
def waves():
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.uniform(-1, 1, (60, 3)), columns=["a", "b", "c"])
    table["y"] = np.sin(3 * table.a) + table.b**2 + 0.15 * rng.normal(size=60)
    return table


@pytest.fixture(scope="session")
def classes():
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(60, 2)), columns=["u", "v"])
    noise = 0.5 * rng.normal(size=60)
    table["kind"] = np.where(table.u + noise > 0.7, "oak", np.where(table.v > 0, "elm", "fir"))
    return table


@pytest.fixture(scope="session")
def line(waves):
    return pt.fit(waves, target="y", model=pt.Linear(), draws=200, progress=False)


@pytest.fixture(scope="session")
def process(waves):
    few = {"chains": 2, "warmup": 100, "draws": 100}
    with pytest.warns():
        return pt.fit(waves, target="y", model=pt.GP(), progress=False, **few)


@pytest.fixture(scope="session")
def command():
    """The command line, as the package brings it along."""

    def run(*arguments, cwd=None, code=0):
        done = subprocess.run(
            [sys.executable, "-m", "posteria", *map(str, arguments)],
            capture_output=True,
            text=True,
            cwd=cwd,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done.stdout

    return run
