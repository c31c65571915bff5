"""Units that a real scheduler has done by processes of its own: the numbers of one machine."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
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
    """A scheduler and four workers, each a process, on the loopback address."""
    alone = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(
        n_workers=4, host="127.0.0.1", silence_logs="CRITICAL", **alone
    ) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster, set_as_default=False) as client:
        client.wait_for_workers(4, timeout=60)
        yield client


@pytest.fixture(scope="module")
def fits(waves):
    return {
        "line": pt.fit(waves, "y", pt.Linear(residual="student-t"), **FEW),
        "net": pt.fit(waves, "y", pt.MLP(hidden=2), **FEW | {"chains": 1}),
    }


@pytest.fixture(scope="module")
def tiny():
    """Models of few rows, whose ladders are short."""
    rows = {"x": np.arange(8.0), "y": np.arange(8.0) % 3}
    return {
        "known": pt.fit(rows, "y", pt.Linear(), **FEW),
        "robust": pt.fit(rows, "y", pt.Linear(residual="student-t"), **FEW),
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


def test_chains_of_folds_are_units_if_asked_for(waves, fits, client, tmp_path):
    plan, line = tmp_path / "plan", fits["line"]
    chains = line.kfold(3, client=client, unit="chain", plan=plan)
    same(chains, line.kfold(3))
    units = [json.loads(unit)["what"] for unit in (plan / "units.jsonl").read_text().splitlines()]
    assert len(units) == 6 and units[5].startswith("chain 2 of 2 of fold 3 of 3"), units
    # A fit of one chain has none to divide.
    both = {"method": "kfold", "folds": 2}
    same(pt.compare(fits, client=client, unit="chain", **both), pt.compare(fits, **both))
    # Models that are fitted first, too.
    models = {"line": pt.Linear(residual="student-t"), "net": pt.MLP(hidden=2)}
    how = {"data": waves, "target": "y", **both, **FEW}
    same(pt.compare(models, client=client, unit="chain", **how), pt.compare(models, **how))
    with pytest.raises(pt.SpecificationError, match="plan of other work"):
        line.kfold(3, client=client, plan=plan)
    with pytest.raises(pt.SpecificationError, match="'fold' or 'chain'"):
        line.kfold(3, client=client, unit="row")
    with pytest.raises(pt.SpecificationError, match="give client"):
        line.kfold(3, unit="chain")
    with pytest.raises(pt.SpecificationError, match="has no folds"):
        pt.compare(fits, client=client, unit="chain")


def first_result(plan):
    """Waits until a plan has a result."""
    results = plan / "results"
    until = time.monotonic() + 60
    while time.monotonic() < until and not (results.is_dir() and list(results.glob("*.unit"))):
        time.sleep(0.01)


@contextlib.contextmanager
def worker_killed(client, plan):
    """A worker is killed as soon as there is a result."""
    killed = []

    def kill():
        first_result(plan)
        killed.append(next(iter(client.run(os.getpid).values())))
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    yield
    killer.join()
    assert killed


def test_a_worker_that_is_killed_loses_nothing_and_counts_nothing_twice(fits, client, tmp_path):
    asked = {"folds": 6, "repeats": 2}
    with worker_killed(client, tmp_path / "plan"):
        found = fits["net"].kfold(**asked, client=client, plan=tmp_path / "plan")
    same(found, fits["net"].kfold(**asked))
    assert len(list((tmp_path / "plan" / "results").glob("*.unit"))) == 12
    # The plan has them all: no worker is asked.
    same(fits["net"].kfold(**asked, client="nobody", plan=tmp_path / "plan"), found)
    with pytest.raises(pt.SpecificationError, match="of other work"):
        fits["net"].kfold(5, client="nobody", plan=tmp_path / "plan")


def test_a_comparison_has_the_same_bytes_however_it_is_divided(waves, client, command, tmp_path):
    waves.to_csv(tmp_path / "waves.csv", index=False)
    few = "--chains 1 --warmup 20 --draws 10 -q".split()
    for model in ("linear", "mlp --hidden 2", "gp --relevance common"):
        out = tmp_path / "runs" / model[:2]
        command("fit", tmp_path / "waves.csv", "--target", "y", "--model", *model.split(), *few, "--out", out)
    told = []
    for way in ("alone", "xargs", "dask"):
        here = tmp_path / way
        shutil.copytree(tmp_path / "runs", here)
        asked = ["compare", "li", "ml", "gp", "--method", "kfold", "--folds", 10]
        if way != "alone":
            command("plan", *asked, "-o", "plan", "-q", cwd=here)
            asked = ["collect", "plan"]
        if way == "xargs":
            line = f"xargs -n 8 -P 2 {sys.executable} -m posteria run-unit plan -q < plan/order.txt"
            subprocess.run(line, shell=True, check=True, cwd=here)
        if way == "dask":
            with worker_killed(client, here / "plan"):
                pt.run_units(here / "plan", client, progress=False)
        told.append(command(*asked, "--json", "-q", cwd=here))
    assert told[0] == told[1] == told[2]
    assert len(list((tmp_path / "dask" / "plan" / "results").glob("*.unit"))) == 30


def test_models_are_fitted_and_compared_here_and_by_workers(waves, fits, client, tmp_path):
    models = {"line": pt.Linear(residual="student-t"), "known": fits["line"], "net": pt.MLP(hidden=2)}
    how = {"data": waves, "target": "y", "method": "kfold", "folds": 2, "seed": 3, **FEW}
    made = {name: it for name, it in models.items() if name == "known"}
    for name in ("line", "net"):
        made[name] = pt.fit(waves, "y", models[name], seed=3, **FEW)
    here = pt.compare({name: made[name] for name in models}, method="kfold", folds=2, seed=3)
    for away in ({}, {"client": client}, {"client": client, "plan": tmp_path / "p"}):
        found = pt.compare(models, **how, **away)
        same(found, here)
        np.testing.assert_array_equal(found.fits["net"]._native.values(), made["net"]._native.values())
    # Two chains of each model, then two folds of all three; the same call goes on with what is there.
    assert len(list((tmp_path / "p" / "results").iterdir())) == 2 * 2 + 2 * 3
    (tmp_path / "p" / "results" / "000009.unit").unlink()
    same(pt.compare(models, **how, client=client, plan=tmp_path / "p"), here)
    # Folds alone are not fitted elsewhere, chains are.
    loo = {"data": waves, "target": "y", **FEW}
    names = ["linear", pt.Linear(residual="laplace")]
    same(pt.compare(names, **loo, client=client), pt.compare(names, **loo))


def test_models_need_data_and_fits_do_not(waves, fits):
    for models, how, words in [
        ([pt.Linear(), pt.MLP()], {}, "model 1 is a model, not a fit: give data=… and target=…"),
        (fits, {"data": waves}, "data: for models that are not fitted yet"),
        (fits, {"warmup": 3}, "warmup: for models that are not fitted yet"),
        (["linear", "none"], {"data": waves, "target": "y"}, "there is no model 'none'"),
        (["linear", "mlp"], {"data": waves, "target": "y", "hidden": 3}, "fit has no option 'hidden'"),
    ]:
        with pytest.raises(pt.SpecificationError, match=words):
            pt.compare(models, **how)
    for model, words in [(pt.MLP(), "warmup=… and draws=…"), (pt.Linear(inference="laplace"), "it has none")]:
        with pytest.raises(pt.SpecificationError, match=words):
            pt.compare([model, fits["line"]], data=waves, target="y", client="nobody")


def test_a_choice_of_inputs_goes_from_stage_to_stage(waves, client, command, tmp_path):
    waves.to_csv(tmp_path / "waves.csv", index=False)
    search = ["select", "waves.csv", "--target", "y", "--chains", 2, "--warmup", 30, "--draws", 60]
    search += ["--fold-draws", 20, "--seed", 2]
    command("plan", *search, "--run", "there", "-o", "plan", "-q", cwd=tmp_path)
    for _ in range(4):
        pt.run_units(tmp_path / "plan", client, progress=False)
        found = json.loads(command("collect", "plan", "--json", "-q", cwd=tmp_path))
        if "stage" not in found:
            break
    alone = command(*search, "--out", "here", "--json", "-q", cwd=tmp_path)
    alone = json.loads(alone)
    assert (found.pop("run"), alone.pop("run")) == ("there", "here")
    for it in (found, alone):
        # They name the run, and how long it took.
        del it["warnings"]
    assert found == alone


def test_ladders_by_workers_are_those_of_one_machine(client, tmp_path, tiny):
    here = tiny["known"].evidence(["path", "bridge"])
    plan = tmp_path / "plan"
    same(tiny["known"].evidence(["path", "bridge"], client=client, plan=plan), here)
    assert len(list((plan / "results").glob("*.unit"))) == 9, "temperatures, then ladders"
    # Both stages are there: no worker is asked.
    same(tiny["known"].evidence(["path", "bridge"], client="nobody", plan=plan), here)
    with pytest.raises(pt.SpecificationError, match="of other work"):
        tiny["known"].evidence("path", client="nobody", plan=plan)
    both = pt.evidence(tiny, client=client)
    same(both, pt.evidence(tiny))
    with pytest.raises(pt.SpecificationError, match="none of these methods runs ladders"):
        tiny["known"].evidence("exact", client="nobody")


def test_a_selection_by_workers_is_that_of_one_machine(waves, client, tmp_path):
    few = {"chains": 2, "warmup": 40, "draws": 60, "seed": 2, "progress": False}
    robust = pt.Linear(residual="student-t")
    for folds, model, stages in ((None, robust, 2), (3, "linear", 3)):
        plan = tmp_path / f"plan-{folds}"
        asked = {"model": model, "folds": folds, **few}
        here = pt.select(waves, "y", **asked)
        with worker_killed(client, plan):
            found = pt.select(waves, "y", client=client, plan=plan, **asked)
        assert found == here
        assert json.loads((plan / "plan.json").read_text())["stages"] >= stages
        # All fits are there: no worker is asked.
        assert pt.select(waves, "y", client="nobody", plan=plan, **asked) == here
        assert not list((plan / "work").iterdir()), "nothing is left behind"
    with pytest.raises(pt.SpecificationError, match="of other work"):
        pt.select(waves, "y", client="nobody", plan=plan, **asked | {"seed": 3})
    with pytest.raises(pt.PosteriaError, match="wait for each other: say how long .* with warmup and"):
        pt.select(waves, "y", client="nobody", chains=2, progress=False)
    with pytest.raises(pt.SpecificationError, match="give client"):
        pt.select(waves, "y", plan=plan, **asked)


CLUSTER = """
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    with LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None,
                      host="127.0.0.1", scheduler_port=int(sys.argv[1]), silence_logs=50):
        print("ready", flush=True)
        time.sleep(120)
