"""The site's sources: public names, classes that they return and commands have a page each, and pages a place in the contents."""

import gzip
import importlib
import inspect
import json
import re
import shlex
import tomllib
import typing
from pathlib import Path

import click
import pytest

import fastcube as fc
from fastcube.cli import AUDIT_COMMANDS, COMMANDS
from fastcube.measure.registry import find_study

DOCS = Path(__file__).resolve().parents[2] / "docs"
REFERENCE = "\n".join(path.read_text() for path in sorted(DOCS.glob("api/*.rst")))
MADE = {"gallery", "_build", "scripts"}  # by Sphinx
SHOWN = set(re.findall(r"^\.\. auto\w+:: fastcube\.(\S+)$", REFERENCE, re.MULTILINE))


def own(kind):
    """The classes of ours in a type, however deep."""
    if inspect.isclass(kind) and kind.__module__.startswith("fastcube."):
        yield kind
    for inner in typing.get_args(kind):
        yield from own(inner)


def returned_by(thing):
    """The classes of ours that a function, or a class's public methods and properties, are annotated to return."""
    members = vars(thing).items() if inspect.isclass(thing) else [("", thing)]
    for name, member in members:
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if name.startswith("_") or not inspect.isfunction(function) or "return" not in function.__annotations__:
            continue
        # names that are imported for type checkers alone are not there; those of ours are looked up by hand
        for argument in re.findall(r"\w+", str(function.__annotations__["return"])):
            yield from own(getattr(importlib.import_module(function.__module__), argument, None))


def test_every_public_name_has_its_page():
    assert set(fc.__all__) <= SHOWN


def test_every_class_that_is_returned_has_its_page():
    known = {
        getattr(importlib.import_module("fastcube." + p), c) for p, _, c in (n.rpartition(".") for n in SHOWN) if p
    }
    waiting, seen = [getattr(fc, name) for name in fc.__all__ if name != "__version__"], set()
    known |= {thing for thing in waiting if inspect.isclass(thing)}
    missing = set()
    while waiting:
        thing = waiting.pop()
        if thing in seen:
            continue
        seen.add(thing)
        found = set(returned_by(thing))
        missing |= found - known
        waiting += found
    assert not missing


def test_what_has_a_page_is_there():
    for name in SHOWN:
        module, _, last = name.rpartition(".")
        assert hasattr(importlib.import_module("fastcube." + module) if module else fc, last), name


def test_every_command_has_its_name_and_its_page():
    for name in COMMANDS:
        command = importlib.import_module(f"fastcube.cli.{name}").command
        assert command.name == name
    about = tomllib.loads((DOCS / "commands.toml").read_text())
    assert sorted(about) == sorted([*COMMANDS, *AUDIT_COMMANDS])
    for name in COMMANDS:
        entry = about[name]
        command = importlib.import_module(f"fastcube.cli.{name}").command
        arguments = {p.human_readable_name.strip("[].") for p in command.params if isinstance(p, click.Argument)}
        assert entry.keys() in (arguments, {a + ".h5" for a in arguments})


def test_every_command_answers_a_question_on_the_page_of_tasks():
    """Each line of the page has options and arguments that there are."""
    text = (DOCS / "tasks.md").read_text()
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if "?" in line and line.startswith("| ")]
    lines = [shlex.split(command.strip("`")) for _, command, _ in rows]
    named = {name for program, name, *_ in lines if program == "fastcube"}
    assert named == {*COMMANDS, *AUDIT_COMMANDS}
    for program, name, *rest in lines:
        if program == "fastcube" and name in COMMANDS:
            importlib.import_module(f"fastcube.cli.{name}").command.make_context(name, rest)


def test_no_line_of_a_page_begins_with_a_comparison():
    """Markdown would take it for a quotation."""
    pages = [path for path in DOCS.parent.rglob("*.md") if not {*MADE, ".venv", "build"} & set(path.parts)]
    assert not [
        (path, line) for path in pages for line in path.read_text().splitlines() if re.match(r" *>[=\d ]*\d", line)
    ]


def test_every_page_is_in_a_table_of_contents():
    places = {}
    for page in DOCS.rglob("*.md"):
        for block in re.findall(r"^```\{toctree\}\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE):
            for line in block.splitlines():
                if line and not line.startswith(":"):
                    places[(page.parent / re.sub(r"^.*<(.*)>$", r"\1", line)).resolve()] = page
    pages = [p for p in (*DOCS.rglob("*.md"), *DOCS.rglob("*.rst")) if not MADE & set(p.parts)]
    for page in pages:
        if page != DOCS / "index.md":
            assert page.with_suffix("").resolve() in places, page


def kept_runs():
    """Yield the runs of docs/results/sample: the file of each line, its study and grid, and the axes that it sets."""
    text = (DOCS / "results" / "sample").read_text().partition("<< 'RUNS'\n")[2].partition("RUNS\n")[0]
    for line in text.splitlines():
        name, *options = line.split()
        given = list(zip(options[::2], options[1::2], strict=True))
        grid = dict(given).get("--grid")
        axes = dict(value.split("=") for option, value in given if option == "--set")
        file = dict(given).get("-o", name + f"-{grid}" * (grid is not None) + ".h5").removesuffix(".h5")
        yield file, fc.study(name), grid, axes, dict(given).get("--trials")


@pytest.mark.slow
def test_kept_results_are_small_and_whole(tmp_path):
    """Figures are plotted from these files. Opening a file checks its digest."""
    kept = {path.name.removesuffix(".h5.gz"): path for path in DOCS.glob("results/*.h5.gz")}
    runs = {name: run for name, *run in kept_runs()}
    assert sorted(runs) == sorted(kept)
    assert {study.name for study, *_ in runs.values()} == set(fc.study_names())
    for name, (study, grid, axes, trials) in runs.items():
        assert kept[name].stat().st_size < 400_000
        (whole := tmp_path / f"{name}.h5").write_bytes(gzip.decompress(kept[name].read_bytes()))
        results = fc.open_results(whole)
        assert (results.study.name, results.study.revision) == (study.name, study.revision)
        assert find_study(results.study) is study, name  # with other axes the plain figure would be drawn
        assert axes or len(results) == len(study.grid(grid).points), name
        reported = [run["parameters"] for run in results.history]
        arguments = [argument for run in reported for argument in (*run["command"], *run["settings"].values())]
        assert not any(argument.startswith("/") for argument in arguments), name  # a place on somebody's machine
        assert trials is None or {tally.trials for _, tally in results} == {int(float(trials))}, name


def test_the_gallery_resumes_what_is_kept():
    """So that a build samples nothing of the papers' studies; it checks that itself."""
    for path in (DOCS.parent / "examples").glob("*_*.py"):
        for study, rest in re.findall(r'fc\.run\("([\w-]+)"(.*)\)$', path.read_text(), re.MULTILINE):
            output = re.search(r'output="([\w-]+)\.h5"', rest)
            assert output and output[1].startswith(study) and (DOCS / "results" / f"{output[1]}.h5.gz").exists(), study


def test_the_papers_are_cited_as_the_data_have_them():
    cited = (DOCS.parent / "CITATION.cff").read_text()
    for path in DOCS.parent.glob("data/*_*.json"):
        paper = json.loads(path.read_text())
        assert f'title: "{paper["title"]}"' in cited
        for author in paper["authors"]:
            given, _, family = author.rpartition(" ")
            assert f"{{family-names: {family}, given-names: {given}}}" in cited
