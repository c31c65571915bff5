"""Tables of any kind as columns of the library."""

import os
from pathlib import Path

import numpy as np

from ._posteria import DataError, Table

#: What a target is called that came as an array without a name.
TARGET = "y"


def as_table(data, *, target=None, names=None):
    """``data`` as a table of the library, and the names of its targets.

    ``data`` is a path, a pandas or polars frame, an Arrow table, a dictionary of columns, or an array,
    whose columns are called x1, x2, …, or by these ``names`` if there are as many; ``target`` is a name,
    names, or values.
    """
    if isinstance(data, (str, os.PathLike)):
        if target is not None and not _is_names(target, None):
            raise DataError(f"{data}: give the name of the target column, not its values")
        path = Path(data)
        if path.suffix == ".parquet":
            return _of_columns(_arrow_columns(_read_parquet(path)), str(path), target)
        return Table.read(path), _names(target)
    columns = columns_of(data)
    unnamed = [name for name, _ in columns] == [f"x{i + 1}" for i in range(len(columns))]
    if unnamed and names is not None and len(names) == len(columns):
        columns = [(name, values) for name, (_, values) in zip(names, columns)]
    return _of_columns(columns, type(data).__name__, target)


def labels_of(groups, data):
    """A number for every row of ``data``, the same for rows of a group: by a column, or by values."""
    if isinstance(groups, str):
        return as_table(data)[0].labels(groups)
    _, labels = np.unique(np.asarray(groups), return_inverse=True)
    return labels.tolist()


def columns_of(data):
    """The columns of ``data`` by name, in order, each as the library takes it."""
    module = type(data).__module__.split(".")[0]
    if isinstance(data, dict):
        return [(str(name), _column(name, values)) for name, values in data.items()]
    if module == "pandas" and hasattr(data, "columns"):
        return [(str(name), _column(name, data.iloc[:, i])) for i, name in enumerate(data.columns)]
    if module == "pandas" and hasattr(data, "to_frame"):
        # One row, by the names of its columns.
        return columns_of(data.to_frame().T.infer_objects())
    if module == "polars" and hasattr(data, "get_columns"):
        return [(series.name, _column(series.name, series)) for series in data.get_columns()]
    if module == "polars" and hasattr(data, "collect"):
        return columns_of(data.collect())
    if module == "pyarrow":
        return _arrow_columns(data)
    if hasattr(data, "__arrow_c_stream__"):
        import pyarrow

        return _arrow_columns(pyarrow.table(data))
    return _array_columns(data)


def _of_columns(columns, source, target):
    if target is None or _is_names(target, [name for name, _ in columns]):
        return Table.from_columns(source, columns), _names(target)
    new = _target_columns(target)
    taken = {name for name, _ in columns}
    for name, _ in new:
        if name in taken:
            raise DataError(f"{source}: there is a column {name} already; name the target's values")
    names = [name for name, _ in new]
    return Table.from_columns(source, [*columns, *new]), names


def _target_columns(values):
    name = getattr(values, "name", None)
    if getattr(values, "ndim", 1) == 1 or isinstance(values, (list, tuple)):
        return [(str(name) if name is not None else TARGET, _column(name or TARGET, values))]
    columns = columns_of(values)
    if hasattr(values, "columns"):
        return columns
    if len(columns) == 1:
        return [(TARGET, columns[0][1])]
    return [(f"{TARGET}{i + 1}", column) for i, (_, column) in enumerate(columns)]


def _is_names(target, columns) -> bool:
    """Whether ``target`` is a name or names of columns, and not the values themselves."""
    if np.ndim(target) == 0:
        return True
    if not isinstance(target, (list, tuple)):
        return False
    if columns is not None:
        return all(str(name) in columns for name in target)
    return all(isinstance(name, str) for name in target)


def _names(target):
    if target is None:
        return []
    return [str(target)] if np.ndim(target) == 0 else [str(name) for name in target]


def _array_columns(data):
    array = _as_array(data, type(data).__name__)
    if array.dtype.names:
        return [(name, _column(name, array[name])) for name in array.dtype.names]
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2:
        raise DataError(f"a table has rows and columns, and this array {array.ndim} dimensions")
    return [(f"x{i + 1}", _column(f"x{i + 1}", array[:, i])) for i in range(array.shape[1])]


def _arrow_columns(table):
    return [(name, _column(name, table.column(name))) for name in table.column_names]


def _read_parquet(path):
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise DataError(f"{path}: reading Parquet needs pyarrow: pip install pyarrow") from error
    return pyarrow.parquet.read_table(path)


