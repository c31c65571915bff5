"""Whatever a table comes as, and what is refused about it."""

import decimal

import numpy as np
import pandas as pd
import pytest

import posteria as pt

FEW = {"draws": 30, "chains": 2, "progress": False}


def fitted(data, target="y", **options):
    return pt.fit(data, target, pt.Linear(), **{**FEW, **options})


def test_every_kind_of_table_gives_the_same_fit(waves):
    pl = pytest.importorskip("polars")
    pa = pytest.importorskip("pyarrow")
    expected = fitted(waves).summary()
    strided = np.asfortranarray(waves.to_numpy())
    read_only = waves.to_numpy().copy()
    read_only.flags.writeable = False
    structured = waves.to_records(index=False)
    for table in (
        pl.from_pandas(waves),
        pl.from_pandas(waves).lazy(),
        pa.Table.from_pandas(waves),
        {name: waves[name].to_numpy() for name in waves},
        {name: list(waves[name]) for name in waves},
        structured,
        waves.astype("Float64"),
        waves.iloc[::-1].iloc[::-1],
    ):
        pd.testing.assert_frame_equal(fitted(table).summary(), expected)
    for array in (strided, read_only, read_only[:, ::-1][:, ::-1]):
        found = pt.fit(array[:, :3], array[:, 3], pt.Linear(), **FEW).summary()
        np.testing.assert_array_equal(found["mean"].to_numpy(), expected["mean"].to_numpy())


def test_types_of_columns_mean_what_they_say(waves):
    table = waves.assign(
        flag=waves.a > 0,
        grade=pd.Categorical(np.where(waves.b > 0, 1, 2)),
        name=np.where(waves.c > 0, "x", "z"),
        count=np.arange(60, dtype=np.int8),
    )
    names = list(fitted(table).summary().index)
    expected = ["weights[flag[True]]", "weights[grade[2]]", "weights[name[z]]", "weights[count]"]
    assert set(expected) <= set(names), names
    target = pt.fit(waves.assign(big=waves.y > 0).drop(columns="y"), "big", pt.Linear(), **FEW)
    assert target.facts.task == "binary" and target.facts.labels == ["False", "True"]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda t: t.assign(a=t.a.where(t.a < 0.9)), 'leave their rows out with missing="drop"'),
        (lambda t: t.assign(a=t.a.where(t.a < 0.9, np.inf)), "inf"),
        (lambda t: t.assign(a=[{}] * 60), "row 1: dict"),
        (lambda t: t.assign(a=t.a.astype(complex)), "complex"),
        (lambda t: t.head(0), "."),
        (lambda t: t.rename(columns={"a": "b"}), "b"),
        (lambda t: t.assign(a=[f"id{i}" for i in range(60)]), "a"),
        (lambda t: t.assign(a=pd.date_range("2020-01-01", periods=60)), "date"),
        (lambda t: t.drop(columns="y"), "y"),
        (lambda t: t.assign(a=["1.5"] * 59 + ["oops"]), "oops"),
    ],
)
def test_what_cannot_be_used_is_refused_with_its_place(waves, change, words):
    with pytest.raises(ValueError, match=words):
        fitted(change(waves))


def test_odd_values_are_understood(waves):
    cells = [decimal.Decimal("0.5"), 1, None, np.float32(2.0)] * 15
    dropped = fitted(waves.assign(a=pd.Series(cells, dtype=object)), missing="drop")
    assert dropped.facts.rows == 45
    with pytest.raises(pt.DataError):
        fitted(np.zeros((3, 3, 3)), target=[1, 2, 3])


def test_targets_are_names_or_values(waves):
    numbered = waves.set_axis(range(4), axis=1)
    assert fitted(numbered, 3).facts.targets == ["3"]
    assert fitted(numbered, [3]).facts.targets == ["3"]
    few = waves.head(6)[["a", "b"]]
    classes = pt.fit(few, ["u", "v", "u", "v", "u", "v"], pt.Linear(), **FEW)
    assert classes.facts.labels == ["u", "v"]


def test_new_rows_must_have_the_inputs(line, waves):
    with pytest.raises(pt.DataError, match="c"):
        line.predict(waves.drop(columns="c"))
    table = waves.assign(name=np.where(waves.c > 0, "x", "z"))
    fit = fitted(table)
    with pytest.raises(pt.DataError, match="w"):
        fit.predict(table.assign(name="w"))


def test_wrong_options_are_refused_by_name(waves):
    for wrong in ({"drawz": 3}, {"missing": "perhaps"}, {"seed": -1}, {"draws": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong)).rstrip("z")):
            fitted(waves, **wrong)
    with pytest.raises(pt.SpecificationError, match="hiden"):
        pt.MLP(hiden=3)
    with pytest.raises(pt.SpecificationError, match="hidden"):
        pt.Linear(hidden=3)
    with pytest.raises(pt.SpecificationError, match="familly"):
        pt.Prior(familly="normal")
    with pytest.raises(pt.SpecificationError, match="name the keys"):
        pt.MLP(10)
    with pytest.raises(pt.SpecificationError, match="a whole number, in `sampling.draws`"):
        fitted(waves, draws=30.5)
    with pytest.raises(pt.SpecificationError):
        pt.fit(waves, "y", model="forest")
