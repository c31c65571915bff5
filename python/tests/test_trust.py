"""What comes from disk is data: nothing of the package unpickles a file, or runs what is in it."""

import ast
import hashlib
import json
import pickle
from pathlib import Path

import pytest

import posteria as pt
from posteria import _posteria, _units
from posteria._options import by_kfold

#: Modules that run what they read.
EXECUTING = {"pickle", "_pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve", "jsonpickle"}
#: Functions of others that do, by whatever name their module has.
UNPICKLING = {"read_pickle", "unpickle", "eval", "exec"}
#: Modules whose ``load`` unpickles unless it is told not to.
LOADING = {"np", "numpy", "torch"}


def offences(source):
    """What a source does that may run what is in a file."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [name.name for name in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        else:
            names = []
        found += [f"imports {name}" for name in names if name.split(".")[0] in EXECUTING]
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        first, last = called.split(".")[0], called.split(".")[-1]
        allowed = [it.value for it in node.keywords if it.arg == "allow_pickle"]
        refuses = [isinstance(it, ast.Constant) and it.value is False for it in allowed]
        if last in UNPICKLING or first == "__import__":
            found.append(f"calls {called}")
        if not all(refuses) or (last == "load" and first in LOADING and not refuses):
            found.append(f"calls {called}, which unpickles")
    return found


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "def late():\n    from joblib import load",
        "import numpy as np\nnp.load(file)",
        "np.load(file, allow_pickle=True)",
        "np.lib.format.read_array(file, allow_pickle=asked)",
        "pandas.read_pickle(file)",
        "eval(text)",
        "__import__('pickle')",
    ],
)
def test_what_may_run_a_file_is_found(source):
    assert offences(source)
    assert not offences("import json\nnp.load(file, allow_pickle=False)\njson.load(file)")


def test_no_source_of_the_package_unpickles():
    sources = sorted(Path(pt.__file__).parent.rglob("*.py"))
    assert len(sources) > 15
    assert {it.name: found for it in sources if (found := offences(it.read_text("utf-8")))} == {}
    # The compiled part could only do it by way of Python.
    compiled = sorted((Path(__file__).parents[2] / "crates/posteria-python/src").rglob("*.rs"))
    assert len(compiled) > 10
    for file in compiled:
        assert not any(f'"{name}"' in file.read_text("utf-8") for name in EXECUTING), file


class Planted:
    """Leaves a file when it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_pickles_in_folders_are_not_run(waves, tmp_path):
    fitted = pt.fit(waves, "y", chains=2, warmup=20, draws=10, progress=False)
    trace = tmp_path / "trace"
    planted = pickle.dumps(Planted(trace))
    run, plan = tmp_path / "run", tmp_path / "plan"
    asked = json.dumps(by_kfold(2, 1, None, None))
    _units.folds_of([("it", fitted._native)], asked, [])(plan)
    fitted.save(run)
    # Beside what belongs there they do no harm …
    for folder in (run, run / "draws.zarr", plan, plan / "runs/1", plan / "results"):
        (folder / "planted.pkl").write_bytes(planted)
    assert pt.load(run).facts.draws == fitted.facts.draws
    packed = _units._packed(plan)
    result = _units.do(packed, hashlib.sha256(packed).hexdigest(), 1)
    _posteria.add_result(plan, 1, result)
    # … and in the place of it they are refused.
    with pytest.raises(pt.PosteriaError):
        _posteria.add_result(plan, 2, planted)
    for file in ("plan.json", "units.jsonl"):
        whole = (plan / file).read_bytes()
        (plan / file).write_bytes(planted)
        with pytest.raises(pt.PosteriaError):
            _posteria.plan_units(plan)
        (plan / file).write_bytes(whole)
    for file in ("checkpoint", "spec.toml"):
        whole = (run / file).read_bytes()
        (run / file).write_bytes(planted)
        with pytest.raises(pt.PosteriaError):
            pt.load(run)
        (run / file).write_bytes(whole)
    assert not trace.exists()
    # Had one of them been run, it would be known.
    pickle.loads(planted)
    assert trace.exists()
