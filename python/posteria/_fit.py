"""Fit a model to a table, and ask what follows."""

import json
from pathlib import Path

import numpy as np

from . import _posteria
from ._drawn import Drawn, numbers, variables_frame
from ._models import KEYS, METHOD, as_model, plain
from ._options import by_holdout, by_kfold, by_loo, checked_threads
from ._predict import effects, is_stacked, predict
from ._progress import working
from ._results import Assessment, Evidence, PredictiveCheck, Result, frame
from ._table import as_table, labels_of
from ._units import done_by, folds_of, ladders_of
from ._warnings import ConvergenceWarning, tell, warn, warn_of_draws, words

#: Keys of ``[data]`` and ``[sampling]`` that are arguments of :func:`fit`; the package computes by the CPU.
DATA = ("inputs", "exclude", "group", "exposure", "levels", "censored", "event", "standardize", "missing", "max_levels")
SAMPLING = tuple(key for key in KEYS["sampling"] if key not in (*METHOD, "settle", "only_chain", "device"))


def fit(data, target=None, model="linear", *, threads=None, progress=None, **options):
    """Fit ``model`` to the column ``target`` of ``data``; all other columns are inputs.

    ``data`` is a pandas or polars frame, an Arrow table, a dictionary of columns, an array, or the
    path of a table; ``target`` a name, several names, or the values themselves.

    Options of the data: ``inputs`` or ``exclude`` (names of columns), ``group``, ``exposure`` (of counts: a column
    that their mean is proportional to), ``censored`` or ``event`` (of durations: a column where 1 says
    that a duration is censored, or that it ended), ``levels`` (of ordered classes: all, from the
    lowest on), ``missing`` (``"error"`` or
    ``"drop"``), ``standardize``, ``max_levels``; of the sampling: ``chains``, ``draws`` (exactly so
    many of every chain), ``ess`` (effective draws of predictions that are enough), ``time`` (such as
    ``"10m"``), ``warmup``, ``thin``, ``seed``, ``log_lik_limit``. What is left out is as usual for the
    model: chains run until the predictions have converged.

    Ctrl-C keeps what was drawn: the fit that comes back can go on with :meth:`Fit.resume`.
    """
    model = as_model(model)
    table, targets = as_table(data, target=target)
    spec = spec_of(model, targets, options)
    native = _posteria.Fit.of_table(table, json.dumps(spec), working(threads, progress))
    fitted = Fit(native, threads=threads, progress=progress)
    fitted._data = data
    fitted._tell(first=True)
    return fitted


def spec_of(model, targets, options):
    """The specification of a model, its targets and the options of a fit."""
    spec = model.spec()
    spec["data"] = {"target": targets}
    for key, value in options.items():
        if value is None:
            continue
        if key in DATA:
            spec["data"][key] = [value] if key in ("inputs", "exclude") and isinstance(value, str) else plain(value)
        elif key in SAMPLING:
            spec["sampling"][key] = plain(value)
        else:
            known = ", ".join((*DATA, *SAMPLING, "threads", "progress"))
            raise _posteria.SpecificationError(f"fit has no option {key!r}; its options are {known}")
    return spec


def load(path, *, threads=None, progress=None):
    """The fit of the run in the folder ``path``, made here or by ``posteria fit``."""
    fitted = Fit(_posteria.Fit.load(Path(path)), threads=threads, progress=progress)
    fitted._path = Path(path)
    return fitted


