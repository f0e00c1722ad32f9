"""Advice that loses no work, files of other programs, second signals in Python sessions, other people's settings."""

import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import h5py
import numpy as np
import pytest
from helpers.command_line import command_runner  # noqa: F401  (a fixture)
from helpers.compiled import mark_others_slow
from helpers.processes import TOY_FILE, run_fastcube
from helpers.toy import TOY

import fastcube as fc
from fastcube.cli import COMMANDS, group
from fastcube.results.provenance import provenance, remove_force
from fastcube.results.table import as_table
from fastcube.running import signals

FIGURE = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".pdf": b"%PDF-"}


# ---------------------------------------------------------------- --force and advice


def test_a_repeated_command_line_has_no_force(monkeypatch):
    assert remove_force(["run", "a b", "--force", "-o", "x"]) == ["run", "a b", "-o", "x"]
    assert remove_force(["run", "toy", "--plot", "--", "--force"]) == [
        "run",
        "toy",
        "--plot",
        "--",
    ]  # -- is a value here
    monkeypatch.setattr("sys.argv", ["/opt/bin/fastcube", "run", "toy", "--force"])
    assert provenance()["parameters"]["command"] == ["fastcube", "run", "toy"]


def test_a_sweep_and_a_job_that_starts_again_cannot_hold_force(run, tmp_path, monkeypatch):
    (tmp_path / "s.toml").write_text(f"[[run]]\nstudy = '{TOY_FILE}'\nforce = true\n")
    assert run("run s.toml")[::2] == (2, "fastcube: run 1 of s.toml has no option force\n")
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    code, _, said = run(f"run {TOY_FILE} --force")
    assert (code, said.count("\n")) == (2, 1)
    assert "force must be left out of a job script" in said


@pytest.mark.parametrize("kind", ["source", "text", "foreign HDF5", "picture"])
def test_force_replaces_results_files_only(run, tmp_path, kind):
    path = tmp_path / "mine.h5"
    if kind == "foreign HDF5":
        with h5py.File(path, "w") as file:
            file["x"] = np.arange(9)
    else:
        path.write_bytes({"source": b"import fastcube\n", "text": b"thesis", "picture": FIGURE[".png"]}[kind])
    before = path.read_bytes()
    code, _, said = run(f"run {TOY_FILE} --set a=1 --trials 10 -o mine.h5 --force")
    assert (code, said) == (2, "fastcube: output mine.h5 is not a fastcube results file: nothing replaces it\n")
    with pytest.raises(fc.ResultFileError, match="not a fastcube results file"):
        fc.run(TOY, a=1, trials=10, output=path, force=True)
    assert path.read_bytes() == before


def test_force_replaces_a_damaged_and_an_empty_results_file(tmp_path):
    path = tmp_path / "r.h5"
    fc.run(TOY, a=1, trials=10, output=path)
    for image in (path.read_bytes()[:-30], b""):
        path.write_bytes(image)
        fc.run(TOY, a=1, trials=10, output=path, force=True)
        assert fc.open_results(path).trials == 10


def test_no_command_names_an_option_that_it_lacks(run, tmp_path):
    fc.run(TOY, a=1, trials=10, output=tmp_path / "r.h5")
    (tmp_path / "cut.h5").write_bytes((tmp_path / "r.h5").read_bytes()[:-30])
    ends = {
        "run": f"run {TOY_FILE} -o cut.h5",
        "merge": "merge cut.h5 -o x.h5",
        "replay": "replay cut.h5 --point a=1 --trial 1",
    }
    lines = (
        {name: f"{name} cut.h5" for name in ("show", "plot", "status", "info")} | ends | {"diff": "diff cut.h5 r.h5"}
    )
    for name, line in lines.items():
        code, _, said = run(line)
        command = group.get_command(None, name)
        has = {option for parameter in command.params for option in parameter.opts}
        assert code == 2
        assert set(re.findall(r"--[a-z-]+", said)) <= has, line
        assert ("--unchecked" in said) == ("--unchecked" in has), line
    assert set(lines) <= set(COMMANDS)


def test_attributes_as_arrays_of_one_are_read_unchecked(tmp_path):
    """As the netCDF library rewrites scalars."""
    path = tmp_path / "r.h5"
    results = fc.run(TOY, a=[1, 2], trials=10, output=path)
    with h5py.File(path, "r+") as file:
        for name, value in list(file.attrs.items()):
            if np.ndim(value) == 0:
                del file.attrs[name]
                file.attrs[name] = np.array([value], object if isinstance(value, str) else None)
    assert fc.open_results(path, unchecked=True).digest() == results.digest()


