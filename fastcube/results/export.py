"""Export results: rows as a pandas table, the root and the raw group of the file as xarray datasets.

The same code lays out exports and files, so the table has the rows of ``show --format csv``, and the datasets are equal to
those that ``xarray.open_dataset`` reads from a saved file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import MissingDependencyError
from ..measure.names import table_columns
from .results import Results
from .writing import raw_of, root_of

if TYPE_CHECKING:
    import pandas
    import xarray


def columns_of(results: Results) -> dict[str, type]:
    """Return the columns of ``Results.table``, in order, each with its type."""
    return table_columns({axis.name: axis.kind for axis in results.study.axes})


def make_dataframe(results: Results) -> pandas.DataFrame:
    """Return the table for ``Results.to_dataframe``."""
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("to_dataframe needs pandas: pip install pandas") from None
    dtypes = {str: str, int: np.int64, float: np.float64}
    columns = {name: dtypes[kind] for name, kind in columns_of(results).items()}
    return pandas.DataFrame(results.table(), columns=list(columns)).astype(columns)


def make_dataset(results: Results, raw: bool = False) -> xarray.Dataset:
    """Return the dataset for ``Results.to_xarray``."""
    try:
        import xarray
    except ImportError:
        raise MissingDependencyError("to_xarray needs xarray: pip install xarray") from None
    root = root_of(results)
    if not raw:
        return xarray.Dataset(root.variables, root.coordinates, root.attributes)
    truth = raw_of(results)
    return xarray.Dataset(truth.variables, truth.coordinates, {**truth.attributes, **root.attributes})