def _column(name, values):
    """One column: an array of floats, a list of texts, or labels and codes of categories."""
    module = type(values).__module__.split(".")[0]
    if module == "pandas":
        return _pandas_column(name, values)
    if module == "polars":
        return _polars_column(name, values)
    if module == "pyarrow":
        return _arrow_column(name, values)
    return _array_column(name, _as_array(values, f"column {name}"))


def _as_array(values, what):
    try:
        return np.asarray(values)
    except ValueError:
        raise DataError(f"{what}: its parts have different lengths; give one value per row") from None


def _array_column(name, array):
    if array.ndim == 0:
        array = array[None]
    if array.ndim != 1:
        raise DataError(f"column {name}: a column has one dimension, and this {array.ndim}")
    kind = array.dtype.kind
    if kind == "b":
        return ["False", "True"], array.astype(np.int64)
    if kind in "iuf":
        return np.asarray(array, dtype=np.float64)
    if kind == "M":
        return [None if np.isnat(it) else str(it) for it in array]
    if kind in "US":
        return [str(it) for it in array]
    if kind == "c":
        raise DataError(f"column {name}: complex numbers are no values of a table")
    if kind == "O":
        return _object_column(name, array)
    raise DataError(f"column {name}: values of type {array.dtype} cannot be used; convert them")


def _object_column(name, array):
    cells = [_cell(name, row, value) for row, value in enumerate(array)]
    if all(value is None or isinstance(value, float) for value in cells):
        return np.array([np.nan if value is None else value for value in cells])
    if all(value is None or isinstance(value, bool) for value in cells):
        codes = [-1 if value is None else int(value) for value in cells]
        return ["False", "True"], np.array(codes, dtype=np.int64)
    return [None if value is None else str(value) for value in cells]


def _cell(name, row, value):
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, (np.datetime64, np.timedelta64)) and np.isnat(value):
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, (int, float, np.integer, np.floating)) or type(value).__name__ == "Decimal":
        return _number(name, row, value)
    if isinstance(value, str):
        return value
    if hasattr(value, "isoformat"):
        return value.isoformat()
    raise DataError(
        f"column {name}, row {row + 1}: {type(value).__name__} is neither a number nor a text"
    )


def _number(name, row, value):
    """A cell that is a number; ``None`` for one that is none."""
    try:
        number = float(value)
    except OverflowError:
        raise DataError(f"column {name}, row {row + 1}: {value} is too large a number") from None
    return None if number != number else number


def _pandas_column(name, series):
    import pandas as pd

    # An array of pandas lacks what a series has of its type.
    series = series if isinstance(series, pd.Series) else pd.Series(series)
    dtype = series.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        labels = [str(label) for label in series.cat.categories]
        return labels, np.asarray(series.cat.codes, dtype=np.int64)
    if isinstance(dtype, pd.SparseDtype):
        return _array_column(name, np.asarray(series))
    if pd.api.types.is_bool_dtype(dtype):
        codes = series.astype("Int64").fillna(-1).to_numpy(dtype=np.int64)
        return ["False", "True"], codes
    if pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype):
        if isinstance(dtype, np.dtype):
            return np.asarray(series, dtype=np.float64)
        return series.to_numpy(dtype=np.float64, na_value=np.nan)
    if pd.api.types.is_datetime64_any_dtype(dtype):
        return [None if pd.isna(it) else it.isoformat() for it in series]
    return _array_column(name, series.to_numpy(dtype=object))


def _polars_column(name, series):
    import polars as pl

    dtype = series.dtype
    if dtype == pl.Boolean:
        codes = series.cast(pl.Int64).fill_null(-1).to_numpy()
        return ["False", "True"], np.asarray(codes, dtype=np.int64)
    if dtype in (pl.Categorical, pl.Enum):
        return _categories(series.cast(pl.String).to_list())
    if dtype.is_numeric():
        return np.asarray(series.cast(pl.Float64).to_numpy(), dtype=np.float64)
    return _object_column(name, series.to_list())


def _arrow_column(name, column):
    import pyarrow as pa

    kind = column.type
    if pa.types.is_boolean(kind):
        codes = [-1 if it is None else int(it) for it in column.to_pylist()]
        return ["False", "True"], np.array(codes, dtype=np.int64)
    if pa.types.is_dictionary(kind):
        return _categories([None if it is None else str(it) for it in column.to_pylist()])
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        values = column.cast(pa.float64()).to_numpy(zero_copy_only=False) if not isinstance(
            column, pa.ChunkedArray
        ) else column.cast(pa.float64()).to_numpy()
        return np.asarray(values, dtype=np.float64)
    return _object_column(name, column.to_pylist())


def _categories(values):
    labels = sorted({value for value in values if value is not None})
    codes = {label: code for code, label in enumerate(labels)}
    return labels, np.array([codes.get(value, -1) for value in values], dtype=np.int64)
