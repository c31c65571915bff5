"""Every notebook runs from top to bottom, in an empty folder.

All in this process, where what they import is imported once, and one in a kernel of its own, as people run
them.
"""

import ast
import json
import sys
import warnings
from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
for needed in ("arviz", "matplotlib", "pandas", "sklearn"):
    pytest.importorskip(needed)

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 10


def show(value):
    """What a kernel does with the value of the last line of a cell."""
    assert repr(value)
    if hasattr(value, "_repr_html_"):
        value._repr_html_()


def run_cell(source, place, names):
    """Runs the lines of a cell and shows the value of the last one, unless a semicolon hides it."""
    body = ast.parse(source, place).body
    last = body.pop() if isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, type_ignores=[]), place, "exec"), names)
    if last is not None:
        value = eval(compile(ast.Expression(last.value), place, "eval"), names)
        if value is not None and not source.rstrip().endswith(";"):
            show(value)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path, tmp_path, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "__main__"}
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for number, cell in enumerate(cells, 1):
            run_cell(cell.source, f"{path.name}, cell {number}", names)
    pyplot.close("all")


@pytest.fixture
def kernels(tmp_path):
    """The kernel python3, of the interpreter that runs the tests and not of another one that was installed."""
    from jupyter_client.kernelspec import KernelSpecManager

    folder = tmp_path / "kernels"
    command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    spec = {"argv": command, "display_name": "Python 3", "language": "python"}
    (folder / "python3").mkdir(parents=True)
    (folder / "python3" / "kernel.json").write_text(json.dumps(spec))
    return KernelSpecManager(kernel_dirs=[str(folder)], ensure_native_kernel=False)


def test_a_kernel_shows_a_fit(kernels, tmp_path):
    """The notebook whose cells show a fit itself, frames and a figure."""
    from jupyter_client.manager import AsyncKernelManager

    notebook = nbformat.read(FOLDER / "first-fit.ipynb", as_version=4)
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        resources={"metadata": {"path": str(tmp_path)}},
        km=AsyncKernelManager(kernel_name="python3", kernel_spec_manager=kernels),
    )
    client.execute()
    outputs = [it for cell in notebook.cells if cell.cell_type == "code" for it in cell.outputs]
    shown = [it["data"] for it in outputs if "data" in it]
    assert any("<iframe" in it.get("text/html", "") for it in shown), "the report of the fit"
    assert any("image/png" in it for it in shown), "the figure"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_has_no_outputs(path):
    """Outputs change with every version and hide in differences; whoever wants them runs it."""
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert cells
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)
