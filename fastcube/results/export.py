"""Results for other tools: the rows as a pandas table, the file's root and its raw group as xarray datasets.

Both hold what the file holds: the rows of ``show --format csv``, and what ``xarray.open_dataset`` shows of a saved file,
because the same code lays them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingDependencyError
from .results import Results
from .writing import write_estimates, write_raw

if TYPE_CHECKING:
    import pandas
    import xarray


def columns_of(results: Results) -> dict[str, type]:
    """The columns of :meth:`Results.table`, in order, each with its type: str, int (int64) or float (float64)."""
    axes = {axis.name: axis.kind for axis in results.study.axes}
    counts = dict.fromkeys(("trials", "among"), int)
    numbers = dict.fromkeys(("estimate", "stderr", "low", "high"), float)
    return {"study": str, **axes, "statistic": str, **counts, **numbers, "interval": str}


def dataframe(results: Results) -> pandas.DataFrame:
    """See :meth:`Results.to_dataframe`."""
    try:
        import pandas
    except ImportError:
        raise MissingDependencyError("to_dataframe needs pandas: pip install 'fastcube[pandas]'") from None
    rows = results.table()
    dtypes = {str: str, int: np.int64, float: np.float64}
    return pandas.DataFrame(
        {
            name: pandas.Series([row[name] for row in rows], dtype=dtypes[kind])
            for name, kind in columns_of(results).items()
        }
    )


class InMemory:
    """Takes what ``hdf5.NetCDF`` takes, and keeps it for a dataset."""

    def __init__(self) -> None:
        self.group: dict[str, Any] = {}
        self.coordinates: dict[str, Any] = {}
        self.variables: dict[str, Any] = {}

    def attributes(self, target: dict[str, Any], **values: Any) -> None:
        target.update(values)

    def dimension(self, name: str, length: int) -> None:
        pass

    def coordinate(self, name: str, values: Any, **attributes: Any) -> None:
        self.coordinates[name] = (name, values, attributes)

    def variable(self, name: str, dimensions: Sequence[str], values: Any, **attributes: Any) -> None:
        self.variables[name] = (tuple(dimensions), values, attributes)


def dataset(results: Results, raw: bool = False) -> xarray.Dataset:
    """See :meth:`Results.to_xarray`."""
    try:
        import xarray
    except ImportError:
        raise MissingDependencyError("to_xarray needs xarray: pip install 'fastcube[xarray]'") from None
    root = InMemory()
    write_estimates(results, root)
    if not raw:
        return xarray.Dataset(root.variables, root.coordinates, root.group)
    truth = InMemory()
    write_raw(results, truth)
    return xarray.Dataset(truth.variables, truth.coordinates, {**truth.group, **root.group})
