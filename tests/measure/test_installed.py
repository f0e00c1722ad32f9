"""Installed packages of studies: what is imported, names that two packages give, packages that break, whose results are whose."""

import subprocess
import sys
from types import SimpleNamespace

import pytest
from helpers.processes import CLEAN_ENVIRONMENT, run_in_turn

import fastcube as fc

STUDY = """
from dataclasses import replace

import fastcube as fc

STUDY = replace(fc.study({like!r}), name={name!r}, title="a copy", keyed=None)
"""


def install(site, package, version="1.0", *, name, source=None, like="unsafe-fraction", paper=False):
    """Make a package with one study, as its wheel would be installed; with a paper if requested."""
    (site / package).mkdir(parents=True, exist_ok=True)
    (site / package / "__init__.py").write_text(STUDY.format(like=like, name=name) if source is None else source)
    info = site / f"{package}-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    points = f"[fastcube.studies]\n{name} = {package}:STUDY\n"
    (info / "entry_points.txt").write_text(points + f"[fastcube.papers]\n{package} = {package}:PAPER\n" * paper)
    return info


@pytest.fixture
def call(tmp_path):
    def call(*arguments, site="site", code=0):
        command = ["-P", "-c", arguments[1]] if arguments[0] == "-c" else ["-P", "-m", "fastcube", *arguments]
        done = subprocess.run(
            [sys.executable, *command],
            cwd=tmp_path,
            env={**CLEAN_ENVIRONMENT, "PYTHONPATH": str(tmp_path / site)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == code, (done.stdout, done.stderr)
        return done

    return call


@pytest.fixture
def call_in_turn(tmp_path):
    """Run commands, each with the exit status that it must have, in one new process."""

    def call(*commands, site="site"):
        done = run_in_turn(
            *(command for command, _ in commands), cwd=tmp_path, env={"PYTHONPATH": str(tmp_path / site)}
        )
        assert [each.returncode for each in done] == [code for _, code in commands], done
        return done

    return call


RUN = ("--set", "n=5", "--set", "f=2", "--trials", "1000", "--progress", "none", "-o")


def test_a_study_loads_its_own_package_alone(call):
    reported = call(
        "-c",
        "import sys, fastcube as fc; s = fc.study('dualcube-routing'); print(s.name); "
        "print(sorted({m.split('.')[2] for m in sys.modules if m.startswith('fastcube.studies.')}), "
        "[m for m in ('numba', 'h5py', 'scipy', 'matplotlib') if m in sys.modules])",
    )
    assert reported.stdout.splitlines() == ["dualcube-routing", "['li_peng_chu'] []"]


def test_a_list_loads_neither_numba_nor_files_nor_scipy(call):
    reported = call(
        "-c",
        "import sys; from fastcube.cli import group; group.main(['list'], standalone_mode=False)\n"
        "print([m for m in ('numba', 'h5py', 'scipy', 'matplotlib') if m in sys.modules])",
    )
    assert reported.stdout.splitlines()[-1] == "[]"


def test_names_are_offered_without_any_import(call):
    reported = call(
        "-c",
        "import os, sys\n"
        "os.environ.update(_FASTCUBE_COMPLETE='bash_complete', COMP_WORDS='fastcube run unsafe-', COMP_CWORD='2')\n"
        "from fastcube.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    print('numpy' in sys.modules)",
    )
    assert reported.stdout.split() == ["plain,unsafe-critical", "plain,unsafe-fraction", "plain,unsafe-rare", "False"]


def test_every_entry_point_names_a_study_of_a_paper():
    from fastcube.measure.paper import installed_papers
    from fastcube.measure.registry import STUDIES

    assert sorted(STUDIES.points) == sorted(name for paper in installed_papers().values() for name in paper.studies)
    assert fc.study_names()[:2] == ("unsafe-fraction", "unsafe-rare")  # in the order of the papers, not of the alphabet


def test_a_name_of_two_packages_is_refused(call_in_turn, tmp_path):
    fc.run("unsafe-fraction", n=5, f=2, trials=1000, output=tmp_path / "r.h5")
    install(tmp_path / "site", "shadow", name="unsafe-fraction", like="unsafe-rare")
    both = "study unsafe-fraction is given by fastcube"
    *refused, listed, shown = call_in_turn(
        (["run", "unsafe-fraction", *RUN, "r.h5"], 2),
        (["list", "unsafe-fraction"], 2),
        (["list"], 0),
        (["show", "r.h5"], 0),
    )
    for said in (each.stderr for each in refused):
        assert said.count("\n") == 1
        assert both in said
        assert "shadow 1.0 (shadow:STUDY)" in said
    assert listed.stderr.count("\n") == 1
    assert both in listed.stderr
    assert "unsafe-fraction " not in listed.stdout
    assert "unsafe-rare" in listed.stdout
    assert "0." in shown.stdout  # the file says whose study it is
    assert "not here" not in shown.stdout


def test_a_broken_package_loses_its_own_studies_alone(call, call_in_turn, tmp_path):
    sources = {
        "raises": "raise RuntimeError('boom\\nboom')",
        "ends": "import sys; sys.exit(0)",
        "interrupts": "raise KeyboardInterrupt",
        "skips": "class Skipped(BaseException): pass\nraise Skipped('no such module')",
        "lacks": "import no_such_module",
        "gives": "STUDY = 3",
    }
    for package, source in sources.items():
        install(tmp_path / "site", package, name=f"study-{package}", source=source, paper=True)
    empty = call("list", site="empty")
    whole, ran, refused = call_in_turn(
        (["list"], 0), (["run", "unsafe-fraction", *RUN, "r.h5"], 0), (["run", "study-ends"], 2)
    )
    assert whole.stdout == empty.stdout
    assert [line.split(" 1.0 ")[0].rpartition(" ")[2] for line in whole.stderr.splitlines()] == sorted(sources)
    assert ran.stderr == "results in r.h5\n"
    assert refused.stderr == "fastcube: study study-ends of ends 1.0 cannot be loaded: SystemExit: 0\n"


def test_an_interrupt_by_the_user_ends_an_import(call, tmp_path):
    install(tmp_path / "site", "slow", name="slow", source="import os, signal\nos.kill(os.getpid(), signal.SIGINT)")
    assert call("list", code=130).stdout == ""
    (tmp_path / "mine.py").write_text("raise KeyboardInterrupt")
    said = call("run", "mine.py", code=2).stderr
    assert (said.count("\n"), "mine.py cannot be loaded: KeyboardInterrupt" in said) == (1, True)


def test_results_say_whose_study_they_are(call, call_in_turn, tmp_path):
    info = install(tmp_path / "site", "theirs", name="their-study")
    call("run", "their-study", *RUN, "r.h5")
    results = fc.open_results(tmp_path / "r.h5")
    assert results.identity()["code"] == {"distribution:theirs": "1.0"}
    as_object = "import fastcube as fc, theirs; print(fc.run(theirs.STUDY, n=5, f=2, trials=1000).digest())"
    assert call("-c", as_object).stdout.strip() == results.digest()
    assert fc.open_results(tmp_path / "r.h5").study.unverified  # not installed in this process

    info.rename(info.with_name("theirs-1.1.dist-info"))
    metadata = tmp_path / "site/theirs-1.1.dist-info/METADATA"
    metadata.write_text(metadata.read_text().replace("1.0", "1.1"))
    goes_on, _, merged = call_in_turn(
        (["run", "their-study", *RUN[:4], "--trials", "2000", "-o", "r.h5"], 2),
        (["run", "their-study", *RUN[:4], "--seed", "1", "--trials", "1000", "-o", "s.h5"], 0),
        (["merge", "r.h5", "s.h5", "-o", "m.h5"], 2),
    )
    assert "theirs 1.0" in goes_on.stderr
    assert "theirs 1.1" in goes_on.stderr
    assert "theirs 1.1" in merged.stderr
    assert call("show", "r.h5", site="empty").stdout
    assert fc.run("unsafe-fraction", n=5, f=2, trials=1000).identity().get("code") is None


def install_commands(site, package, source, **files):
    """Make a package with commands, ``COMMANDS`` of its ``__init__``, as its wheel would be installed."""
    (site / package).mkdir(parents=True, exist_ok=True)
    (site / package / "__init__.py").write_text(source)
    for name, text in files.items():
        (site / package / f"{name}.py").write_text(text)
    info = site / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[fastcube.commands]\n{package} = {package}:COMMANDS\n")


GREETING = """
import click

@click.command("say-hello")
@click.argument("who")
def command(who):
    "Greet somebody."
    click.echo(f"hello {who}")
"""


def test_a_package_adds_a_command(call, call_in_turn, tmp_path):
    install_commands(tmp_path / "site", "greeting", 'COMMANDS = {"say-hello": "Greet somebody."}', say_hello=GREETING)
    help_, done, near, wrong = call_in_turn(
        (["--help"], 0), (["say-hello", "you"], 0), (["say-helo"], 2), (["say-hello"], 2)
    )
    assert "\nCommands of greeting 1.0:\n  say-hello  Greet somebody.\n" in help_.stdout
    assert done.stdout == "hello you\n"
    assert near.stderr == "fastcube: No such command 'say-helo'; did you mean say-hello?\n"
    assert wrong.stderr.startswith("fastcube: Missing argument 'WHO'")
    reported = call(
        "-c",
        "import sys; from fastcube.cli import group; group.main(['--help'], standalone_mode=False); "
        "print([m for m in sys.modules if m.startswith('greeting')])",
    )
    assert reported.stdout.splitlines()[-1] == "['greeting']"  # the module of a command is imported when it runs


def test_a_package_with_broken_commands_loses_these_alone(call, tmp_path):
    sources = {
        "boom": "raise RuntimeError('boom')",
        "number": "COMMANDS = 3",
        "doubled": 'COMMANDS = {"run": "Another run."}',
        "good": 'COMMANDS = {"greet": "Greet."}',
    }
    for package, source in sources.items():
        install_commands(tmp_path / "site", package, source)
    done = call("--help")
    assert len(done.stderr.splitlines()) == 3
    for message in (
        "commands of boom 1.0 cannot be loaded: RuntimeError: boom; left out",
        "commands of number 1.0 must be a dict of texts, got number:COMMANDS; left out",
        "doubled 1.0 has the command run, which fastcube has already; left out",
    ):
        assert message in done.stderr
    assert "\nCommands of good 1.0:\n  greet  Greet.\n" in done.stdout


@pytest.mark.parametrize("name", ["", "--help", "-h", "a.b", "../up", "two words", "\x1b[31mred", "help"])
def test_a_command_of_a_package_has_a_plain_name(monkeypatch, tmp_path, name):
    from fastcube import cli
    from fastcube.measure import installed

    point = SimpleNamespace(dist=None, module="theirs", value="theirs:COMMANDS", load=lambda: {name: "A line."})
    monkeypatch.setattr(installed, "find_entry_points", lambda group: {"theirs": [point]})
    monkeypatch.setattr(installed, "_WARNED", set())
    with pytest.warns(UserWarning, match="module theirs .*left out"):
        assert cli.find_installed_commands.__wrapped__() == ()


def test_a_command_that_cannot_be_loaded_is_one_line(monkeypatch, capsys, tmp_path):
    from fastcube import cli

    sources = {
        "boom": "1 / 0",
        "leave": "raise SystemExit(0)",
        "needs": "import a_package_that_is_not_there",
        "nothing": "",
        "number": "command = 3",
    }
    (tmp_path / "hostile_commands").mkdir()
    for name, source in sources.items():
        (tmp_path / "hostile_commands" / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    lines = dict.fromkeys([*sources, "gone"], "A line.")
    found = (cli.InstalledCommands("theirs 1.0", "hostile_commands", lines),)
    monkeypatch.setattr(cli, "find_installed_commands", lambda: found)
    for name in lines:
        with pytest.raises(SystemExit) as ended:
            cli.main([name])
        said = capsys.readouterr().err
        assert (ended.value.code, said.count("\n")) == (2, 1), (name, said)
        assert said.startswith(f"fastcube: command {name} of theirs 1.0 "), said


def test_commands_of_the_audit_say_what_to_install(monkeypatch, capsys):
    from fastcube import cli

    monkeypatch.setattr(cli, "find_installed_commands", tuple)
    for name in cli.AUDIT_COMMANDS:
        with pytest.raises(SystemExit) as ended:
            cli.main([name, "lee_hayes"])
        assert ended.value.code == 2
        assert capsys.readouterr().err == (
            f"fastcube: fastcube {name} needs fastcube-audit: in a checkout of fastcube, pip install -e ./audit\n"
        )
