"""Long work: seen, stopped, shared by threads."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import posteria as pt

MODEL = pt.MLP(hidden=4)


@pytest.fixture
def interruptible():
    """Ctrl-C is heard as at a terminal, also where tests run in the background, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt_after(seconds):
    """Ctrl-C after so many seconds of work, of all threads together, however busy the machine is."""

    def wait():
        end = time.process_time() + seconds
        while time.process_time() < end:
            time.sleep(0.02)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=wait).start()


@pytest.mark.filterwarnings("ignore::posteria.PosteriaWarning")
@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_ctrl_c_keeps_what_was_drawn(waves, interruptible):
    few = {"chains": 3, "warmup": 20, "progress": False}
    interrupt_after(1.0)
    cut = pt.fit(waves, "y", MODEL, draws=1_000_000, **few)
    assert cut.facts.stopped == "interrupted" and cut.facts.draws > 0
    # Some chains were further than others: to the furthest, and a little more.
    cut.resume(draws=cut.facts.draws + 100)
    whole = pt.fit(waves, "y", MODEL, draws=cut.facts.draws, **few)
    np.testing.assert_array_equal(cut._native.values(), whole._native.values())


@pytest.mark.skipif(os.name != "posix", reason="signals of Unix")
def test_ctrl_c_while_chains_warm_up_loses_nothing(waves, interruptible):
    few = {"chains": 2, "warmup": 800, "draws": 10, "progress": False}
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.warns(pt.ConvergenceWarning, match="resume"):
        cut = pt.fit(waves, "y", pt.MLP(hidden=10), **few)
    assert cut.facts.draws == 0
    with pytest.raises(pt.SamplingError, match="resume"):
        cut.predict(waves)
    cut.resume()
    whole = pt.fit(waves, "y", pt.MLP(hidden=10), **few)
    np.testing.assert_array_equal(cut._native.values(), whole._native.values())


def test_other_threads_go_on_meanwhile(waves):
    """The interpreter's lock is not held: a thread counts while a fit runs."""
    counted = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.01)

    thread = threading.Thread(target=count)
    thread.start()
    pt.fit(waves, "y", pt.GP(), chains=2, warmup=100, draws=100, progress=False)
    stop.set()
    thread.join()
    assert len(counted) > 10


@pytest.mark.filterwarnings("ignore::posteria.PosteriaWarning")
def test_a_fit_can_be_asked_from_several_threads(line, waves):
    found = []
    threads = [
        threading.Thread(target=lambda: found.append(line.predict(waves)["mean"].to_numpy()))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)


def test_a_bar_is_shown_where_it_is_asked_for(waves, capfd, monkeypatch):
    monkeypatch.setattr("posteria._progress.PATIENCE", 0.0)
    few = {"chains": 2, "warmup": 40, "draws": 40}
    pt.fit(waves, "y", pt.GP(), progress=True, **few)
    assert "sampling" in capfd.readouterr().err
    pt.fit(waves, "y", pt.GP(), progress=False, **few)
    assert capfd.readouterr().err == ""


def test_threads_change_nothing(waves):
    few = {"chains": 3, "draws": 30, "warmup": 30, "progress": False}
    one, four = (
        pickle.loads(pickle.dumps(pt.fit(waves, "y", pt.Linear(residual="laplace"), threads=n, **few)))
        for n in (1, 4)
    )
    np.testing.assert_array_equal(one._native.values(), four._native.values())


def test_importing_needs_neither_frames_nor_pictures():
    code = (
        "import sys, posteria; "
        "sys.exit(any(name in sys.modules for name in ('pandas', 'arviz', 'sklearn', 'matplotlib', 'tqdm')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_command_comes_along(command):
    assert command("--version").split()[1] == pt.__version__
    assert "usage" in command("--help").lower()
