"""Results with the field names of the command line's JSON."""

import json


class Result(dict):
    """Named results, also as attributes: ``loo.elpd_loo`` is ``loo["elpd_loo"]``."""

    @classmethod
    def of_json(cls, text):
        """From JSON, with objects inside as results too."""
        return cls(json.loads(text, object_hook=Result))

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
        if hasattr(value, "to_string"):
            yield f"{indent}{key}:"
            yield value.to_string(max_rows=10, max_cols=8)
        elif isinstance(value, dict) and value:
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


class Assessment(Result):
    """How good predictions of new rows will be."""

    def __repr__(self) -> str:
        p = self.get("p_loo", self.get("p_kfold"))
        name = f"elpd_{self.method}"
        effective = "" if p is None else f", {p:.1f} effective parameters"
        lines = [
            f"{_by(self)}, {self.rows} rows",
            f"{name} {self[name]:.1f} ± {self.se:.1f} over all rows{effective}",
            *_table(["per row", "mean", "sd", "q05", "q95"], self.utilities, "name"),
        ]
        if "pareto_k" in self:
            k = self.pareto_k
            largest = "infinite" if k.max is None else _short(k.max)
            lines.append(f"Pareto k: {k.good} good, {k.ok} ok, {k.bad} bad, largest {largest}")
        for key, how in (("matched", "moment-matched draws"), ("refitted", "fits of their own")):
            if self[key]:
                count = len(self[key])
                lines.append(f"{count} row{'s' if count > 1 else ''} left out by {how}")
        return "\n".join(lines)


def _by(found):
    """How rows were predicted, in words."""
    if found.method == "kfold":
        return f"{found.folds} folds" if "folds" in found else "folds"
    return {"holdout": "predictions of new rows"}.get(found.method, "leave-one-out")


class Comparison(Result):
    """Which model predicts better, and how sure that is."""

    def __repr__(self) -> str:
        lines = [f"models by {_by(self)}, the best first"]
        lines += _table(["", "elpd", "se", "elpd_diff", "dse", "weight"], self.table, "model")
        for utility in self.utilities:
            lines.append(f"P(row better than column) by {utility.name}")
            header = ["", *self.models]
            rows = [
                {"": name, **dict(zip(self.models, row))}
                for name, row in zip(self.models, utility.p_better)
            ]
            lines += _table(header, rows, "")
        return "\n".join(lines)


class PredictiveCheck(Result):
    """Statistics of the data beside those of replicated data."""

    def __repr__(self) -> str:
        rows = [
            {
                "statistic": it.statistic,
                "data": it.observed,
                "posterior_p": it.posterior.p,
                "loo_p": it.loo.p,
            }
            for it in self.statistics
        ]
        return "\n".join(_table(["statistic", "data", "posterior_p", "loo_p"], rows, "statistic"))


class Evidence(Result):
    """The log evidence of a model."""

    def __repr__(self) -> str:
        lines = [f"log evidence of {self.rows} rows"]
        lines += _table(["", "log_evidence", "mcse", "usable"], self.methods, "method")
        return "\n".join(lines)


class EvidenceComparison(Result):
    """How probable models are given the data."""

    def __repr__(self) -> str:
        lines = ["probabilities of the models given the data"]
        header = ["", "method", "log_evidence", "mcse", "probability", "sd", "usable"]
        lines += _table(header, self.models, "run")
        return "\n".join(lines)


class Selection(Result):
    """Which inputs matter."""

    def __repr__(self) -> str:
        lines = _table(["input", "probability", "sd", "prior"], self.inputs, "name")
        chosen = ", ".join(self.chosen) or "none"
        return "\n".join([*lines, f"chosen: {chosen} ({self.chosen_by})"])


def _table(header, rows, label):
    """Lines of a table, numbers to the right."""
    cells = [[str(row[label]), *(_cell(row[key]) for key in header[1:])] for row in rows]
    widths = [max(len(line[i]) for line in [header, *cells]) for i in range(len(header))]
    for line in [header, *cells]:
        first, *others = (
            text.ljust(width) if place == 0 else text.rjust(width)
            for place, (text, width) in enumerate(zip(line, widths))
        )
        yield "  ".join([first, *others]).rstrip()


def _cell(value):
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def frame(columns, index=None):
    """Columns as a pandas frame, or as a dictionary of arrays where there is no pandas."""
    try:
        import pandas as pd
    except ImportError:
        return Result(columns)
    return pd.DataFrame(columns, index=index)
