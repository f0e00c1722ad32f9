"""Compiled functions that perform trials, on integers and bitmask arrays.

This package imports nothing of the driver, the files or the studies.  A kernel is pure, allocates in its set-up and not per
trial, raises no exception, and has one explicit signature; see ``machine/jit.py``.
"""

if __name__ != "fastcube.kernels":
    raise ImportError(f"kernels was imported as {__name__!r}; import it as 'fastcube.kernels'")