def test_json_is_text_that_octave_reads(tmp_path):
    fc.run(TOY, a=1, trials=10, output=tmp_path / "r.h5")
    with h5py.File(tmp_path / "r.h5") as file:
        for name in ("study", "provenance"):
            assert h5py.check_string_dtype(file[name]["json"].dtype).encoding == "ascii"
            assert file[name]["json"].dtype.kind == "S"


@pytest.mark.skipif(shutil.which("octave-cli") is None, reason="needs Octave")
@pytest.mark.kernels
def test_octave_reads_fields_by_name_beside_an_axis_of_names(tmp_path):
    """The call that docs/format.md prints; without the names of fields ``load`` stops at the axis."""
    results = fc.run("survival", network=["exchanged", "torus-16"], n=4, f=[2, 3], trials=100, output=tmp_path / "r.h5")
    names = re.search(r'load\("-hdf5", "r.h5", (.*?)\)', (Path(__file__).parents[2] / "docs/format.md").read_text())[1]
    script = f'x = load("-hdf5", "r.h5", {names}); printf("%.17g ", x.f, x.connected, x.connected_low)'
    command = ["octave-cli", "--quiet", "--eval", script]
    reported = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, check=False
    )  # 1 where it has no home
    # the first index varies fastest in Octave, which has the last axis first: the order of our rows
    kept = [results.estimate("connected", **point) for point, _ in results]
    assert [float(number) for number in reported.stdout.split()] == [
        2,
        3,
        *(e.value for e in kept),
        *(e.low for e in kept),
    ]


@pytest.mark.skipif(shutil.which("octave-cli") is None, reason="needs Octave")
def test_octave_reads_a_whole_file_without_an_axis_of_names(tmp_path):
    results = fc.run(TOY, a=[1, 2], trials=10, output=tmp_path / "r.h5")
    script = f'x = load("-hdf5", "r.h5"); printf("%.17g ", x.a, x.{TOY.statistics[0].name})'
    command = ["octave-cli", "--quiet", "--eval", script]
    reported = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    values = [results.estimate(TOY.statistics[0].name, **point).value for point, _ in results]
    assert [float(number) for number in reported.stdout.split()] == [1, 2, *values]


