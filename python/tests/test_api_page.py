"""The page of all names is made of their docstrings: ``python python/tests/test_api_page.py`` writes it."""

import inspect
import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/guide/python-api.md"
HEAD = """# Everything in the Python package

Made from the docstrings, which `help` shows too; [Using posteria from Python](python.md) has examples. `import posteria as pt`.
"""
#: Sections, and what is in them.
SECTIONS = {
    "Fitting": ["fit", "Fit", "load", "prior_draws"],
    "Models and priors": ["Model", "Linear", "MLP", "GP", "Mixture", "PCA", "Prior"],
    "Comparing and choosing": ["compare", "evidence", "select", "run_units"],
    "Densities and log likelihoods of your own": ["sample", "Chains", "psis_loo"],
    "Results, warnings, errors": [
        "Result",
        "PosteriaWarning",
        "ConvergenceWarning",
        "PosteriaError",
        "DataError",
        "SpecificationError",
        "SamplingError",
        "UnitsError",
        "InternalError",
    ],
}


def page():
    import posteria as pt
    import posteria.sklearn as learn

    parts = [HEAD]
    for title, names in SECTIONS.items():
        parts.append(f"## {title}\n")
        parts += [part for name in names for part in described(f"pt.{name}", getattr(pt, name))]
    parts.append("## Estimators for scikit-learn\n\nIn `posteria.sklearn`.\n")
    estimators = [it for it in vars(learn).values() if inspect.isclass(it) and public(it, learn)]
    parts += [part for it in estimators for part in described(it.__name__, it)]
    return "\n".join(parts)


def public(thing, module):
    return thing.__module__ == module.__name__ and not thing.__name__.startswith("_")


def described(name, thing):
    """A heading with the signature, the docstring, and the methods of a class."""
    yield f"### `{name}`\n"
    if inspect.isclass(thing):
        yield text(thing)
        one = name.removeprefix("pt.").lower() if name.startswith("pt.") else "model"
        if not issubclass(thing, (dict, Exception)):
            for method, found in methods(thing):
                yield from entry(f"{one}.{method}", found)
    else:
        yield from entry(name, thing, alone=True)


def methods(owner):
    """Public methods in the order in which they are written, after those of bases that have no entry of
    their own."""
    seen = {}
    for kind in reversed(owner.__mro__):
        is_listed = kind is not owner and not kind.__name__.startswith("_") and kind.__name__ != "Drawn"
        if kind.__module__.startswith("posteria") and not is_listed:
            seen.update((name, it) for name, it in vars(kind).items() if not name.startswith("_"))
    for name, found in seen.items():
        if isinstance(found, property) or inspect.isfunction(found):
            yield name, found


def entry(name, thing, *, alone=False):
    if isinstance(thing, property):
        yield f"**`{name}`**\n"
    else:
        parameters = [it for it in inspect.signature(thing).parameters.values() if it.name != "self"]
        signature = str(inspect.Signature(parameters))
        yield f"`{name}{signature}`\n" if alone else f"**`{name}{signature}`**\n"
    yield text(thing)


def text(thing):
    """A docstring in Markdown."""
    words = inspect.cleandoc(thing.__doc__ or "")
    words = re.sub(r":\w+:`~?\.?([^`]+)`", r"`\1`", words)
    words = words.replace("``", "`")
    # Sections as NumPy has them: a title that is underlined, and entries with a type.
    words = re.sub(r"(?m)\n*^(\w+)\n-+$\n", r"\n\n**\1**\n\n", words)
    words = re.sub(r"(?m)^([\w, ]+) : (.+)\n    ", r"- `\1` (\2): ", words)
    return words + "\n"


def test_the_page_is_up_to_date():
    import posteria as pt

    listed = {name for names in SECTIONS.values() for name in names}
    assert listed == set(pt.__all__) - {"__version__"}
    assert PAGE.read_text(encoding="utf-8") == page(), "run python python/tests/test_api_page.py"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
