"""Fits as run folders: in pickles, and for the page that the command writes."""

import io
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from . import _posteria


def archive(native):
    """All files of the run folder of a fit, in one piece."""
    buffer = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        native.save(run, False)
        with zipfile.ZipFile(buffer, "w") as files:
            for file in sorted(run.rglob("*")):
                if file.is_file():
                    files.write(file, file.relative_to(run))
    return buffer.getvalue()


def extract(archived, folder):
    """Write the files of an archive into ``folder``."""
    with zipfile.ZipFile(io.BytesIO(archived)) as files:
        files.extractall(folder)


def restored(archived, threads, progress):
    """The fit of a pickle."""
    from ._fit import Fit

    with tempfile.TemporaryDirectory() as folder:
        extract(archived, folder)
        fitted = Fit(_posteria.Fit.load(Path(folder)), threads=threads, progress=progress)
    fitted._archive = archived
    return fitted


def report(fitted, path):
    """Write the page about a fit."""
    with tempfile.TemporaryDirectory() as folder:
        run = fitted._path
        if run is None or not run.exists():
            # The page calls a run by the name of its folder.
            run = Path(folder) / title(fitted.facts)
            extract(fitted._archived(), run)
        run = run.absolute()
        command("report", run.name, "--out", os.fspath(path), "--quiet", cwd=run.parent)


def page(fitted):
    """The page about a fit; empty if it cannot be made."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.html"
        try:
            report(fitted, path)
        except (_posteria.PosteriaError, OSError):
            return ""
        return path.read_text(encoding="utf-8")


def title(facts):
    """What the page calls a fit that has no folder of its own."""
    of = "-".join(facts.targets)
    name = f"{facts.kind}-of-{of}" if of else facts.kind
    return "".join(letter if letter.isalnum() or letter in "-_." else "_" for letter in name)


def command(*arguments, cwd):
    command = [sys.executable, "-m", "posteria", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)
    if done.returncode != 0:
        told = done.stderr.strip().removeprefix("error: ")
        raise _posteria.PosteriaError(told or f"exit code {done.returncode}")
    return done.stdout
