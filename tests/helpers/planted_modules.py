"""A working folder in which nothing may be imported."""

import sys


def plant_modules(tmp_path):
    """A folder where each module's name is taken by a file that leaves a trace in ``tmp_path / "ran"``, and so is fastcube's."""
    folder = tmp_path / "planted"
    (folder / "fastcube").mkdir(parents=True)
    trace = f"open({str(tmp_path / 'ran')!r}, 'a').write(__name__ + ' '); raise SystemExit(77)"
    (folder / "fastcube" / "__init__.py").write_text(trace)
    for name in sys.stdlib_module_names | {"numba", "numpy", "click", "h5py", "scipy", "llvmlite"}:
        (folder / f"{name}.py").write_text(trace)
    return folder
