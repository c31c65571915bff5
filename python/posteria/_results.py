"""Results with the field names of the command line's JSON."""

import json


class Result(dict):
    """Named results, also as attributes: ``loo.elpd_loo`` is ``loo["elpd_loo"]``."""

    @classmethod
    def of_json(cls, text):
        """From JSON, with objects inside as results too."""
        return json.loads(text, object_hook=cls)

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            known = ", ".join(self)
            raise AttributeError(f"there is no {name}; there are {known}") from None

    def __dir__(self):
        return [*super().__dir__(), *(key for key in self if key.isidentifier())]

    def __repr__(self) -> str:
        return "\n".join(_lines(self)) or "(nothing)"


def _lines(result, indent=""):
    width = max((len(str(key)) for key in result), default=0)
    for key, value in result.items():
        if isinstance(value, dict) and value:
            yield f"{indent}{key}:"
            yield from _lines(value, indent + "  ")
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            yield f"{indent}{key}:"
            for entry in value:
                yield indent + "  " + ", ".join(f"{k} {_short(v)}" for k, v in entry.items())
        else:
            yield f"{indent}{str(key).ljust(width)}  {_short(value)}"


def _short(value):
    if isinstance(value, float):
        return f"{value:.5g}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_short(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        shown = ", ".join(_short(item) for item in value[:8])
        return f"[{shown}{', …' if len(value) > 8 else ''}]"
    text = str(value)
    return text if len(text) <= 100 else text[:97] + "…"


def frame(columns, index=None):
    """Columns as a pandas frame, or as a dictionary of arrays where there is no pandas."""
    try:
        import pandas as pd
    except ImportError:
        return Result(columns)
    return pd.DataFrame(columns, index=index)
