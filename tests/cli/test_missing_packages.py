"""Every command without each of the optional packages: it works, or names the package to install in one line."""

import json
import subprocess
import sys

import pytest
from helpers.compiled import mark_others_slow
from helpers.processes import CLEAN_ENVIRONMENT, TOY_FILE

from fastcube.cli import COMMANDS

#: Packages that fastcube works without, and their dependencies.
PACKAGES = ["matplotlib", "distributed", "h5netcdf", "jinja2", "markupsafe", "mpi4py", "networkx", "pandas", "xarray"]

RUN = f"run {TOY_FILE} --set a=1 --set work=0 --trials 100 --progress none -o"
#: For each command lines that reach its optional packages.
LINES = {
    "list": ["list routing"],
    "run": [
        f"{RUN} r.h5",
        f"{RUN} r.h5 --plot r.png",
        f"{RUN} d.h5 --engine dask:tcp://127.0.0.1:9",
        f"{RUN} m.h5 --engine mpi",
    ],
    "show": ["show r.h5", "show r.h5 --format markdown"],
    "plot": ["plot r.h5 -o p.svg"],
    "reliability": ["reliability r.h5 --rate 0.1 --plot q.png"],
    "lifetime": ["lifetime r.h5 --distribution expon"],
    "diff": ["diff r.h5 r.h5"],
    "merge": ["merge r.h5 -o all.h5"],
    "status": ["status r.h5"],
    "replay": [f"replay r.h5 --study {TOY_FILE} --point a=1,work=0 --trial 5"],
    "faults": ["faults survival --set n=4 --set f=2 --set links=0 --set network=hypercube --trials 2"],
    "evaluate": ["evaluate sets.csv --study survival"],
    "slurm": [f"slurm {TOY_FILE} --array 2 --set a=1 --set work=0 --trials 100"],
    "warmup": [f"warmup {TOY_FILE}"],
    "info": ["info", "info r.h5"],
    "cite": ["cite routing"],
    "new": ["new mine"],
    "bench": ["bench --help"],
}

CALLS = """
import json, sys, contextlib, io, traceback, warnings
sys.modules[sys.argv[1]] = None
from fastcube.cli import main
for line in json.loads(sys.argv[2]):
    out, err, code = io.StringIO(), io.StringIO(), None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(line.split())
        except SystemExit as ended:
            code = ended.code
        except BaseException:
            err.write(traceback.format_exc())
    print(json.dumps([line, code, err.getvalue()]), file=sys.__stdout__, flush=True)
"""


@pytest.mark.parametrize("package", mark_others_slow(PACKAGES))
def test_every_command_works_without_an_optional_package_or_names_it(tmp_path, package):
    assert LINES.keys() == COMMANDS.keys(), "name lines of the new command that reach its optional packages"
    (tmp_path / "sets.csv").write_text("n,faulty_nodes\n4,1 2\n")
    done = subprocess.run(
        [sys.executable, "-P", "-c", CALLS, package, json.dumps([line for lines in LINES.values() for line in lines])],
        cwd=tmp_path,
        env=CLEAN_ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    for line, code, said in map(json.loads, done.stdout.splitlines()):
        assert "Traceback" not in said, (line, said)
        assert code in {0, 1, 2, 75}, (line, code)
        if code == 2 and "--engine" not in line and line.split()[0] not in {"reliability", "lifetime"}:
            assert said.count("\n") == 1 and "pip install" in said, (line, said)
