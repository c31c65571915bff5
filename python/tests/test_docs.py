"""Every block of Python in the documentation runs as it is written."""

import re
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MACHINES = "docs/guide/machines.md"
PAGES = ["docs/guide/python.md", MACHINES, "python/README.md", "README.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)

for needed in ("arviz", "distributed", "pandas", "sklearn"):
    pytest.importorskip(needed)


@pytest.mark.parametrize("page", PAGES)
def test_the_blocks_of_a_page_run(page, waves, tmp_path, monkeypatch):
    """In order, in one namespace, in an empty folder; lines of errors are those of the page."""
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    assert len(blocks) == text.count("```python"), "a block does not end"
    assert blocks
    monkeypatch.chdir(tmp_path)
    if page in (MACHINES, "README.md"):
        # The table that its commands have made before.
        waves.to_csv("waves.csv", index=False)
    names = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for block in blocks:
            above = "\n" * text.count("\n", 0, block.start(1))
            exec(compile(above + block[1], page, "exec"), names)