"""


def test_a_scheduler_that_is_restarted_is_waited_for(fits, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "cluster.py").write_text(CLUSTER)

    def start():
        line = [sys.executable, tmp_path / "cluster.py", str(port)]
        # A group of its own, so that all of it can be killed.
        cluster = subprocess.Popen(line, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert cluster.stdout.readline() == "ready\n"
        return cluster

    plan = tmp_path / "plan"
    clusters = [start()]

    def restart():
        first_result(plan)
        os.killpg(clusters[0].pid, signal.SIGKILL)
        clusters.append(start())

    restarter = threading.Thread(target=restart)
    try:
        with distributed.Client(f"tcp://127.0.0.1:{port}", set_as_default=False) as client:
            restarter.start()
            found = fits["net"].kfold(8, client=client, plan=plan)
            restarter.join()
    finally:
        for cluster in clusters:
            os.killpg(cluster.pid, signal.SIGKILL)
            cluster.wait()
    assert len(clusters) == 2
    same(found, fits["net"].kfold(8))


def test_ctrl_c_keeps_what_is_finished(fits, client, tmp_path):
    plan = tmp_path / "plan"
    results = plan / "results"

    def interrupt():
        first_result(plan)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    asked = {"folds": 12, "repeats": 2}
    try:
        threading.Thread(target=interrupt).start()
        with pytest.warns(match="what is done is kept"), pytest.raises(KeyboardInterrupt):
            fits["net"].kfold(**asked, client=client, plan=plan)
    finally:
        signal.signal(signal.SIGINT, before)
    kept = {it.name: it.stat().st_mtime_ns for it in results.glob("*.unit")}
    assert 0 < len(kept) < 24
    found = fits["net"].kfold(**asked, client=client, plan=plan)
    after = {it.name: it.stat().st_mtime_ns for it in results.glob("*.unit")}
    assert len(after) == 24 and kept.items() <= after.items(), "nothing is done again"
    same(found, fits["net"].kfold(**asked))


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


def idle():
    """From now on units are no work for this worker."""
    from posteria import _units

    _units.own, _units.do = _units.do, lambda packed, digest, unit: b""


def test_many_units_of_no_work_cost_little(client, tmp_path, monkeypatch):
    """What sending units and taking their results costs: of the client and the scheduler, both of which
    are in this process. With as many units as ``POSTERIA_UNITS`` says."""
    count, taken = int(os.environ.get("POSTERIA_UNITS", "300")), []
    units = [{"id": it, "what": f"unit {it}", "cost": 1.0, "done": False} for it in range(1, count + 1)]
    monkeypatch.setattr(_units._posteria, "plan_units", lambda folder: json.dumps(units))
    monkeypatch.setattr(_units._posteria, "add_result", lambda folder, unit, result: taken.append(unit))
    client.run(idle)
    before = time.process_time()
    try:
        _units._work(client, tmp_path, False)
    finally:
        client.run(mend)
    each = (time.process_time() - before) / count
    print(f"{count} units of no work: {1000 * each:.2f} ms of CPU each")
    assert sorted(taken) == list(range(1, count + 1)), "each once"
    assert each < 0.15


def test_results_of_other_work_are_refused(fits, tmp_path):
    asked = '{"method": "kfold", "folds": 4}'
    for name, fitted in fits.items():
        _units._posteria.plan_folds([("m", fitted._native)], asked, [], tmp_path / name, (1, None))
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