@pytest.mark.skipif(shutil.which("ncdump") is None, reason="needs the netCDF library's ncdump")
@pytest.mark.kernels
def test_ncdump_and_nccopy_keep_an_axis_of_names(tmp_path):
    fc.run("survival", network=["exchanged", "torus-16"], n=4, f=2, trials=100, output=tmp_path / "r.h5")
    subprocess.run(["nccopy", "r.h5", "copy.h5"], cwd=tmp_path, check=True)
    reported = subprocess.run(["ncdump", "copy.h5"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert reported.count('network = "exchanged", "torus-16" ;') == 2  # at the root and in raw
    assert fc.open_results(tmp_path / "copy.h5", unchecked=True).digest() == fc.open_results(tmp_path / "r.h5").digest()


# ---------------------------------------------------------------- missing shards


def test_scripts_learn_of_missing_shards(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for i in (0, 1, 3):
        fc.run(TOY, a=1, trials=1000, shard=(i, 4), output=f"part-{i}.h5")
    assert run("status part-0.h5 part-1.h5 part-3.h5")[0] == 1
    code, _, said = run("merge part-0.h5 part-1.h5 part-3.h5 -o all.h5")
    assert (
        code,
        said.splitlines()[-1].endswith("; trials missing: 250; resubmit: --array=2 (of 4 shards, one per task)"),
    ) == (0, True)
    code, _, said = run("show all.h5")
    assert (code, said) == (0, "all.h5: trials missing: 250; resubmit: --array=2 (of 4 shards, one per task)\n")
    code, _, said = run("plot all.h5 -o all.svg")
    assert (code, said.splitlines()[0]) == (
        0,
        "all.h5: trials missing: 250; resubmit: --array=2 (of 4 shards, one per task)",
    )
    assert run("status all.h5 --json")[0] == 1
    fc.run(TOY, a=1, trials=1000, shard=(2, 4), output="part-2.h5")
    assert run("status part-0.h5 part-1.h5 part-2.h5 part-3.h5")[0] == 0
    code, _, said = run("merge all.h5 part-2.h5 -o whole.h5")
    assert (code, "missing" in said) == (0, False)
    assert run("show whole.h5")[2] == ""
    assert run("status whole.h5")[0] == 0
    assert run("status no.h5")[0] == 2


def test_status_of_a_run_to_a_target(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fc.run(TOY, a=1, precision=0.02, output="r.h5")
    assert run("status r.h5")[0] == 0
    assert "--force" not in run("status -h")[1]
    assert "Exit status: 0" in run("status -h")[1]


# ---------------------------------------------------------------- sweeps


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("x = " + "[" * 100_000, "s.toml is nested too deeply"),
        ("a" + ".a" * 20_000 + " = 1", "s.toml must have at most 3000 dots on a line, got 20000"),
        (f"x{'.a' * 2900} = 1\n" * 150, "s.toml must have at most 3000 dots on a line, got 35517"),
        ("#" * 2**21, "s.toml must have at most 1048576 bytes, got more"),
        ("[[run]]\nstudy='routing'\n" * 20_000, "s.toml must hold at most 1000 runs, got 20000"),
    ],
    ids=["depth", "dots of one line", "dots of many lines", "bytes", "runs"],  # the test's name is in its environment
)
def test_an_absurd_sweep_is_one_line(run, tmp_path, text, reported):
    (tmp_path / "s.toml").write_text(text)
    for line in ("run s.toml", "slurm s.toml --array 2"):
        assert run(line)[::2] == (2, f"fastcube: {reported}\n")


def test_a_sweep_from_a_device_without_end_is_one_line(run, tmp_path):
    (tmp_path / "s.toml").symlink_to("/dev/zero")
    assert run("run s.toml")[::2] == (2, "fastcube: s.toml must have at most 1048576 bytes, got more\n")


@pytest.mark.parametrize("output", [".", "..", "/", ""])
def test_an_output_without_a_name_is_one_line(run, tmp_path, output):
    (tmp_path / "s.toml").write_text(f"[[run]]\nstudy = '{TOY_FILE}'\noutput = '{output}/'\n")
    for line in ("run s.toml --shard 0/2", "slurm s.toml --array 2"):
        code, _, said = run(line)
        assert (code, said.count("\n")) == (2, 1)
        assert "output must be the name of a file" in said


@pytest.mark.parametrize("name", ["x/", "x.h5/", "x.png/", "x/.", "x/..", ".", "..", "-x.h5", "-x.png", "''"])
def test_an_output_that_is_a_folder_or_begins_with_a_dash_is_one_line(run, tmp_path, name):
    fc.run(TOY, a=1, trials=10, output="r.h5")
    Path("x").mkdir()
    before = sorted(Path().iterdir())
    wanted = {"-": "must not begin with -, got -x", "'": "must be a path, got ''"}.get(
        name[0], "must be the name of a file"
    )
    study = f"{TOY_FILE} --set a=1 --trials 10"
    Path("s.toml").write_text(f"[[run]]\nstudy = '{TOY_FILE}'\noutput = '{name.strip(chr(39))}'\n")
    for line in (
        f"run {study} --force -o {name}",
        f"run {study} --plot {name}",
        f"merge r.h5 -o {name}",
        f"plot r.h5 -o {name}",
        f"reliability r.h5 --rate 0.1 --plot {name}",
        f"slurm {study} --array 2 -o {name}",
        "run s.toml",
        "slurm s.toml --array 2",
    ):
        code, out, said = run(line)
        assert (code, out, said.count("\n")) == (2, "", 1), line
        assert wanted in said
    if name[0] != "-":
        for call in (fc.open_results("r.h5").save, lambda path: fc.run(TOY, a=1, trials=10, output=path)):
            with pytest.raises(fc.ParameterError, match=wanted):
                call(name.strip("'"))
    Path("s.toml").unlink()
    assert sorted(Path().iterdir()) == before


def test_a_folder_without_a_name_is_not_the_working_folder(run):
    code, out, said = run("warmup unsafe-fraction --into ''")
    assert (code, out, said.count("\n")) == (2, "", 1)
    assert "must be a path, got ''" in said
    assert not list(Path().iterdir())


def test_an_output_that_a_folder_keeps_from_being_an_option(run, tmp_path):
    study = f"{TOY_FILE} --set a=1 --trials 10"
    Path("s.toml").write_text(f"[[run]]\nstudy = '{TOY_FILE}'\noutput = './-x.h5'\ntrials = 10\n")
    for line in (f"slurm {study} --array 2 -o ./-x", "slurm s.toml --array 2"):
        assert "for name in ./-x; do\n" in run(line)[1]
    assert run("run s.toml --shard 1/2")[2].endswith("results in ./-x-1.h5\n")
    assert run("merge ./-x-1.h5 -o ./-all.h5")[2].startswith("merged 1 file")
    assert run("plot ./-x-1.h5 -o ./-x.svg")[2].endswith("figure in ./-x.svg\n")


# ---------------------------------------------------------------- notes and squares


def test_notes_that_fail_cost_neither_table_nor_exit_status(tmp_path):
    def fail(results):
        raise ZeroDivisionError("no reason")

    results = fc.run(TOY, a=1, trials=10)
    object.__setattr__(results.study.grids[0], "notes", fail)
    try:
        lines = as_table(results).splitlines()
    finally:
        object.__setattr__(results.study.grids[0], "notes", None)
    assert any(line.startswith("1 ") for line in lines)
    assert "notes of toy failed: ZeroDivisionError: no reason" in " ".join(lines)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_isolated_node_bounds_of_the_smallest_cubes(n):
    for f in range(2**n + 1):
        found = fc.isolated_node_bounds("hypercube", n, f=f)
        assert 0 <= found.low <= found.high <= 1
    for links in range(n * 2 ** (n - 1) + 1):
        assert 0 <= fc.isolated_node_bounds("hypercube", n, links=links).low <= 1


# ---------------------------------------------------------------- signals


def test_a_second_interrupt_of_a_session_raises_at_once(tmp_path, monkeypatch):
    """While a checkpoint is being written, which may take long."""
    monkeypatch.setattr(os, "_exit", lambda code: pytest.fail("the interpreter ended"))
    monkeypatch.setattr(signals, "REPEAT_SECONDS", 0.0)

    def interrupt_twice(self, results):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        pytest.fail("nobody interrupted")

    monkeypatch.setattr("fastcube.results.output.OutputFile.save", interrupt_twice)
    with pytest.raises(KeyboardInterrupt):
        fc.run(TOY, a=1, trials=1000, output=tmp_path / "r.h5")


@pytest.mark.parametrize(
    ("number", "error"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGHUP, SystemExit), (signal.SIGTERM, SystemExit)]
)
def test_second_signals_of_a_session(monkeypatch, number, error):
    monkeypatch.setattr(os, "_exit", lambda code: pytest.fail("the interpreter ended"))
    monkeypatch.setattr(signals, "REPEAT_SECONDS", 0.0)
    if signal.getsignal(number) == signal.SIG_IGN:  # these tests run under nohup: ignored signals stay ignored
        pytest.skip(f"{number.name} is ignored here")
    reported = []
    with pytest.raises(error), signals.handle_signals(reported.append):
        os.kill(os.getpid(), number)
        time.sleep(0.01)
        os.kill(os.getpid(), number)
    assert reported == [signals.CODES[number]]
    assert signals.CODES[signal.SIGHUP] == 129


@pytest.mark.parametrize("number", list(signals.CODES))
def test_a_signal_that_the_caller_ignores_stays_ignored(number):
    reported, before = [], signal.signal(number, signal.SIG_IGN)
    try:
        with signals.handle_signals(reported.append):
            os.kill(os.getpid(), number)
            time.sleep(0.01)
        assert (reported, signal.getsignal(number)) == ([], signal.SIG_IGN)
    finally:
        signal.signal(number, before)


def test_the_processor_time_signal_comes_each_second_and_is_one(monkeypatch):
    monkeypatch.setattr(os, "_exit", lambda code: pytest.fail("the interpreter ended"))
    monkeypatch.setattr(signals, "REPEAT_SECONDS", 0.0)
    reported = []
    with signals.own_process(), signals.handle_signals(reported.append):
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGXCPU)
            time.sleep(0.01)
    assert reported == [75]


