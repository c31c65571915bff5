"""Folds that a real scheduler has fitted by processes of its own: the numbers of one machine."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import posteria as pt
from posteria import _units

distributed = pytest.importorskip("distributed")

FEW = {"chains": 2, "warmup": 20, "draws": 10, "progress": False}


@pytest.fixture(scope="module")
def cluster():
    """A scheduler and two workers, each a process, on the loopback address."""
    alone = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(
        n_workers=2, host="127.0.0.1", silence_logs="CRITICAL", **alone
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
        yield client


@pytest.fixture(scope="module")
def fits(waves):
    return {
        "line": pt.fit(waves, "y", pt.Linear(residual="student-t"), **FEW),
        "net": pt.fit(waves, "y", pt.MLP(hidden=2), **FEW | {"chains": 1}),
    }


def plain(found):
    """All that is told, but frames, which have no truth of their own."""
    return {key: it.to_dict() if hasattr(it, "to_dict") else it for key, it in found.items()}


def same(mine, theirs):
    np.testing.assert_equal(plain(mine), plain(theirs))


def test_folds_by_workers_are_those_of_one_machine(fits, waves, client, tmp_path):
    groups = np.arange(60) % 7
    here = fits["line"].kfold(4, groups=groups, seed=5)
    same(fits["line"].kfold(4, groups=groups, seed=5, client=client), here)
    both = {"method": "kfold", "folds": 2, "repeats": 2, "utility": ["elpd", "rmse"]}
    same(pt.compare(fits, client=client, **both), pt.compare(fits, **both))
    assert not list(tmp_path.iterdir())


def test_a_worker_that_is_killed_loses_nothing_and_counts_nothing_twice(fits, client, tmp_path):
    done = []

    def kill():
        """Kills a worker as soon as there is a result."""
        results = tmp_path / "plan" / "results"
        until = time.monotonic() + 60
        while time.monotonic() < until and not (results.is_dir() and list(results.glob("*.unit"))):
            time.sleep(0.01)
        pid = next(iter(client.run(os.getpid).values()))
        os.kill(pid, signal.SIGKILL)
        done.append(pid)

    killer = threading.Thread(target=kill)
    killer.start()
    asked = {"folds": 6, "repeats": 2}
    found = fits["net"].kfold(**asked, client=client, plan=tmp_path / "plan")
    killer.join()
    assert done
    same(found, fits["net"].kfold(**asked))
    assert len(list((tmp_path / "plan" / "results").glob("*.unit"))) == 12
    # The plan has them all: no worker is asked.
    same(fits["net"].kfold(**asked, client="nobody", plan=tmp_path / "plan"), found)
    with pytest.raises(pt.SpecificationError, match="of other work"):
        fits["net"].kfold(5, client="nobody", plan=tmp_path / "plan")


def damage():
    """From now on the second unit fails on this worker."""
    from posteria import _units

    def broken(packed, digest, unit):
        if unit == 2:
            raise OSError("the disk of this machine is full")
        return _units.own(packed, digest, unit)

    _units.own, _units.do = _units.do, broken


def mend():
    from posteria import _units

    _units.do = _units.own


def test_a_unit_that_always_fails_is_named_and_the_others_are_kept(fits, client, tmp_path):
    plan = tmp_path / "plan"
    client.run(damage)
    try:
        with pytest.raises(pt.UnitsError, match="fold 2 of 4.*the disk of this machine") as failed:
            fits["line"].kfold(4, client=client, plan=plan)
    finally:
        client.run(mend)
    assert [what.split(" of ")[0] for what in failed.value.failed] == ["fold 2"]
    assert failed.value.plan == plan
    kept = sorted(it.name for it in (plan / "results").glob("*.unit"))
    assert kept == [f"00000{number}.unit" for number in (1, 3, 4)]
    same(fits["line"].kfold(4, client=client, plan=plan), fits["line"].kfold(4))


def test_results_of_other_work_are_refused(fits, tmp_path):
    asked = '{"method": "kfold", "folds": 4}'
    for name, fitted in fits.items():
        _units._posteria.plan_folds([("m", fitted._native)], asked, tmp_path / name, (1, None))
    result = _units._posteria.run_unit(tmp_path / "line", 1)
    _units._posteria.add_result(tmp_path / "line", 1, result)
    with pytest.raises(pt.PosteriaError, match="a result of another specification"):
        _units._posteria.add_result(tmp_path / "net", 1, result)
    with pytest.raises(pt.PosteriaError, match="a result of another unit"):
        _units._posteria.add_result(tmp_path / "line", 2, result)
    with pytest.raises(pt.PosteriaError, match="checksum"):
        _units._posteria.add_result(tmp_path / "line", 1, result[:-9] + b"x" + result[-8:])
    with pytest.raises(pt.SpecificationError, match="give client"):
        fits["line"].kfold(4, plan=tmp_path / "line")
    with pytest.raises(pt.SpecificationError, match="only folds"):
        pt.compare(fits, client="nobody")
