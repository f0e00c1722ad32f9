"""Points of the tree studies: their axes n, links and f, the limits of a point, and the points of their grids."""

from collections.abc import Iterable

from fastcube.errors import check_range
from fastcube.measure.study import Axis, Point

#: Largest number of faulty links, and of faulty nodes, of a point.
MOST_FAULTS = 65536


def axes_up_to(n: int) -> tuple[Axis, ...]:
    """Return the axes of a study for cubes of up to n dimensions."""
    return (
        Axis("n", "dimension of the hypercube", int, 1, n),
        Axis("links", "number of faulty links", int, 0, MOST_FAULTS),
        Axis("f", "number of faulty nodes", int, 0, MOST_FAULTS),
    )


def check_point(point: Point) -> None:
    """Raise ParameterError if Q_n has fewer links or nodes than the point has faults."""
    n = int(point["n"])
    check_range("links", point["links"], 0, min(n * 2 ** (n - 1), MOST_FAULTS), f"for n={n}")
    check_range("f", point["f"], 0, min(2**n, MOST_FAULTS), f"for n={n}")


def values_of(point: Point) -> tuple[int, int, int]:
    """Return n, links and f."""
    return int(point["n"]), int(point["links"]), int(point["f"])


def _doubling_counts(n: int, most: int) -> list[int]:
    """Return n - 1, n, and the powers of two up to ``most``; ascending, each once, without 0.

    n - 1 faults can leave a node a single neighbour, and n faults can isolate it.
    """
    powers = [2**i for i in range(most.bit_length())]
    return sorted({n - 1, n, *powers} - {0})


def link_points(ns: Iterable[int]) -> list[Point]:
    """Return points with f = 0 and n - 1, n and 1, 2, 4, ..., 2^(n-1) faulty links; Theorem 3 is about 2^(n-1)."""
    return [{"n": n, "links": links, "f": 0} for n in ns for links in _doubling_counts(n, 2 ** (n - 1))]


def node_points(ns: Iterable[int]) -> list[Point]:
    """Return points without faulty links and n - 1, n and 1, 2, 4, ..., 2^(n-2) faulty nodes, for n >= 2."""
    return [{"n": n, "links": 0, "f": f} for n in ns for f in _doubling_counts(n, 2 ** (n - 2))]