def test_an_ignored_hang_up_stays_ignored():
    reported, before = [], signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with signals.handle_signals(reported.append):
            os.kill(os.getpid(), signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
    assert reported == []


# ---------------------------------------------------------------- figures

SETTINGS = {
    "text.usetex": True,
    "lines.linewidth": 0,
    "axes.facecolor": "black",
    "font.size": 30,
    "savefig.dpi": 30,
    "savefig.transparent": True,
    "svg.fonttype": "none",
    "axes.grid": True,
    "figure.constrained_layout.use": False,
}


def test_figures_do_not_depend_on_the_users_settings(tmp_path):
    import matplotlib as mpl

    results = fc.run(TOY, a=[1, 2, 3], trials=100)
    results.plot(path=tmp_path / "plain.png")
    with mpl.rc_context(SETTINGS):
        results.plot(path=tmp_path / "set.png")
        assert mpl.rcParams["font.size"] == 30
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "set.png").read_bytes()


@pytest.mark.parametrize("place", mark_others_slow(["variable", "home"]))
def test_a_matplotlibrc_that_is_not_text_is_one_line(tmp_path, place):
    results = fc.run(TOY, a=1, trials=10)
    results.save(tmp_path / "r.h5")
    path = tmp_path / "matplotlib" / "matplotlibrc"
    path.parent.mkdir()
    path.write_bytes(b"font.family: \xe9\xff\n")
    home = {"XDG_CONFIG_HOME": str(tmp_path), "MPLCONFIGDIR": ""}
    environment = {"MATPLOTLIBRC": str(path)} if place == "variable" else home
    line = f"fastcube: matplotlib cannot be imported: Cannot decode configuration file '{path}' as utf-8.\n"
    done = run_fastcube("plot", "r.h5", "-o", "r.svg", cwd=tmp_path, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", line)
    path.write_text("foo.bar: 1\nfont.size: abc\n")  # not used in our figures
    done = run_fastcube("plot", "r.h5", "-o", "r.svg", cwd=tmp_path, env=environment)
    assert done.returncode == 0
    assert [line.split()[:2] for line in done.stderr.splitlines()] == [["the", "code"], ["figure", "in"]]


@pytest.mark.slow
def test_figures_do_not_depend_on_a_matplotlibrc_at_home(tmp_path):
    """LaTeX that is not there is the commonest of these settings among mathematicians; a default test has it in a context."""
    (tmp_path / "matplotlib").mkdir()
    (tmp_path / "matplotlib" / "matplotlibrc").write_text("text.usetex: True\nlines.linewidth: 0\nfont.size: 30\n")
    for name, variables in (("plain", {}), ("set", {"XDG_CONFIG_HOME": str(tmp_path), "MPLCONFIGDIR": ""})):
        run = ("run", TOY_FILE, "--set", "a=1:3", "--trials", "100", "--progress", "none")
        done = run_fastcube(*run, "-o", tmp_path / f"{name}.h5", "--plot", tmp_path / f"{name}.png", env=variables)
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "plain.png").read_bytes() == (tmp_path / "set.png").read_bytes()


