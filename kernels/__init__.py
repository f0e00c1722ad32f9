"""What one trial does: compiled functions over integers and bitmask arrays, and nothing else.

Imports run one way: kernels know nothing of the driver, files or studies.  A kernel is pure, allocates in
set-up and not per trial, raises nothing, and has one explicit signature; see ``jit.py``.
"""

if __name__ != "fastcube.kernels":
    raise ImportError(f"kernels was imported as {__name__!r}; import it as 'fastcube.kernels'")
