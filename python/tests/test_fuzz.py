"""Tables that nobody should pass, and some that somebody will: a result or a refusal in words, never a
fault of ours."""

import datetime
import decimal
import fractions

import numpy as np
import pandas as pd
import pytest

import posteria as pt

CASES = 200
FEW = {"chains": 1, "draws": 8, "progress": False}
EXTREME = [0.0, -0.0, 1.0, -1.5, 1e308, -1e308, 5e-324, 1e-200, np.inf, -np.inf, np.nan, 2.0**53]
TEXTS = ["", " ", "a", "b", "nan", "1", "1e999", "ünï", "a,b", 'q"q', "x\ny", "\x00", "NA", "-inf"]
ODD = [
    None, True, 0, 2**70, 1.5, np.nan, "a", b"a", (1,), [1], {}, 1j, decimal.Decimal("1.5"),
    decimal.Decimal("NaN"), fractions.Fraction(1, 3), datetime.date(2020, 1, 1), pd.NA, pd.NaT,
    np.float32(2), np.datetime64("NaT", "D"), object(), np.array([1.0, 2.0]), pd.Timestamp("2020-01-01", tz="UTC"),
]
NAMES = ["a", "b", "y", "", " ", "a b", "x[1]", "c,d", "ü", "new\nline", 0, 1.5, None, ("t", 1), "\x00"]


def column(rng, rows):
    """A column of some type, with whatever it may hold."""
    some = lambda values: [values[i] for i in rng.integers(len(values), size=rows)]
    kind = rng.integers(22)
    plain = rng.normal(size=rows)
    if kind < 6:
        return plain
    if kind == 6:
        return np.array(some(EXTREME))
    if kind == 7:
        return np.array(some(EXTREME[:5]), dtype=np.float32 if rng.random() < 0.5 else ">f8")
    if kind == 8:
        return rng.integers(0, 3, size=rows).astype(rng.choice(["int8", "uint64", "int64", ">i4"]))
    if kind == 9:
        return plain > 0
    if kind == 10:
        return np.array(some(TEXTS))
    if kind == 11:
        return pd.Series(some(ODD), dtype=object)
    if kind == 12:
        return pd.Categorical(some(["u", "v", None]))
    if kind == 13:
        return pd.array(some([1, 2, None]), dtype="Int64")
    if kind == 14:
        return pd.array(some([True, False, None]), dtype="boolean")
    if kind == 15:
        return np.full(rows, np.datetime64("2020-01-01")) + rng.integers(0, 9, size=rows)
    if kind == 16:
        return np.full(rows, np.timedelta64(1, "D"))
    if kind == 17:
        return plain.astype(complex)
    if kind == 18:
        return np.full(rows, rng.choice(EXTREME))
    if kind == 19:
        # Every third number of something longer, which cannot be written to.
        strided = rng.normal(size=3 * rows)[::3]
        strided.flags.writeable = False
        return strided
    if kind == 20:
        return pd.arrays.SparseArray(np.where(plain > 0, plain, 0.0))
    return np.array(some([b"", b"a", b"\xff"])) if rng.random() < 0.5 else some([[1, 2], "a", 3])


def table(rng):
    """A table of some kind: one with a column or two that are not what they were, or anything."""
    if rng.random() < 0.5:
        return anything(rng)
    rows = 25
    good = {"a": rng.normal(size=rows), "b": rng.normal(size=rows), "c": ["u", "v"] * 12 + ["u"]}
    good["y"] = rng.normal(size=rows)
    for name in rng.choice(list(good), size=rng.integers(3)):
        good[name] = column(rng, rows)
    containers = [dict, lambda it: pd.concat([pd.Series(it[name], name=name) for name in it], axis=1)]
    return containers[rng.integers(2)](good)


def anything(rng):
    """Columns in some container."""
    rows = int(rng.choice([0, 1, 2, 3, 12, 25]))
    count = int(rng.choice([0, 1, 2, 3, 4]))
    columns = [column(rng, rows) for _ in range(count)]
    names = [NAMES[i] for i in rng.integers(len(NAMES), size=count)]
    if count and rng.random() < 0.7:
        # Usually somebody gets the names right.
        names = ["a", "b", "c", "d"][: count - 1] + ["y"]
    container = rng.integers(9)
    if container < 4:
        frame = pd.concat([pd.Series(it) for it in columns], axis=1) if count else pd.DataFrame()
        return frame.set_axis(names, axis=1) if count else frame
    if container == 4:
        return dict(zip(names, columns))
    if container == 5:
        return dict(zip(names, (list(it)[: rng.integers(1, rows + 2)] for it in columns)))
    if container == 6:
        array = rng.normal(size=(rows, max(count, 1), 2))
        return [array, array[..., 0], array[:, ::-1, 0].T, array[0] if rows else 3.0][rng.integers(4)]
    if container == 7:
        return [None, 5, "absent.csv", [], [[1, 2], [3]], object(), np.zeros((2, 0)), b"x"][rng.integers(8)]
    return np.array([(1.0, 2)] * rows, dtype=[("a", "f8"), ("y", "i4")])


def target(rng):
    values = ["y", "a", None, "nobody", ["y"], ["a", "y"], 0, rng.normal(size=12), ["u", "v"] * 6, 1.5]
    return values[rng.integers(len(values))] if rng.random() < 0.5 else "y"


def holds(work):
    """Whether there was a result; what is refused is refused in words."""
    try:
        work()
    except (pt.PosteriaError, TypeError, ValueError) as error:
        assert len(str(error)) > 8, repr(error)
        assert "please report" not in str(error)
        return False
    return True


@pytest.mark.filterwarnings("ignore")
def test_no_table_is_a_fault_of_ours():
    rng = np.random.default_rng(20)
    models = [pt.Linear(), pt.Linear(), pt.MLP(hidden=2, inference="laplace"), pt.Mixture(components=2)]
    fitted = 0
    for case in range(CASES):
        state = rng.bit_generator.state["state"]
        data, about, model = table(rng), target(rng), models[rng.integers(len(models))]
        missing = rng.choice(["error", "drop"])
        about = None if model.kind == "mixture" else about
        try:
            fitted += holds(lambda: pt.fit(data, about, model, missing=missing, **FEW).summary())
        except BaseException as error:
            raise AssertionError(f"case {case} of {state}: {model} of {about!r} in\n{data!r}") from error
    # Some are refused, and of some there is a fit.
    assert CASES / 10 < fitted < 9 * CASES / 10, fitted


@pytest.mark.filterwarnings("ignore")
def test_no_new_rows_are_a_fault_of_ours(waves):
    rng = np.random.default_rng(21)
    named = waves.assign(c=np.where(waves.c > 0, "u", "v"))
    fit = pt.fit(named, "y", pt.Linear(), **FEW)
    predicted = 0
    for case in range(CASES):
        new = table(rng)
        asked = [
            lambda: fit.predict(new, missing=rng.choice(["error", "drop"])),
            lambda: fit.samples(new, 3),
            lambda: fit.assess(new),
        ]
        try:
            predicted += holds(asked[rng.integers(3)])
        except BaseException as error:
            raise AssertionError(f"case {case}:\n{new!r}") from error
    assert CASES / 10 < predicted < 9 * CASES / 10, predicted