def test_the_callers_axes_keep_the_callers_settings():
    import matplotlib as mpl
    from matplotlib.figure import Figure

    results = fc.run(TOY, a=[1, 2, 3], trials=100)
    with mpl.rc_context({"legend.facecolor": "red", "font.family": "monospace"}):
        axes = Figure().add_subplot()
        results.plot("bit", axes=axes)
        assert axes.xaxis.label.get_fontfamily() == ["monospace"]


def test_a_figure_replaces_pictures_only(run, tmp_path):
    fc.run(TOY, a=[1, 2], trials=10, output=tmp_path / "r.h5")
    before = (tmp_path / "r.h5").read_bytes()
    (tmp_path / "fig.png").symlink_to("r.h5")
    (tmp_path / "text.svg").write_text("thesis")
    for line in (
        "plot r.h5 -o fig.png",
        f"run {TOY_FILE} --set a=1 --trials 9 -o q.h5 --plot fig.png",
        "plot r.h5 -o text.svg",
    ):
        code, _, said = run(line)
        assert (code, said.count("\n"), "is not a picture: nothing replaces it" in said) == (2, 1, True)
    assert not (tmp_path / "q.h5").exists()
    assert (tmp_path / "r.h5").read_bytes() == before
    (tmp_path / "link.png").symlink_to("real.png")
    (tmp_path / "old.svg").write_text("<svg>")
    (tmp_path / "old.pdf").write_bytes(FIGURE[".pdf"])
    for name in ("link.png", "link.png", "old.svg", "old.pdf"):
        assert run(f"plot r.h5 -o {name}")[0] == 0
        written = (tmp_path / name).read_bytes()
        assert written.startswith(FIGURE[name[-4:]]) and len(written) > 1000
    assert (tmp_path / "link.png").is_symlink()


def test_a_figure_that_cannot_be_written_leaves_the_old_one(tmp_path, monkeypatch):
    results = fc.run(TOY, a=[1, 2], trials=10)
    path = tmp_path / "f.png"
    results.plot(path=path)
    before = path.read_bytes()
    for error in (RuntimeError("latex\nwas not found"), OSError(28, "No space left on device")):

        def fail(*_, error=error):
            raise error

        monkeypatch.setattr("fastcube.plot.replace_file", fail)
        with pytest.raises(fc.ResultFileError) as reported:
            results.plot(path=path)
        assert "\n" not in str(reported.value)
        assert str(reported.value).startswith(f"plot {path} cannot be written: ")
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["f.png"]