class Fit(Drawn):
    """A model with its data and the draws of its posterior; see :func:`fit` and :func:`load`."""

    def __init__(self, native, *, threads=None, progress=None):
        self._native = native
        self._threads = checked_threads(threads)
        self._progress = progress
        self._path = None
        self._page = None
        self._facts = None
        self._archive = None
        #: What it was fitted to, for columns that are neither inputs nor targets.
        self._data = None

    # Pickles hold the run folder.

    def __reduce__(self):
        from . import _folders

        return _folders.restored, (self._archived(), self._threads, self._progress)

    def _archived(self):
        if self._archive is None:
            from . import _folders

            self._archive = _folders.archive(self._native)
        return self._archive

    # What it is

    @property
    def facts(self):
        """Kind, task, targets, labels of classes, numbers of rows, chains and draws, …"""
        if self._facts is None:
            self._facts = Result.of_json(self._native.describe())
        return self._facts

    @property
    def spec(self) -> str:
        """The specification with every default, as TOML."""
        return self.facts.spec

    def __repr__(self) -> str:
        facts = self.facts
        of = ", ".join(facts.targets) or "the table"
        chains = f"{facts.chains} chains of {facts.draws} draws"
        return f"<posteria.Fit: {facts.kind} model of {of}, {facts.rows} rows, {chains}>"

    def _working(self):
        return working(self._threads, self._progress)

    def _tell(self, first=False):
        """Warn of what was found in the data and in the chains."""
        if first:
            warn(self.facts.warnings)
        if self.facts.stopped == "interrupted":
            drawn = f"after {self.facts.draws} draws of every chain" if self.facts.draws else "while it warmed up"
            tell(f"the work was stopped {drawn}; go on with fit.resume()", ConvergenceWarning)
        warn_of_draws(self._summary().warnings)

    # The posterior

    def diagnose(self):
        """Whether the chains can be trusted: predictions first, then every variable."""
        attained = json.loads(self._native.attained(), object_hook=Result)
        found = Result(predictions=attained)
        summary = self._summary()
        found["stopped"] = self.facts.stopped
        found["warnings"] = summary.warnings
        found["variables"] = variables_frame(summary.variables)
        return found

    def resume(self, draws=None, *, ess=None, time=None):
        """Let the chains go on, bit for bit as if they had never stopped; returns the fit itself.

        ``draws`` of every chain in all, or until ``ess`` effective draws of the predictions, or for
        ``time``; without any, to where the fit was to go.
        """
        self._native.resume(draws, ess, time, self._working())
        self._facts = self._page = self._path = self._archive = None
        self._tell()
        return self

    # Predictions

    def predict(
        self,
        new,
        quantiles=(0.05, 0.5, 0.95),
        *,
        missing="error",
        chains=None,
        at=None,
        cost=None,
        actions=None,
        rule="expected",
    ):
        """Predict every row of ``new``: a frame with mean, sd and quantiles, or classes and their
        probabilities; with the log density of the target where ``new`` has it. ``missing="drop"`` leaves
        out rows with empty cells. ``chains="stacked"`` weighs chains that do not mix by how well each
        predicts rows left out, in place of all alike.

        ``at`` is a time, or several, after which durations are asked for: ``survival[T]`` is the
        probability that a row lasts longer than T.

        ``cost`` says what actions cost, and adds the ``action`` to choose for every row and its
        ``expected_cost``: a formula over the target ``y`` and the action ``a``, one of ``actions``, such
        as ``"abs(y - a)"``; of classes also a frame with a row per action and a column per class,
        ``{action: {class: cost}}``, or the path of such a table. ``rule="minimax"`` chooses by the worst
        that may come.

        ``.figures`` of the frame tell how good predictions are where the targets are known;
        ``.samples()`` draws new targets at the same rows.
        """
        how = {"missing": missing, "chains": chains, "at": at, "cost": cost, "actions": actions}
        return predict(self, new, quantiles, rule=rule, **how)

    def effects(self):
        """What every input does to the predictions, over the rows of the fit: a frame with a line per
        input and target or class.

        ``comparison`` is the expected change of the outcome (of a class: of its probability) per unit of
        the input; ``mean_absolute_derivative`` and ``rms_derivative`` are those of the function behind
        it. Each has a standard deviation over draws, ``…_sd``.
        """
        return effects(self)

    def samples(self, new, draws=None):
        """New targets at the rows of ``new``: an array of draw, row (and target, if there are
        several); classes as their labels. Of all draws, or of so many."""
        return self._samples(self._table(new), draws)

    def _table(self, new):
        """New rows; columns of an array are the inputs in their order."""
        return as_table(new, names=self.facts.inputs)[0]

    def _samples(self, table, draws=None):
        found = self._draw("targets", table, draws)
        labels = self.facts.labels
        if labels:
            return np.asarray(labels, dtype=object)[found[..., 0].astype(int)]
        return found[..., 0] if found.shape[-1] == 1 else found

    def functions(self, new, draws=None):
        """The functions behind the targets at the rows of ``new``, without noise: an array of draw,
        row (and function); log odds for two classes."""
        found = self._draw("functions", self._table(new), draws)
        return found[..., 0] if found.shape[-1] == 1 else found

    def _draw(self, what, table, draws):
        if draws is not None and int(draws) < 1:
            raise _posteria.SpecificationError(f"draws is {draws}; ask for at least one")
        per_chain = None if draws is None else -(-int(draws) // self.facts.chains)
        found = self._native.draw(what, table, per_chain, self._working())
        if draws is None or len(found) <= int(draws):
            return found
        # Evenly, so that no chain is left out.
        return found[np.arange(int(draws)) * len(found) // int(draws)]

    # How good it is

    def loo(self, utility=None, *, matching=True, refit=None, seed=None):
        """How good predictions of new rows will be, by leaving out every row in turn: Pareto-smoothed
        importance sampling. Rows whose weights fail are repaired by ``matching`` moments, and those that
        still fail by new fits, at most ``refit`` of them; both can take longer than the fit. ``seed`` is
        that of the fit if absent."""
        return self._assess(by_loo(matching, refit, seed), utility)

    def kfold(
        self,
        folds=10,
        *,
        groups=None,
        repeats=1,
        block=None,
        utility=None,
        seed=None,
        client=None,
        plan=None,
        unit=None,
    ):
        """The same by fits without each of so many folds, corrected for having fewer rows.

        ``groups``: a column of the table, or one value per row; rows of a group are left out together.
        ``block``: folds of successive rows, so many rows on either side left out too. ``seed`` divides
        the rows; it is that of the fit if absent.

        ``client``: a ``dask.distributed.Client``, whose workers fit the folds, each on one thread; the
        numbers are the same. ``plan``: a new folder that keeps what they have found, so that the same
        call goes on from there after it was stopped, or a fold failed (:class:`UnitsError`).
        ``unit="chain"`` has every chain of a fold fitted by itself, for more workers than folds; what
        folds predict is then computed here.
        """
        method = by_kfold(folds, repeats, block, seed, (client, unit))
        if groups is not None:
            method["labels"] = self._labels(groups)
        return self._assess(method, utility, away=(client, plan))

    def assess(self, test, utility=None, *, groups=None, chains=None, seed=None):
        """How good predictions are of the rows of ``test``, which the fit has not seen and which have
        its targets; rows with empty cells are treated as those of the fit were.

        ``groups``: a column of ``test``, or one value per row; rows of a group come together.
        ``chains="stacked"`` weighs chains as in :meth:`predict`.
        """
        method = by_holdout(seed, is_stacked(chains))
        if groups is not None:
            method["labels"] = labels_of(groups, test)
        return self._assess(method, utility, self._table(test))

    def _labels(self, groups):
        """A number for every row, the same for rows of a group."""
        if isinstance(groups, str) and self._data is None:
            raise _posteria.DataError(
                f"a fit that was loaded does not have the column {groups}; give its values"
            )
        return labels_of(groups, self._data)

    def _assess(self, method, utility, test=None, away=(None, None)):
        utilities = [utility] if isinstance(utility, str) else list(utility or [])
        asked = json.dumps(method)
        natives = [("the fit", self._native)]
        with done_by(away, folds_of(natives, asked, utilities), self._progress) as plan:
            text = _posteria.assess(self._native, asked, utilities, test, plan, self._working())
        found = Assessment.of_json(text)
        rows = found.pop("pointwise")
        names = [it.name for it in found.utilities]
        columns = {name: numbers([row["values"][i] for row in rows]) for i, name in enumerate(names)}
        for key in ("pareto_k", "m_eff"):
            if rows and key in rows[0]:
                columns[key] = numbers([row[key] for row in rows])
        found["pointwise"] = frame(columns)
        warn(found.warnings)
        return found

    def check(self, *statistics):
        """Whether data that the model would make have these ``statistics`` of the data: formulas such as
        ``"max(y)"``, ``"mean(y < 0)"`` or ``"quantile(y, 0.9) - median(y)"``, the usual ones if there is
        none.

        ``p`` is the share of replicated data with a larger statistic: of ``posterior``, which has seen the
        rows, and of ``loo``, every row without itself. Near 0 or 1 it names what the model does not
        describe.
        """
        found = PredictiveCheck.of_json(
            _posteria.check(self._native, list(statistics), self._working())
        )
        warn(found.warnings)
        return found

    def evidence(self, methods=("path",), *, client=None, plan=None):
        """The log evidence log p(D | model), by each of these methods.

        ``client`` and ``plan`` as in :meth:`kfold`: its workers run the ladders of temperatures.
        """
        methods = [methods] if isinstance(methods, str) else list(methods)
        of = ladders_of([("the fit", self._native)], methods)
        with done_by((client, plan), of, self._progress) as folder:
            found = _posteria.evidence(self._native, methods, folder, self._working())
        found = Evidence.of_json(found)
        warn(found.warnings)
        return found

    # Elsewhere

    def save(self, path, *, force=False):
        """Keep the fit in the new folder ``path``: a run that every ``posteria`` command reads; with
        ``force`` in place of a run that is there."""
        self._native.save(Path(path), bool(force))
        self._path = Path(path)

    def report(self, path="report.html"):
        """Write a self-contained page about the fit."""
        from . import _folders

        path = Path(path).absolute()
        _folders.report(self, path)
        return path

    def _repr_html_(self) -> str:
        import html

        if self._page is None:
            from . import _folders

            self._page = _folders.page(self)
        # Where frames are not shown, as in notebooks that are not trusted, this is.
        short = f"<pre>{html.escape(self._verdict())}</pre>"
        if not self._page:
            return short
        page = html.escape(self._page, quote=True)
        return f'{short}<iframe srcdoc="{page}" style="width:100%;height:42rem;border:0"></iframe>'

    def _verdict(self):
        """What it is and whether it can be trusted, in a few lines."""
        lines = [repr(self)]
        attained = json.loads(self._native.attained())
        if attained:
            lines.append(
                f"predictions: R-hat {attained['r_hat']:.3f}, "
                f"{min(attained['ess_bulk'], attained['ess_tail']):.0f} effective draws"
            )
        found = self._summary().warnings
        doubts = [it for it in found if it["doubt"] and it["of_predictions"]]
        lines += [f"careful: {words(it)}" for it in doubts]
        return "\n".join(lines)

    def to_arviz(self):
        """All groups for ArviZ: an ``InferenceData`` (0.x) or a ``DataTree`` (1.x)."""
        from ._arviz import to_arviz

        return to_arviz(self)
